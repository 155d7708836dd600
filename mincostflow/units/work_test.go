package units

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestWork holds the work of many small instances to a fiftieth more than measured, and two.
func TestWork(t *testing.T) {
	most := Stats{Pivots: 1646, Degenerate: 86, Sweeps: 340, Rescales: 33, Repairs: 18}
	more := func(n int) int { return n + n/50 + 2 }
	var sum Stats
	for seed := range 150 {
		s := must(t, draw(given.NewHard(uint64(seed)+76e6), 12), Settings{}).Stats
		sum.Pivots += s.Pivots
		sum.Degenerate += s.Degenerate
		sum.Sweeps += s.Sweeps
		sum.Rescales += s.Rescales
		sum.Repairs += s.Repairs
	}
	if sum.Pivots > more(most.Pivots) || sum.Degenerate > more(most.Degenerate) || sum.Sweeps > more(most.Sweeps) ||
		sum.Rescales > more(most.Rescales) || sum.Repairs > more(most.Repairs) {
		t.Errorf("%+v, %+v was enough", sum, most)
	}
}

// projectUntil is Project as if the context ended after so many pivots.
func projectUntil(p Problem, pivots int) (Result, error) {
	s := new(simplex.Solver)
	over := func() bool { return s.Stats().Pivots >= pivots }
	return project(numtest.Until{Context: context.Background(), Over: over}, s, p, Settings{})
}

// TestStoppedGaps: how far apart the bounds of stopped runs are, over the largest cost and in the sum of many; a
// fiftieth more than measured. Costs that had to be scaled are not read once the context has ended, and do not count.
func TestStoppedGaps(t *testing.T) {
	const more = 1.02
	for _, tt := range []struct {
		name  string
		most  float64
		limit func(pivots int) int
	}{
		{"at once", 55.612, func(int) int { return 1 }},
		{"early", 44.604, func(p int) int { return 1 + p/4 }},
		{"late", 20.557, func(p int) int { return 1 + 9*p/10 }},
	} {
		sum := 0.0
		for seed := range 150 {
			p := draw(given.NewHard(uint64(seed)+77e6), 12)
			full := must(t, p, Settings{})
			r, err := projectUntil(p, tt.limit(full.Stats.Pivots))
			if top := given.Max(p.Cost); top > 0x1p-900 && top < 0x1p1000 && err != nil {
				upper, _ := r.Upper.Float64()
				lower, _ := r.Lower.Float64()
				sum += upper/top - lower/top
			}
		}
		if sum > more*tt.most {
			t.Errorf("%s: %v, %v was enough", tt.name, sum, tt.most)
		}
	}
}

// TestCancelReadsNoMore: wherever the context ends, every processor reads 32 rows more at most, and what comes back is
// verified.
func TestCancelReadsNoMore(t *testing.T) {
	const k, kv = 320, 40
	d := given.NewHard(99e6)
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, 1+d.Float64())
	}
	p := Problem{Source: d.Counts(k, 1<<20), Lo: make([]int64, kv), Hi: slices.Repeat([]int64{1 << 40}, kv)}
	for j := range p.Lo {
		p.Lo[j] = int64(j % 3)
	}
	for _, procs := range []int{1, 3} {
		old := runtime.GOMAXPROCS(procs)
		for _, memory := range []int64{0, 8 * kv * 200, -1} {
			settings := Settings{Memory: memory, AllRows: true}
			var all atomic.Int64
			p.Cost = given.Counting{Matrix: c, Rows: &all}
			if _, err := Project(context.Background(), p, settings); err != nil {
				t.Fatal(err)
			}
			for _, at := range []int64{0, 1, 30, all.Load() / 5, all.Load() / 3, all.Load() / 2, all.Load() * 3 / 4,
				all.Load() - 90} {
				ctx, cancel := context.WithCancel(context.Background())
				var rows, ended atomic.Int64
				end := func() { cancel(); ended.Store(rows.Load()) }
				if at == 0 {
					end()
				}
				p.Cost = given.Counting{Matrix: c, Rows: &rows, At: at, Cancel: end}
				r, err := Project(ctx, p, settings)
				if more := rows.Load() - ended.Load(); more > int64(32*procs) {
					t.Errorf("memory %d, %d processors, cancelled at row %d of %d: %d rows read after", memory, procs, at, all.Load(),
						more)
				}
				stopped := errors.Is(err, wpmerr.ErrNotConverged) && errors.Is(err, context.Canceled)
				if !(stopped && r.Status == Cancelled) && rows.Load() < all.Load() {
					t.Errorf("memory %d, cancelled at row %d of %d: %v, %v", memory, at, all.Load(), r.Status, err)
				}
				p.Cost = c
				if _, _, err := Verify(context.Background(), p, r); err != nil {
					t.Error(err)
				}
				cancel()
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// TestMemory: how many rows are held changes no bit of any result.
func TestMemory(t *testing.T) {
	for seed := range numtest.Cases(6, 15) {
		p := draw(given.NewHard(uint64(seed)+101e6), 130)
		want := must(t, p, Settings{})
		p.Cost = given.Counting{Matrix: p.Cost, Rows: new(atomic.Int64)}
		for _, memory := range []int64{0, -1, 1, 8000, 80_000, math.MaxInt64} {
			if got := must(t, p, Settings{Memory: memory}); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, memory %d: %+v, want %+v", seed, memory, got, want)
			}
		}
	}
}

func BenchmarkProject(b *testing.B) {
	for _, n := range []int{10, 20, 30} {
		b.Run(fmt.Sprintf("grid%d", n), func(b *testing.B) {
			c, err := cost.NewGrid(n, n, 1)
			if err != nil {
				b.Fatal(err)
			}
			held, err := cost.Materialize(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			d := given.NewHard(1)
			p := Problem{Cost: held, Source: make([]int64, n*n)}
			sum := int64(0)
			for i := range p.Source {
				p.Source[i] = int64(math.Ldexp(-math.Log1p(-d.Float64()), 40))
				sum += p.Source[i]
			}
			p.Lo = slices.Repeat([]int64{sum / int64(n*n) / 3}, n*n)
			p.Hi = slices.Repeat([]int64{sum / int64(n*n) * 3}, n*n)
			var r Result
			for b.Loop() {
				if r, err = Project(b.Context(), p, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Stats.Pivots), "pivots")
			b.ReportMetric(float64(r.Stats.Repairs), "repairs")
		})
	}
}
