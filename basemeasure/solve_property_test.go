package basemeasure_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/wpmerr"
)

// lawTol is the relative error of a value known to within twice the gap asked for. The costs drawn can span sixteen
// orders of magnitude; then a value far below the largest cost may be known to lawFloor of that only.
const (
	lawTol   = 2 * basemeasure.DefaultGap
	lawFloor = 1e-12
	// lawStall is that of the rare draws where rounding stops Solve: of 30,000, four had a wider gap than lawFloor, and
	// 6.7e-11 at most.
	lawStall = 1e-10
)

// drawObjective draws settings for k inputs.
func drawObjective(t *rapid.T, k int) basemeasure.Settings {
	var s basemeasure.Settings
	s.Objective = basemeasure.Objective(rapid.IntRange(0, 2).Draw(t, "objective"))
	if s.Objective == basemeasure.Mixed {
		s.Mix = rapid.SampledFrom([]float64{0, 1e-6, 0.3, 0.5, 0.999, 1}).Draw(t, "mix")
	}
	if s.Objective != basemeasure.WorstCase && rapid.Bool().Draw(t, "weighted") {
		for range k {
			s.InputWeights = append(s.InputWeights, rapid.SampledFrom([]float64{0, 1, 2, 7, 1e-9, 1e100}).Draw(t, "weight"))
		}
		s.InputWeights[rapid.IntRange(0, k-1).Draw(t, "some")] = 1
	}
	if k > 1 && rapid.IntRange(0, 3).Draw(t, "exclude") == 0 {
		for i := range k - 1 {
			if rapid.Bool().Draw(t, "out") {
				s.Exclude = append(s.Exclude, i)
			}
		}
	}
	return s
}

// solved runs Solve and Verify.
func solved(t *rapid.T, c *cost.Dense, eps float64, s basemeasure.Settings) basemeasure.Result {
	t.Helper()
	r, err := basemeasure.Solve(background, c, eps, s)
	stalled := errors.Is(err, wpmerr.ErrNotConverged) && r.Status == basemeasure.Stalled &&
		r.Gap() <= lawStall*given.Max(c) && r.Upper < 1e-3*given.Max(c)
	if err != nil && !stalled {
		t.Fatalf("%v (gap %v of %v, largest cost %v)", err, r.Gap(), r.Upper, given.Max(c))
	}
	upper, lower, err := basemeasure.Verify(context.Background(), c, eps, r)
	if err != nil {
		t.Fatal(err)
	}
	if lower.Cmp(upper) > 0 {
		t.Fatalf("lower %v > upper %v", lower, upper)
	}
	if stalled && r.Gap() > lawFloor*given.Max(c) {
		t.Skip("rounding leaves too much open for the laws")
	}
	if !stalled && !(r.Gap() <= max(r.Settings.Gap*r.Upper, 1e-15*given.Max(c))) {
		t.Fatalf("gap %v of %v", r.Gap(), r.Upper)
	}
	return r
}

func same(a, b, scale float64) bool {
	return math.Abs(a-b) <= lawTol*max(a, b)+lawFloor*scale
}

func notAbove(a, b, scale float64) bool { return a <= b+lawTol*b+lawFloor*scale }

// TestSolveLaws: certified; linear in C; blind to the names of rows and columns; never worse with more eps, fewer
// rows or more columns; never worse than the uniform measure.
func TestSolveLaws(t *testing.T) {
	levels := []float64{0, 0.01, 0.1, 0.5, 1, 2, 5, 12}
	rapid.Check(t, func(t *rapid.T) {
		c := given.Cost(t, 9)
		s := drawObjective(t, c.K)
		at := rapid.IntRange(0, len(levels)-1).Draw(t, "eps")
		eps, top := levels[at], given.Max(c)
		r := solved(t, c, eps, s)

		factor := rapid.SampledFrom([]float64{0x1p-40, 3, 1e6}).Draw(t, "factor")
		scaled := matrix(c.K, c.Kv, func(i, j int) float64 { return factor * c.Row(i, nil)[j] })
		if f := solved(t, scaled, eps, s).F; !same(f, factor*r.F, factor*top) {
			t.Fatalf("f = %v, of %v times the cost %v", r.F, factor, f)
		}

		rows, columns := rapid.Permutation(counting(c.K)).Draw(t, "rows"),
			rapid.Permutation(counting(c.Kv)).Draw(t, "columns")
		p := s
		p.InputWeights, p.Exclude = nil, nil
		for to, i := range rows {
			if s.InputWeights != nil {
				p.InputWeights = append(p.InputWeights, s.InputWeights[i])
			}
			if slices.Contains(s.Exclude, i) {
				p.Exclude = append(p.Exclude, to)
			}
		}
		moved := matrix(c.K, c.Kv, func(i, j int) float64 { return c.Row(rows[i], nil)[columns[j]] })
		if f := solved(t, moved, eps, p).F; !same(f, r.F, top) {
			t.Fatalf("f = %v, with rows and columns permuted %v", r.F, f)
		}

		if at+1 < len(levels) {
			if f := solved(t, c, levels[at+1], s).F; !notAbove(f, r.F, top) {
				t.Fatalf("f = %v at eps = %v, %v at %v", r.F, eps, f, levels[at+1])
			}
		}
		wider := matrix(c.K, c.Kv+1, func(i, j int) float64 { return c.Row(i, nil)[j%c.Kv] })
		extra := rapid.SampledFrom(c.Data).Draw(t, "extra")
		for i := range c.K {
			wider.Data[i*(c.Kv+1)+c.Kv] = extra
		}
		if f := solved(t, wider, eps, s).F; !notAbove(f, r.F, top) {
			t.Fatalf("f = %v, with another column %v", r.F, f)
		}
		if s.Objective == basemeasure.WorstCase && s.Exclude == nil && c.K > 1 {
			fewer := &cost.Dense{K: c.K - 1, Kv: c.Kv, Data: c.Data[:(c.K-1)*c.Kv]}
			if f := solved(t, fewer, eps, s).F; !notAbove(f, r.F, top) {
				t.Fatalf("f = %v, with a row less %v", r.F, f)
			}
		}
		u, err := basemeasure.Uniform(background, c, eps, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := basemeasure.Verify(context.Background(), c, eps, u); err != nil {
			t.Fatal(err)
		}
		if !notAbove(r.F, u.F, top) || !(u.Lower <= r.Upper) {
			t.Fatalf("f = %v, uniform %v; lower bound of the uniform %v", r.F, u.F, u.Lower)
		}
	})
}

// TestObjectiveLaws: each objective is best at its own game, and the mix lies between.
func TestObjectiveLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := given.Cost(t, 9)
		eps, top := rapid.SampledFrom([]float64{0.1, 1, 4}).Draw(t, "eps"), given.Max(c)
		mix := rapid.SampledFrom([]float64{0.1, 0.5, 0.9}).Draw(t, "mix")
		worst := solved(t, c, eps, basemeasure.Settings{})
		average := solved(t, c, eps, basemeasure.Settings{Objective: basemeasure.Average})
		mixed := solved(t, c, eps, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: mix})
		for _, r := range []basemeasure.Result{worst, average, mixed} {
			if !notAbove(worst.F, r.WorstCase, top) || !notAbove(average.F, r.Mean, top) ||
				!notAbove(mixed.F, mix*r.WorstCase+(1-mix)*r.Mean, top) {
				t.Fatalf("%v has worst case %v and mean %v; the best are %v, %v, mixed %v", r.Settings.Objective, r.WorstCase,
					r.Mean, worst.F, average.F, mixed.F)
			}
		}
		if !notAbove(mix*worst.F+(1-mix)*average.F, mixed.F, top) {
			t.Fatalf("mixed %v below the mix of %v and %v", mixed.F, worst.F, average.F)
		}
		for m, want := range map[float64]float64{0: average.F, 1: worst.F} {
			if f := solved(t, c, eps, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: m}).F; !same(f, want, top) {
				t.Fatalf("mix %v has %v, want %v", m, f, want)
			}
		}
	})
}

func counting(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
