package numtest

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tol is a tolerance: got and want agree if |got - want| <= Abs + Rel·|want|. Why is the reason for
// the numbers and is mandatory; a comparison without one fails.
type Tol struct {
	Abs, Rel float64
	Why      string
}

func (tol Tol) String() string {
	return fmt.Sprintf("%.3g + %.3g*|want| (%s)", tol.Abs, tol.Rel, tol.Why)
}

func (tol Tol) check() error {
	if tol.Why == "" {
		return fmt.Errorf("numtest: a tolerance needs its reason (Tol.Why)")
	}
	if !(tol.Abs >= 0 && tol.Rel >= 0) || math.IsInf(tol.Abs, 0) || math.IsInf(tol.Rel, 0) {
		return fmt.Errorf("numtest: tolerance %v is not finite and non-negative", tol)
	}
	return nil
}

// Close reports whether got is within tol of want. Equal infinities are close; NaN is close to
// nothing.
func (tol Tol) Close(got, want float64) bool {
	return got == want || math.Abs(got-want) <= tol.Abs+tol.Rel*math.Abs(want) && !math.IsInf(got, 0) &&
		!math.IsInf(want, 0)
}

// Near fails the test (and goes on) unless got is within tol of want. what names the quantity in
// the message: "Phi(3)".
func Near(t testing.TB, what string, got, want float64, tol Tol) {
	t.Helper()
	if err := tol.check(); err != nil {
		t.Fatal(err)
	}
	if !tol.Close(got, want) {
		t.Errorf("%s = %.17g, want %.17g, difference %.3g, tolerance %v", what, got, want, got-want, tol)
	}
}

// NearSlice compares entry by entry and reports the first entry that differs.
func NearSlice(t testing.TB, what string, got, want []float64, tol Tol) {
	t.Helper()
	if err := tol.check(); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%s has length %d, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !tol.Close(got[i], want[i]) {
			t.Errorf("%s[%d] = %.17g, want %.17g, difference %.3g, tolerance %v", what, i, got[i], want[i], got[i]-want[i], tol)
			return
		}
	}
}

// NearRat compares with an exact reference; the difference is formed exactly.
func NearRat(t testing.TB, what string, got float64, want *big.Rat, tol Tol) {
	t.Helper()
	if err := tol.check(); err != nil {
		t.Fatal(err)
	}
	w, _ := want.Float64()
	g := new(big.Rat).SetFloat64(got)
	if g == nil {
		t.Errorf("%s = %g, want %.17g", what, got, w)
		return
	}
	d, _ := g.Sub(g, want).Float64()
	if !(math.Abs(d) <= tol.Abs+tol.Rel*math.Abs(w)) {
		t.Errorf("%s = %.17g, want %.17g, difference %.3g, tolerance %v", what, got, w, d, tol)
	}
}

// Equal fails the test (and goes on) unless cmp.Equal(got, want, opts...).
func Equal(t testing.TB, what string, got, want any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}

// SameBits fails the test unless got and want are equal bit for bit: 0 and -0 differ, and a NaN
// equals the same NaN.
func SameBits(t testing.TB, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has length %d, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Errorf("%s[%d] = %x, want %x (bit for bit)", what, i, got[i], want[i])
			return
		}
	}
}

// ParseRat returns the exact value of a decimal string ("1.25e-3") or a fraction ("5/3"). It stops
// the test on anything else.
func ParseRat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("numtest: %q is not a decimal number or a fraction", s)
	}
	return r
}
