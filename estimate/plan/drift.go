package plan

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Drift bounds how far a population gets when a share of its people moves, whoever they are: W_p, in the unit of the
// places, the mean over the worlds. even is for people who move to all places alike: the mass of a world moves by
// share^(1/p) times the guess's distance, at most. anywhere holds wherever they move: all of them at the place that is
// farthest from the world. By the triangle inequality of W_p, for p >= 1 and costs that are distances to the power of p,
// a map of the world is at most that much farther from the population after the moves.
//
// Errors: ErrSettings for a share that is not from 0 to 1.
func (l *Planner) Drift(share float64) (even, anywhere float64, err error) {
	if !(share >= 0 && share <= 1) {
		return 0, 0, fmt.Errorf("%w: a share of %v, want 0 to 1", wpmerr.ErrSettings, share)
	}
	k, _ := l.toInput.Dims()
	far := make([]float64, len(l.worlds))
	for n, w := range l.worlds {
		to := make([]float64, k) // the cost of moving all of the world to a place
		for i, mass := range w {
			if mass == 0 {
				continue
			}
			for j, c := range l.toInput.Row(i, nil) {
				to[j] += mass * c
			}
		}
		for _, c := range to {
			far[n] = max(far[n], math.Pow(share*c, 1/l.power))
		}
	}
	return math.Pow(share, 1/l.power) * summary(l.guess).Mean, summary(far).Mean, nil
}
