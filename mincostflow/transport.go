package mincostflow

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
)

// Transport solves plain optimal transport: it moves the distribution a on the rows of c to the
// distribution b on its columns at least cost. Both are taken as exact rationals over their sums,
// which must be within 1e-9 of 1. Result.Q is b / sum b, rounded. Check it with VerifyTransport.
func Transport(ctx context.Context, c cost.Matrix, a, b []float64) (Result, error) {
	in, err := newTransport(c, a, b)
	if err != nil {
		return Result{}, err
	}
	return solve(ctx, in, Settings{})
}

func newTransport(c cost.Matrix, a, b []float64) (*instance, error) {
	in, err := newSource(c, a, nil)
	if err != nil {
		return nil, err
	}
	if len(b) != in.kv {
		return nil, fmt.Errorf("%w: Target has %d entries, want %d", ErrShape, len(b), in.kv)
	}
	if _, err := checkMass("Target", b); err != nil {
		return nil, err
	}
	in.setPoint(b)
	return in, nil
}
