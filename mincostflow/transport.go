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
	s := solvers.Get().(*solver)
	defer s.release()
	if err := s.own.setTransport(c, a, b); err != nil {
		return Result{}, err
	}
	return s.solve(ctx, Settings{})
}

// setTransport validates a problem of plain transport.
func (in *instance) setTransport(c cost.Matrix, a, b []float64) error {
	if err := in.setMatrix(c); err != nil {
		return err
	}
	if err := in.setSource(a, nil); err != nil {
		return err
	}
	if len(b) != in.kv {
		return fmt.Errorf("%w: Target has %d entries, want %d", ErrShape, len(b), in.kv)
	}
	if _, err := checkMass("Target", b); err != nil {
		return err
	}
	in.setPoint(b)
	return nil
}
