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

// TestExp compares Exp with ExpFixed, which is made another way: they overlap, and are as tight as they can be.
func TestExp(t *testing.T) {
	const bits = 256
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	for _, x := range []float64{0, 5e-324, 1e-300, 1e-17, 1e-9, 0.1, 0.5, 1, 2, math.Pi, 5, 50, 349.5, 699.999, 700} {
		down, up := ExpFixed(Rat(x), bits)
		low, high := new(big.Rat).SetFrac(down, one), new(big.Rat).SetFrac(up, one)
		for _, c := range []struct {
			x         float64
			low, high *big.Rat
		}{{x, low, high}, {-x, new(big.Rat).Inv(high), new(big.Rat).Inv(low)}} {
			e := Exp(c.x)
			if Rat(e.Down).Cmp(c.high) > 0 || Rat(e.Up).Cmp(c.low) < 0 {
				t.Errorf("Exp(%v) = %v does not overlap ExpFixed", c.x, e)
			}
			if !(e.Down <= e.Near && e.Near <= e.Up) || math.Nextafter(math.Nextafter(e.Down, math.Inf(1)), math.Inf(1)) < e.Up {
				t.Errorf("Exp(%v) = %v is wide or out of order", c.x, e)
			}
			if math.Abs(e.Near-math.Exp(c.x)) > 4e-16*e.Near { // math.Exp is good to an ulp or so
				t.Errorf("Exp(%v) = %v, math.Exp has %v", c.x, e.Near, math.Exp(c.x))
			}
		}
		width := new(big.Rat).Quo(new(big.Rat).Sub(high, low), low)
		if low.Cmp(big.NewRat(1, 1)) < 0 || width.Cmp(big.NewRat(1, 1<<62)) > 0 {
			t.Errorf("ExpFixed(%v) is %v wide", x, width.FloatString(30))
		}
	}
	if e := Exp(701); !math.IsNaN(e.Near) || e.Down != 0 || !math.IsInf(e.Up, 1) {
		t.Errorf("Exp(701) = %v", e)
	}
}
