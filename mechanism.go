package wpm

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	// ErrOption says that a field of Options or Objective has an invalid value.
	ErrOption = errors.New("wpm: bad option")
	// ErrLimit says that a size is too large.
	ErrLimit = errors.New("wpm: limit exceeded")
)

// DefaultBits is the B of a mechanism whose Options leave Bits at 0. Probabilities are multiples of 2^-62, finer than
// float64 near 1, and all sums fit in 63 bits.
const DefaultBits = 62

// Solver names the method that finds the projection.
type Solver int

const (
	// Auto stands for Exact, the faster of the two on few points and on most inputs.
	Auto Solver = iota
	// Exact is the network simplex of package mincostflow.
	Exact
	// Entropic is package sinkhorn. It gives a projection whose proved relative gap is at most EntropicGap if the method
	// reaches this gap, and otherwise the entropic projection at EntropicReg times the range of the cost.
	Entropic
)

// The goals of Entropic.
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

// ErrCodes says that a policy has a list of codes. Its outputs are sets of inputs, so it has no mechanism with a cost for
// each output, and no certificate of a worst case.
var ErrCodes = errors.New("wpm: the policy has codes, whose outputs are sets of inputs")

// Mechanism is a Wasserstein projection mechanism: a cost C (k inputs, kv outputs), an integer box and
// a solver. It is immutable and safe for concurrent use.
type Mechanism struct {
	cost   cost.Matrix
	k, kv  int
	box    *ldp.Polytope
	lo, hi []float64 // the box in floats, for the solver only
	opt    Options

	ranked *ranking.Rows // of a design whose cost has a ranking: its rows, as they will be published; else nil

	// What the solvers keep from one projection to the next.
	exact    exactSolver
	entropic *entropicSolver
}

// New builds the mechanism with base measure m (length kv, e^(-ε/2) <= sum m <= e^(ε/2)) and privacy
// level eps. The cost is kept, not copied: it must not change afterwards.
//
// Errors: those of cost.Validate, ErrShape, ErrOption, those of ldp.NewPolytope (ldp.ErrInfeasible when the mass of m
// leaves no distribution in the box), with Entropic wpmerr.ErrReg for a cost of next to no range, and
// wpmerr.ErrNotConverged if ctx ends while the cost is read.
func New(ctx context.Context, c cost.Matrix, m []float64, eps ldp.Epsilon, opt Options) (*Mechanism, error) {
	if err := cost.Validate(ctx, c); err != nil {
		return nil, err
	}
	return build(ctx, c, m, eps, opt)
}

// build is New for a cost that has been checked.
func build(ctx context.Context, c cost.Matrix, m []float64, eps ldp.Epsilon, opt Options) (*Mechanism, error) {
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	box, err := ldp.NewPolytope(eps, m, opt.Bits)
	if err != nil {
		return nil, err
	}
	return around(ctx, c, box, opt)
}

// FromPolytope builds a mechanism from an existing integer box, such as that of a published policy. Options.Bits is
// ignored: the box has its own. A box that does not pass its Verify is refused. Errors: ErrShape, those of
// cost.Validate, those of Verify of the box, and wpmerr.ErrNotConverged if ctx ends while the cost is read.
func FromPolytope(ctx context.Context, c cost.Matrix, box *ldp.Polytope, opt Options) (*Mechanism, error) {
	if box == nil {
		return nil, fmt.Errorf("%w: the box is nil", wpmerr.ErrShape)
	}
	if err := cost.Validate(ctx, c); err != nil {
		return nil, err
	}
	return around(ctx, c, box, opt)
}

// around is FromPolytope for a cost that has been checked.
func around(ctx context.Context, c cost.Matrix, box *ldp.Polytope, opt Options) (*Mechanism, error) {
	opt.Bits = box.Bits()
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	k, kv := c.Dims()
	if err := box.Verify(); err != nil {
		return nil, err
	}
	if kv != box.Len() {
		return nil, fmt.Errorf("%w: the cost has %d columns, the base measure %d entries", wpmerr.ErrShape, kv, box.Len())
	}
	own := *box // through a shared pointer the caller could replace the whole box
	lo, hi := own.Bounds()
	m := &Mechanism{cost: c, k: k, kv: kv, box: &own, lo: lo, hi: hi, opt: opt}
	if opt.Solver == Entropic {
		if m.entropic, err = newEntropicSolver(ctx, c, lo, hi); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Load builds the mechanism that a policy publishes. The policy must carry its cost (a cost.Spec).
//
// Errors: ErrCodes for a policy with codes, ErrShape when the policy has no cost, or one for another number of inputs;
// those of cost and FromPolytope.
func Load(ctx context.Context, p policy.Policy, opt Options) (*Mechanism, error) {
	if p.HasCodes() {
		return nil, ErrCodes
	}
	c, err := costOf(p)
	if err != nil {
		return nil, err
	}
	return FromPolytope(ctx, c, p.Polytope(), opt)
}

// CheckCost decides whether the policy has a usable cost: a cost that a cost.Spec describes, within the limits of package
// cost, and of the policy's size. With codes that is a cost between its inputs. A mixture policy may also have no cost.
// The errors are those of Load. CheckCost takes only the time to read the cost.
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
		return nil, fmt.Errorf("%w: the policy carries no cost", wpmerr.ErrShape)
	}
	spec, err := cost.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	c, err := spec.Build()
	if err != nil {
		return nil, err
	}
	outputs := p.Outputs()
	if p.HasCodes() {
		outputs = p.Inputs()
	}
	if k, kv := c.Dims(); k != p.Inputs() || kv != outputs {
		return nil, fmt.Errorf("%w: the cost is %d x %d, the policy %d x %d", wpmerr.ErrShape, k, kv, p.Inputs(), outputs)
	}
	return c, nil
}

// Dims returns the numbers of inputs and outputs.
func (m *Mechanism) Dims() (k, kv int) { return m.k, m.kv }

// Cost returns the cost matrix. It must not be modified.
func (m *Mechanism) Cost() cost.Matrix { return m.cost }

// Polytope returns a copy of the integer box, on which the privacy guarantee rests.
func (m *Mechanism) Polytope() *ldp.Polytope {
	own := *m.box
	return &own
}

// Epsilon returns the privacy level.
func (m *Mechanism) Epsilon() ldp.Epsilon { return m.box.Epsilon() }

// Options returns the options used, with defaults filled in.
func (m *Mechanism) Options() Options { return m.opt }
