package sinkhorn

import (
	"context"
	"fmt"
)

// Project finds the distribution q in the box and the plan P from the source to q that minimise
// <C, P> + Reg sum P log P, with bounds on the problem without the entropy. See Settings for when it
// stops, and Result for what it returns.
//
// The errors are those of this package. With ErrNotConverged comes the best Result so far, feasible and
// with valid bounds.
func Project(ctx context.Context, p Problem, s Settings) (Result, error) {
	in, err := newInstance(p)
	if err != nil {
		return Result{}, err
	}
	set, err := s.resolve(in)
	if err != nil {
		return Result{}, err
	}
	if g := in.separable(set); g != nil {
		return in.grid(ctx, g, set)
	}
	c, err := load(in)
	if err != nil {
		return Result{}, err
	}
	var r *Result
	var b *bounds
	var it *iterate
	if set.Method == Paper {
		r, b, it = in.paper(ctx, c, set)
	} else {
		r, b, it = in.fast(ctx, c, set)
	}
	if err := in.complete(c, r, b, it); err != nil {
		return Result{}, err
	}
	return *r, r.err(ctx)
}

// err is the error that belongs to the status.
func (r *Result) err(ctx context.Context) error {
	switch r.Status {
	case Converged:
		return nil
	case Cancelled:
		return fmt.Errorf("%w after %d iterations, residual %.3g: %w", ErrNotConverged, r.Iterations, r.Residual, context.Cause(ctx))
	case IterationLimit:
		return fmt.Errorf("%w: %d iterations, residual %.3g", ErrNotConverged, r.Iterations, r.Residual)
	}
	return fmt.Errorf("%w: rounding allows no progress after %d iterations, residual %.3g, relative gap %.3g", ErrNotConverged, r.Iterations, r.Residual, r.Gap()/r.Upper)
}
