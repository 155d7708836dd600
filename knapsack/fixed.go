package knapsack

import (
	"math"
	"math/bits"
)

// fixed is an unsigned number of 128 bits, hi*2^64 + lo, in a unit of the context. Sums of masses are formed in
// it: they have no rounding, so the order of the terms does not matter, and they cost two instructions a term.
type fixed struct{ hi, lo uint64 }

// unitBits is the number of bits that the unit of a fixed number is below the power of two that bounds the
// remaining mass. Six bits are left for a block of sums beyond it.
const unitBits = 122

// toFixed returns x >= 0 in units of 2^unit, rounded down and modulo 2^128.
func toFixed(x float64, unit int) fixed {
	raw := math.Float64bits(x)
	exp, mant := int(raw>>52), raw&(1<<52-1)
	if exp == 0 {
		exp = 1
	} else {
		mant |= 1 << 52
	}
	switch shift := exp - 1075 - unit; {
	case shift < 0:
		return fixed{0, mant >> uint(-shift)}
	case shift < 64:
		return fixed{mant >> uint(64-shift), mant << uint(shift)}
	default:
		return fixed{mant << uint(shift-64), 0}
	}
}

// doubleToFixed returns d >= 0 in units of 2^unit, to within two units.
func doubleToFixed(d double, unit int) fixed {
	x := toFixed(d.Hi, unit)
	if d.Lo < 0 {
		return x.sub(toFixed(-d.Lo, unit))
	}
	return x.add(toFixed(d.Lo, unit))
}

func (x fixed) add(y fixed) fixed {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return fixed{hi, lo}
}

func (x fixed) sub(y fixed) fixed {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return fixed{hi, lo}
}

func (x fixed) less(y fixed) bool {
	return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo)
}

// double returns x * unit for a unit that is a power of two, exactly if x has at most 106 significant bits.
func (x fixed) double(unit float64) double {
	shift := bits.LeadingZeros64(x.hi)
	if x.hi == 0 {
		shift = 64 + bits.LeadingZeros64(x.lo)
	}
	// Shift the leading bit to the top, take 53 bits, then 53 more.
	hi, lo := x.hi<<uint(shift)|x.lo>>uint(64-shift), x.lo<<uint(shift)
	if shift >= 64 {
		hi, lo = x.lo<<uint(shift-64), 0
	}
	top := float64(hi>>11) * 0x1p75 * unit
	low := float64(hi<<53>>11|lo>>22) * 0x1p22 * unit
	return double{Hi: math.Ldexp(top, -shift), Lo: math.Ldexp(low, -shift)}
}
