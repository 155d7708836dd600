package basemeasure

import (
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Errors returned by this package, wrapped with what was wrong, where, and the value.
var (
	// ErrShape reports a missing or empty matrix or a slice of the wrong length.
	ErrShape = errors.New("basemeasure: shapes do not agree")
	// ErrNotFinite reports a NaN or an infinity.
	ErrNotFinite = errors.New("basemeasure: value is not finite")
	// ErrNegative reports a negative cost or mass.
	ErrNegative = errors.New("basemeasure: value is negative")
	// ErrMass reports a shape without mass.
	ErrMass = errors.New("basemeasure: no mass")
	// ErrEpsilon reports an eps that is not in [0, MaxEpsilon].
	ErrEpsilon = errors.New("basemeasure: eps out of range")
	// ErrSettings reports invalid settings.
	ErrSettings = errors.New("basemeasure: bad settings")
	// ErrNotConverged reports a stop before the goal. The Result that comes with it is feasible and its
	// bounds hold.
	ErrNotConverged = errors.New("basemeasure: stopped before the goal")
	// ErrCertificate reports a Result whose evidence does not prove what it claims.
	ErrCertificate = errors.New("basemeasure: certificate does not hold")
)

// MaxEpsilon is the largest eps that solvers accept: e^MaxEpsilon is well inside float64.
const MaxEpsilon = num.MaxEpsilon

func checkEps(eps float64) error {
	if !(eps >= 0 && eps <= MaxEpsilon) {
		return fmt.Errorf("%w: eps = %v, want 0 <= eps <= %d", ErrEpsilon, eps, MaxEpsilon)
	}
	return nil
}

// checkMeasure is the rule for shapes and base measures: kv finite non-negative numbers, not all zero.
func checkMeasure(what string, m []float64, kv int) error {
	if len(m) != kv {
		return fmt.Errorf("%w: len(%s) = %d, want %d", ErrShape, what, len(m), kv)
	}
	mass := false
	for j, x := range m {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			return fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, what, j, x)
		case x < 0:
			return fmt.Errorf("%w: %s[%d] = %v", ErrNegative, what, j, x)
		case x > 0:
			mass = true
		}
	}
	if !mass {
		return fmt.Errorf("%w: %s is zero", ErrMass, what)
	}
	return nil
}

// tableError gives an error of package cost or knapsack the sentinel of this one; errors.Is finds both.
func tableError(err error) error {
	sentinel := ErrShape
	switch {
	case errors.Is(err, cost.ErrNotFinite):
		sentinel = ErrNotFinite
	case errors.Is(err, cost.ErrNegative):
		sentinel = ErrNegative
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
