package sphere

import (
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/wpmerr"
)

// Errors of this package, wrapped with what was wrong and the value.
var (
	// ErrDimension reports a d outside [1, MaxDimension].
	ErrDimension = errors.New("sphere: dimension out of range")
	// ErrExponent reports a p outside [MinExponent, MaxExponent], or NaN.
	ErrExponent = errors.New("sphere: exponent out of range")
	// ErrUnderflow reports an optimal cap so small that 1 - t is below the normal float64 numbers: eps above about
	// 354 (d + p).
	ErrUnderflow = errors.New("sphere: 1 - t underflows")
	// ErrPrecision reports an invalid precision, or bounds that need more precision than is allowed.
	ErrPrecision = errors.New("sphere: precision")
	// ErrBounds reports an enclosure that does not hold.
	ErrBounds = errors.New("sphere: bounds do not hold")
)

// The domain of Solve.
const (
	MaxDimension = 10_000_000
	MinExponent  = 0.5
	MaxExponent  = 12
	MinEpsilon   = 1e-12
	MaxEpsilon   = 700 // e^MaxEpsilon is well inside float64
)

// check is the door of every function of this package. NaN fails each comparison.
func check(d int, p, eps float64) error {
	if d < 1 || d > MaxDimension {
		return fmt.Errorf("%w: d = %d, want 1 <= d <= %d", ErrDimension, d, MaxDimension)
	}
	if !(p >= MinExponent && p <= MaxExponent) {
		return fmt.Errorf("%w: p = %v, want %v <= p <= %v", ErrExponent, p, MinExponent, MaxExponent)
	}
	if !(eps >= MinEpsilon && eps <= MaxEpsilon) {
		return fmt.Errorf("%w: eps = %v, want %v <= eps <= %v", wpmerr.ErrEpsilon, eps, MinEpsilon, MaxEpsilon)
	}
	return nil
}
