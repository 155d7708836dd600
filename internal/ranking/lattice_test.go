package ranking

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// compare holds the thresholds of a cost, for a box around m, against package policy, which ranks all pairs. mass is
// that of m, in units of eps from -1/2 to 1/2.
func compare(c cost.Matrix, m []float64, eps ldp.Epsilon, mass float64, bits int) error {
	sum := 0.0
	for _, x := range m {
		sum += x
	}
	scaled := make([]float64, len(m))
	for j, x := range m {
		scaled[j] = x * math.Exp(mass*eps.Float64()) / sum
	}
	box, err := ldp.NewPolytope(eps, scaled, bits)
	if err != nil {
		return err
	}
	r, err := Of(c)
	if err != nil {
		return err
	}
	thresholds, err := r.Thresholds(context.Background(), box)
	if err != nil {
		return err
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Geometry: &r.Geometry, Thresholds: thresholds,
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated},
	})
	if err != nil {
		return err
	}
	return policy.VerifyRows(context.Background(), p, 0, p.Inputs())
}

// masses are of base measures, as logarithms in units of eps: from the least to the most.
func masses() []float64 {
	if numtest.Full() {
		return []float64{-0.5, -0.2, 0, 0.3, 0.5}
	}
	return []float64{-0.5, 0.1, 0.5}
}

// TestLatticeThresholds holds the counted thresholds of all small grids and rings, and of some that are larger, narrow
// and wide.
func TestLatticeThresholds(t *testing.T) {
	rng := numtest.NewSplitMix64(31)
	check := func(rows, cols int, levels ...string) {
		t.Helper()
		for name, c := range given.Lattices(t, rows, cols, 1) {
			flat, rough := make([]float64, rows*cols), make([]float64, rows*cols)
			for j := range flat {
				flat[j] = 1
				if rng.Float64() < 0.7 || j == 0 {
					rough[j] = rng.Float64()
				}
			}
			for _, level := range levels {
				for _, bits := range []int{7 + int(math.Log2(float64(rows*cols))), 62} {
					for _, mass := range masses() {
						eps := given.Epsilon(t, level)
						if err := compare(c, flat, eps, mass, bits); err != nil {
							t.Errorf("%s, eps %s, %d bits, mass %v: %v", name, level, bits, mass, err)
						}
						if err := compare(c, rough, eps, mass, bits); err != nil {
							t.Errorf("%s, eps %s, %d bits, mass %v, a base measure with zeros: %v", name, level, bits, mass, err)
						}
					}
				}
			}
		}
	}
	levels, large := []string{"1/1000000000000000", "1", "20"}, []string{"4"}
	if numtest.Full() {
		levels, large = append(levels, "1/100", "7/2"), append(large, "1/3")
	}
	for rows := 1; rows <= numtest.Cases(3, 7); rows++ {
		for cols := 1; cols <= numtest.Cases(5, 9); cols++ {
			check(rows, cols, levels...)
		}
	}
	sizes := [][2]int{{1, 300}, {257, 4}, {17, 17}} // beyond thresholdBlock, and latticeBlock
	if numtest.Full() {
		sizes = [][2]int{{1, 1500}, {1500, 1}, {2, 700}, {301, 4}, {30, 40}, {37, 37}, {36, 36}}
	}
	for _, size := range sizes {
		check(size[0], size[1], large...)
	}
}

// TestLatticeLaw is TestLatticeThresholds for drawn boxes.
func TestLatticeLaw(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows, cols := rapid.IntRange(1, 25).Draw(r, "rows"), rapid.IntRange(1, 25).Draw(r, "cols")
		entry := rapid.SampledFrom([]float64{1, 1, 1, 0, 1e-9, 0.5, 3, 1000})
		m := make([]float64, rows*cols)
		one := rapid.Bool().Draw(r, "uniform")
		for j := range m {
			if m[j] = 1; !one && j > 0 {
				m[j] = entry.Draw(r, "entry")
			}
		}
		eps, err := ldp.ParseEpsilon(rapid.SampledFrom([]string{"1/1000", "1/2", "2", "9", "30", "64"}).Draw(r, "eps"))
		if err != nil {
			r.Fatal(err)
		}
		mass, bits := rapid.Float64Range(-0.5, 0.5).Draw(r, "mass"), rapid.IntRange(10, 62).Draw(r, "bits")
		for name, c := range given.Lattices(t, rows, cols, 1) {
			if err := compare(c, m, eps, mass, bits); err != nil {
				r.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// TestThresholdsExact: where the widths sum to just what is needed at a column, that column is the threshold, and not
// the next. The columns are of one width, and what is needed is 1, 2, ... of them.
func TestThresholdsExact(t *testing.T) {
	const n, bits, width = 40, 20, 1 << 14
	line := policy.Geometry{Kind: policy.Points, Axes: 1}
	for j := range n {
		line.OutputPoints = append(line.OutputPoints, int32(j/2)) // with ties
	}
	for want := 1; want <= n; want++ {
		lo := uint64(1<<bits-want*width) / n
		lows := slices.Repeat([]uint64{lo}, n)
		lows[0] += 1<<bits - uint64(want*width) - n*lo
		highs := slices.Clone(lows)
		for j := range highs {
			highs[j] += width
		}
		box, err := ldp.NewPolytopeFromBounds(given.Epsilon(t, "2"), lows, highs, bits)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []policy.Geometry{{Kind: policy.Ring}, {Kind: policy.Grid, Rows: 5, Cols: 8}, line} {
			ranked, err := (&Ranking{Geometry: g}).Rows(t.Context(), box)
			if err == nil {
				err = policy.VerifyRows(t.Context(), ranked.stated, 0, n)
			}
			if err != nil {
				t.Errorf("%d columns, %s: %v", want, g.Kind, err)
			}
		}
	}
}
