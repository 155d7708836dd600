package certificate

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

var transportKind = kindSpec{
	kind: Transport, private: true, cost: true,
	bounds: "the cost W_p^p of moving source to target",
	empty:  func() body { return new(transport) },
}

type transport struct {
	Problem  transportProblem
	Evidence flowEvidence
}

type transportProblem struct {
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
	Cost    digest `json:"cost_sha256"`
	Source  masses `json:"source"`
	Target  masses `json:"target"`
}

// NewTransport returns the certificate of r, which must pass mincostflow.VerifyTransport for c, a, b. The
// certificate is as private as the more private of a and b.
//
// Errors: ErrEvidence with the error of mincostflow.VerifyTransport, ErrCost, ErrLimit; wpmerr.ErrNotConverged if ctx ends.
func NewTransport(ctx context.Context, c cost.Matrix, a, b []float64, r mincostflow.Result) (Certificate, error) {
	upper, lower, err := mincostflow.VerifyTransport(ctx, c, a, b, r)
	if errors.Is(err, wpmerr.ErrNotConverged) {
		return Certificate{}, err
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	k, kv := c.Dims()
	t := &transport{
		Problem:  transportProblem{Inputs: k, Outputs: kv, Source: newMasses(a, nil), Target: newMasses(b, nil)},
		Evidence: newFlowEvidence(r),
	}
	return build(ctx, &transportKind, t, c, lower, upper)
}

func (t *transport) problem() any      { return &t.Problem }
func (t *transport) evidence() any     { return &t.Evidence }
func (t *transport) dims() (k, kv int) { return t.Problem.Inputs, t.Problem.Outputs }
func (t *transport) costHash() *digest { return &t.Problem.Cost }

func (t *transport) check() error {
	p := &t.Problem
	if err := checkSizes(p.Inputs, p.Outputs); err != nil {
		return err
	}
	if err := p.Source.check("source", p.Inputs); err != nil {
		return err
	}
	if err := p.Target.check("target", p.Outputs); err != nil {
		return err
	}
	return t.Evidence.check(p.Inputs, p.Outputs)
}

func (t *transport) bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	a, b := t.Problem.Source.dense(t.Problem.Inputs), t.Problem.Target.dense(t.Problem.Outputs)
	upper, lower, err = mincostflow.VerifyTransport(ctx, c, a, b, t.Evidence.result())
	return lower, upper, err
}
