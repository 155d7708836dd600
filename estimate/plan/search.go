package plan

import (
	"context"
	"fmt"
)

// Least returns the first of n choices, in order from the dearest in error to the best, whose map is predicted to be
// within target: at makes the prediction of one. It bisects, so it makes about log2 n of them. The choice that is
// returned meets the target, and the one before it does not, both as simulated; that no earlier one does rests on
// errors that fall.
//
// The error is ErrTarget, with the last choice and its prediction, if that one misses the target; ErrShape; those of
// at; that of ctx.
func Least(ctx context.Context, n int, target float64, at func(i int) (Prediction, error)) (int, Prediction, error) {
	if n < 1 || !(target > 0) {
		return 0, Prediction{}, fmt.Errorf("%w: a target of %v, %d choices", ErrShape, target, n)
	}
	var best, last Prediction // of high and of low
	low, high := -1, n        // low misses, high meets, if there is one
	for high-low > 1 {
		if err := ctx.Err(); err != nil {
			return 0, Prediction{}, err
		}
		middle := low + (high-low)/2
		p, err := at(middle)
		if err != nil {
			return 0, Prediction{}, err
		}
		if p.Map.Mean <= target {
			high, best = middle, p
		} else {
			low, last = middle, p
		}
	}
	if high == n {
		return low, last, fmt.Errorf("%w: a map within %v; the last choice is at %v", ErrTarget, target, last.Map.Mean)
	}
	return high, best, nil
}
