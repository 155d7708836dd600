package knapsack

import (
	"fmt"
	"math"
)

// massSlack is how far the mass of a bound may be past 1 before the box is infeasible: bounds computed
// from a base measure at an end of its range miss 1 by rounding, kv * 2^-53 at worst for any kv below
// 9000 and far less in practice.
const massSlack = 1e-12

// bigBound stands for every larger upper bound: a coordinate of a probability vector never exceeds 1, so
// nothing changes, and sums of upper bounds cannot overflow.
const bigBound = 2

// kind says where the mass 1 lies between sum lo and sum hi.
type kind int

const (
	inside kind = iota // sum lo < 1 < sum hi: the fill ends at some column
	atLow              // sum lo >= 1, or lo = hi: q = lo / sum lo
	atHigh             // sum hi <= 1: q = hi / sum hi
)

// box is a checked box, prepared for the scan of any row.
type box struct {
	lo, hi []float64
	kind   kind
	rest   double    // 1 - sum lo when inside
	mass   float64   // what q is divided by at either end; exactly 1 when nothing is to be done
	point  []float64 // lo or hi at either end
	room   []double  // hi - lo per column, exactly; a scratch slice
}

// check validates lo and hi for kv columns and fills b, b.room included.
func (b *box) check(kv int, lo, hi []float64) error {
	if len(lo) != kv || len(hi) != kv || kv == 0 {
		return fmt.Errorf("%w: len(lo) = %d, len(hi) = %d, want %d columns", ErrShape, len(lo), len(hi), kv)
	}
	if cap(b.room) < kv {
		b.room = make([]double, kv)
	}
	b.room = b.room[:kv]
	b.lo, b.hi = lo, hi
	var sumLo, sumHi double
	same := true
	for j, l := range lo {
		h := hi[j]
		if !(l >= 0 && l <= h && h <= math.MaxFloat64) {
			return boundError(j, l, h)
		}
		if l >= bigBound {
			return fmt.Errorf("%w: lo[%d] = %v", ErrInfeasible, j, l)
		}
		if l != h {
			same = false
		}
		h = min(h, bigBound)
		sumLo, sumHi = sumLo.add(l), sumHi.add(h)
		d, e := twoDiff(h, l)
		b.room[j] = double{d, e}
	}
	sumLo, sumHi = sumLo.renorm(), sumHi.renorm()
	over, under := sumLo.oneMinus().value(), sumHi.oneMinus().value()
	switch {
	case over < -massSlack:
		return fmt.Errorf("%w: sum lo = %v > 1", ErrInfeasible, sumLo.value())
	case under > massSlack:
		return fmt.Errorf("%w: sum hi = %v < 1", ErrInfeasible, sumHi.value())
	case over <= 0, same:
		b.kind, b.point, b.mass = atLow, lo, massOf(over, sumLo)
	case under >= 0:
		b.kind, b.point, b.mass = atHigh, hi, massOf(under, sumHi)
	default:
		b.kind, b.rest = inside, sumLo.oneMinus()
	}
	return nil
}

// massOf is the divisor that makes a bound of the given sum a probability vector.
func massOf(defect float64, sum double) float64 {
	if defect == 0 {
		return 1
	}
	return sum.value()
}

func boundError(j int, l, h float64) error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case !finite(l):
		return fmt.Errorf("%w: lo[%d] = %v", ErrNotFinite, j, l)
	case !finite(h):
		return fmt.Errorf("%w: hi[%d] = %v", ErrNotFinite, j, h)
	case l < 0:
		return fmt.Errorf("%w: lo[%d] = %v", ErrNegative, j, l)
	case h < 0:
		return fmt.Errorf("%w: hi[%d] = %v", ErrNegative, j, h)
	}
	return fmt.Errorf("%w: lo[%d] = %v, hi[%d] = %v", ErrBox, j, l, j, h)
}
