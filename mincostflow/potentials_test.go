package mincostflow

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

var denseOnes = cost.Dense{K: 50, Kv: 1, Data: repeat(1, 50)}

// TestRowPotential compares with the same minimum in rationals, on numbers close enough for
// rounding to matter.
func TestRowPotential(t *testing.T) {
	for seed := range 3000 {
		d := newDraw(uint64(seed))
		n := 1 + d.Intn(9)
		row, g := make([]float64, n), make([]float64, n)
		for j := range row {
			row[j] = 1 + math.Ldexp(float64(d.Intn(16)), -52)
			g[j] = float64(d.Intn(3)-1) * (1 + math.Ldexp(float64(d.Intn(16)), -54)) * math.Ldexp(1, d.Intn(3)-2)
		}
		f := rowPotential(row, g)
		var want *big.Rat
		for j := range row {
			if x := new(big.Rat).Sub(rat(row[j]), rat(g[j])); want == nil || x.Cmp(want) < 0 {
				want = x
			}
		}
		if rat(f).Cmp(want) > 0 || rat(math.Nextafter(f, 9)).Cmp(want) <= 0 {
			t.Fatalf("rowPotential(%v, %v) = %v, want the largest float at most %v", row, g, f, want)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name      string
		q, lo, hi []float64
		want      []float64
	}{
		{"inside first", []float64{0.5, 0.25, 0.125}, []float64{0.5, 0, 0.125}, repeat(1, 3), []float64{0.5, 0.375, 0.125}},
		{"down to the bound, then the next", []float64{0.5, 0.5, 0.25}, []float64{0.375, 0.25, 0.25}, repeat(1, 3), []float64{0.375, 0.375, 0.25}},
		{"only at bounds", []float64{0.5, 0.25}, []float64{0.5, 0.25}, []float64{0.5, 1}, []float64{0.5, 0.5}},
		{"already one", []float64{0.5, 0.5}, []float64{0, 0}, []float64{1, 1}, []float64{0.5, 0.5}},
		{"less than an ulp of the first", []float64{0.5, 0.5, 0x1p-60}, repeat(0, 3), repeat(1, 3), []float64{0.5, 0.5, 0}},
	} {
		in := &instance{limits: &limits{lo: c.lo, hi: c.hi}}
		in.repair(c.q)
		if !slices.Equal(c.q, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.q, c.want)
		}
	}
}
