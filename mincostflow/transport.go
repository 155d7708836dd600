package mincostflow

import (
	"context"
	"slices"

	"github.com/wpm-go/wpm/cost"
)

// Transport solves plain optimal transport: it moves the distribution source on the rows of c to the distribution target on
// its columns at least cost. Each may be in a unit of its own (finite, >= 0, not all zero): they are taken as the exact
// rationals source / sum source and target / sum target. Nil is uniform. Result.Q is target / sum target, rounded. Check
// it with VerifyTransport. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass; ErrNotConverged if ctx ends first, with a
// Result whose bounds hold if there is one.
func Transport(ctx context.Context, c cost.Matrix, source, target []float64) (Result, error) {
	s := solvers.Get().(*solver)
	defer s.release()
	if err := s.in.setTransport(c, source, target); err != nil {
		return Result{}, err
	}
	return s.solve(ctx, Settings{})
}

// setTransport validates a problem of plain transport.
func (in *instance) setTransport(c cost.Matrix, source, target []float64) error {
	if err := in.setCost(c); err != nil {
		return err
	}
	return in.setMasses(source, target)
}

// setMasses validates the masses of a problem of plain transport.
func (in *instance) setMasses(source, target []float64) error {
	if source == nil {
		source = slices.Repeat([]float64{1}, in.K)
	}
	in.source = source
	if err := in.setSource(source, nil); err != nil {
		return err
	}
	if target == nil {
		target = slices.Repeat([]float64{1}, in.Kv)
	}
	if err := in.SetTarget(in.Kv, target); err != nil {
		return err
	}
	in.measure()
	return nil
}
