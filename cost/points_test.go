package cost

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPointsRowsOfAnyDimension: rows have the bits of squares and far, whichever loop made them, at all scales.
func TestPointsRowsOfAnyDimension(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 1))
	draw := func(n, dim, scale int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, dim)
			for d := range x[i] {
				x[i][d] = math.Ldexp(r.NormFloat64(), scale-r.IntN(2)*r.IntN(40))
			}
			if i > 0 && r.IntN(4) == 0 {
				copy(x[i], x[i-1])
			}
		}
		return x
	}
	for dim := 1; dim <= 6; dim++ {
		for _, scale := range []int{0, 300, -300, -450, -490, -537, -1060} {
			for _, p := range []float64{0.5, 1, 2, 3, 4} {
				if scale == 300 && p > 2 {
					continue // overflows
				}
				x := draw(3, dim, scale)
				v := append(draw(11, dim, scale), x...)
				if r.IntN(2) == 0 {
					v = nil
				}
				c, err := NewPoints(x, v, p)
				if err != nil {
					t.Fatal(err)
				}
				for i := range x {
					for j, got := range c.Row(i, nil) {
						a, b := c.x[i*dim:(i+1)*dim], c.v[j*dim:(j+1)*dim]
						s := squares(a, b)
						want := c.p.ofSquare(s)
						if !(s >= 0x1p-960 && s <= math.MaxFloat64) {
							want = c.far(a, b)
						}
						if math.Float64bits(got) != math.Float64bits(want) {
							t.Fatalf("dim %d, p %v, scale %d: C[%d][%d] = %v, want %v", dim, p, scale, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// TestPlain: the edges of the range.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		s    float64
		want bool
	}{{0, false}, {0x1p-960, true}, {math.Nextafter(0x1p-960, 0), false}, {1, true}, {math.MaxFloat64, true},
		{math.Inf(1), false}, {math.NaN(), false}, {math.SmallestNonzeroFloat64, false}} {
		if plain(tt.s) != tt.want {
			t.Errorf("plain(%v) = %v", tt.s, !tt.want)
		}
	}
}
