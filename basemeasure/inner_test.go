package basemeasure_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// directions is 1 - cosine (or a power of it) between random directions; every copy-th one is a copy of the one before.
func directions(k, kv, dim, copies int, p float64) *cost.Dense {
	g := numtest.NewSplitMix64(uint64(k*kv + dim))
	draw := func(n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			if copies > 0 && i%copies == copies-1 {
				x[i] = x[i-1]
				continue
			}
			x[i] = make([]float64, dim)
			size := 0.0
			for d := range x[i] {
				x[i][d] = math.Sqrt(-2*math.Log(1-g.Float64())) * math.Cos(2*math.Pi*g.Float64())
				size += x[i][d] * x[i][d]
			}
			for d := range x[i] {
				x[i][d] /= math.Sqrt(size)
			}
		}
		return x
	}
	x := draw(k)
	v := x
	if kv != k {
		v = draw(kv)
	}
	return matrix(k, kv, func(i, j int) float64 {
		s := 1.0
		for d := range x[i] {
			s -= x[i][d] * v[j][d]
		}
		return math.Pow(max(s, 0), p)
	})
}

// TestInner: costs of high dimension, where the support is large. The interior phase takes over, the bounds it finds
// hold, and they contain the optimum that the exact method finds.
func TestInner(t *testing.T) {
	if !numtest.Full() {
		t.Skip("problems that are large enough take seconds")
	}
	for _, tt := range []struct {
		name string
		c    *cost.Dense
		eps  float64
		s    basemeasure.Settings
	}{
		{"square", directions(300, 300, 64, 0, 1), 0.5, basemeasure.Settings{}},
		{"square, eps 2", directions(300, 300, 64, 0, 1), 2, basemeasure.Settings{}},
		{"more inputs", directions(340, 220, 64, 0, 1), 1, basemeasure.Settings{}},
		{"more outputs", directions(220, 340, 32, 0, 1), 1, basemeasure.Settings{}},
		{"p = 2", directions(280, 280, 64, 0, 2), 1, basemeasure.Settings{}},
		{"ties", directions(280, 280, 64, 4, 1), 1, basemeasure.Settings{}},
		{"inputs left out", directions(300, 300, 64, 0, 1), 1, basemeasure.Settings{Exclude: []int{0, 7, 299}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			best, err := basemeasure.Solve(background, tt.c, tt.eps, tt.s)
			if err != nil {
				t.Fatal(err)
			}
			for _, gap := range []float64{1e-2, 1e-3, 1e-5} {
				s := tt.s
				s.Gap = gap
				r, err := basemeasure.Solve(background, tt.c, tt.eps, s)
				if err != nil {
					t.Fatal(err)
				}
				if fine := gap < 1e-4; (r.Stats.Steps == 0) != fine { // so few costs to a small gap are the simplex's
					t.Errorf("gap %v: the interior phase has %d steps: %+v", gap, r.Stats.Steps, r.Stats)
				}
				if !(r.Gap() <= gap*r.Upper) {
					t.Errorf("gap %v, want %v", r.Gap()/r.Upper, gap)
				}
				verify(t, tt.c, tt.eps, r)
				if r.Lower > best.Upper || r.Upper < best.Lower {
					t.Errorf("gap %v: bounds %v and %v, the optimum is from %v to %v", gap, r.Lower, r.Upper, best.Lower, best.Upper)
				}
			}
		})
	}
}

// TestInnerRandom: random costs, where the best uniform measure is far from the best, reach a gap of 1e-3 in fewer pivots
// than the simplex alone needs for the first steps.
func TestInnerRandom(t *testing.T) {
	if !numtest.Full() {
		t.Skip("a problem that is large enough takes seconds")
	}
	const k = 730
	g := numtest.NewSplitMix64(91)
	c := matrix(k, k, func(_, _ int) float64 { return g.Float64() })
	r, err := basemeasure.Solve(background, c, 2, basemeasure.Settings{Gap: 1e-3, MaxPivots: 4000})
	if err != nil || r.Stats.Steps == 0 {
		t.Fatalf("%v: gap %v, %+v", err, r.Gap()/r.Upper, r.Stats)
	}
	verify(t, c, 2, r)
}

// TestInnerSameBits: the bits do not depend on the number of threads.
func TestInnerSameBits(t *testing.T) {
	if !numtest.Full() {
		t.Skip("a size at which work is shared takes a second")
	}
	c := directions(300, 300, 64, 0, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want basemeasure.Result
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		r, err := basemeasure.Solve(background, c, 1, basemeasure.Settings{Gap: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		if procs == 1 {
			want = r
			continue
		}
		numtest.SameBits(t, "M", r.M, want.M)
		numtest.SameBits(t, "Weights", r.Weights, want.Weights)
		numtest.SameBits(t, "Thresholds", r.Thresholds, want.Thresholds)
		if r.Stats != want.Stats || r.Stats.Steps == 0 {
			t.Errorf("%+v on %d threads, %+v on one", r.Stats, procs, want.Stats)
		}
	}
}

// TestInnerEnds: a context or a limit that ends the search during the phase leaves a result with bounds that hold.
func TestInnerEnds(t *testing.T) {
	if !numtest.Full() {
		t.Skip("a problem that is large enough takes a second")
	}
	c := directions(270, 270, 64, 0, 1)
	full, err := basemeasure.Solve(background, c, 1, basemeasure.Settings{Gap: 1e-3})
	if err != nil || full.Stats.Steps < 3 {
		t.Fatal(full.Stats, err)
	}
	inside := false
	for left := 1; left < 4000; left = left*5/4 + 1 {
		r, err := basemeasure.Solve(&numtest.Asked{Context: background, Most: left}, c, 1, basemeasure.Settings{Gap: 1e-3})
		if err == nil {
			break
		}
		if !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if r.M == nil {
			continue // before the costs were sorted
		}
		if inside = inside || r.Stats.Steps > 0; r.Status != basemeasure.Cancelled {
			t.Fatalf("status %v: %v", r.Status, err)
		}
		verify(t, c, 1, r)
	}
	if !inside {
		t.Error("no search ended during the phase")
	}
	inside = false
	for limit := 1; limit < full.Stats.Evaluations; limit += 3 {
		r, err := basemeasure.Solve(background, c, 1, basemeasure.Settings{Gap: 1e-3, MaxEvaluations: limit})
		if err != nil && (!errors.Is(err, wpmerr.ErrNotConverged) || r.Status != basemeasure.Limited) {
			t.Fatalf("limit of %d evaluations: %v, %v", limit, r.Status, err)
		}
		inside = inside || err != nil && r.Stats.Steps > 0
		verify(t, c, 1, r)
	}
	if !inside {
		t.Error("no search was limited during the phase")
	}
}

func BenchmarkInner(b *testing.B) {
	for _, eps := range []float64{0.5, 5} {
		c := directions(500, 500, 64, 0, 1)
		b.Run(fmt.Sprintf("k=500/eps=%v", eps), func(b *testing.B) {
			var r basemeasure.Result
			var err error
			for b.Loop() {
				if r, err = basemeasure.Solve(background, c, eps, basemeasure.Settings{Gap: 1e-3}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Stats.Steps), "steps")
			b.ReportMetric(r.Gap()/r.Upper, "gap")
		})
	}
}

// TestCrowd: where the inputs fill few outputs at the best uniform measure, the simplex starts from the cuts of all of
// them. That takes less than 4 pivots an output (from the worst input alone, up to 6), and the bounds hold.
func TestCrowd(t *testing.T) {
	if !numtest.Full() {
		t.Skip("problems that are large enough take a second")
	}
	for _, tt := range []struct {
		name  string
		k, kv int
		s     basemeasure.Settings
	}{
		{"square", 300, 300, basemeasure.Settings{Gap: 1e-3}},
		{"more inputs", 340, 220, basemeasure.Settings{Gap: 1e-3}},
		{"more outputs", 220, 340, basemeasure.Settings{Gap: 1e-3}},
		{"inputs left out", 300, 300, basemeasure.Settings{Gap: 1e-3, Exclude: []int{0, 7, 299}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := matrix(tt.k, tt.kv, func(i, j int) float64 {
				return math.Abs(float64(i)/float64(tt.k-1) - float64(j)/float64(tt.kv-1))
			})
			r, err := basemeasure.Solve(background, c, 10, tt.s)
			if err != nil {
				t.Fatal(err)
			}
			verify(t, c, 10, r)
			if most := 4 * tt.kv; r.Stats.Pivots > most || r.Stats.Restarts > 0 {
				t.Errorf("%+v, want at most %d pivots and no restart", r.Stats, most)
			}
		})
	}
}
