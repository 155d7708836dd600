package basemeasure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/cutbound"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Solve returns a base measure whose objective is within the relative gap Settings.Gap of the best that any eps-LDP
// mechanism can have, with the proof. Minimisers are not unique; the one returned has few nonzeros.
//
// Pass a *knapsack.Table as c to sort the cost only once for several calls. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon, ErrSettings; ErrNotConverged, with the best Result so far and valid bounds, if ctx ends, a
// limit is reached or rounding errors stop the solver (Result.Status says which), and without a Result if ctx ends
// before more than 48 rows of costs are sorted.
func Solve(ctx context.Context, c cost.Matrix, eps float64, settings Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	p, err := newProblem(ctx, c, eps, settings, true)
	if err != nil {
		return Result{}, err
	}
	v := newSolver(ctx, p)
	stop := v.solve()
	return p.finish(v.res, stop)
}

// solver is one run of Solve.
type solver struct {
	ctx  context.Context
	p    *problem
	game *game
	ray  *ray // evaluates and certifies measures
	dual *dual
	res  Result // the best measure and the best certificate so far, in units of the table

	best     float64   // objective at res.M as evaluated, without certificate
	stale    bool      // res.M has no certificate yet
	start    opening   // what open found
	crowd    bool      // the attempt starts from all inputs
	turn     turn      // whose it is
	dearest  []float64 // of each output, from the attempt by value on; see tooDear
	m        []float64 // the last measure evaluated
	phi, tau []float64 // and its costs and thresholds
}

// opening is the measure that open found, its thresholds, and its worst input.
type opening struct {
	m, tau []float64
	worst  int
}

// turn says how far the interior phase has got.
type turn int

const (
	turnNever turn = iota // the simplex alone
	turnLater             // after the simplex has tried
	turnNow
	turnOver
)

func newSolver(ctx context.Context, p *problem) *solver {
	shape := make([]float64, p.kv)
	fill(shape, 1)
	if p.settings.Initial != nil {
		copy(shape, p.settings.Initial.M)
	}
	base := p.table.MaxCost()
	for i := range p.k {
		base = min(base, p.table.Row(i, nil)[p.table.Order(i)[0]])
	}
	_, exponent := math.Frexp(p.table.MaxCost() - base)
	return &solver{
		ctx: ctx, p: p, res: p.result(), ray: p.ray(shape),
		m: make([]float64, p.kv), phi: make([]float64, p.k), tau: make([]float64, p.k),
		dual: newDual(p.table, p.priv.e, p.aim, p.exponent),
		game: &game{
			table: p.table, k: p.k, kv: p.kv, alpha: p.priv.alpha.Near, beta: p.priv.beta.Near,
			base: base, unit: math.Ldexp(1, -exponent), top: math.MaxFloat64, aim: p.aim,
		},
	}
}

// closed reports whether the bounds are as close as asked for.
func (v *solver) closed() bool { return v.closes(v.res.Upper) }

// closes reports whether they would be with that upper bound.
func (v *solver) closes(upper float64) bool {
	most := v.p.table.MaxCost() // no bound is above it: finish sees to that
	upper = min(upper, most)
	// Thresholds, which are numbers of the size of the costs, cannot be finer than the smallest float.
	steps := math.Ldexp(gapSteps*math.SmallestNonzeroFloat64, -v.p.exponent)
	return upper-v.res.Lower <= max(v.p.settings.Gap*upper, absoluteGap*most, steps)
}

const (
	// absoluteGap is the gap, relative to the largest cost, at which the bounds always count as closed.
	absoluteGap = 1e-15
	// gapSteps is the same in steps of the smallest float.
	gapSteps = 4
)

// tuning is how an attempt is made.
type tuning struct {
	valueTol float64 // by how much the ratio test may overstep, see simplex.lamTol
	pivotTol float64 // entries below this, relative to the largest, do not block
	byValue  bool    // the unit of the game is the size of the best value, not of the largest cost
}

// tunings are those of the successive attempts; nearly always the first is enough. The other is for values far below
// the largest cost.
var tunings = [...]tuning{{1e-11, 1e-9, false}, {1e-11, 1e-9, true}}

const (
	// farBelow is the value, in units of the game, at which it is worth another unit.
	farBelow = 1e-3
	// manyTimes the best value, any cost keeps an output out of the measure: larger ones would only bring in rounding.
	manyTimes = 1 << 20
)

func (v *solver) solve() error {
	stop := v.open()
	if stop == nil && !v.closed() && v.crowded() {
		v.crowd = true
		stop = v.attempt(tunings[0])
		v.crowd = false
	}
	for n, tuning := range tunings {
		if stop != nil || v.closed() {
			return stop
		}
		v.res.Stats.Restarts = n
		if stop = v.attempt(tuning); v.turn == turnNow && stop == nil {
			v.turn = turnOver
			if stop = v.inner(); stop == nil && !v.closed() {
				stop = v.attempt(tuning)
			}
		}
	}
	if stop == nil && !v.closed() {
		stop = errStalled
	}
	return stop
}

// open finds the best uniform measure (the best multiple of Initial.M) and its certificates.
func (v *solver) open() error {
	r := v.ray
	stop := r.search(v.ctx)
	v.res.Stats.Evaluations = r.count
	r.choose(&v.res)
	v.best = v.res.F
	copy(v.phi, r.phi)
	copy(v.tau, r.tau)
	if init := v.p.settings.Initial; init != nil {
		c := cuts{init.Weights, make([]float64, v.p.k)}
		for i, t := range init.Thresholds {
			c.thresholds[i] = cutbound.Representable(math.Ldexp(t, -v.p.exponent), v.p.exponent)
		}
		v.take(c)
	}
	if err := r.prove(v.ctx, &v.res, v.p.exponent); err != nil && stop == nil {
		stop = err
	}
	_, worst := v.p.aim.worst(v.phi)
	v.start = opening{slices.Clone(v.res.M), slices.Clone(v.tau), worst}
	if stop == nil && v.suits() {
		v.turn = turnLater
	}
	return stop
}

// crowdOutputs is the number of outputs that an input fills at the opening measure, below which nearly all outputs will
// be in use. The simplex then starts from the cuts of all inputs.
const crowdOutputs = 16

// crowded reports whether that start is worth a try.
func (v *solver) crowded() bool {
	k, kv := v.p.k, v.p.kv
	return v.turn == turnNever && v.p.aim.share == 1 && v.p.settings.Initial == nil && k*kv >= innerLeast &&
		float64(kv) <= crowdOutputs*v.p.priv.beta.Near*num.Sum(v.start.m)
}

// take computes the lower bound of c and keeps it if it is the best.
func (v *solver) take(c cuts) {
	v.res.Stats.Shifts++
	v.dual.take(&v.res, v.dual.shift(v.ctx, c))
}

// strategy is the adversary's strategy to start from: the cut of the worst input (and the cuts of all in an average) at
// the opening measure, or in a crowd the cuts of all inputs there, with equal weights; after that or the interior
// phase, and with an Initial, the best certificate.
func (v *solver) strategy(g *game) mixedStrategy {
	p := mixedStrategy{make([]float64, v.p.k), make([]float64, v.p.k)}
	weights, thresholds := v.res.Weights, v.res.Thresholds
	if v.res.Stats.Restarts == 0 && v.p.settings.Initial == nil && v.turn != turnOver {
		weights, thresholds = make([]float64, v.p.k), v.start.tau
		if g.aim.share > 0 {
			weights[v.start.worst] = 1
		}
		for i, in := range v.p.aim.inMax {
			if v.crowd && in {
				weights[i] = 1
			}
		}
	}
	sum := num.Sum(weights)
	for i, t := range thresholds {
		p.thresholds[i] = g.scale(t)
		if sum > 0 {
			p.weights[i] = weights[i] / sum
		}
	}
	return p
}

// evaluate evaluates the measure of the basis, scaled into the feasible range, and keeps it if it is the best; and
// before it, where there are masses that are too dear, the measure without them. With a share below 1 it evaluates the
// mean of that measure, which has the share, and the best one.
func (v *solver) evaluate(s *simplex, share float64) {
	clear(v.m)
	dear := false
	for p, x := range s.m {
		if x > 0 {
			v.m[s.perm[p]] = x
			dear = dear || v.tooDear(s.perm[p], x)
		}
	}
	if dear {
		whole := slices.Clone(v.m)
		for j, x := range v.m {
			if v.tooDear(j, x) {
				v.m[j] = 0
			}
		}
		v.measure()
		copy(v.m, whole)
	}
	if share < 1 {
		for j, x := range v.res.M {
			v.m[j] = share*v.m[j] + (1-share)*x
		}
	}
	v.measure() // the last: its cuts are those that the model has wrong
}

// measure evaluates v.m after it has scaled it.
func (v *solver) measure() {
	mass := num.Sum(v.m)
	alpha, beta := v.p.priv.alpha.Near, v.p.priv.beta.Near
	scale := 1.0
	switch {
	case !(mass > 0):
		fill(v.m, 1/float64(len(v.m)))
	case mass*alpha > 1:
		scale = 1 / (alpha * mass)
	case mass*beta < 1:
		scale = 1 / (beta * mass)
	}
	r := v.ray
	for j, x := range v.m {
		x *= scale
		v.m[j], r.lo[j], r.hi[j] = x, alpha*x, beta*x
	}
	v.res.Stats.Evaluations++
	if r.table.All(r.lo, r.hi, v.phi, v.tau) != nil {
		return // rounding put the mass outside the range: the cuts of the measure before do no harm
	}
	switch f := v.p.aim.value(v.phi); {
	case f < v.best:
		v.best = f
	case f > v.best*(1+sparseTol) || nonzeros(v.m) >= nonzeros(v.res.M):
		return
	}
	copy(v.res.M, v.m)
	v.stale = true
}

const (
	// sparseTol is by how much of the objective a measure may be worse if it has fewer nonzeros: rounding.
	sparseTol = 1e-14
	// sparseMass is the mass, relative to the largest, below which an output is left out if that costs nothing.
	sparseMass = 1e-10
)

// dearestCosts is the largest cost of each output, less the least cost of all, over the inputs of the maximum.
func (v *solver) dearestCosts() []float64 {
	dearest := make([]float64, v.p.kv)
	for i := range v.p.k {
		if !v.p.aim.inMax[i] {
			continue
		}
		for j, c := range v.p.table.Row(i, nil) {
			dearest[j] = max(dearest[j], c-v.game.base)
		}
	}
	return dearest
}

// tooDear reports whether x on output j alone makes a measure worse than the best: some input pays for it. Where costs
// span many orders of magnitude the model has such masses, of the size of a rounding.
func (v *solver) tooDear(j int, x float64) bool {
	return v.dearest != nil && v.p.aim.share*v.p.priv.alpha.Near*x*v.dearest[j] > v.best-v.game.base
}

func nonzeros(m []float64) (n int) {
	for _, x := range m {
		if x > 0 {
			n++
		}
	}
	return n
}

// certify computes a certified upper bound for the best measure found, if there is a new one. On the heavier side
// of rounding f is flatter (see nudges), and outputs with the mass of a rounding are better left out.
func (v *solver) certify() {
	if !v.stale {
		return
	}
	v.stale = false
	r := v.ray
	copy(v.m, v.res.M)
	least := sparseMass * slices.Max(v.m)
	v.res.Upper = math.Inf(1)
	slack := 1.0
	for _, floor := range []float64{0, least} {
		for _, nudge := range nudges {
			for j, x := range v.m {
				if x < floor {
					x = 0
				}
				r.m[j] = x * (1 + nudge)
			}
			if upper := r.certified(); upper < v.res.Upper*slack {
				v.res.Upper, slack = upper, 1
				copy(v.res.M, r.m)
			}
		}
		if !slices.ContainsFunc(v.m, func(x float64) bool { return x > 0 && x < least }) {
			break
		}
		slack = 1 + sparseTol
	}
	copy(r.m, v.res.M)
	r.appraise(&v.res)
}

func (v *solver) interrupted() error {
	if v.ctx.Err() != nil {
		return wpmerr.Ended(v.ctx)
	}
	if v.res.Stats.Evaluations >= v.p.settings.MaxEvaluations {
		return fmt.Errorf("limit of %d evaluations", v.p.settings.MaxEvaluations)
	}
	if v.res.Stats.Pivots >= v.p.settings.MaxPivots {
		return fmt.Errorf("limit of %d pivots", v.p.settings.MaxPivots)
	}
	return nil
}
