package sinkhorn

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestClaims: Verify lets Transport be off by claimSlack of the largest cost, Residual by claimSlack, and sums of Q by
// kv 2^-52, and no more; on grids, in floats, too.
func TestClaims(t *testing.T) {
	type prove func(v *verifier, r Result) error
	exactly := func(v *verifier, r Result) error { _, err := v.dense(r); return err }
	floats := func(v *verifier, r Result) error { _, err := v.gridUpper(r); return err }
	p := gridProblem(t, 4, 5, 1, 0.1)
	r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]prove{"exactly": exactly, "in floats": floats} {
		for _, tt := range []struct {
			transport, residual float64
			want                bool
		}{
			{0, 0, true}, {0.9, 0, true}, {-0.9, 0, true}, {1.1, 0, false}, {-1.1, 0, false}, {0, 0.9, true}, {0, 1.1, false}, {0.9, 0.9, true},
		} {
			x := r
			x.Transport += tt.transport * claimSlack * cost.Max(p.Cost)
			x.Residual += tt.residual * claimSlack
			if err := f(verifierOf(t, p, r.Q), x); (err == nil) != tt.want {
				t.Errorf("%s: %+v: %v", name, tt, err)
			}
		}
	}
	p = Problem{Cost: dense(t, []float64{0, 1, 1, 1}), Source: []float64{1}, Lo: []float64{0, 0, 0, 0}, Hi: []float64{1, 1, 1, 1}, Reg: 1}
	const unit = 0x1p-52
	for _, tt := range []struct {
		more float64
		want bool
	}{{0, true}, {4, true}, {-4, true}, {5, false}, {-5, false}} {
		if _, err := newVerifier(p, []float64{0.25, 0.25, 0.25, 0.25 + tt.more*unit}); (err == nil) != tt.want {
			t.Errorf("%v units more: %v", tt.more, err)
		}
	}
}

// verifierOf returns what verifies q for p, or any point of the box if q is nil.
func verifierOf(t *testing.T, p Problem, q []float64) *verifier {
	t.Helper()
	var err error
	if q == nil {
		if q, _, err = kl.Project(make([]float64, len(p.Lo)), p.Lo, p.Hi); err != nil {
			t.Fatal(err)
		}
		kl.Repair(q, p.Lo, p.Hi)
	}
	v, err := newVerifier(p, q)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scaledPlan returns the plan of logV at reg, as Verify makes it.
func scaledPlan(t *testing.T, v *verifier, logV []float64, reg float64) [][]float64 {
	t.Helper()
	fill, err := v.Scaling(logV, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan := make([][]float64, v.K)
	for i := range plan {
		plan[i] = make([]float64, v.Kv)
	}
	_ = v.Masses(func(i int, _, mass float64) error {
		fill(i, mass, v.Cost.Row(i, make([]float64, v.Kv)), plan[i])
		return nil
	})
	return plan
}

// TestShares: the steps of a flow, by plain loops: every cell gives at the same time, in proportion to what is asked of
// it, and no more than it has.
func TestShares(t *testing.T) {
	const rows, cols, same = 3, 4, 1e-12 // and 2^-40 where a cell gives all that it has
	p := gridProblem(t, rows, cols, 1, 0.1)
	v := verifierOf(t, p, nil)
	g := newGenerator(83)
	cut := 0
	for range 40 {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 1 + g.intn(3)}
		for i := range f.Right {
			if i%cols+1 < cols && g.intn(4) > 0 {
				f.Right[i] = 0.3 * (g.float() - 0.5)
			}
			if i/cols+1 < rows && g.intn(4) > 0 {
				f.Down[i] = 0.3 * (g.float() - 0.5)
			}
		}
		if err := v.checkFlow(f); err != nil {
			t.Fatal(err)
		}
		sums := g.mass(rows * cols)
		want := append([]float64(nil), sums...)
		for range f.Steps {
			var ask [rows * cols][rows * cols]float64
			for i := range want {
				if i%cols+1 < cols {
					ask[i][i+1], ask[i+1][i] = max(0, f.Right[i]), max(0, -f.Right[i])
				}
				if i/cols+1 < rows {
					ask[i][i+cols], ask[i+cols][i] = max(0, f.Down[i]), max(0, -f.Down[i])
				}
			}
			next := append([]float64(nil), want...)
			for i := range want {
				var all float64
				for _, x := range ask[i] {
					all += x / float64(f.Steps)
				}
				part := 1.0
				if all > want[i] {
					part = want[i] / all
					cut++
				}
				for j, x := range ask[i] {
					next[i] -= part * x / float64(f.Steps)
					next[j] += part * x / float64(f.Steps)
				}
			}
			want = next
		}
		_, got := v.shares(f, sums)
		for i, x := range want {
			if !(math.Abs(got[i]-x) <= same) {
				t.Errorf("%d steps: cell %d has %v, want %v", f.Steps, i, got[i], x)
			}
		}
	}
	if cut == 0 {
		t.Error("no cell ran out")
	}
	// What leaves the grid is refused, to each side.
	for i := range rows * cols {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 1}
		f.Right[i] = 0.1
		if err := v.checkFlow(f); (err == nil) != (i%cols < cols-1) {
			t.Errorf("to the right of cell %d: %v", i, err)
		}
		f.Right[i], f.Down[i] = 0, -0.1
		if err := v.checkFlow(f); (err == nil) != (i/cols < rows-1) {
			t.Errorf("below cell %d: %v", i, err)
		}
	}
	for _, x := range []struct {
		flow  float64
		steps int
		want  bool
	}{{2, 1, true}, {-2, 1000, true}, {2.1, 1, false}, {-2.1, 1, false}, {math.NaN(), 1, false}, {0, 0, false}, {0, 1001, false}} {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: x.steps}
		f.Right[0] = x.flow
		if err := v.checkFlow(f); (err == nil) != x.want {
			t.Errorf("%+v: %v", x, err)
		}
	}
}
