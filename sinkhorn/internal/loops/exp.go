package loops

import "math"

// expTable holds 2^(i/2048), correctly rounded or off by one unit in the last place.
var expTable = func() (t [2048]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / 2048)
	}
	return t
}()

const (
	ExpScale = 2048 / math.Ln2
	// Adding and subtracting expMagic rounds to the nearest integer, and leaves it in the low bits.
	expMagic     = 0x1.8p52
	expMagicBits = 0x4338000000000000 // of that float
	// The power series of 2^(r/2048) - 1; |r| <= 1/2, so that the next term is below 2^-55.
	expC1 = math.Ln2 / 2048
	expC2 = expC1 * expC1 / 2
	expC3 = expC1 * expC1 * expC1 / 6
	// expMin is the least argument for which the result is not flushed to zero: -708.
	expMin = -1021 * 2048
)

// Exp sets dst[j] = exp(((f - c[j]) + g[j]) * inv) with scale = inv * ExpScale, for exponents x of
// at most 700 and at least -1e9; it flushes to zero below -707. The relative error is at most
// (3 + |x|) * 2^-52: rounding x costs |x| * 2^-53, and so does rounding the scaled x; the table, the
// polynomial and the product 2.2 * 2^-52. The loop has no call and no branch, which makes it three
// to four times as fast as math.Exp.
func Exp(dst, c, g []float64, f, scale float64) {
	c = c[:len(dst)]
	g = g[:len(dst)]
	for j := range dst {
		z := ((f - c[j]) + g[j]) * scale
		t := z + expMagic
		n := int64(math.Float64bits(t) - expMagicBits)
		r := z - (t - expMagic)
		b := expTable[n&2047]
		y := b + float64(b*float64(r*(expC1+float64(r*(expC2+float64(r*expC3))))))
		keep := ^((n - expMin) >> 63)
		dst[j] = math.Float64frombits((math.Float64bits(y) + uint64(n>>11)<<52) & uint64(keep))
	}
}

// ExpOpen is Exp with g = 0; it also lowers b to c - f, and returns the sum of dst and that of dst_j c_j.
func ExpOpen(dst, c, b []float64, f, scale float64) (sum, carried float64) {
	c, b = c[:len(dst)], b[:len(dst)]
	for j := range dst {
		e := c[j]
		d := e - f
		if d < b[j] {
			b[j] = d
		}
		z := -scale * d
		t := z + expMagic
		n := int64(math.Float64bits(t) - expMagicBits)
		r := z - (t - expMagic)
		y := expTable[n&2047]
		y += float64(y * float64(r*(expC1+float64(r*(expC2+float64(r*expC3))))))
		keep := ^((n - expMin) >> 63)
		y = math.Float64frombits((math.Float64bits(y) + uint64(n>>11)<<52) & uint64(keep))
		dst[j] = y
		sum += y
		carried += float64(y * e)
	}
	return sum, carried
}
