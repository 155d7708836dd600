package ctransform

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
)

// TestRow compares with the same minimum in rationals, on numbers close enough for rounding to matter; so does Exact.
func TestRow(t *testing.T) {
	d := rand.New(rand.NewPCG(92, 1))
	for range 3000 {
		n := 1 + d.IntN(9)
		row, g, exact := make([]float64, n), make([]float64, n), make([]*big.Rat, n)
		var want *big.Rat
		for j := range row {
			row[j] = 1 + math.Ldexp(float64(d.IntN(16)), -52)
			g[j] = float64(d.IntN(3)-1) * (1 + math.Ldexp(float64(d.IntN(16)), -54)) * math.Ldexp(1, d.IntN(3)-2)
			exact[j] = num.Rat(g[j])
			if x := new(big.Rat).Sub(num.Rat(row[j]), num.Rat(g[j])); want == nil || x.Cmp(want) < 0 {
				want = x
			}
		}
		f := Row(row, g)
		if num.Rat(f).Cmp(want) > 0 || num.Rat(math.Nextafter(f, 9)).Cmp(want) <= 0 {
			t.Fatalf("Row(%v, %v) = %v, want the largest float at most %v", row, g, f, want)
		}
		if got := Exact(row, exact, g); got.Cmp(want) != 0 {
			t.Fatalf("Exact(%v, %v) = %v, want %v", row, g, got, want)
		}
	}
	if f := Row([]float64{1, 2}, []float64{math.Inf(-1), math.Inf(-1)}); f != math.MaxFloat64 {
		t.Errorf("nothing to pay: %v", f)
	}
}

// TestFill: what is missing is at most zero, and valid for costs of zero.
func TestFill(t *testing.T) {
	for _, tt := range []struct {
		other []float64
		want  float64
	}{{[]float64{-3, 2, 0.5}, -2}, {[]float64{-3, -1}, 0}, {nil, 0}} {
		var other []*big.Rat
		for _, x := range tt.other {
			other = append(other, num.Rat(x))
		}
		f := []*big.Rat{num.Rat(7), nil}
		if Fill(f, other); f[0].Cmp(num.Rat(7)) != 0 || f[1].Cmp(num.Rat(tt.want)) != 0 {
			t.Errorf("Fill beside %v: %v, want 7 and %v", tt.other, f, tt.want)
		}
	}
}
