package sinkhorn

import (
	"context"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestClaims: Verify lets Transport be off by claimSlack of the largest cost, Residual by claimSlack, and sums of Q by
// kv 2^-52, and no more; on grids, in floats, too.
func TestClaims(t *testing.T) {
	type prove func(v *verifier, r Result) error
	exactly := func(v *verifier, r Result) error { _, err := v.dense(r); return err }
	floats := func(v *verifier, r Result) error { _, err := v.floats(r); return err }
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
