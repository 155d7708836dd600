package certificate

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/projection"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

var projectionKind = kindSpec{
	kind: Projection, private: true, cost: true,
	bounds: "the cost W_p^p of the best point of the box; upper also that of q",
	empty:  func() body { return new(projected) },
}

type projected struct {
	Problem  projectionProblem
	Evidence flowEvidence
}

type projectionProblem struct {
	Inputs  int     `json:"inputs"`
	Outputs int     `json:"outputs"`
	Cost    digest  `json:"cost_sha256"`
	Mu      masses  `json:"mu"`
	Lo      numbers `json:"lo"`
	Hi      numbers `json:"hi"`
}

// flowEvidence proves the upper bound by q and the plan, the lower one by the potentials.
type flowEvidence struct {
	Objective number  `json:"objective"` // cost of the plan, rounded
	Q         numbers `json:"q"`
	Plan      plan    `json:"plan"`
	F         numbers `json:"f"`
	G         numbers `json:"g"`
}

// NewProjection returns the certificate of r, which must pass mincostflow.Verify for p. The stated bounds are
// the exact ones that Verify proves. The certificate is as private as p.Source.
//
// Errors: ErrEvidence with the error of mincostflow.Verify, ErrCost, ErrLimit; wpmerr.ErrNotConverged if ctx ends.
func NewProjection(ctx context.Context, p projection.Problem, r mincostflow.Result) (Certificate, error) {
	upper, lower, err := mincostflow.Verify(ctx, p, r)
	if errors.Is(err, wpmerr.ErrNotConverged) {
		return Certificate{}, err
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	k, kv := p.Cost.Dims()
	b := &projected{
		Problem:  projectionProblem{Inputs: k, Outputs: kv, Mu: newMasses(p.Source, p.Support), Lo: p.Lo, Hi: p.Hi},
		Evidence: newFlowEvidence(r),
	}
	return build(ctx, &projectionKind, b, p.Cost, lower, upper)
}

func newFlowEvidence(r mincostflow.Result) flowEvidence {
	return flowEvidence{
		Objective: number(r.Objective), Q: r.Q, Plan: r.Plan, F: r.Potentials.F, G: r.Potentials.G,
	}
}

func (e flowEvidence) check(k, kv int) error {
	if err := checkLength("q", e.Q, kv); err != nil {
		return err
	}
	if err := checkLength("f", e.F, k); err != nil {
		return err
	}
	return checkLength("g", e.G, kv)
}

// result makes the evidence a Result that claims as little as a Result can: the claims are compared here.
func (e flowEvidence) result() mincostflow.Result {
	return mincostflow.Result{
		Q: e.Q, Plan: e.Plan, Potentials: projection.Potentials{F: e.F, G: e.G},
		Objective: float64(e.Objective), Lower: 0, Upper: math.MaxFloat64,
	}
}

func (b *projected) problem() any      { return &b.Problem }
func (b *projected) evidence() any     { return &b.Evidence }
func (b *projected) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Outputs }
func (b *projected) costHash() *digest { return &b.Problem.Cost }

func (b *projected) check() error {
	if err := b.Problem.check(); err != nil {
		return err
	}
	return b.Evidence.check(b.Problem.Inputs, b.Problem.Outputs)
}

func (p *projectionProblem) check() error {
	if err := checkSizes(p.Inputs, p.Outputs); err != nil {
		return err
	}
	if err := p.Mu.check("mu", p.Inputs); err != nil {
		return err
	}
	if err := checkLength("lo", p.Lo, p.Outputs); err != nil {
		return err
	}
	return checkLength("hi", p.Hi, p.Outputs)
}

func (b *projected) bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	p := projection.Problem{Cost: c, Source: b.Problem.Mu.Weight, Support: b.Problem.Mu.Index, Lo: b.Problem.Lo,
		Hi: b.Problem.Hi}
	upper, lower, err = mincostflow.Verify(ctx, p, b.Evidence.result())
	return lower, upper, err
}
