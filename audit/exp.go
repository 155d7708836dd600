package audit

import (
	"math"
	"math/big"
)

// floorExp returns floor(e^eps n) for a rational eps > 0. It is decided, not rounded: e^eps is irrational for
// such eps, so a narrow enough enclosure has the same floor at both ends. The enclosure is the partial sum of
// the series and that plus the geometric bound on what follows, as fractions; nothing of ldp is used, so that
// two programs must agree on every box.
func floorExp(eps *big.Rat, n uint64) *big.Int {
	if n == 0 {
		return new(big.Int)
	}
	// sum = S/D and term = T/D after k terms, over the common denominator D = den^k k!.
	num, den := eps.Num(), eps.Denom()
	s, t, d := big.NewInt(1), big.NewInt(1), big.NewInt(1)
	weight := new(big.Int).SetUint64(n)
	for k := int64(1); ; k++ {
		f := new(big.Int).Mul(den, big.NewInt(k))
		d.Mul(d, f)
		s.Mul(s, f)
		t.Mul(t, num)
		s.Add(s, t)
		if float64(k)+1 < 2*ceilFloat(eps) {
			continue
		}
		// The rest is at most term (eps/(k+1) + (eps/(k+1))^2 + ...) <= term, as eps/(k+1) <= 1/2.
		low := new(big.Int).Mul(s, weight)
		high := new(big.Int).Add(s, t)
		high.Mul(high, weight)
		if low.Quo(low, d).Cmp(high.Quo(high, d)) == 0 {
			return low
		}
	}
}

// ceilFloat returns a float that is at least r.
func ceilFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return math.Nextafter(f, math.Inf(1))
}
