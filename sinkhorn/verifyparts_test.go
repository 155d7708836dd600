package sinkhorn

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/projection"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn/internal/gridproof"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"pgregory.net/rapid"
)

// TestClaims: Verify lets Transport be off by claimSlack of the largest cost, Residual by claimSlack, and sums of Q by
// kv 2^-52, and no more; on grids, in floats, too.
func TestClaims(t *testing.T) {
	type prove func(v *verifier, r Result) error
	exactly := func(v *verifier, r Result) error { _, err := v.plan(r, false); return err }
	floats := func(v *verifier, r Result) error { _, err := v.plan(r, true); return err }
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
			{0, 0, true}, {0.9, 0, true}, {-0.9, 0, true}, {1.1, 0, false}, {-1.1, 0, false}, {0, 0.9, true}, {0, 1.1, false},
			{0.9, 0.9, true},
		} {
			x := r
			x.Transport += tt.transport * claimSlack * given.Max(p.Cost)
			x.Residual += tt.residual * claimSlack
			if err := f(verifierOf(t, p, r.Q), x); (err == nil) != tt.want {
				t.Errorf("%s: %+v: %v", name, tt, err)
			}
		}
	}
	p = Problem{Problem: projection.Problem{Cost: dense(t, []float64{0, 1, 1, 1}), Source: []float64{1},
		Lo: []float64{0, 0, 0, 0},
		Hi: []float64{1, 1, 1, 1}}, Reg: 1}
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

// TestGridEvidence: whatever logarithms, flow, mixing and prices are handed over for a grid, what is proved of them is
// true, exactly and in floats alike, by the word of another solver.
func TestGridEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(2, 5).Draw(t, "cols")
		n := rows * cols
		c, err := cost.NewGrid(rows, cols, 2)
		if err != nil {
			t.Fatal(err)
		}
		g := newGenerator(rapid.Uint64().Draw(t, "seed"))
		size := rapid.SampledFrom([]float64{0, 1e-310, 1e-3, 0.1, 2}).Draw(t, "size")
		flow := &gridproof.Flow{
			Right: make([]float64, n), Down: make([]float64, n),
			Steps: rapid.IntRange(1, 5).Draw(t, "steps"), Mix: rapid.Bool().Draw(t, "mix"),
		}
		far := rapid.SampledFrom([]float64{0, 1, 30, 800}).Draw(t, "far")
		p := Problem{Problem: projection.Problem{Cost: c, Source: g.mass(n), Lo: make([]float64, n),
			Hi: slices.Repeat([]float64{1}, n)}, Reg: 0.05}
		q, logV, prices := g.mass(n), make([]float64, n), projection.Potentials{F: make([]float64, n), G: make([]float64, n)}
		for i := range n {
			if i%cols+1 < cols {
				flow.Right[i] = size * (2*g.float() - 1)
			}
			if i/cols+1 < rows {
				flow.Down[i] = size * (2*g.float() - 1)
			}
			logV[i], prices.G[i] = far*(g.float()-0.5), g.float()-0.5
		}
		v, err := newVerifier(p, q)
		if err != nil {
			t.Skip(err) // the sum of q is off by rounding
		}
		if err := v.grid.Check(flow); err != nil {
			t.Fatal(err)
		}
		plan, err := v.Scaling(logV, p.Reg)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := v.Dense(plan, v.grid.Moves(flow))
		if err != nil {
			t.Fatal(err)
		}
		floats, err := v.grid.Plan(logV, p.Reg, flow)
		if err != nil {
			t.Fatal(err)
		}
		x, err := mincostflow.Transport(context.Background(), c, p.Source, q)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := exact.Upper.Float64()
		b, _ := floats.Upper.Float64()
		if least := x.Lower * (1 - 0x1p-50); !(a >= least && b >= least) {
			t.Fatalf("upper bounds %v exactly and %v in floats, but moving costs %v", a, b, x.Lower)
		}
		// Exactly, what is missing is put in at its own cost, and at the largest in floats.
		if !(a <= b) {
			t.Fatalf("upper bound %v exactly, %v in floats", a, b)
		}
		for i := range n {
			prices.F[i] = math.Inf(1)
			for j, d := range c.Row(i, make([]float64, n)) {
				prices.F[i] = min(prices.F[i], d-prices.G[j])
			}
		}
		if i := g.intn(n); g.float() < 0.5 {
			prices.F[i] += 1e-15 * g.float()
		}
		slow, slowErr := v.lower(prices)
		fast, fastErr := v.grid.Lower(prices)
		if (slowErr == nil) != (fastErr == nil) || slowErr == nil && slow.Cmp(fast) != 0 {
			t.Fatalf("lower bounds %v, %v and %v, %v", slow, slowErr, fast, fastErr)
		}
	})
}
