package wpm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// Kind says what the base measure of a design minimises. φ_i is the cost of a client whose whole mass is at input i.
type Kind int

const (
	// Uniform is the uniform measure at the scale whose worst case, max_i φ_i, is smallest: a robust default.
	Uniform Kind = iota
	// Minimax has the smallest worst case of all measures. See package basemeasure for when that is the wrong choice.
	Minimax
	// Average has the smallest mean of the φ_i, by Objective.Weights.
	Average
	// Mixed minimises t times the worst case plus 1 - t times the mean, with t = Objective.Mix: a compromise.
	Mixed
	// Map reduces the error of a map of the population that is estimated from Objective.Devices releases. It is uniform at
	// another scale: the more devices there are, the smaller the disc of outputs that a release favours. See estimate.Disc
	// for the rule, and Design.Even for its cost to a client. The inputs need distances; the entries of a matrix are taken
	// as distances.
	Map
)

var kindNames = []string{"uniform", "minimax", "average", "mixed", "map"}

// String returns the name that the command's flags use.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Objective is what a design is for. The zero value asks for the uniform base measure.
type Objective struct {
	Kind Kind
	// Weights of the inputs, one each, in any unit: those of the mean. They must be public, and 0 or at least 2^-600 of
	// the largest. Nil means equal weights.
	Weights []float64
	// Mix is the share of the worst case with Mixed, between 0 and 1; 0 means 1/2. Otherwise it must be 0.
	Mix float64
	// Gap is the certified relative gap, at most 1, at which the search for Minimax, Average and Mixed ends; 0 means
	// DefaultGap. For other kinds it must be 0. It affects utility only: every design is equally private.
	Gap float64
	// Devices is the number of releases for the map of Map, at least 1. For other kinds it must be 0.
	Devices int
	// Disc is, for Map, the share of the outputs that a release is to favour, at most 1; 0 means that of estimate.Disc. For
	// other kinds it must be 0.
	Disc float64
	// Options are those of the mechanism.
	Options Options
	// Step, if not nil, is called before each step of NewDesign, and at the end, with the numbers of steps done and of
	// all.
	Step func(done, total int, what string)
}

// step tells of a step.
func (o Objective) step(done int, what string) {
	if o.Step != nil {
		o.Step(done, 5, what)
	}
}

// DefaultGap is the relative gap of a design, see Objective.Gap.
const DefaultGap = 1e-3

// searches reports whether the base measure is the best of all measures, to a gap.
func (k Kind) searches() bool { return k == Minimax || k == Average || k == Mixed }

// check returns o with defaults filled in, for k inputs.
func (o Objective) check(k int) (Objective, error) {
	bad := func(name string, v any) (Objective, error) {
		return o, fmt.Errorf("%w: %s is %v with kind %v", ErrOption, name, v, o.Kind)
	}
	switch {
	case o.Kind < Uniform || o.Kind > Map:
		return o, fmt.Errorf("%w: kind %v", ErrOption, o.Kind)
	case (o.Kind == Map) != (o.Devices != 0) || o.Devices < 0:
		return bad("Devices", o.Devices)
	case o.Kind != Map && o.Disc != 0, !(o.Disc >= 0 && o.Disc <= 1):
		return bad("Disc", o.Disc)
	case o.Kind != Mixed && o.Mix != 0, o.Kind == Mixed && !(o.Mix >= 0 && o.Mix < 1):
		return bad("Mix", o.Mix)
	case !(o.Gap >= 0 && o.Gap <= 1) || !o.Kind.searches() && o.Gap != 0:
		return bad("Gap", o.Gap)
	case o.Kind == Mixed && o.Mix == 0:
		o.Mix = 0.5
	}
	if o.Kind.searches() && o.Gap == 0 {
		o.Gap = DefaultGap
	}
	if o.Weights == nil {
		return o, nil
	}
	if len(o.Weights) != k {
		return o, fmt.Errorf("%w: %d weights for %d inputs", wpmerr.ErrShape, len(o.Weights), k)
	}
	for i, w := range o.Weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return o, fmt.Errorf("%w: Weights[%d] = %v", wpmerr.ErrMass, i, w)
		}
	}
	if slices.Max(o.Weights) == 0 {
		return o, fmt.Errorf("%w: the weights sum to 0", wpmerr.ErrMass)
	}
	return o, nil
}

// solve finds the base measure; of Map, the uniform one that it is another scale of.
func (o Objective) solve(ctx context.Context, sorted *knapsack.Table, eps float64) (basemeasure.Result, error) {
	settings := basemeasure.Settings{Gap: o.Gap}
	switch o.Kind {
	case Average:
		settings.Objective, settings.InputWeights = basemeasure.Average, o.Weights
	case Mixed:
		settings.Objective, settings.Mix, settings.InputWeights = basemeasure.Mixed, o.Mix, o.Weights
	case Minimax:
	default:
		return basemeasure.Uniform(ctx, sorted, eps, basemeasure.Settings{})
	}
	return basemeasure.Solve(ctx, sorted, eps, settings)
}

// Design is a mechanism with everything that its publisher states about it, each part computed once. It is immutable
// and safe for concurrent use.
type Design struct {
	mechanism   *Mechanism
	base        basemeasure.Result
	lower, gap  float64
	even        float64 // worst case of the uniform base measure, if the objective is Map
	channel     *Channel
	certificate []byte
}

// What sizes NewDesign takes.
const (
	// MaxTable is the largest k*kv of a design that sorts its cost, at 20 bytes per entry. Only Uniform and Map, for a
	// cost of places, a grid or a ring, do not sort: they compute rows when they need them.
	MaxTable int64 = 1 << 27
	// MaxPairs is the largest k*kv of a design for a cost of places: the search for the thresholds of the rows reads each
	// pair, which takes some minutes. The thresholds of a grid or a ring are found by counting cells, so for these Uniform
	// has only the limits of a policy.
	MaxPairs int64 = 1 << 36
	// onePass is the k*kv from which Uniform does without a table, if it can.
	onePass = 1 << 20
)

// NewDesign finds the base measure for an objective, makes the mechanism and the rows of its mixture mode, and proves
// the worst case. The places of a cost of places are first moved to the integer coordinates of a policy (see
// Mechanism.Publish and Displacement). Everything that the Design states is about the moved places.
//
// It takes the time of the solver (package basemeasure), of the rows, and of one exact verification. Average and Mixed
// take twice the solver time of Minimax, because their certificate is about the worst case, too. Memory is 20 bytes for
// every entry of the cost. For a cost of places, a grid or a ring of more than 2^20 entries, Uniform takes one pass and
// O(k + kv) memory instead.
//
// Errors: ErrOption, ErrShape and ErrMass for the objective, and estimate.ErrNoGeometry for Map without distances;
// ErrLimit for a size that is too large, before any other work; those of cost.Validate, of basemeasure (ErrNotConverged
// if ctx stops a solver, or if rounding stops it more than 1 % from the best), of New, and of policy.New for more
// inputs or outputs than a policy may have.
func NewDesign(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, o Objective) (*Design, error) {
	ctx = wpmerr.Context(ctx)
	large, err := checkSize(ctx, c, o)
	if err != nil {
		return nil, err
	}
	given := c
	o.step(0, "costs")
	ranked, err := ranking.Of(c)
	if err != nil {
		return nil, err
	}
	if ranked != nil {
		c = ranked.Cost
	}
	d := new(Design)
	var sorted *knapsack.Table
	if large && ranked != nil {
		k, _ := c.Dims()
		if o, err = o.check(k); err != nil {
			return nil, err
		}
		o.step(1, "base measure")
		d.base, err = basemeasure.UniformOnePass(ctx, c, eps.Float64())
	} else {
		large = false
		if sorted, o, err = prepare(ctx, c, o); err != nil {
			return nil, err
		}
		o.step(1, "base measure")
		d.base, err = o.solve(ctx, sorted, eps.Float64())
	}
	if err != nil {
		if err = tolerable(ctx, d.base, err); err != nil {
			return nil, err
		}
	}
	if err != nil || o.Kind.searches() {
		d.gap = relativeGap(d.base)
	}
	o.step(2, "lower bound")
	evidence, err := d.evidence(ctx, inMemory(given, sorted), sorted, eps.Float64(), o)
	if err != nil {
		return nil, err
	}
	d.lower = evidence.Lower
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.mechanism, err = build(ctx, c, d.base.M, eps, o.Options); err != nil {
		return nil, err
	}
	if ranked != nil {
		if d.mechanism.ranked, err = ranked.Rows(ctx, d.mechanism.box); err != nil {
			return nil, err
		}
	}
	o.step(3, "worst case")
	if d.channel, err = d.mechanism.worstRows(ctx, sorted); err != nil {
		return nil, err
	}
	if o.Kind == Map && sorted == nil {
		d.base.WorstCase, d.base.Worst = d.channel.worst, d.channel.input
		d.base.F, d.base.Upper = d.base.WorstCase, d.base.WorstCase
	}
	o.step(4, "certificate")
	d.certificate, err = certify(ctx, inMemory(c, sorted), eps, evidence, d.channel.worst)
	if err != nil {
		return nil, err
	}
	o.step(5, "certificate")
	return d, nil
}

// evidence returns what proves the worst case of the base measure, and the lower bound of all. Of Map, the base measure
// is found first.
func (d *Design) evidence(ctx context.Context, c cost.Matrix, sorted *knapsack.Table, eps float64,
	o Objective) (basemeasure.Result, error) {
	proof := d.base
	switch o.Kind {
	case Average, Mixed: // what proves these says nothing of the worst case
		worst, err := basemeasure.Solve(ctx, sorted, eps, basemeasure.Settings{Gap: o.Gap})
		if err != nil && (!errors.Is(err, wpmerr.ErrNotConverged) || ctx.Err() != nil) {
			return proof, err
		}
		proof.Weights, proof.Thresholds, proof.Lower = worst.Weights, worst.Thresholds, worst.Lower
	case Map: // the measure of the one, and the lower bound of the other
		share := o.Disc
		if share == 0 {
			var err error
			if share, err = estimate.Disc(ctx, c, 1, eps, o.Devices); err != nil {
				return proof, fmt.Errorf("wpm: kind %v: %w", o.Kind, err)
			}
		}
		d.even, d.gap = d.base.WorstCase, 0
		var err error
		if d.base, err = basemeasure.Favour(sorted, eps, share, d.base); err != nil {
			return proof, err
		}
		proof.M = d.base.M
	}
	return proof, nil
}

// worstRows returns the rows, with their costs: of a table, if there is one, or made when they are asked for.
func (m *Mechanism) worstRows(ctx context.Context, sorted *knapsack.Table) (*Channel, error) {
	if sorted == nil {
		return m.derived(ctx)
	}
	return m.channel(ctx, sorted)
}

// checkSize refuses what cannot work, in constant time, and says whether the design is one that can do without a table.
func checkSize(ctx context.Context, c cost.Matrix, o Objective) (large bool, err error) {
	if d, ok := c.(*cost.Dense); ok && d == nil {
		return false, nil // cost.Validate will say so
	}
	computed := cost.Structured(c)
	if c == nil || computed {
		if err := cost.Validate(ctx, c); err != nil {
			return false, err
		}
	}
	k, kv := c.Dims()
	if k < 1 || kv < 1 {
		return false, nil
	}
	if k > policy.MaxInputs || kv > policy.MaxOutputs {
		return false, fmt.Errorf("%w: %d inputs and %d outputs, a policy has at most %d and %d: merge places, or use a coarser grid",
			ErrLimit, k, kv, policy.MaxInputs, policy.MaxOutputs)
	}
	large = computed && (o.Kind == Uniform || o.Kind == Map) && k > onePass/kv
	if pairs := !computed || !cost.SpaceOf(c).First; pairs && int64(k) > MaxPairs/int64(kv) {
		return false, fmt.Errorf("%w: %d x %d pairs of an input and an output, at most %d: merge places, or use a coarser grid",
			ErrLimit, k, kv, MaxPairs)
	}
	if _, done := c.(*knapsack.Table); !large && !done && int64(k) > MaxTable/int64(kv) {
		advice := "the uniform objective for points, a grid or a ring needs no table"
		if _, explicit := c.(*cost.Dense); explicit {
			advice = "give points instead of a matrix, or merge places"
		}
		return false, fmt.Errorf("%w: a table of %d x %d costs takes %d MB, at most %d entries (%d MB): %s",
			ErrLimit, k, kv, int64(k)*int64(kv)*20>>20, MaxTable, MaxTable*20>>20, advice)
	}
	return large, nil
}

// maxGap is how far from its best, relative and certified, the base measure of a design may be.
const maxGap = 0.01

// tolerable returns nil if rounding, and not ctx, has stopped a solver close enough to the best base measure.
func tolerable(ctx context.Context, base basemeasure.Result, err error) error {
	if !errors.Is(err, wpmerr.ErrNotConverged) || len(base.M) == 0 || wpmerr.Context(ctx).Err() != nil {
		return err
	}
	if gap := relativeGap(base); !(gap <= maxGap) {
		return fmt.Errorf("%w: the best found may be %.3g %% off, more than %v %%; another eps, cost or objective may do",
			err, 100*gap, 100*maxGap)
	}
	return nil
}

// relativeGap is how far off a result may be, of its own value.
func relativeGap(r basemeasure.Result) float64 {
	if r.Upper > 0 {
		return r.Gap() / r.Upper
	}
	return 0
}

// prepare checks the cost and the objective, and sorts the cost.
func prepare(ctx context.Context, c cost.Matrix, o Objective) (*knapsack.Table, Objective, error) {
	ctx = wpmerr.Context(ctx)
	if c == nil || cost.Structured(c) {
		if err := cost.Validate(ctx, c); err != nil { // reads no row
			return nil, o, err
		}
	}
	k, kv := c.Dims()
	if k < 1 || kv < 1 {
		return nil, o, fmt.Errorf("%w: the cost is %d x %d", wpmerr.ErrShape, k, kv)
	}
	o, err := o.check(k)
	if err != nil {
		return nil, o, err
	}
	sorted, err := knapsack.New(ctx, c) // checks the costs, too
	return sorted, o, err
}

// known reports whether c is of a type of package cost.
func known(c cost.Matrix) bool {
	_, explicit := c.(*cost.Dense)
	return explicit || cost.Structured(c)
}

// inMemory returns c, or, if it is of a type of the caller's, a copy, so that its rows are not asked for again.
func inMemory(c cost.Matrix, sorted *knapsack.Table) cost.Matrix {
	if known(c) || sorted == nil {
		return c
	}
	k, kv := sorted.Dims()
	d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, 0, k*kv)}
	for i := range k {
		d.Data = append(d.Data, sorted.Row(i, nil)...)
	}
	return d
}

// certify returns the text of the certificate that M, Weights and Thresholds of base prove, without the cost, which is
// in the policy. It states a lower bound on the worst case W_p^p of every ε-LDP mechanism, and an upper bound that
// holds for base.M and for rows that cost at most worst.
//
// Its eps is the smallest float64 that is not below ε: what no mechanism does at that eps, none does at ε.
func certify(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, base basemeasure.Result, worst float64) ([]byte,
	error) {
	cert, err := certificate.NewBaseMeasure(ctx, c, num.Up(eps.Rat()), base)
	if err != nil {
		return nil, err
	}
	lower, upper := cert.Stated().Floats() // floats are short fractions
	if cert, err = cert.WithoutCost(); err != nil {
		return nil, err
	}
	cert, err = cert.Claim(certificate.Bounds{Lower: num.Rat(lower), Upper: num.Rat(max(upper, worst))})
	if err != nil {
		return nil, err
	}
	return certificate.Encode(cert)
}

// Mechanism returns the mechanism.
func (d *Design) Mechanism() *Mechanism { return d.mechanism }

// Channel returns the rows of the mixture mode. If the cost has more than 2^20 entries and needs no table, a row is
// computed on each request.
func (d *Design) Channel() *Channel { return d.channel }

// Base returns the solver's answer. Its bounds are about the objective and real numbers; see WorstCase.
func (d *Design) Base() basemeasure.Result { return d.base }

// WorstCase returns a proved upper bound on the cost of the worst private distribution, as published in integers, and
// the first point mass that attains it up to rounding: Channel().Worst().
func (d *Design) WorstCase() (upper float64, input int) { return d.channel.Worst() }

// Displacement returns the largest distance between a place as given and the same place on the integer coordinates of
// the design and its policy. It is in the unit of the coordinates, in km for places on the Earth, and between unit
// vectors for a cosine; it is 0 for other costs.
func (d *Design) Displacement() float64 {
	if d.mechanism.ranked == nil {
		return 0
	}
	return d.mechanism.ranked.Displacement
}

// Lower returns a proved lower bound on the worst case W_p^p of every ε-LDP mechanism.
func (d *Design) Lower() float64 { return d.lower }

// Gap returns the certified relative gap between the base measure and the best of all measures. It is at most
// Objective.Gap, or 0.01 if rounding stopped the solver. It is 0 for Uniform and Map, which do not search among all
// measures.
func (d *Design) Gap() float64 { return d.gap }

// Even returns, if the objective is Map, the worst case in real numbers of the uniform base measure at its best scale.
// This is the largest cost of a client if the map did not matter. Even is 0 for other objectives.
func (d *Design) Even() float64 { return d.even }

// Disc returns the share of the outputs that a release favours, by the widths of the box: these have the high weight,
// and the others the low weight.
func (d *Design) Disc() float64 {
	lo, hi := d.mechanism.box.Bounds()
	free, wide := 1-num.Sum(lo), 0.0
	for j := range lo {
		wide += hi[j] - lo[j]
	}
	if !(wide > 0) {
		return 0
	}
	return min(max(free/wide, 0), 1)
}

// Certificate returns the proof of Lower and WorstCase: the text of a certificate of package certificate, without its
// cost. Publish puts it into the policy, where certificate.CheckPolicy checks it.
func (d *Design) Certificate() []byte { return slices.Clone(d.certificate) }

// Outcome is what a base measure achieves over point masses, which are the worst private distributions. Its floats are
// accurate to rounding.
type Outcome struct {
	Worst, Mean float64 // of the φ_i; the mean is by weight
	Mass        float64 // of the base measure
	Nonzeros    int     // outputs that are ever released
	Gap         float64 // proved, relative, of what the objective makes small; -1 where it is not the best of all measures
}

// Compare returns the outcomes of designs of one cost, without making their mechanisms. A solver that stops before its
// goal gives the best measure found, with its gap. A *knapsack.Table is not sorted again. Errors: ErrOption for Map,
// and those of NewDesign for the cost and the objective; ErrNotConverged if ctx ends.
func Compare(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, objectives ...Objective) ([]Outcome, error) {
	var out []Outcome
	for _, o := range objectives {
		if o.Kind == Map {
			return nil, fmt.Errorf("%w: kind %v is not about the cost of a client: NewDesign states what it has", ErrOption,
				o.Kind)
		}
		sorted, o, err := prepare(ctx, c, o)
		if err != nil {
			return nil, err
		}
		c = sorted
		base, err := o.solve(ctx, sorted, eps.Float64())
		if err != nil && !(errors.Is(err, wpmerr.ErrNotConverged) && wpmerr.Context(ctx).Err() == nil) {
			return nil, fmt.Errorf("%v at eps %v: %w", o.Kind, eps, err)
		}
		r, err := evaluate(sorted, eps, base.M, o.Weights)
		if err != nil {
			return nil, err
		}
		if o.Kind != Uniform {
			r.Gap = relativeGap(base)
		}
		out = append(out, r)
	}
	return out, nil
}

// Evaluate returns the outcome of any base measure m, with weights as in Objective. Gap is -1.
//
// Errors: those of cost.Validate, ErrShape, ErrMass, and those of package knapsack for a box without a distribution.
func Evaluate(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, m, weights []float64) (Outcome, error) {
	sorted, _, err := prepare(ctx, c, Objective{Weights: weights})
	if err != nil {
		return Outcome{}, err
	}
	return evaluate(sorted, eps, m, weights)
}

func evaluate(sorted *knapsack.Table, eps ldp.Epsilon, m, weights []float64) (Outcome, error) {
	k, _ := sorted.Dims()
	lo, hi, phi := make([]float64, len(m)), make([]float64, len(m)), make([]float64, k)
	r := Outcome{Mass: num.Sum(m), Gap: -1}
	alpha, beta := math.Exp(-eps.Float64()/2), math.Exp(eps.Float64()/2)
	for j, x := range m {
		lo[j], hi[j] = alpha*x, beta*x
		if x > 0 {
			r.Nonzeros++
		}
	}
	if err := sorted.All(lo, hi, phi, nil); err != nil {
		return Outcome{}, err
	}
	r.Worst = slices.Max(phi)
	largest := 1.0
	if weights != nil {
		largest = slices.Max(weights)
	}
	var sum float64
	for i, x := range phi {
		w := 1.0
		if weights != nil {
			w = weights[i] / largest
		}
		r.Mean, sum = r.Mean+w*x, sum+w
	}
	r.Mean /= sum
	return r, nil
}
