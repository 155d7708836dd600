package wpm

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
)

// DefaultBits is the B of a mechanism whose Options do not say: probabilities are multiples of 2^-62,
// finer than float64 near 1, and all sums fit in 63 bits.
const DefaultBits = 62

// Solver names the method that finds the projection.
type Solver int

const (
	// Auto is the best there is: today the exact network simplex.
	Auto Solver = iota
	// Exact is the network simplex of package mincostflow.
	Exact
)

// String returns the name that the command's flags use.
func (s Solver) String() string {
	switch s {
	case Auto:
		return "auto"
	case Exact:
		return "exact"
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
	case Exact:
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
	return &Mechanism{cost: c, k: k, kv: kv, box: &own, lo: lo, hi: hi, opt: opt}, nil
}

// Uniform designs the mechanism with the uniform base measure at its exact best scale (worst case over
// all inputs). The Result holds the certified worst case and a lower bound that no ε-LDP mechanism beats.
func Uniform(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, opt Options) (*Mechanism, basemeasure.Result, error) {
	base, err := basemeasure.Uniform(ctx, c, eps.Float64(), basemeasure.Settings{})
	if err != nil {
		return nil, base, err
	}
	m, err := New(c, base.M, eps, opt)
	return m, base, err
}

// Load builds the mechanism that a policy publishes. The policy must carry its cost (a cost.Spec).
//
// Errors: ErrShape when the policy has no cost, or one for another number of inputs; those of cost and
// FromPolytope.
func Load(p policy.Policy, opt Options) (*Mechanism, error) {
	if len(p.Cost()) == 0 {
		return nil, fmt.Errorf("%w: the policy carries no cost", ErrShape)
	}
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return nil, err
	}
	c, err := spec.Build()
	if err != nil {
		return nil, err
	}
	if k, _ := c.Dims(); k != p.Inputs() {
		return nil, fmt.Errorf("%w: the cost has %d rows, the policy %d inputs", ErrShape, k, p.Inputs())
	}
	return FromPolytope(c, p.Polytope(), opt)
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

// Project finds the point of the box nearest to mu (length k, |sum - 1| <= 1e-9).
//
// If the context ends first, it returns the best feasible Projection with its valid bounds and an error
// that wraps mincostflow.ErrNotConverged. Other errors come with the zero Projection: ErrShape and those
// of mincostflow.Project.
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
	p := mincostflow.Problem{Cost: m.cost, Source: mass, Support: support, Lo: m.lo, Hi: m.hi}
	var res mincostflow.Result
	var err error
	switch m.opt.Solver {
	case Exact:
		// The potentials of points without mass prove nothing, and cost a sweep over all rows.
		res, err = mincostflow.Project(ctx, p, mincostflow.Settings{SupportOnly: true})
	default: // not possible: resolve has seen to it
		return Projection{}, fmt.Errorf("%w: Solver is %d", ErrOption, int(m.opt.Solver))
	}
	if err != nil && !errors.Is(err, mincostflow.ErrNotConverged) {
		return Projection{}, err
	}
	return Projection{&projection{res: res, weights: m.box.Round(res.Q)}}, err
}

// Projector returns the projection as the function that policy.Release takes. A projection stopped by
// its context still lies in the box and is returned without an error: it is the best there is in the time.
func (m *Mechanism) Projector() policy.ProjectFunc {
	return func(ctx context.Context, mu []float64) ([]float64, error) {
		pr, err := m.Project(ctx, mu)
		if err != nil && !errors.Is(err, mincostflow.ErrNotConverged) {
			return nil, err
		}
		return pr.Q(), nil
	}
}
