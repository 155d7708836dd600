package cost

import (
	"fmt"
	"math"
)

// power raises distances to a fixed exponent. Integer exponents up to 2^53 use multiplications only,
// inside math.Pow; others go through exp and log, whose last bits depend on the processor.
type power struct {
	p    float64
	half float64 // p/2 if p is an even integer, else 0
}

func newPower(p float64) (power, error) {
	if !(p > 0) || math.IsInf(p, 1) {
		return power{}, fmt.Errorf("%w: p = %v, need a finite number > 0", ErrExponent, p)
	}
	w := power{p: p}
	if math.Mod(p, 2) == 0 {
		w.half = p / 2
	}
	return w, nil
}

// of returns d^p.
func (w power) of(d float64) float64 {
	switch w.p {
	case 1:
		return d
	case 2:
		return d * d
	}
	return math.Pow(d, w.p)
}

// ofSquare returns s^(p/2) for s = d², with a square root only where p needs one.
func (w power) ofSquare(s float64) float64 {
	switch {
	case w.p == 1:
		return math.Sqrt(s)
	case w.p == 2:
		return s
	case w.half != 0:
		return math.Pow(s, w.half)
	}
	return math.Pow(math.Sqrt(s), w.p)
}

// safe reports whether d^p is certainly finite for all distances up to bound, with a factor 2 in the
// distance to cover the rounding of the bound and of the power.
func (w power) safe(bound float64) bool {
	return w.of(2*bound) <= math.MaxFloat64 // false for NaN
}
