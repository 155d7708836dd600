package sinkhorn

import (
	"context"
	"testing"
)

// TestWorkCounts holds how many passes, conjugate-gradient steps and kernels fixed instances take, one of each way
// through the solvers: a tenth more than measured, and one, for the last bits of sums differ between machines. What
// only saves work shows nowhere else.
func TestWorkCounts(t *testing.T) {
	ctx := context.Background()
	check := func(name string, got Stats, passes, cg, rebuilds int) {
		t.Helper()
		for _, n := range []struct {
			what       string
			have, most int
		}{{"passes", got.Passes, passes}, {"CG steps", got.CG, cg}, {"kernels", got.Rebuilds, rebuilds}} {
			if n.have > n.most+n.most/10+1 {
				t.Errorf("%s: %d %s, %d were enough", name, n.have, n.what, n.most)
			}
		}
	}
	tenth := Settings{Tolerance: 1e-10}
	warm := tenth
	warm.Initial = mustProject(t, scattered(t, 60, 0.001), tenth).LogV
	for _, tt := range []struct {
		name                 string
		p                    Problem
		s                    Settings
		passes, cg, rebuilds int
	}{
		{"annealing", scattered(t, 60, 0.01), tenth, 38, 35, 4},
		{"small Reg", scattered(t, 60, 0.001), tenth, 70, 62, 6},
		{"from the answer", scattered(t, 60, 0.001), warm, 1, 0, 1},
		{"compressed rows", scattered(t, 200, 0.0005), tenth, 206, 989, 5},
		{"a gap", scattered(t, 60, 0.01), Settings{Gap: 0.1}, 24, 7, 3},
		{"squared distances", square(60, 0.0003), tenth, 143, 358, 6},
		{"extrapolated", square(150, 0.1), Settings{}, 8, 0, 1},
		{"from the answer to a Newton step", square(150, 0.01), Settings{}, 27, 10, 4},
		{"as printed", square(60, 0.1), Settings{Method: Paper}, 1, 0, 0},
	} {
		check(tt.name, mustProject(t, tt.p, tt.s).Stats, tt.passes, tt.cg, tt.rebuilds)
	}
	g := newGenerator(1)
	for _, tt := range []struct {
		rel                  float64
		passes, cg, rebuilds int
	}{{1, 56, 0, 10}, {0.1, 164, 55, 10}, {0.01, 245, 80, 32}, {0.001, 354, 75, 54}} {
		var sum Stats
		for range 10 {
			r := mustProject(t, g.problem(2+g.intn(8), 2+g.intn(10), tt.rel), Settings{})
			sum.Passes += r.Stats.Passes
			sum.CG += r.Stats.CG
			sum.Rebuilds += r.Stats.Rebuilds
		}
		check("ten small ones", sum, tt.passes, tt.cg, tt.rebuilds)
	}
	for _, tt := range []struct {
		reg    float64
		s      Settings
		passes int
	}{{1e-3, Settings{Gap: 0.03}, 149}, {0.02, Settings{Tolerance: 1e-8}, 94}} {
		r, err := onGrid(t, ctx, gridProblem(t, 24, 30, 1, tt.reg), tt.s)
		if err != nil {
			t.Fatal(err)
		}
		check("grid", r.Stats, tt.passes, 0, 0)
	}
}
