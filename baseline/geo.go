package baseline

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// NewGeoIndistinguishable returns geo-indistinguishability (Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS
// 2013) on a finite map: a place x is drawn from mu, and output y with a probability proportional to exp(-t d(x, y)).
// Its own promise is a ratio that grows with the distance of two places. To be compared at the same eps, t is here the
// largest found for which the ratio of any two places is at most e^eps: bisection ends at a relative 1e-6, on the
// private side.
//
// For users at one place each it is also the exponential mechanism at its true eps. [Exponential] has t from a bound on
// the loss, and often loses far less than the eps that it is given: half of it on a grid of 20 x 20 cells.
//
// d holds the distances, k x kv. Cost: O(k kv) some thirty times, and the memory for the rows. Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrEpsilon, and ErrNotConverged if ctx ends, after which no more than 16 rows are read.
func NewGeoIndistinguishable(ctx context.Context, d cost.Matrix, eps float64) (Sampler, error) {
	e, err := NewExponential(ctx, d, eps)
	if err != nil {
		return nil, err
	}
	var rows [][]float64
	holds := func(strength float64) bool { // false also after the end of ctx
		e.eps = strength
		var try [][]float64
		if try, err = e.Channel(ctx); err != nil || Loss(try) > eps {
			return false
		}
		rows = try
		return true
	}
	lo, hi := 0.0, eps // the loss of the exponential mechanism is at most what it is given
	for hi > 0 && hi <= MaxEpsilon && holds(hi) {
		lo, hi = hi, 2*hi
	}
	if rows == nil { // eps 0, or a rounding
		e.eps = 0
		rows, err = e.Channel(ctx)
	}
	for err == nil && hi <= MaxEpsilon && hi-lo > 1e-6*hi {
		if mid := lo + (hi-lo)/2; holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if err != nil {
		return nil, err
	}
	m := make([]float64, e.kv)
	for j := range m {
		least := 1.0
		for _, row := range rows {
			least = min(least, row[j])
		}
		m[j] = math.Exp(eps/2) * least
	}
	return &rule{e.k, m, func(mu []float64) ([]float64, error) {
		sum, err := checkDistribution("mu", mu, e.k)
		if err != nil {
			return nil, err
		}
		q := make([]float64, e.kv)
		for i, w := range mu {
			if w == 0 {
				continue
			}
			for j, x := range rows[i] {
				q[j] += w / sum * x
			}
		}
		return q, nil
	}}, nil
}

// Loss returns the largest log(rows_ij / rows_i'j) of a rule on Dirac inputs, to a few roundings: the eps that the rows
// really have. It is 0 without rows, and +Inf where an output has probability 0 from one input and not from another.
func Loss(rows [][]float64) float64 {
	loss := 0.0
	if len(rows) == 0 {
		return 0
	}
	for j := range rows[0] {
		least, most := math.Inf(1), 0.0
		for _, row := range rows {
			least, most = min(least, row[j]), max(most, row[j])
		}
		if most > 0 {
			loss = max(loss, math.Log(most/least))
		}
	}
	return loss
}
