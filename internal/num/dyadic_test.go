package num

import (
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestDyadic: numbers n 2^e against rationals.
func TestDyadic(t *testing.T) {
	g := numtest.NewSplitMix64(81)
	number := func() float64 {
		switch g.Intn(12) {
		case 0:
			return 0
		case 1:
			return minF * float64(g.Intn(9))
		case 2:
			return -maxF
		}
		return math.Ldexp(g.Float64()-0.5, g.Intn(2000)-1000)
	}
	for range 1000 {
		x, y, z := number(), number(), number()
		a, b := NewDyadic(x), NewDyadic(y)
		p, q := Rat(x), Rat(y)
		sum := new(big.Rat).Add(p, q)
		for _, op := range []struct {
			name      string
			got, want *big.Rat
		}{
			{"itself", a.Rat(), p},
			{"minus", a.Minus(b).Rat(), new(big.Rat).Sub(p, q)},
			{"times", a.Times(b).Rat(), new(big.Rat).Mul(p, q)},
			{"abs", a.Abs().Rat(), new(big.Rat).Abs(p)},
			{"sum", DyadicSum([]float64{x, y, z}).Rat(), new(big.Rat).Add(sum, Rat(z))},
			{"added", new(Dyadic).Add(a).Add(b).Rat(), sum},
			{"added to a product", a.Times(b).Add(NewDyadic(z)).Rat(), new(big.Rat).Add(new(big.Rat).Mul(p, q), Rat(z))},
		} {
			if op.got.Cmp(op.want) != 0 {
				t.Errorf("%v %s %v, %v: %v, want %v", x, op.name, y, z, op.got, op.want)
			}
		}
		if y != 0 && a.Over(b).Cmp(new(big.Rat).Quo(p, q)) != 0 {
			t.Errorf("%v over %v: %v", x, y, a.Over(b))
		}
		if a.Sign() != p.Sign() || a.Float() != x || a.Cmp(b) != p.Cmp(q) || a.Rat().Cmp(p) != 0 {
			t.Errorf("%v against %v: sign %d, order %d, %v as a float", x, y, a.Sign(), a.Cmp(b), a.Float())
		}
	}
	if x := DyadicUint(math.MaxUint64).Rat(); x.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(math.MaxUint64))) != 0 {
		t.Errorf("the largest integer is %v", x)
	}
}
