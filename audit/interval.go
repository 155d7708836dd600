package audit

import (
	"fmt"

	"github.com/wpm-go/wpm/internal/binomial"
)

// MaxSamples bounds n.
const MaxSamples = binomial.MaxTrials

// Interval returns the Clopper-Pearson bounds of a probability p after x successes in n trials. Whatever p is,
// lower > p has probability at most level, and so has upper < p. 0 <= x <= n, 1 <= n <= MaxSamples, 0 < level
// <= 1/4. The error is ErrDesign outside these ranges.
func Interval(x, n int64, level float64) (lower, upper float64, err error) {
	if lower, upper, err = binomial.Interval(x, n, level); err != nil {
		err = fmt.Errorf("%w: %w", ErrDesign, err)
	}
	return lower, upper, err
}
