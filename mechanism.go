package wpm

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sinkhorn"
)

// DefaultBits is the B of a mechanism whose Options do not say: probabilities are multiples of 2^-62,
// finer than float64 near 1, and all sums fit in 63 bits.
const DefaultBits = 62

// Solver names the method that finds the projection.
type Solver int

const (
	// Auto is Exact, the faster of the two on few points and on most inputs.
	Auto Solver = iota
	// Exact is the network simplex of package mincostflow.
	Exact
	// Entropic is package sinkhorn: a projection whose proved relative gap is at most EntropicGap where the
	// method gets there, and the entropic projection at EntropicReg times the range of the cost where not.
	Entropic
)

// What Entropic asks for.
const (
	EntropicGap = 1e-2
	EntropicReg = 1e-3
)

// Solvers lists the names that ParseSolver takes.
const Solvers = "auto, exact or entropic"

// ParseSolver returns the solver of that name (see String), or ErrOption.
func ParseSolver(name string) (Solver, error) {
	for s := Auto; s <= Entropic; s++ {
		if name == s.String() {
			return s, nil
		}
	}
	return 0, fmt.Errorf("%w: solver %q, want %s", ErrOption, name, Solvers)
}

// String returns the name that the command's flags use.
func (s Solver) String() string {
	switch s {
	case Auto:
		return "auto"
	case Exact:
		return "exact"
	case Entropic:
		return "entropic"
	}
	return fmt.Sprintf("Solver(%d)", int(s))
}

// Options are the choices of a mechanism that are not its definition. The zero value is the default.
type Options struct {
	// Bits is B: weights are integers that sum to 2^B. 0 means DefaultBits; else 1 to 62.
	Bits int
	// Solver finds the projections.
	Solver Solver
}

func (o Options) resolve() (Options, error) {
	if o.Bits == 0 {
		o.Bits = DefaultBits
	}
	switch o.Solver {
	case Auto:
		o.Solver = Exact
	case Exact, Entropic:
	default:
		return o, fmt.Errorf("%w: Solver is %d", ErrOption, int(o.Solver))
	}
	return o, nil
}

// Mechanism is a Wasserstein projection mechanism: a cost C (k inputs, kv outputs), an integer box and
// a solver. It is immutable and safe for concurrent use.
type Mechanism struct {
	cost   cost.Matrix
	k, kv  int
	box    *ldp.Polytope
	lo, hi []float64 // the box in floats, for the solver only
	opt    Options
	// For Entropic: the regularisation, and what serves many distributions, unless the cost is too large to hold.
	reg  float64
	many *sinkhorn.Projector
}

// New builds the mechanism with base measure m (length kv, e^(-ε/2) <= sum m <= e^(ε/2)) and privacy
// level eps. The cost is kept, not copied: it must not change afterwards.
//
// Errors: those of cost.Validate, ErrShape, ErrOption, and those of ldp.NewPolytope (ldp.ErrInfeasible
// when the mass of m leaves no distribution in the box).
func New(c cost.Matrix, m []float64, eps ldp.Epsilon, opt Options) (*Mechanism, error) {
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	box, err := ldp.NewPolytope(eps, m, opt.Bits)
	if err != nil {
		return nil, err
	}
	return FromPolytope(c, box, opt)
}

// FromPolytope builds a mechanism around an integer box that exists already, as in a published policy.
// Options.Bits is ignored: the box has its own. A box that does not pass its Verify is refused.
func FromPolytope(c cost.Matrix, box *ldp.Polytope, opt Options) (*Mechanism, error) {
	if box == nil {
		return nil, fmt.Errorf("%w: the box is nil", ErrShape)
	}
	opt.Bits = box.Bits()
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	if err := cost.Validate(c); err != nil {
		return nil, err
	}
	k, kv := c.Dims()
	if err := box.Verify(); err != nil {
		return nil, err
	}
	if kv != box.Len() {
		return nil, fmt.Errorf("%w: the cost has %d columns, the base measure %d entries", ErrShape, kv, box.Len())
	}
	own := *box // through a shared pointer the caller could replace the whole box
	lo, hi := own.Bounds()
	m := &Mechanism{cost: c, k: k, kv: kv, box: &own, lo: lo, hi: hi, opt: opt}
	if opt.Solver == Entropic {
		if err := m.prepareEntropic(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// entropicSettings are the settings of the entropic solver.
var entropicSettings = sinkhorn.Settings{Gap: EntropicGap, SupportOnly: true}

// heldCells is the number of entries up to which Entropic holds a cost in memory that is not there already: half a gigabyte.
const heldCells = 1 << 26

// On a grid too large to hold, distributions on few points are solved without its structure, and the fewer levels of
// annealing the better; their projections are far apart, and a Reg of 1e-5 is a thousandth of their cost.
const (
	fewPoints = 64
	fewReg    = 1e-5
)

// prepareEntropic sets up the entropic solver.
func (m *Mechanism) prepareEntropic() error {
	_, dense := m.cost.(*cost.Dense)
	grid, ok := m.cost.(*cost.Grid)
	if held := dense || m.kv <= heldCells/m.k; !held && ok && grid.P() == 2 {
		// The range would take a sweep over all pairs. Half a cell, squared, is what the method for grids needs.
		rows, cols := grid.Size()
		h := 1 / float64(max(rows, cols))
		m.reg = h * h / 4
		return nil
	} else if !held {
		var err error
		m.reg, err = sinkhorn.RelativeReg(m.cost, EntropicReg)
		return err
	}
	var err error
	if m.reg, err = sinkhorn.RelativeReg(m.cost, EntropicReg); err != nil {
		m.reg = 1 // all costs are zero, and any will do
	}
	m.many, err = sinkhorn.NewProjector(m.cost, m.lo, m.hi, m.reg, entropicSettings)
	return err
}

// Load builds the mechanism that a policy publishes. The policy must carry its cost (a cost.Spec).
//
// Errors: ErrShape when the policy has no cost, or one for another number of inputs; those of cost and
// FromPolytope.
func Load(p policy.Policy, opt Options) (*Mechanism, error) {
	c, err := costOf(p)
	if err != nil {
		return nil, err
	}
	return FromPolytope(c, p.Polytope(), opt)
}

// CheckCost decides whether Load would find a cost in the policy: one that a cost.Spec describes, within the limits of
// package cost, and of the policy's size. A mixture policy may also have none. The errors are those of Load. It takes
// the time to read the cost, and no more.
func CheckCost(p policy.Policy) error {
	if len(p.Cost()) == 0 && p.Mode() == policy.Mixture {
		return nil
	}
	_, err := costOf(p)
	return err
}

// costOf builds the cost that a policy carries.
func costOf(p policy.Policy) (cost.Matrix, error) {
	text := p.Cost()
	if len(text) == 0 {
		return nil, fmt.Errorf("%w: the policy carries no cost", ErrShape)
	}
	spec, err := cost.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	c, err := spec.Build()
	if err != nil {
		return nil, err
	}
	if k, kv := c.Dims(); k != p.Inputs() || kv != p.Outputs() {
		return nil, fmt.Errorf("%w: the cost is %d x %d, the policy %d x %d", ErrShape, k, kv, p.Inputs(), p.Outputs())
	}
	return c, nil
}

// Dims returns the numbers of inputs and outputs.
func (m *Mechanism) Dims() (k, kv int) { return m.k, m.kv }

// Cost returns the cost matrix. It must not be modified.
func (m *Mechanism) Cost() cost.Matrix { return m.cost }

// Polytope returns the integer box: the whole of the privacy guarantee. It is the caller's own.
func (m *Mechanism) Polytope() *ldp.Polytope {
	own := *m.box
	return &own
}

// Epsilon returns the privacy level.
func (m *Mechanism) Epsilon() ldp.Epsilon { return m.box.Epsilon() }

// Options returns the options in force, defaults resolved.
func (m *Mechanism) Options() Options { return m.opt }

// Project finds the point of the box nearest to mu: length k, finite masses >= 0 with a positive sum, such as counts. It is
// taken as mu / sum mu.
//
// If the context ends first, it returns the best feasible Projection with its valid bounds and an error
// that wraps mincostflow.ErrNotConverged or sinkhorn.ErrNotConverged (see Unfinished). Other errors come with
// the zero Projection: ErrShape and those of the solver.
func (m *Mechanism) Project(ctx context.Context, mu []float64) (Projection, error) {
	if len(mu) != m.k {
		return Projection{}, fmt.Errorf("%w: mu has %d entries, the cost %d rows", ErrShape, len(mu), m.k)
	}
	return m.project(ctx, mu, nil)
}

// ProjectSparse is Project for a distribution on few points: weight[n] is the mass of point support[n]
// (sorted, distinct). It costs len(support) * kv instead of k * kv.
func (m *Mechanism) ProjectSparse(ctx context.Context, support []int, weight []float64) (Projection, error) {
	if len(support) != len(weight) {
		return Projection{}, fmt.Errorf("%w: %d points with %d weights", ErrShape, len(support), len(weight))
	}
	if support == nil {
		support = []int{} // nil would mean a dense source
	}
	return m.project(ctx, weight, support)
}

func (m *Mechanism) project(ctx context.Context, mass []float64, support []int) (Projection, error) {
	var res mincostflow.Result
	var err error
	switch m.opt.Solver {
	case Exact:
		p := mincostflow.Problem{Cost: m.cost, Source: mass, Support: support, Lo: m.lo, Hi: m.hi}
		// The potentials of points without mass prove nothing, and cost a sweep over all rows.
		res, err = mincostflow.Project(ctx, p, mincostflow.Settings{SupportOnly: true})
	case Entropic:
		return m.entropic(ctx, mass, support)
	default: // not possible: resolve has seen to it
		return Projection{}, fmt.Errorf("%w: Solver is %d", ErrOption, int(m.opt.Solver))
	}
	if err != nil && !Unfinished(err) {
		return Projection{}, err
	}
	return Projection{&projection{
		q: res.Q, objective: res.Objective, upper: res.Upper, lower: res.Lower, exact: &res, weights: m.box.Round(res.Q),
	}}, err
}

func (m *Mechanism) entropic(ctx context.Context, mass []float64, support []int) (Projection, error) {
	var res sinkhorn.Result
	var err error
	if m.many != nil {
		err = m.many.Project(ctx, mass, support, &res)
	} else {
		p := sinkhorn.Problem{Cost: m.cost, Source: mass, Support: support, Lo: m.lo, Hi: m.hi, Reg: m.reg}
		points := 0
		for _, x := range mass {
			if x > 0 {
				points++
			}
		}
		if points <= fewPoints {
			p.Reg = max(p.Reg, fewReg)
		}
		res, err = sinkhorn.Project(ctx, p, entropicSettings)
	}
	if err != nil && !Unfinished(err) {
		return Projection{}, err
	}
	if res.Status == sinkhorn.Stalled {
		err = nil // this is the entropic projection, and its gap is what it is
	}
	return Projection{&projection{
		q: res.Q, objective: res.Transport, upper: res.Upper, lower: res.Lower, entropic: &res, weights: m.box.Round(res.Q),
	}}, err
}

// Unfinished reports whether err says that a projection was stopped early: it comes with one that is feasible.
func Unfinished(err error) bool {
	return errors.Is(err, mincostflow.ErrNotConverged) || errors.Is(err, sinkhorn.ErrNotConverged)
}

// Projector returns the projection as the function that policy.Release takes. A projection stopped by
// its context still lies in the box and is returned without an error: it is the best there is in the time.
func (m *Mechanism) Projector() policy.ProjectFunc {
	return func(ctx context.Context, mu []float64) ([]float64, error) {
		pr, err := m.Project(ctx, mu)
		if err != nil && !Unfinished(err) {
			return nil, err
		}
		return pr.Q(), nil
	}
}
