package network

import (
	"context"
	"testing"
)

// TestWorkSums holds the work of many small instances to a fiftieth more than measured.
func TestWorkSums(t *testing.T) {
	for _, tt := range []struct {
		name               string
		pivots, degenerate int
		draw               func(d draw, seed uint64) *Problem
	}{
		{"small", 978, 210, func(d draw, _ uint64) *Problem { return d.network(12) }},
		{"medium", 5426, 1634, func(d draw, _ uint64) *Problem { return d.network(60) }},
		{"families", 20358, 6986, func(_ draw,
			seed uint64) *Problem {
			return families[int(seed)%len(families)].make(seed, 40, 160)
		}},
	} {
		pivots, degenerate := 0, 0
		for seed := range uint64(200) {
			r, err := Solve(context.Background(), tt.draw(newDraw(seed+78e6), seed), Settings{})
			if err != nil && r.Status == Unknown {
				t.Fatal(err)
			}
			pivots += r.Stats.Pivots
			degenerate += r.Stats.Degenerate
		}
		if pivots > tt.pivots+tt.pivots/50 || degenerate > tt.degenerate+tt.degenerate/50 {
			t.Errorf("%s: %d pivots, %d without effect; %d and %d were enough", tt.name, pivots, degenerate, tt.pivots,
				tt.degenerate)
		}
	}
}

// TestWorkCounts holds how many pivots fixed instances take: a twentieth more than measured.
func TestWorkCounts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pivots int
	}{{"netgen", 1013}, {"netgen-low", 692}, {"netgen-many", 1319}, {"netgen-free", 632}} {
		r, err := Solve(context.Background(), familyOf(tt.name)(1, 300, 2400), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Stats.Pivots > tt.pivots+tt.pivots/20 {
			t.Errorf("%s: %d pivots, %d were enough", tt.name, r.Stats.Pivots, tt.pivots)
		}
	}
}
