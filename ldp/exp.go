package ldp

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

const (
	maxExpBits   = 1 << 16 // the most relative bits that ExpBounds gives
	factorBits   = 256     // first precision of a factor
	maxUnits     = 1 << 62 // the largest 2^B
	maxFactorLog = 63      // a factor is e^eps capped at 2^63
)

// ExpBounds returns rationals lower < e^eps < upper with upper - lower <= 2^-bits lower, where bits
// is first brought into 1..65536. For the zero Epsilon both are 1.
//
// Argument: expInterval encloses 2^w e^eps, w = bits + 32, within (2N+1) e^eps units, N < w + 256
// < 2^17. So the width is below 2^18 e^eps units and lower above (2^w - 2^18) e^eps units: a ratio
// below 2^-bits. The bounds are strict because e^eps is irrational.
func (e Epsilon) ExpBounds(bits int) (lower, upper *big.Rat) {
	if e.IsZero() {
		return big.NewRat(1, 1), big.NewRat(1, 1)
	}
	w := uint(min(max(bits, 1), maxExpBits)) + 32
	below, above := expInterval(e.Rat(), w)
	one := new(big.Int).Lsh(big.NewInt(1), w)
	return new(big.Rat).SetFrac(below, one), new(big.Rat).SetFrac(above, one)
}

// expInterval returns integers with 2^w <= below <= 2^w e^x <= above and
// above - below <= (2N+1) e^x, N < w + 256.
//
// Precondition: 0 < x = p/q <= 64 and w >= 2.
//
// Argument. Let T_n = 2^w x^n / n!. From T_n = T_(n-1) p/(qn), rounding a down and b up gives
// a_n <= T_n <= b_n for all n, with a_0 = b_0 = 2^w. The loop ends at the first N with b_N <= 1. Then
// N > 2x: for 1 <= n <= 2x, n^n / n! >= 2^n / (1 + 1/n)^n > 2^n / e (as n! <= ((n+1)/2)^n), so that
// b_n >= T_n >= 2^w (n/2)^n / n! > 2^w / e > 1. Hence T_(N+i) <= T_N 2^-i, the tail
// sum_{n>N} T_n <= T_N <= b_N <= 1, and sum a_n <= 2^w e^x <= 1 + sum b_n. No argument is reduced
// and no term is negative.
//
// Width: b_n - a_n <= (b_(n-1) - a_(n-1)) x/n + 2, hence sum (b_n - a_n) <= 2N e^x, plus 1 for the
// tail. End: from n = 128 >= 2x on, b_n <= ceil(b_(n-1)/2), and b_n <= 2^w e^64 + 2 e^64 < 2^(w+94)
// throughout, so N <= 128 + w + 95.
func expInterval(x *big.Rat, w uint) (below, above *big.Int) {
	p, q := x.Num(), x.Denom()
	one := big.NewInt(1)
	a, b := new(big.Int).Lsh(one, w), new(big.Int).Lsh(one, w)
	below, above = new(big.Int).Set(a), new(big.Int).Set(b)
	d := new(big.Int) // q n
	for {
		d.Add(d, q)
		a.Mul(a, p).Quo(a, d)
		b.Mul(b, p).Add(b, d).Sub(b, one).Quo(b, d)
		below.Add(below, a)
		above.Add(above, b)
		if b.Cmp(one) <= 0 {
			return below, above.Add(above, one)
		}
	}
}

// A factor multiplies integers by e^eps and rounds down, exactly.
//
// Invariant: below <= 2^w e^eps <= above and under <= min(e^eps, 2^63) <= over.
type factor struct {
	x            *big.Rat
	w            uint
	below, above *big.Int
	under, over  fixed
}

// newFactor needs 0 < x <= 64.
func newFactor(x *big.Rat) *factor {
	f := &factor{x: x, w: factorBits}
	f.below, f.above = expInterval(x, f.w)
	f.under = newFixed(f.below, f.w)
	f.over = newFixed(new(big.Int).Neg(f.above), f.w)
	return f
}

// floor returns min(floor(e^eps n), 2^62), for any n.
//
// Argument: fixed.mul is floor(y n) cut at 2^62, which does not decrease with y. So with
// under <= min(e^eps, 2^63) <= over the two products enclose the same for min(e^eps, 2^63), and when
// they agree that is it. The cap at 2^63 is harmless: where it acts and n >= 1, both sides are 2^62.
// When they do not agree, slow decides.
func (f *factor) floor(n uint64) uint64 {
	down, up := f.under.mul(n), f.over.mul(n)
	if down != up {
		return f.slow(n)
	}
	return down
}

// slow is floor by math/big, at twice the precision each time the enclosure leaves a doubt.
//
// It ends: for n >= 1, e^eps n is irrational, so it has a distance to the integers, and once the
// enclosure is narrower both floors agree; for n = 0 they agree at once. An enclosure that was
// refined is kept, so a box made of hard columns pays for it once.
func (f *factor) slow(n uint64) uint64 {
	down, up, k := new(big.Int), new(big.Int), new(big.Int).SetUint64(n)
	for {
		down.Mul(f.below, k).Rsh(down, f.w)
		up.Mul(f.above, k).Rsh(up, f.w)
		if down.Cmp(up) == 0 {
			if !down.IsUint64() {
				return maxUnits
			}
			return min(down.Uint64(), maxUnits)
		}
		f.w *= 2
		f.below, f.above = expInterval(f.x, f.w)
	}
}

// fixed is the number i + f1/2^64 + f0/2^128.
type fixed struct{ i, f1, f0 uint64 }

// newFixed returns min(|v| / 2^w, 2^63) rounded to 128 fractional bits: down for v > 0, up for v < 0.
// Rsh rounds towards minus infinity, which is up in absolute value for a negative v.
//
// Precondition: w >= 128. The result is at most 2^63 2^128 < 2^192, so it fits in 24 bytes.
func newFixed(v *big.Int, w uint) fixed {
	z := new(big.Int).Rsh(v, w-128)
	z.Abs(z)
	if limit := new(big.Int).Lsh(big.NewInt(1), maxFactorLog+128); z.Cmp(limit) > 0 {
		z = limit
	}
	var buf [24]byte
	z.FillBytes(buf[:])
	return fixed{
		i:  binary.BigEndian.Uint64(buf[0:]),
		f1: binary.BigEndian.Uint64(buf[8:]),
		f0: binary.BigEndian.Uint64(buf[16:]),
	}
}

// mul returns min(floor(y n), 2^62), for any n.
//
// Argument: with n f0 = h0:_, n f1 = h1:l1, n i = h2:l2 in words of 64 bits,
// floor(y n) = n i + floor((n f1 + floor(n f0 / 2^64)) / 2^64) = h2:l2 + h1 + carry(l1 + h0).
// The last sum carries at most once into h2 <= 2^64 - 2, so h2 + c does not wrap.
func (y fixed) mul(n uint64) uint64 {
	h0, _ := bits.Mul64(n, y.f0)
	h1, l1 := bits.Mul64(n, y.f1)
	h2, l2 := bits.Mul64(n, y.i)
	_, c := bits.Add64(l1, h0, 0)
	s, c := bits.Add64(l2, h1, c)
	if h2+c != 0 {
		return maxUnits
	}
	return min(s, maxUnits)
}
