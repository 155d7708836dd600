package mincostflow

import (
	"context"
	"errors"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestWorkSums holds the work of many small instances, of all kinds, to a fiftieth more than measured, and two, for
// the last bits of the exponentials in them differ between machines: TestWorkCounts for what shows in sums alone,
// such as moves without effect, changes of the grid, and pivots at exact prices.
func TestWorkSums(t *testing.T) {
	more := func(n int) int { return n + n/50 + 2 }
	for _, tt := range []struct {
		name string
		most Stats
		draw func(d draw, s *Stats)
	}{
		{"small", Stats{Pivots: 1684, Degenerate: 316, Sweeps: 318, Rescales: 18},
			func(d draw, s *Stats) { s.project(t, d.problem(8), Settings{noKnapsack: true}) }},
		{"medium", Stats{Pivots: 6432, Degenerate: 973, Sweeps: 391, Rescales: 79},
			func(d draw, s *Stats) { s.project(t, d.problem(24), Settings{}) }},
		{"wide", Stats{Pivots: 7712, Degenerate: 287, Sweeps: 741, Rescales: 13}, func(d draw, s *Stats) {
			if d.Intn(4) == 0 {
				s.project(t, d.wideProblem(), Settings{noKnapsack: true})
			}
		}},
		// more rows than columns
		{"tall", Stats{Pivots: 4405, Degenerate: 1384, Sweeps: 68, Rescales: 3}, func(d draw, s *Stats) {
			if d.Intn(4) == 0 {
				k, kv := 70+d.Intn(20), 3+d.Intn(9)
				m := d.masses(kv)
				s.project(t, Problem{Cost: d.costs(k, kv), Source: d.masses(k), Lo: scaled(m, 0.5), Hi: scaled(m, 2)}, Settings{})
			}
		}},
		{"units", Stats{Pivots: 1646, Degenerate: 86, Sweeps: 340, Rescales: 33, Repairs: 18}, func(d draw, s *Stats) {
			r, err := ProjectUnits(context.Background(), d.unitProblem(12), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			s.add(r.Stats)
		}},
	} {
		var sum Stats
		for seed := range 150 {
			tt.draw(newDraw(uint64(seed)+76e6), &sum)
		}
		if m := tt.most; sum.Pivots > more(m.Pivots) || sum.Degenerate > more(m.Degenerate) || sum.Sweeps > more(m.Sweeps) ||
			sum.Rescales > more(m.Rescales) || sum.Repairs > more(m.Repairs) {
			t.Errorf("%s: %+v, %+v was enough", tt.name, sum, m)
		}
	}
}

func (s *Stats) add(r Stats) {
	s.Pivots += r.Pivots
	s.Degenerate += r.Degenerate
	s.Sweeps += r.Sweeps
	s.Rescales += r.Rescales
	s.Repairs += r.Repairs
}

func (s *Stats) project(t *testing.T, p Problem, settings Settings) {
	t.Helper()
	r, err := Project(context.Background(), p, settings)
	if err != nil {
		t.Fatal(err)
	}
	s.add(r.Stats)
}

// TestStoppedGaps: how far apart the bounds of stopped runs are, over the largest cost and in the sum of many; a
// fiftieth more than measured.
func TestStoppedGaps(t *testing.T) {
	const more = 1.02
	tests := []struct {
		name  string
		most  [2]float64 // of distributions and of units
		limit func(pivots int) int
		sum   [2]float64
	}{
		{"at once", [2]float64{105.963, 89.335}, func(int) int { return 1 }, [2]float64{}},
		{"early", [2]float64{84.524, 72.968}, func(p int) int { return 1 + p/4 }, [2]float64{}},
		{"late", [2]float64{47.298, 46.163}, func(p int) int { return 1 + 9*p/10 }, [2]float64{}},
	}
	for seed := range 150 {
		d := newDraw(uint64(seed) + 77e6)
		p := d.problem(12)
		r := mustProject(t, p, Settings{noKnapsack: true})
		u := d.unitProblem(12)
		full, err := ProjectUnits(context.Background(), u, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range tests {
			tt := &tests[n]
			s, err := Project(context.Background(), p, Settings{noKnapsack: true, maxPivots: tt.limit(r.Stats.Pivots)})
			if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
				t.Fatal(err)
			}
			if top := maxCost(p); top > 0 && err != nil {
				tt.sum[0] += s.Gap() / top
			}
			part, err := ProjectUnits(context.Background(), u, Settings{maxPivots: tt.limit(full.Stats.Pivots)})
			if top := maxCost(Problem{Cost: u.Cost}); top > 0 && err != nil {
				upper, _ := part.Upper.Float64()
				lower, _ := part.Lower.Float64()
				tt.sum[1] += upper/top - lower/top
			}
		}
	}
	for _, tt := range tests {
		for n, x := range tt.sum {
			if x > more*tt.most[n] {
				t.Errorf("%s: %v, %v was enough", tt.name, tt.sum, tt.most)
			}
		}
	}
}
