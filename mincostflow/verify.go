package mincostflow

import (
	"context"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/projection/verify"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify checks r against p and returns, in lowest terms, bounds that it has proved itself:
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper.
//
// The lower bound uses r.Potentials.G alone, and the upper bound r.Plan and r.Q: see package projection/verify, which
// does this in exact arithmetic and without code of the solver, for the argument.
//
// Verify also checks what r claims: that F and G are feasible as exact numbers, that Q is in the box and sums to 1 as
// documented, that the plan is well formed and leads from the source to Q (or does so in part, if Status is Cancelled),
// and that r.Lower and r.Upper do not promise more than the bounds above. An error wraps ErrCertificate and says what
// failed; a Problem that is itself invalid gives the errors of Project. If ctx ends, the error is ErrNotConverged, and no
// more rows are read.
//
// It takes one or two passes over the cost, and big-number operations for every row, column and entry of the plan.
func Verify(ctx context.Context, p projection.Problem, r Result) (upper, lower *big.Rat, err error) {
	c, err := verify.New(p, r.Q)
	if err != nil {
		return nil, nil, err
	}
	return r.proved(ctx, c)
}

// VerifyTransport is Verify for a Result of Transport. Errors: those of Verify.
func VerifyTransport(ctx context.Context, c cost.Matrix, source, target []float64, r Result) (
	upper, lower *big.Rat, err error) {
	v, err := verify.NewTransport(c, source, target, r.Q, r.Potentials)
	if err != nil {
		return nil, nil, err
	}
	return r.proved(ctx, v)
}

// proved returns the bounds that c proves with the evidence of r.
func (r *Result) proved(ctx context.Context, c *verify.Case) (upper, lower *big.Rat, err error) {
	c.Until(wpmerr.Context(ctx))
	if lower, err = c.Lower(r.Potentials); err != nil {
		return nil, nil, err
	}
	if upper, err = c.Plan(r.Plan, r.Objective, r.Status == Cancelled); err != nil {
		return nil, nil, err
	}
	if err := verify.Claims(r.Lower, r.Upper, lower, upper); err != nil {
		return nil, nil, err
	}
	return upper, lower, nil
}
