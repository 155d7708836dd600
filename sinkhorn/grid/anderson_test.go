package grid

import (
	"math"
	"slices"
	"testing"
)

// TestAnderson: an affine map of as many directions as there are differences is solved by them, whatever the weights; a
// column without mass keeps what the map makes of it, and so does everything at a fixed point.
func TestAnderson(t *testing.T) {
	const n = 4
	slope, want := [n]float64{0.99, 0.9, -0.5, 0.999}, [n]float64{3, -1, 2, 0.25}
	k := newKernel(&level{rows: 2, cols: 2})
	k.reg = 1
	step := func(g []float64) {
		for j := range n {
			g[j] = want[j] + slope[j]*(g[j]-want[j])
		}
	}
	for _, weight := range [][]float64{{1, 1, 1, 1}, {0.4, 0.1, 0.3, 0.2}, {0.5, 0, 0.25, 0.25}} {
		var a anderson
		g := make([]float64, n)
		for range 2 * depth {
			before := slices.Clone(g)
			step(g)
			made := slices.Clone(g)
			a.mix(k, g, before, weight)
			for j, w := range weight {
				if w == 0 && g[j] != made[j] {
					t.Errorf("weights %v: column %d without mass is %v, and the map made %v", weight, j, g[j], made[j])
				}
			}
		}
		for j, w := range weight {
			if w > 0 && !(math.Abs(g[j]-want[j]) <= 1e-6) { // ten times the ridge of 1e-10, over the least 1 - slope, 1e-3
				t.Errorf("weights %v: column %d is %v after %d steps, want %v", weight, j, g[j], 2*depth, want[j])
			}
		}
		fixed := slices.Clone(want[:])
		a = anderson{}
		for range 3 {
			if a.mix(k, fixed, want[:], weight); fixed[0] != want[0] || fixed[3] != want[3] {
				t.Errorf("weights %v: a fixed point moves to %v", weight, fixed)
			}
		}
	}
}

// TestSteps: at a small Reg, a residual of 1e-6 takes 161 steps, and 1291 without extrapolation.
func TestSteps(t *testing.T) {
	p := gridProblem(t, 32, 32, 1, 0.0005)
	r := Solve(t.Context(), p, Settings{Tolerance: 1e-6, MaxIterations: 400})
	if r.Status != Converged || !(r.Residual <= 1e-6) || !(r.Lower <= r.Upper) {
		t.Errorf("%d steps: status %v, residual %v, bounds %v and %v", r.Iterations, r.Status, r.Residual, r.Lower, r.Upper)
	}
}

// TestFarPrices: an extrapolation that makes the dual value worse than a step is not taken. Without that, prices as far
// from the answer as these would go farther, and the run would stall at a residual of 0.1 to 2.
func TestFarPrices(t *testing.T) {
	g := newGenerator(41)
	for n := range 12 {
		p := gridProblem(t, 9+n, 12, float64(n%2), 0.001)
		first := make([]float64, len(p.Mu))
		for j := range first {
			first[j] = []float64{50, 5000}[n/2%2] * (2*g.float() - 1)
		}
		r := Solve(t.Context(), p, Settings{Tolerance: 1e-6, MaxIterations: 1000, Initial: first})
		if r.Status != Converged || !(r.Lower <= r.Upper) || !(r.Upper-r.Lower < 0.01) {
			t.Errorf("%d: status %v after %d steps, residual %v, bounds %v and %v", n, r.Status, r.Iterations, r.Residual,
				r.Lower, r.Upper)
		}
	}
}

// TestTinyColumns: where only prices of columns of mass 1e-280 still move, the equations of an extrapolation underflow.
// Prices that are no numbers are not taken, and no search goes on for ever.
func TestTinyColumns(t *testing.T) {
	for _, tiny := range []float64{1.5e-280, 1e-300, 5e-320} {
		p := gridProblem(t, 48, 48, 0, 0)
		for j := range p.Mu {
			p.Mu[j], p.Lo[j], p.Hi[j] = 1/float64(len(p.Mu)), 0, 1
		}
		for _, j := range []int{100, 237, 374} {
			p.Hi[j] = tiny
		}
		p.Reg = 1e-7
		r := Solve(t.Context(), p, Settings{Gap: 1e-3, MaxIterations: 300, Choose: true})
		if math.IsNaN(r.Residual) || !(r.Lower <= r.Upper) || r.Iterations > 300 {
			t.Errorf("%v: residual %v, bounds %v and %v, %d steps", tiny, r.Residual, r.Lower, r.Upper, r.Iterations)
		}
	}
}
