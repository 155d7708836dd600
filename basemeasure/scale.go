package basemeasure

import (
	"context"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// Uniform returns the uniform base measure of the best mass: the t that minimises f(t, ..., t).
//
// eps = 0 gives the uniform distribution. A cost that does not distinguish outputs gives mass 1. Pass a
// *knapsack.Table as c to sort the cost only once for several calls. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon, ErrSettings; ErrNotConverged, with the best Result so far and valid bounds,
// if ctx ends or MaxEvaluations is reached, and without a Result if ctx ends before more than 48 rows of costs are
// sorted.
func Uniform(ctx context.Context, c cost.Matrix, eps float64, settings Settings) (Result, error) {
	table, err := sorted(ctx, c)
	if err != nil {
		return Result{}, err
	}
	_, kv := table.Dims()
	return Shape(ctx, table, slices.Repeat([]float64{1}, kv), eps, settings)
}

// Shape returns the best multiple of the given measure, which may have zeros and any positive total: the
// multiple s that minimises f(s*shape). Errors as Uniform, and ErrMass for a shape that is zero.
func Shape(ctx context.Context, c cost.Matrix, shape []float64, eps float64, settings Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	p, settings, err := newProblem(ctx, c, eps, settings, false)
	if err != nil {
		return Result{}, err
	}
	if err := checkMeasure("shape", shape, p.kv); err != nil {
		return Result{}, err
	}
	r := p.search(shape, settings.MaxEvaluations)
	stop := r.run(ctx)
	r.choose()
	lower, err := r.prove(ctx, p.noProof())
	if stop == nil {
		stop = err
	}
	res := p.result(settings, r.m, r.upper, lower)
	res.Stats.Evaluations = r.count
	return p.finish(res, stop)
}
