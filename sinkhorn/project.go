package sinkhorn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/wpmerr"
)

// Project finds the distribution q in the box and the plan P from the source to q that minimise
// <C, P> + Reg sum P log P, with bounds on the problem without the entropy. See Settings for when it
// stops, and Result for what it returns.
//
// The errors are those of this package. With ErrNotConverged comes the best Result so far, feasible and
// with valid bounds.
func Project(ctx context.Context, p Problem, s Settings) (Result, error) {
	choose := p.Reg == 0 && s.Gap > 0
	if choose {
		p.Reg = 1 // until the costs are known
	}
	in, err := newInstance(p)
	if err != nil {
		return Result{}, err
	}
	in.choose = choose
	set, err := s.resolve(in)
	if err != nil {
		return Result{}, err
	}
	ctx = wpmerr.Context(ctx)
	if g := in.separable(set); g != nil {
		return in.grid(ctx, g, set)
	}
	c, err := load(ctx, in)
	if err != nil {
		return Result{}, err
	}
	if c.cut() {
		r := Result{Settings: set}
		in.unfinished(&r, math.MaxFloat64, nil)
		return r, r.err(ctx)
	}
	solve := c.fast
	if set.Method == Paper {
		solve = c.paper
	}
	var start []float64
	if set.Initial != nil {
		start = in.compact(set.Initial)
	}
	r, b := solve(set, start)
	return in.finish(ctx, c, r, b)
}

// finish makes the Result of a run, given what its last iterate proves.
func (in *instance) finish(ctx context.Context, c *core, r Result, b *certificate) (Result, error) {
	if c.cut() {
		in.unfinished(&r, c.top, b.q)
	} else if err := in.complete(ctx, c, &r, b); err != nil {
		return Result{}, err
	}
	return r, r.err(ctx)
}

// unfinished makes r the result of a call whose context has ended before there was anything to prove: a point of the
// box, the last q if there is one, with bounds that hold for every plan, most being the largest cost. LogV is -Inf
// throughout, which stands for a plan that moves nothing.
func (in *instance) unfinished(r *Result, most float64, q []float64) {
	r.Status, r.Reg = Cancelled, in.reg
	r.Q = slices.Clone(in.Lo)
	if in.Full == 0 {
		var low, room float64 // a column holds 1 at most
		for j, l := range in.Lo {
			low += l
			room += min(in.Hi[j], 1) - l
		}
		for j, h := range in.Hi {
			r.Q[j] += (min(h, 1) - in.Lo[j]) * ((1 - low) / room)
		}
		if num.Sum(q) > 0.5 {
			for n, x := range q {
				r.Q[in.col(n)] = x
			}
		}
		for j, x := range r.Q {
			r.Q[j] = max(in.Lo[j], min(x, in.Hi[j]))
		}
		kl.Repair(r.Q, in.Lo, in.Hi)
	}
	r.LogV = in.everywhere(nil, math.Inf(-1))
	r.Potentials = projection.Potentials{F: make([]float64, in.K), G: make([]float64, in.Kv)}
	r.Transport, r.Objective, r.Residual = 0, 0, num.Sum(r.Q)
	r.Lower, r.Upper, r.Posterior = 0, most, most
}

// err is the error that belongs to the status.
func (r *Result) err(ctx context.Context) error {
	switch r.Status {
	case Converged:
		return nil
	case Cancelled:
		return fmt.Errorf("%w after %d iterations, residual %.3g", wpmerr.Ended(ctx), r.Iterations, r.Residual)
	case IterationLimit:
		return fmt.Errorf("%w: %d iterations, residual %.3g", wpmerr.ErrNotConverged, r.Iterations, r.Residual)
	case RegLimit:
		return fmt.Errorf("%w: Reg = %v is too large for a relative gap of %v: %.3g after %d iterations, residual %.3g",
			wpmerr.ErrNotConverged, r.Reg, r.Settings.Gap, r.Gap()/r.Upper, r.Iterations, r.Residual)
	}
	return fmt.Errorf("%w: no further progress after %d iterations, residual %.3g, relative gap %.3g", wpmerr.ErrNotConverged,
		r.Iterations, r.Residual, r.Gap()/r.Upper)
}
