package num

import (
	"math"
	"math/big"
	"testing"
)

// TestExpBounds compares with partial sums of the series in exact rationals.
func TestExpBounds(t *testing.T) {
	for _, x := range []float64{5e-324, 1e-300, 0x1p-53, 1e-9, 0.1, 0.5, 1, 2, math.Ln2, 5, 12.5, 100, 349.99, 700} {
		// The sum to n and the sum plus twice the next term enclose e^x once n+2 >= 2x; all in 2^-3000.
		const bits = 3000
		one := new(big.Int).Lsh(big.NewInt(1), bits)
		low, high := new(big.Int).Set(one), new(big.Int).Set(one)
		termLow, termHigh := new(big.Int).Set(one), new(big.Int).Set(one)
		y := new(big.Rat).SetFloat64(x)
		for n := int64(1); n <= 2400; n++ {
			den := new(big.Int).Mul(y.Denom(), big.NewInt(n))
			termLow.Mul(termLow, y.Num()).Quo(termLow, den)
			termHigh.Mul(termHigh, y.Num()).Quo(termHigh, den)
			termHigh.Add(termHigh, big.NewInt(1))
			low.Add(low, termLow)
			high.Add(high, termHigh)
		}
		high.Add(high, termHigh.Lsh(termHigh, 1))
		lowest, highest := new(big.Rat).SetFrac(low, one), new(big.Rat).SetFrac(high, one)
		check := func(x float64, lowest, highest *big.Rat) {
			t.Helper()
			down, up := ExpBounds(x)
			if new(big.Rat).SetFloat64(down).Cmp(lowest) > 0 || new(big.Rat).SetFloat64(up).Cmp(highest) < 0 {
				t.Errorf("ExpBounds(%v) = %v, %v does not enclose %v", x, down, up, math.Exp(x))
			}
			if apart := math.Nextafter(math.Nextafter(down, math.Inf(1)), math.Inf(1)); up > apart {
				t.Errorf("ExpBounds(%v) = %v, %v: too far apart", x, down, up)
			}
		}
		check(x, lowest, highest)
		check(-x, new(big.Rat).Inv(highest), new(big.Rat).Inv(lowest))
	}
	if down, up := ExpBounds(0); down != 1 || up != 1 {
		t.Errorf("ExpBounds(0) = %v, %v", down, up)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), -701, 1e300} {
		if down, up := ExpBounds(x); down != 0 || !math.IsInf(up, 1) {
			t.Errorf("ExpBounds(%v) = %v, %v", x, down, up)
		}
	}
}
