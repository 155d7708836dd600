package basemeasure

import (
	"math"
	"math/big"
	"testing"
)

// TestPrivacy compares the solver's enclosures with the verifier's, which are made another way: they must
// overlap, and be as tight as float64 allows.
func TestPrivacy(t *testing.T) {
	for _, eps := range []float64{0, 5e-324, 1e-300, 1e-17, 1e-9, 0.1, 0.5, 1, 2, math.Pi, 5, 50, 349.5, 699.999, 700} {
		p := newPrivacy(eps)
		down, up := expHalf(eps)
		low, high := scaled(down, -expBits), scaled(up, -expBits)
		one := big.NewRat(1, 1)
		check := func(name string, b bracket, low, high *big.Rat) {
			t.Helper()
			if f := new(big.Rat).SetFloat64(b.down); f.Cmp(high) > 0 {
				t.Errorf("eps = %v: %s.down = %v is above the number", eps, name, b.down)
			}
			if f := new(big.Rat).SetFloat64(b.up); f.Cmp(low) < 0 {
				t.Errorf("eps = %v: %s.up = %v is below the number", eps, name, b.up)
			}
			if !(b.down <= b.near && b.near <= b.up) || math.Nextafter(math.Nextafter(b.down, 2*b.down), 2*b.down) < b.up {
				t.Errorf("eps = %v: %s = %v is wide or out of order", eps, name, b)
			}
		}
		check("beta", p.beta, low, high)
		check("alpha", p.alpha, new(big.Rat).Quo(one, high), new(big.Rat).Quo(one, low))
		check("e", p.e, new(big.Rat).Mul(low, low), new(big.Rat).Mul(high, high))
		if width := new(big.Rat).Quo(new(big.Rat).Sub(high, low), low); width.Cmp(big.NewRat(1, 1<<62)) > 0 {
			t.Errorf("eps = %v: the verifier's bounds are %v apart", eps, width.FloatString(30))
		}
		if math.Abs(p.e.near-math.Exp(eps)) > 4e-16*p.e.near { // math.Exp is good to an ulp or so
			t.Errorf("eps = %v: e = %v, math.Exp has %v", eps, p.e.near, math.Exp(eps))
		}
	}
}

// TestGrid checks that writing a float as an integer is exact.
func TestGrid(t *testing.T) {
	list := []float64{1, 0.1, -3, 5e-324, math.MaxFloat64, 0, -0.75, 1 << 60}
	for n := range list {
		var g gridFinder
		g.see(list[:n+1])
		for _, x := range list[:n+1] {
			if got := scaled(g.grid().set(new(big.Int), x), g.exp); got.Cmp(new(big.Rat).SetFloat64(x)) != 0 {
				t.Errorf("grid %d: %v became %v", g.exp, x, got)
			}
		}
	}
}
