package kl

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Project returns the distribution q in the box that is closest to s = exp(logS) in the Kullback-Leibler divergence
// KL(q || s), and a multiplier theta with
//
//	q_j = min(max(e^theta s_j, lo_j), hi_j),  sum_j q_j = 1.
//
// s need not have mass 1, and only differences of logS matter for q. q is in the box to the last bit, and its exact sum
// is 1 up to n * 2^-52. The time is O(n log n) on average.
//
// If every column is at a bound, every theta of an interval is a solution, and one of them is returned. It is finite,
// except if the lower bounds leave no mass to a column with lo_j = 0 < s_j: then it is -Inf. Columns with s_j = 0
// (logS = -Inf) stay at lo_j, unless the upper bounds sum to 1.
//
// Errors are those of package projection: ErrShape, ErrNotFinite (NaN or +Inf in logS, anything not finite in the
// bounds), ErrNegative, ErrBox, ErrInfeasible (no distribution in the box, or none with a finite divergence). Bounds
// that miss mass 1 by at most 1e-12 are taken as the point that they describe, scaled.
func Project(logS, lo, hi []float64) (q []float64, theta float64, err error) {
	n := len(logS)
	var b projection.Box
	if err := b.Set(n, lo, hi); err != nil {
		return nil, 0, err
	}
	for j, x := range logS {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return nil, 0, fmt.Errorf("%w: logS[%d] = %v", wpmerr.ErrNotFinite, j, x)
		}
	}
	q = make([]float64, n)
	lo = b.Lo
	if b.Full < 0 { // the upper bounds are the answer, whatever s reaches
		lo = slices.Clone(lo)
		for j, x := range logS {
			if math.IsInf(x, -1) {
				lo[j] = b.Hi[j]
			}
		}
	}
	var w Workspace
	theta, ok := w.Project(logS, lo, b.Hi, q)
	if !ok {
		return nil, 0, fmt.Errorf("%w: the columns with logS > -Inf cannot hold the mass", wpmerr.ErrInfeasible)
	}
	return q, theta, nil
}
