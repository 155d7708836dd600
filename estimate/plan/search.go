package plan

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/wpmerr"
)

// Least returns the first of n choices whose map is predicted to be within target. The choices are in order from the
// largest error to the smallest, and at makes the prediction for a choice. Least bisects, so it makes about log2 n
// predictions. As simulated, the returned choice meets the target, and the choice before it does not. That no earlier
// choice meets the target rests on the order of the errors.
//
// The error is ErrTarget, with the last choice and its prediction, if that one misses the target; ErrSettings; those of
// at; that of ctx.
func Least(ctx context.Context, n int, target float64, at func(i int) (Prediction, error)) (int, Prediction, error) {
	ctx = wpmerr.Context(ctx)
	if n < 1 || !(target > 0) {
		return 0, Prediction{}, fmt.Errorf("%w: a target of %v, %d choices", wpmerr.ErrSettings, target, n)
	}
	var best, last Prediction // of high and of low
	low, high := -1, n        // low misses, high meets, if there is one
	for high-low > 1 {
		if ctx.Err() != nil {
			return 0, Prediction{}, wpmerr.Ended(ctx)
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
