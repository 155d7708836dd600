package baseline

import (
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Errors returned by this package, wrapped with what was wrong, where, and the value.
var (
	// ErrShape reports an empty input or lengths that do not agree.
	ErrShape = errors.New("baseline: shapes do not agree")
	// ErrNotFinite reports a NaN or an infinity.
	ErrNotFinite = errors.New("baseline: value is not finite")
	// ErrNegative reports a negative mass or cost.
	ErrNegative = errors.New("baseline: value is negative")
	// ErrMass reports a distribution whose sum is not 1.
	ErrMass = errors.New("baseline: mass is not 1")
	// ErrEpsilon reports an eps that is not in [0, MaxEpsilon].
	ErrEpsilon = errors.New("baseline: eps out of range")
	// ErrInfeasible reports a base measure whose box holds no distribution.
	ErrInfeasible = errors.New("baseline: no distribution in the box")
	// ErrGroup reports groups that do not cover what they are used on.
	ErrGroup = errors.New("baseline: bad groups")
	// ErrCertificate reports a KPM output that is not what the rule says.
	ErrCertificate = errors.New("baseline: not the output of the rule")
)

// MaxEpsilon is the largest eps accepted: e^MaxEpsilon is well inside float64.
const MaxEpsilon = num.MaxEpsilon

// massTol is how far the sum of a distribution may be from 1.
const massTol = 1e-9

func checkEps(eps float64) error {
	if !(eps >= 0 && eps <= MaxEpsilon) {
		return fmt.Errorf("%w: eps = %v, want 0 <= eps <= %d", ErrEpsilon, eps, MaxEpsilon)
	}
	return nil
}

func checkSize(k int) error {
	if k < 1 {
		return fmt.Errorf("%w: %d points", ErrShape, k)
	}
	return nil
}

// checkMeasure wants n finite masses >= 0.
func checkMeasure(what string, x []float64, n int) error {
	if len(x) != n || n == 0 {
		return fmt.Errorf("%w: len(%s) = %d, want %d", ErrShape, what, len(x), max(n, 1))
	}
	for i, v := range x {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, what, i, v)
		case v < 0:
			return fmt.Errorf("%w: %s[%d] = %v", ErrNegative, what, i, v)
		}
	}
	return nil
}

// checkDistribution returns the sum of x, a distribution on n points.
func checkDistribution(what string, x []float64, n int) (sum float64, err error) {
	if err := checkMeasure(what, x, n); err != nil {
		return 0, err
	}
	sum = num.Sum(x)
	if !(math.Abs(sum-1) <= massTol) {
		return 0, fmt.Errorf("%w: sum of %s = %v", ErrMass, what, sum)
	}
	return sum, nil
}

// checkCost gives an error of package cost the sentinel of this one; errors.Is finds both.
func checkCost(c cost.Matrix) error {
	err := cost.Validate(c)
	if err == nil {
		return nil
	}
	sentinel := ErrShape
	switch {
	case errors.Is(err, cost.ErrNotFinite):
		sentinel = ErrNotFinite
	case errors.Is(err, cost.ErrNegative):
		sentinel = ErrNegative
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
