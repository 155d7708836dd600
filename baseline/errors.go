package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Errors returned by this package, wrapped with what was wrong, where, and the value.
var (
	// ErrGroup reports groups that do not cover what they are used on.
	ErrGroup = errors.New("baseline: bad groups")
)

// MaxEpsilon is the largest eps accepted: e^MaxEpsilon is well inside float64.
const MaxEpsilon = num.MaxEpsilon

// massTol is how far the sum of a distribution may be from 1.
const massTol = 1e-9

func checkEps(eps float64) error {
	if !(eps >= 0 && eps <= MaxEpsilon) {
		return fmt.Errorf("%w: eps = %v, want 0 <= eps <= %d", wpmerr.ErrEpsilon, eps, MaxEpsilon)
	}
	return nil
}

func checkSize(k int) error {
	if k < 1 {
		return fmt.Errorf("%w: %d points", wpmerr.ErrShape, k)
	}
	return nil
}

// checkMeasure wants n finite masses >= 0.
func checkMeasure(what string, x []float64, n int) error {
	if len(x) != n || n == 0 {
		return fmt.Errorf("%w: len(%s) = %d, want %d", wpmerr.ErrShape, what, len(x), max(n, 1))
	}
	return wpmerr.Masses(what, x)
}

// checkDistribution returns the sum of x, a distribution on n points.
func checkDistribution(what string, x []float64, n int) (sum float64, err error) {
	if err := checkMeasure(what, x, n); err != nil {
		return 0, err
	}
	sum = num.Sum(x)
	if !(math.Abs(sum-1) <= massTol) {
		return 0, fmt.Errorf("%w: sum of %s = %v", wpmerr.ErrMass, what, sum)
	}
	return sum, nil
}

// checkCost gives an error of package cost the sentinel of this one; errors.Is finds both.
func checkCost(ctx context.Context, c cost.Matrix) error {
	err := cost.Validate(ctx, c)
	if err == nil || errors.Is(err, wpmerr.ErrNotConverged) {
		return err
	}
	sentinel := wpmerr.ErrShape
	switch {
	case errors.Is(err, wpmerr.ErrNotFinite):
		sentinel = wpmerr.ErrNotFinite
	case errors.Is(err, wpmerr.ErrNegative):
		sentinel = wpmerr.ErrNegative
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
