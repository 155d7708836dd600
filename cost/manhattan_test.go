package cost_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

func TestManhattan(t *testing.T) {
	x, v := [][]float64{{0, 0}, {3, -4}}, [][]float64{{1, 1}, {0, 0}, {3, -4}}
	for _, tt := range []struct {
		name string
		v    [][]float64
		p    float64
		want []float64
	}{
		{"one set", nil, 1, []float64{0, 7, 7, 0}},
		{"square", nil, 2, []float64{0, 49, 49, 0}},
		{"two sets", v, 1, []float64{2, 0, 7, 7, 7, 0}},
		{"root", v, 0.5, []float64{math.Sqrt2, 0, math.Sqrt(7), math.Sqrt(7), math.Sqrt(7), 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := cost.Manhattan(x, tt.v, tt.p)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			for n, want := range tt.want {
				if got := d.Data[n]; !(math.Abs(got-want) <= 0x1p-52*want) { // one power, good to a bit
					t.Errorf("%s: entry %d is %v, want %v", tt.name, n, got, want)
				}
			}
		})
	}
	huge := [][]float64{{-math.MaxFloat64}, {math.MaxFloat64}}
	many := make([][]float64, 20_000)
	for i := range many {
		many[i] = []float64{0}
	}
	for _, tt := range []struct {
		name string
		x, v [][]float64
		p    float64
		want error
	}{
		{"no points", nil, nil, 1, wpmerr.ErrShape},
		{"no coordinates", [][]float64{{}}, nil, 1, wpmerr.ErrShape},
		{"dimensions", x, [][]float64{{1}}, 1, wpmerr.ErrShape},
		{"NaN", [][]float64{{math.NaN()}}, nil, 1, cost.ErrPoint},
		{"p", x, nil, 0, cost.ErrExponent},
		{"difference overflows", huge, nil, 1, wpmerr.ErrNotFinite},
		{"power overflows", [][]float64{{0}, {1e200}}, nil, 2, wpmerr.ErrNotFinite},
		{"too many", many, nil, 1, wpmerr.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := cost.Manhattan(tt.x, tt.v, tt.p); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		})
	}
}

// The documented error, against exact sums; and with one set of points symmetry to the bit and zeros on the diagonal.
func TestManhattanExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 6).Draw(t, "dim")
		x := points(t, "x", dim)
		d, err := cost.Manhattan(x, nil, 1)
		if err != nil {
			if !errors.Is(err, wpmerr.ErrNotFinite) {
				t.Fatal(err)
			}
			return
		}
		for i := range x {
			for j := range x {
				want := new(big.Float).SetPrec(4500)
				for n := range x[i] {
					diff := new(big.Float).SetPrec(4500).Sub(bigFloat(x[i][n]), bigFloat(x[j][n]))
					want.Add(want, diff.Abs(diff))
				}
				bound := float64(dim+1) * 0x1p-53
				if dim == 1 {
					bound = 0x1p-53
				}
				got := entry(d, i, j)
				if e := relErr(got, want); e > bound {
					t.Fatalf("entry %d, %d is %v, relative error %v > %v", i, j, got, e, bound)
				}
				if got != entry(d, j, i) || i == j && got != 0 {
					t.Fatalf("entry %d, %d is %v, of the other way %v", i, j, got, entry(d, j, i))
				}
			}
		}
	})
}
