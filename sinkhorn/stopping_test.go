package sinkhorn

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestToleranceIsEnough: a residual equal to the tolerance stops the iterations of both methods, at the very one that
// has it.
func TestToleranceIsEnough(t *testing.T) {
	const early = 3
	g := newGenerator(8)
	p := g.problem(7, 9, 0.2) // one level, and no Newton step yet
	p.Source = slices.Repeat([]float64{1. / 7}, 7)
	p.Lo, p.Hi = box(g.mass(9), 1)
	for _, m := range methods {
		s := Settings{Method: m, MaxIterations: early}
		r, err := Project(context.Background(), p, s)
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Iterations != early {
			t.Fatalf("%v: %v after %d iterations", m, err, r.Iterations)
		}
		s.Tolerance, s.MaxIterations = r.Residual, 100
		r = mustProject(t, p, s)
		if r.Iterations != early || r.Residual != s.Tolerance {
			t.Errorf("%v: residual %v after %d iterations, want %v after %d", m, r.Residual, r.Iterations, s.Tolerance, early)
		}
	}
}

// TestGapAtOnce: the first iterate is looked at. Any bounds prove a relative gap of 1.
func TestGapAtOnce(t *testing.T) {
	p := newGenerator(9).problem(5, 6, 0.1)
	if r := mustProject(t, p, Settings{Method: Paper, Gap: 1}); r.Iterations != 1 {
		t.Errorf("%d iterations", r.Iterations)
	}
}

// TestToleranceOutOfReach: a tolerance below the rounding of residuals is not met, however tight the bounds.
func TestToleranceOutOfReach(t *testing.T) {
	const unmet = 1e-300
	g := newGenerator(5)
	for range 50 {
		lo, hi := box(g.mass(2), 1)
		p := Problem{Problem: projection.Problem{Cost: dense(t, []float64{1, 1}), Source: []float64{1}, Lo: lo, Hi: hi},
			Reg: 1}
		if r, err := Project(context.Background(), p,
			Settings{Method: Paper, Tolerance: unmet, MaxIterations: 100}); err == nil {
			if !(r.Residual <= unmet) {
				t.Fatalf("%v: residual %v", describe(p), r.Residual)
			}
			continue // rounded to nothing
		}
		r, err := Project(context.Background(), p, Settings{Method: Paper, Tolerance: unmet})
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != Stalled {
			t.Errorf("%v: %v, residual %v, gap %v, %v", describe(p), r.Status, r.Residual, r.Gap(), err)
		}
		return
	}
	t.Error("all residuals are rounded to zero")
}

// TestGapIsThatOfTheAnswer: whatever plan a gap was proved with, the one that is returned has it, or the status says
// that it has not.
func TestGapIsThatOfTheAnswer(t *testing.T) {
	const rounding = 1e-13 // of the largest cost: what bounds keep in hand for sums over a few points
	converged := 0
	for seed := range uint64(300) {
		g := newGenerator(seed + 1)
		k, kv := 1+int(3*g.float()), 2+int(4*g.float())
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		top := 0.0
		for x := range c.Data {
			c.Data[x] = math.Floor(4 * g.float())
			top = max(top, c.Data[x])
		}
		p := Problem{Problem: projection.Problem{Cost: c, Source: make([]float64, k), Lo: make([]float64, kv),
			Hi: make([]float64, kv)}, Reg: math.Pow(10, -9+3*g.float())}
		for i := range p.Source {
			p.Source[i] = 1 / float64(k)
		}
		for j := range p.Lo {
			p.Lo[j], p.Hi[j] = g.float()/float64(kv), (1+g.float())/float64(kv)
		}
		r, err := Project(context.Background(), p, Settings{Gap: 1e-12})
		if err != nil {
			if !errors.Is(err, wpmerr.ErrNotConverged) && !errors.Is(err, wpmerr.ErrReg) {
				t.Fatal(err)
			}
			continue
		}
		converged++
		if r.Gap() > 1e-12*r.Upper+rounding*top {
			t.Errorf("seed %d: %v with a gap of %v of %v", seed, r.Status, r.Gap(), r.Upper)
		}
	}
	if converged < 90 { // Reg is too large for the others, by the bounds of what is best at it
		t.Errorf("%d of 300 converged", converged)
	}
	// Called converged, once, with the gap of the next plan: 1.75e-5.
	p := Problem{
		Problem: projection.Problem{Cost: &cost.Dense{K: 2, Kv: 2, Data: []float64{2, 2, 2, 0}},
			Source: []float64{0.875, 0.125},
			Lo:     []float64{0.5, 1e-5}, Hi: []float64{1.5, 2e-5}}, Reg: 2e-9,
	}
	if r, err := Project(context.Background(), p, Settings{Gap: 1e-12}); err == nil && r.Gap() > 1e-12*r.Upper+2*rounding {
		t.Errorf("%v with a gap of %v of %v", r.Status, r.Gap(), r.Upper)
	}
}
