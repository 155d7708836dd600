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
			if w > 0 && !(math.Abs(g[j]-want[j]) <= 1e-6) { // the ridge of 1e-10, over the least 1 - slope of 1e-3 and more
				t.Errorf("weights %v: column %d is %v after %d steps, want %v", weight, j, g[j], 2*depth, want[j])
			}
		}
		fixed := append([]float64(nil), want[:]...)
		a = anderson{}
		for range 3 {
			if a.mix(k, fixed, want[:], weight); fixed[0] != want[0] || fixed[3] != want[3] {
				t.Errorf("weights %v: a fixed point moves to %v", weight, fixed)
			}
		}
	}
}

// TestSteps: at a small Reg, a residual of 1e-6 takes 159 steps, and 1291 without extrapolation.
func TestSteps(t *testing.T) {
	p := gridProblem(t, 32, 32, 1, 0.0005)
	r := Solve(t.Context(), p, Settings{Tolerance: 1e-6, MaxIterations: 400})
	if r.Status != Converged || !(r.Residual <= 1e-6) || !(r.Lower <= r.Upper) {
		t.Errorf("%d steps: status %v, residual %v, bounds %v and %v", r.Iterations, r.Status, r.Residual, r.Lower, r.Upper)
	}
}
