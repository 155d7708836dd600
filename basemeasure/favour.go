package basemeasure

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// Favour returns the uniform base measure of another scale: the one at which the row of a point mass raises so large a
// share of the outputs, and none in part. The share is above 0 and at most 1, and is rounded to whole outputs, at least
// one. Smaller shares are for maps, see estimate.Disc; they cost a client more than the scale of Uniform does.
//
// even is the answer of Uniform or UniformOnePass at the level eps, for the cost c. Its lower bound and what proves that
// are about every mechanism, and stay. The measure of a single output stays, too. With a nil c the costs F, Upper,
// WorstCase and Mean are 0. The time is that of the k rows, in O(k kv).
//
// Errors: ErrEpsilon; ErrShape if c has not as many columns as even.M has entries; ErrSettings for the share.
func Favour(c *knapsack.Table, eps, share float64, even Result) (Result, error) {
	if err := checkEps(eps); err != nil {
		return Result{}, err
	}
	kv := len(even.M)
	switch {
	case kv == 0:
		return Result{}, fmt.Errorf("%w: the uniform measure is empty", wpmerr.ErrShape)
	case !(share > 0 && share <= 1):
		return Result{}, fmt.Errorf("%w: share = %v, want 0 < share <= 1", wpmerr.ErrSettings, share)
	case kv == 1:
		return even, nil
	}
	// lo = m e^(-eps/2) for all, e^eps times that for those that are raised, and the sum of a row is 1.
	share = max(1, math.Round(share*float64(kv))) / float64(kv)
	m := math.Exp(eps/2) / (float64(kv) * (1 + math.Expm1(eps)*share))
	r := Result{
		M: slices.Repeat([]float64{m}, kv), Mass: float64(kv) * m, Nonzeros: kv, Peak: 1,
		Lower: even.Lower, Weights: even.Weights, Thresholds: even.Thresholds, Status: even.Status, Settings: even.Settings,
	}
	if c == nil {
		return r, nil
	}
	k, columns := c.Dims()
	if columns != kv {
		return Result{}, fmt.Errorf("%w: the cost has %d columns, the uniform measure %d entries", wpmerr.ErrShape, columns, kv)
	}
	lo, hi := slices.Repeat([]float64{math.Exp(-eps/2) * m}, kv), slices.Repeat([]float64{math.Exp(eps/2) * m}, kv)
	phi := make([]float64, k)
	if err := c.All(lo, hi, phi, nil); err != nil {
		return Result{}, err
	}
	for i, v := range phi {
		if v > phi[r.Worst] {
			r.Worst = i
		}
	}
	r.WorstCase, r.Mean = phi[r.Worst], num.Sum(phi)/float64(k)
	r.F, r.Upper = r.WorstCase, r.WorstCase
	return r, nil
}
