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
	mass   float64   // what q is divided by at either end; exactly 1 when nothing is to be done
	point  []float64 // lo or hi at either end

	// When inside:
	rest fixed   // 1 - sum lo
	unit float64 // of rest and of the rooms, a power of two
	room []room  // per column; a scratch slice
}

// room is the mass that a column can take beyond lo: hi - lo. size is rounded to nearest. fixed is within three
// units of hi - lo, 2^-120 of the mass to hand out, or that mass or more where the column can take all of it.
type room struct {
	fixed fixed
	size  float64
}

// check validates lo and hi for kv columns and fills b, b.room included.
func (b *box) check(kv int, lo, hi []float64) error {
	if len(lo) != kv || len(hi) != kv || kv == 0 {
		return fmt.Errorf("%w: len(lo) = %d, len(hi) = %d, want %d columns", ErrShape, len(lo), len(hi), kv)
	}
	if cap(b.room) < kv {
		b.room = make([]room, kv)
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
		sumLo, sumHi = sumLo.add(l), sumHi.add(min(h, bigBound))
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
		b.kind = inside
		b.measure(sumLo.oneMinus())
	}
	return nil
}

// measure fills rest, unit and room for the mass rest > 0 that is to be handed out.
func (b *box) measure(rest double) {
	_, exp := math.Frexp(rest.hi)
	limit := math.Ldexp(1, exp) // above rest
	unit := exp - unitBits
	b.unit = math.Ldexp(1, unit)
	b.rest = rest.fixed(unit)
	hi := b.hi[:len(b.lo)]
	rooms := b.room[:len(b.lo)]
	for j, l := range b.lo {
		d, e := twoDiff(min(hi[j], bigBound), l)
		r := &rooms[j]
		r.size = d
		if d < limit {
			r.fixed = double{d, e}.fixed(unit)
		} else {
			r.fixed = fixed{1 << (unitBits - 64), 0}
		}
	}
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
