package atlas

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/estimate"
)

// The estimators, by the names that commands and machines use.
const (
	Map = "map"
	EM  = "em"
	MLE = "mle"
	Raw = "raw"
)

// Estimators lists them in words.
const Estimators = "map, em, mle or raw"

// Known reports whether there is an estimator of that name.
func Known(name string) bool {
	switch name {
	case Map, EM, MLE, Raw:
		return true
	}
	return false
}

// Reading is what the counts say.
type Reading struct {
	Estimator string    // of Map
	Map       []float64 // k shares; nil if the releases are of other points than the inputs
	Guess     []float64 // k shares: what one would say without a release
	Raw       []float64 // kv shares: the releases as they are

	Models []estimate.Model // of the estimator map
	Signal *estimate.Signal // the same
	Gap    *float64         // of mle
	// Iterations of mle.
	Iterations int
}

// Default returns the estimator for a world: map, or em if there are no distances.
func (w World) Default() string {
	if w.Geometry == nil {
		return EM
	}
	return Map
}

// Problem is the problem of these counts and a public prior, nil for a uniform one.
func (w World) Problem(counts []uint64, prior []float64) estimate.Problem {
	return estimate.Problem{Counts: counts, Channel: w.Channel, Prior: prior, Geometry: w.Geometry}
}

// Read runs an estimator, "" for the default. The errors are ErrEstimator, those of package estimate and of ctx, and,
// for raw, ErrOutputs.
func (w World) Read(ctx context.Context, p estimate.Problem, estimator string,
	progress func(done, total int)) (r Reading, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil { // in place of a result that did not converge
			err = ctx.Err()
		}
	}()
	if estimator == "" {
		estimator = w.Default()
	}
	r.Estimator = estimator
	k, _ := w.Channel.Dims()
	if r.Guess, err = estimate.Guess(p.Prior, k); err != nil {
		return r, err
	}
	if r.Raw, err = estimate.Raw(p.Counts); err != nil {
		return r, err
	}
	switch estimator {
	case Map:
		if w.Geometry == nil {
			return r, w.NoGeometry
		}
		res, err := estimate.Map(ctx, p, estimate.Settings{Progress: progress})
		if err != nil {
			return r, err
		}
		r.Map, r.Models, r.Signal = res.Theta, res.Models, &res.Signal
	case EM:
		res, err := estimate.EM(ctx, p)
		if err != nil {
			return r, err
		}
		r.Map = res.Theta
	case MLE:
		res, err := estimate.MLE(ctx, p, 0)
		if err != nil && (!errors.Is(err, estimate.ErrNotConverged) || ctx.Err() != nil) {
			return r, err
		}
		r.Map, r.Gap, r.Iterations = res.Theta, &res.Gap, res.Iterations
	case Raw:
		if !w.Same {
			return r, ErrOutputs
		}
		r.Map = r.Raw
	default:
		return r, fmt.Errorf("%w: %q is not %s", ErrEstimator, estimator, Estimators)
	}
	return r, nil
}
