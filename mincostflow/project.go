package mincostflow

import (
	"context"
	"fmt"
)

// Project moves p.Source into the box [p.Lo, p.Hi] at least cost:
//
//	minimise    sum_ij C_ij P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  q_j = sum_i P_ij,  Lo_j <= q_j <= Hi_j.
//
// The result holds the projection q, a plan, and dual potentials, with bounds that Verify can
// recompute exactly. See the package comment for what is guaranteed and what it costs.
//
// Bad input is one of the errors of this package, and the Result is then empty. ErrNotConverged
// (the context ended or Settings.MaxPivots was reached) comes with a feasible Result whose
// bounds hold.
func Project(ctx context.Context, p Problem, settings Settings) (Result, error) {
	in, err := newInstance(p)
	if err != nil {
		return Result{}, err
	}
	return solve(ctx, in, settings)
}

// solve solves a validated instance.
func solve(ctx context.Context, in *instance, settings Settings) (Result, error) {
	settings, err := settings.resolve(in.k + in.kv)
	if err != nil {
		return Result{}, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var s solver
	if err := s.load(in); err != nil {
		return Result{}, err
	}
	var a answer
	if settings.Method == Auto && len(in.rows) == 1 {
		a = s.knapsack()
		if ctx.Err() != nil {
			a.status = Cancelled // as promised for every instance, though there was no need
		}
	} else {
		a = s.simplex(ctx, settings)
	}
	r, err := s.result(a, settings)
	if err != nil {
		return Result{}, err
	}
	switch r.Status {
	case PivotLimit:
		err = fmt.Errorf("%w: MaxPivots = %d reached, gap %.3g", ErrNotConverged, settings.MaxPivots, r.Gap())
	case Cancelled:
		err = fmt.Errorf("%w: %w after %d pivots, gap %.3g", ErrNotConverged, ctx.Err(), r.Stats.Pivots, r.Gap())
	}
	return r, err
}
