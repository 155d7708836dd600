package sphere

import (
	"errors"
	"math"
	"math/big"
	"testing"
)

// TestGaussianGuess: the first guess is near the solution tau of tau (1 + E Q(tau)) = E phi(tau), which bisection
// finds.
func TestGaussianGuess(t *testing.T) {
	for _, tt := range []struct{ from, to, off float64 }{
		{MinEpsilon, 0.3, 0.01}, {0.3, 6, 0.7}, {6, MaxEpsilon, 0.03}, // as its comment says
	} {
		for n := range 20 {
			eps := tt.from * math.Pow(tt.to/tt.from, float64(n)/19)
			low, high := 0.0, 60.0
			for range 100 {
				tau := (low + high) / 2
				// Over E, so that nothing overflows; it rises in tau.
				q, phi := math.Erfc(tau/math.Sqrt2)/2, math.Exp(-tau*tau/2)/math.Sqrt(2*math.Pi)
				if tau/math.Expm1(eps)+tau*q < phi {
					low = tau
				} else {
					high = tau
				}
			}
			if got := gaussian(eps); !(math.Abs(got/low-1) <= tt.off) {
				t.Errorf("eps = %v: %v, want %v to %v", eps, got, low, tt.off)
			}
		}
	}
}

// TestAroundSearches: where the number given is good to fewer bits than wanted, the bounds have the most bits, in steps
// of two, that hold, and 20 at least.
func TestAroundSearches(t *testing.T) {
	const d, p, eps = 10, 2, 1
	m, err := Solve(d, p, eps)
	if err != nil {
		t.Fatal(err)
	}
	e := newEquation(d, p, eps)
	for _, tt := range []struct {
		off  float64 // relative error of the number given
		want int
		got  int // 0: none
	}{
		{0, 40, 40}, {0x1.8p-31, 40, 30}, {0x1.8p-31, 41, 29}, {-0x1.8p-21, 24, 20}, {0x1.8p-21, 30, 20}, {0x1.8p-21, 29, 0},
		{0x1.8p-19, 30, 0}, {0, 10, 10}, {0x1.8p-9, 10, 0}, // as few as are wanted
	} {
		w := new(big.Rat).SetFloat64(m.Omt / 2 * (1 + tt.off))
		b, k, err := e.around(w, tt.want)
		if tt.got == 0 {
			if !errors.Is(err, ErrBounds) {
				t.Errorf("%+v: %d bits, %v", tt, k, err)
			}
			continue
		}
		if err != nil || k != tt.got {
			t.Errorf("%+v: %d bits, %v", tt, k, err)
			continue
		}
		// Rounded outward, to 16 bits more.
		r := new(big.Rat).Mul(w, new(big.Rat).SetFrac64(1, 1<<k))
		if b.Lower.Cmp(new(big.Rat).Sub(w, r)) > 0 || b.Upper.Cmp(new(big.Rat).Add(w, r)) < 0 {
			t.Errorf("%+v: [%v, %v] does not hold all within 2^-%d", tt, b.Lower, b.Upper, k)
		}
		if err := b.Verify(d, p, eps); err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
