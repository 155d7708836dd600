package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Project moves p.Source into the box [p.Lo, p.Hi] at least cost:
//
//	minimise    sum_ij C_ij P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  q_j = sum_i P_ij,  Lo_j <= q_j <= Hi_j.
//
// The result holds the projection q, a plan, and dual potentials, with bounds that Verify can
// recompute exactly. See the package comment for what is guaranteed and what it costs.
//
// Bad input gives one of the errors of wpmerr and an empty Result. ErrNotConverged (the context ended) comes with
// a feasible Result whose bounds hold. Once the context has ended, every processor reads at most 32 more rows of the
// cost. So Result.Plan may then move less than all mass, and Upper charges the missing mass at the largest cost.
func Project(ctx context.Context, p projection.Problem, settings Settings) (Result, error) {
	s := solvers.Get().(*solver)
	defer s.release()
	if err := s.in.set(p); err != nil {
		return Result{}, err
	}
	return s.solve(ctx, settings)
}

// solvers keeps workspaces.
var solvers = sync.Pool{New: func() any { return new(solver) }}

// release puts s back without anything of the caller's.
func (s *solver) release() {
	s.forget()
	solvers.Put(s)
}

// solve solves the instance s.in.
func (s *solver) solve(ctx context.Context, settings Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	var r Result
	err := s.load(ctx, nil, settings.Memory)
	if err == nil {
		err = s.run(ctx, settings, &r)
	} else if errors.Is(err, wpmerr.ErrNotConverged) {
		s.unread(&r)
	}
	if err != nil && r.Status != Cancelled {
		return Result{}, err
	}
	return r, err
}

// run solves the loaded instance. Errors: those of finish.
func (s *solver) run(ctx context.Context, settings Settings, r *Result) error {
	var a answer
	switch {
	case s.in.tall():
		var err error
		if a, err = s.turned(ctx); err != nil {
			return err
		}
	case len(s.in.Rows) == 1:
		s.sx.Watch(context.Background())
		a = s.knapsack()
		s.bound(&a) // reads that row again
		s.sx.Watch(ctx)
		if ctx.Err() != nil {
			a.status = Cancelled // as promised for every instance, though there was no need
		}
	default:
		a = s.simplex(ctx)
	}
	return s.finish(ctx, a, settings, r)
}

// finish fills in r. If that is an error other than ErrNotConverged, r is emptied.
func (s *solver) finish(ctx context.Context, a answer, settings Settings, r *Result) error {
	if err := s.fillResult(r, a, settings); err != nil {
		r.empty()
		return err
	}
	if r.Status == Cancelled {
		return fmt.Errorf("%w after %d pivots, gap %.3g", wpmerr.Ended(ctx), r.Stats.Pivots, r.Gap())
	}
	return nil
}
