package mincostflow

import (
	"context"
	"errors"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestWorkSums holds the work of many small instances, of all kinds, to a fiftieth more than measured, and two, for
// the last bits of the exponentials in them differ between machines: TestWorkCounts for what shows in sums alone,
// such as moves without effect and changes of the grid.
func TestWorkSums(t *testing.T) {
	more := func(n int) int { return n + n/50 + 2 }
	for _, tt := range []struct {
		name string
		most Stats
		draw func(d draw, s *Stats)
	}{
		{"small", Stats{Pivots: 1684, Degenerate: 316, Sweeps: 318, Rescales: 18},
			func(d draw, s *Stats) { s.add(mustSimplex(t, d.problem(8)).Stats) }},
		{"medium", Stats{Pivots: 6432, Degenerate: 973, Sweeps: 391, Rescales: 79},
			func(d draw, s *Stats) { s.project(t, d.problem(24), Settings{}) }},
		{"wide", Stats{Pivots: 7712, Degenerate: 287, Sweeps: 741, Rescales: 13}, func(d draw, s *Stats) {
			if d.Intn(4) == 0 {
				s.add(mustSimplex(t, d.wideProblem()).Stats)
			}
		}},
		// more rows than columns
		{"tall", Stats{Pivots: 4405, Degenerate: 1384, Sweeps: 68, Rescales: 3}, func(d draw, s *Stats) {
			if d.Intn(4) == 0 {
				k, kv := 70+d.Intn(20), 3+d.Intn(9)
				m := d.masses(kv)
				s.project(t, Problem{Cost: d.Costs(k, kv), Source: d.masses(k), Lo: scaled(m, 0.5), Hi: scaled(m, 2)}, Settings{})
			}
		}},
	} {
		var sum Stats
		for seed := range 150 {
			tt.draw(newDraw(uint64(seed)+76e6), &sum)
		}
		if m := tt.most; sum.Pivots > more(m.Pivots) || sum.Degenerate > more(m.Degenerate) || sum.Sweeps > more(m.Sweeps) ||
			sum.Rescales > more(m.Rescales) {
			t.Errorf("%s: %+v, %+v was enough", tt.name, sum, m)
		}
	}
}

func (s *Stats) add(r Stats) {
	s.Pivots += r.Pivots
	s.Degenerate += r.Degenerate
	s.Sweeps += r.Sweeps
	s.Rescales += r.Rescales
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
		most  float64
		limit func(pivots int) int
		sum   float64
	}{
		{"at once", 105.963, func(int) int { return 1 }, 0},
		{"early", 84.524, func(p int) int { return 1 + p/4 }, 0},
		{"late", 47.298, func(p int) int { return 1 + 9*p/10 }, 0},
	}
	for seed := range 150 {
		d := newDraw(uint64(seed) + 77e6)
		p := d.problem(12)
		r := mustSimplex(t, p)
		for n := range tests {
			tt := &tests[n]
			s, err := bySimplex(p, tt.limit(r.Stats.Pivots))
			if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
				t.Fatal(err)
			}
			if top := maxCost(p); top > 0 && err != nil {
				tt.sum += s.Gap() / top
			}
		}
	}
	for _, tt := range tests {
		if tt.sum > more*tt.most {
			t.Errorf("%s: %v, %v was enough", tt.name, tt.sum, tt.most)
		}
	}
}
