package sinkhorn

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// KLProject returns the distribution q in the box that is closest to s = exp(logS) in the
// Kullback-Leibler divergence KL(q || s), and a multiplier theta with
//
//	q_j = min(max(e^theta s_j, lo_j), hi_j),  sum_j q_j = 1.
//
// s need not have mass 1, and only differences of logS matter for q. It is found exactly: theta is
// bracketed between two neighbours among the 2 kv numbers log(lo_j/s_j), log(hi_j/s_j), which
// settles the columns at a bound, and then solved for, with no tolerance and no iteration that could
// stop early. q is in the box to the last bit, and its exact sum is 1 up to kv * 2^-52.
//
// When every column is at a bound, any theta of an interval will do, and one of them is returned, finite unless the
// lower bounds leave no mass to a column with lo_j = 0 < s_j: then it is -Inf. Columns with s_j = 0 (logS = -Inf)
// stay at lo_j. Errors are ErrShape, ErrNotFinite (NaN or +Inf in logS, anything not finite in the bounds),
// ErrNegative, ErrBox, ErrInfeasible (no distribution in the box, or none with a finite divergence). Bounds that miss
// mass 1 by at most 1e-12 are taken as the point that they describe, scaled. The time is O(kv) on average.
func KLProject(logS, lo, hi []float64) (q []float64, theta float64, err error) {
	if len(lo) != len(logS) || len(hi) != len(logS) {
		return nil, 0, fmt.Errorf("%w: logS has %d entries, lo %d and hi %d", ErrShape, len(logS), len(lo), len(hi))
	}
	for j, x := range logS {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return nil, 0, fmt.Errorf("%w: logS[%d] = %v", ErrNotFinite, j, x)
		}
	}
	in := &instance{kv: len(logS)}
	if err := in.setBox(lo, hi); err != nil {
		return nil, 0, err
	}
	q = make([]float64, in.kv)
	if in.point {
		lo, hi = in.lo, in.hi
	}
	var w kl.Workspace
	if in.level != 0 {
		copy(q, lo)
		if in.level < 0 {
			copy(q, hi)
		}
		return q, w.Theta(logS, lo, hi, q), nil
	}
	theta, ok := w.Project(logS, lo, hi, q)
	if !ok {
		return nil, 0, fmt.Errorf("%w: the columns with logS > -Inf cannot hold the mass", ErrInfeasible)
	}
	return q, theta, nil
}
