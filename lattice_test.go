package wpm_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// lattices are a grid and a ring of so many cells.
func lattices(t testing.TB, rows, cols int, p float64) map[string]cost.Matrix {
	grid, err := cost.NewGrid(rows, cols, p)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]cost.Matrix{fmt.Sprintf("grid %dx%d", rows, cols): grid}
	if rows == 1 {
		if list[fmt.Sprintf("ring %d", cols)], err = cost.NewRing(cols, p); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// ranked holds the thresholds of a mechanism against package policy, which ranks all pairs. mass is that of m, in units of eps
// from -1/2 to 1/2.
func ranked(c cost.Matrix, m []float64, eps ldp.Epsilon, mass float64, bits int) error {
	sum := 0.0
	for _, x := range m {
		sum += x
	}
	scaled := make([]float64, len(m))
	for j, x := range m {
		scaled[j] = x * math.Exp(mass*eps.Float64()) / sum
	}
	mechanism, err := wpm.New(c, scaled, eps, wpm.Options{Bits: bits})
	if err != nil {
		return err
	}
	p, err := mechanism.Publish(context.Background(), published)
	if err != nil {
		return err
	}
	return policy.VerifyRows(context.Background(), p, 0, p.Inputs())
}

// TestLatticeThresholds holds the counted thresholds of all small grids and rings, and of some that are larger, narrow and wide.
func TestLatticeThresholds(t *testing.T) {
	rng := numtest.NewSplitMix64(31)
	check := func(rows, cols int, levels ...string) {
		t.Helper()
		for name, c := range lattices(t, rows, cols, 1) {
			flat, rough := make([]float64, rows*cols), make([]float64, rows*cols)
			for j := range flat {
				flat[j] = 1
				if rng.Float64() < 0.7 || j == 0 {
					rough[j] = rng.Float64()
				}
			}
			for _, level := range levels {
				for _, bits := range []int{7 + int(math.Log2(float64(rows*cols))), 62} {
					for _, mass := range []float64{-0.5, -0.2, 0, 0.3, 0.5} {
						eps := epsilon(t, level)
						if err := ranked(c, flat, eps, mass, bits); err != nil {
							t.Errorf("%s, eps %s, %d bits, mass %v: %v", name, level, bits, mass, err)
						}
						if err := ranked(c, rough, eps, mass, bits); err != nil {
							t.Errorf("%s, eps %s, %d bits, mass %v, a base measure with zeros: %v", name, level, bits, mass, err)
						}
					}
				}
			}
		}
	}
	for rows := 1; rows <= 7; rows++ {
		for cols := 1; cols <= 9; cols++ {
			check(rows, cols, "1/1000000000000000", "1/100", "1", "7/2", "20")
		}
	}
	for _, size := range [][2]int{{1, 1500}, {1500, 1}, {2, 700}, {301, 4}, {30, 40}, {37, 37}, {36, 36}} {
		check(size[0], size[1], "1/3", "4")
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
		for name, c := range lattices(t, rows, cols, 1) {
			if err := ranked(c, m, eps, mass, bits); err != nil {
				r.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// TestLatticeWorstCase holds what a design of a large ring or grid states of its rows against all of them. With few bits, rounding
// makes some outputs differ from the others, and then inputs differ that are alike otherwise.
func TestLatticeWorstCase(t *testing.T) {
	for _, test := range []struct {
		rows, cols int
		p          float64
		eps        string
		bits       int
	}{
		{1, 1100, 1, "2", 62},
		{1, 1100, 2, "1/10", 11},
		{1, 1100, 3, "1/1000000000000000000", 62},
		{1, 1101, 0.5, "1", 12},
		{25, 44, 1, "2", 62},
		{25, 44, 3, "1/10", 11},
		{33, 33, 0.5, "1", 62},
		{33, 33, 2, "1/1000000000000000000", 62},
		{33, 33, 40, "5", 62},
		{33, 33, 1, "1", 12},
		{530, 2, 2, "3", 62},
	} {
		if testing.Short() && test.p != 1 && test.bits == 62 {
			continue // certificates take half a second each
		}
		for name, c := range lattices(t, test.rows, test.cols, test.p) {
			d, err := wpm.NewDesign(t.Context(), c, epsilon(t, test.eps), wpm.Objective{Options: wpm.Options{Bits: test.bits}})
			if err != nil {
				t.Fatal(name, err)
			}
			worst, k := 0.0, test.rows*test.cols
			for i := range k {
				worst = max(worst, d.Channel().Cost(i))
			}
			upper, input := d.WorstCase()
			const open = 1e-11 // roundings of the costs, see package internal/worst
			if !(upper >= worst && upper <= cost.Max(c)*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s, %d bits: a row costs %v, stated is at most %v", name, test.p, test.eps, test.bits, worst, upper)
			}
			if got := d.Channel().Cost(input); test.bits == 62 && (got < worst*(1-open) || upper > worst*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s: the worst row costs %v, input %d %v, stated is at most %v", name, test.p, test.eps,
					worst, input, got, upper)
			}
			base := d.Base()
			if !(base.Lower <= base.F && base.F <= base.Upper && base.Upper <= base.F*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s: lower bound %v, worst case %v, at most %v", name, test.p, test.eps, base.Lower, base.F, base.Upper)
			}
		}
	}
}
