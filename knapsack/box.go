package knapsack

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
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
	unit  int     // of exact rooms: 2^unit
	limit float64 // a power of two above rest
	// The same in 64 bits, for quickScan, in grains; short says that the exponents allow it. left is below rest, by over.
	short bool
	grain float64
	left  uint64
	over  float64
	// The mass that each column can take beyond lo, hi - lo, in scratch slices: size is rounded to nearest; up is above
	// it, by overs, or at least the mass to hand out where the column can take all of it.
	size  []float64
	up    []uint64
	overs []float64
}

// check validates lo and hi for kv columns and fills b.
func (b *box) check(kv int, lo, hi []float64) error {
	if len(lo) != kv || len(hi) != kv || kv == 0 {
		return fmt.Errorf("%w: len(lo) = %d, len(hi) = %d, want %d columns", wpmerr.ErrShape, len(lo), len(hi), kv)
	}
	if cap(b.up) < kv {
		b.up, b.size, b.overs = make([]uint64, kv), make([]float64, kv), make([]float64, kv)
	}
	b.up, b.size, b.overs = b.up[:kv], b.size[:kv], b.overs[:kv]
	b.lo, b.hi = lo, hi
	var sumLo, sumHi double
	var widest float64
	for j, l := range lo {
		h := hi[j]
		if !(l >= 0 && l <= h && h <= math.MaxFloat64) {
			return boundError(j, l, h)
		}
		if l >= bigBound {
			return fmt.Errorf("%w: lo[%d] = %v", wpmerr.ErrInfeasible, j, l)
		}
		if h > bigBound {
			h = bigBound
		}
		if h-l > widest { // hi > lo if and only if their difference is not rounded to 0
			widest = h - l
		}
		sumLo, sumHi = sumLo.Add(l), sumHi.Add(h)
	}
	sumLo, sumHi = sumLo.Renorm(), sumHi.Renorm()
	over, under := sumLo.OneMinus().Float(), sumHi.OneMinus().Float()
	switch {
	case over < -massSlack:
		return fmt.Errorf("%w: sum lo = %v > 1", wpmerr.ErrInfeasible, sumLo.Float())
	case under > massSlack:
		return fmt.Errorf("%w: sum hi = %v < 1", wpmerr.ErrInfeasible, sumHi.Float())
	case over <= 0, widest == 0:
		b.kind, b.point, b.mass = atLow, lo, massOf(over, sumLo)
	case under >= 0:
		b.kind, b.point, b.mass = atHigh, hi, massOf(under, sumHi)
	default:
		b.kind = inside
		b.measure(sumLo.OneMinus(), widest)
	}
	return nil
}

// measure fills what the scans need for the mass rest > 0 that is to be handed out; widest is the largest hi - lo.
func (b *box) measure(rest double, widest float64) {
	if n := float64(len(b.lo)); rest.Hi < restTrust*n*n {
		_, exp := math.Frexp(rest.Hi)
		unit := max(exp-unitBits+7, -1074)
		if d := b.difference(unit); d != (fixed{}) { // rest is right within a factor of 2^6, or rounding itself
			rest = d.double(math.Ldexp(1, unit))
		}
	}
	_, exp := math.Frexp(rest.Hi)
	b.limit = math.Ldexp(1, exp)
	b.unit = max(exp-unitBits, -1074) // no float64 is finer

	// A block of rooms is below 2^64 grains, and rest below 2^63.
	_, top := math.Frexp(min(widest, b.limit))
	grain := max(top+blockBits-64, exp-63)
	b.short = grain > -1000
	if !b.short {
		return
	}
	b.grain = math.Ldexp(1, grain)
	scale := math.Ldexp(1, -grain)
	var over float64
	b.left, over = ceil(rest.Hi*scale, rest.Lo*scale)
	b.left--
	b.over = 1 - over
	full := uint64(1) << (exp - grain)
	hi := b.hi[:len(b.lo)]
	ups, size, overs := b.up[:len(b.lo)], b.size[:len(b.lo)], b.overs[:len(b.lo)]
	for j, l := range b.lo {
		h := hi[j]
		if h > bigBound {
			h = bigBound
		}
		d, e := num.TwoDiff(h, l)
		size[j] = d
		if d < b.limit {
			ups[j], overs[j] = ceil(d*scale, e*scale)
		} else {
			ups[j], overs[j] = full, 0 // this column is the last
		}
	}
}

// restTrust is the mass, times the square of the number of columns, above which the compensated sum of lo is exact
// enough: its error is below 2^-107 times that square, and should be a small part of a grain, 2^-63 of the rest.
const restTrust = 0x1p-31

// difference returns 1 - sum lo in units of 2^unit, to within a unit a column, or 0 if that is negative. The integers
// are taken modulo 2^128, so that it does not matter how much larger than the difference its terms are; it is below
// 2^127 units.
func (b *box) difference(unit int) fixed {
	sum := toFixed(1, unit)
	for _, l := range b.lo {
		sum = sum.sub(toFixed(l, unit))
	}
	if sum.hi>>63 != 0 {
		return fixed{}
	}
	return sum
}

// ceil returns the least integer above x + e, and by how much it is above, between 0 and 1, to within 2^-42. x is at
// least 0 and below 2^63, e the error of its rounding.
func ceil(x, e float64) (n uint64, over float64) {
	const shift = 1024 // above |e|
	whole := int64(x)
	e += x - float64(whole)
	up := int64(e+shift) + 1
	return uint64(whole + up - shift), float64(up) - (e + shift)
}

// room returns hi_j - lo_j in units of 2^unit, to within three units, 2^-120 of the mass to hand out (or exactly); or
// that mass or more where the column can take all of it.
func (b *box) room(j int32) fixed {
	d, e := num.TwoDiff(min(b.hi[j], bigBound), b.lo[j])
	if d < b.limit {
		return doubleToFixed(double{Hi: d, Lo: e}, b.unit)
	}
	return fixed{1 << (unitBits - 64), 0}
}

// massOf is the divisor that makes a bound of the given sum a probability vector.
func massOf(defect float64, sum double) float64 {
	if defect == 0 {
		return 1
	}
	return sum.Float()
}

func boundError(j int, l, h float64) error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case !finite(l):
		return fmt.Errorf("%w: lo[%d] = %v", wpmerr.ErrNotFinite, j, l)
	case !finite(h):
		return fmt.Errorf("%w: hi[%d] = %v", wpmerr.ErrNotFinite, j, h)
	case l < 0:
		return fmt.Errorf("%w: lo[%d] = %v", wpmerr.ErrNegative, j, l)
	case h < 0:
		return fmt.Errorf("%w: hi[%d] = %v", wpmerr.ErrNegative, j, h)
	}
	return fmt.Errorf("%w: lo[%d] = %v, hi[%d] = %v", wpmerr.ErrBox, j, l, j, h)
}

// The number of columns that a scan fills at a time, its logarithm, and the bit of the last of two blocks.
const (
	blockBits = 3
	scanBlock = 1 << blockBits
	scanFlush = scanBlock
)
