package sinkhorn

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestToleranceIsEnough: a residual equal to the tolerance stops the iterations of both methods, at the very one that has it.
func TestToleranceIsEnough(t *testing.T) {
	const early = 3
	g := newGenerator(8)
	p := g.problem(7, 9, 0.2) // one level, and no Newton step yet
	p.Source = slices.Repeat([]float64{1. / 7}, 7)
	p.Lo, p.Hi = box(g.mass(9), 1)
	for _, m := range methods {
		s := Settings{Method: m, MaxIterations: early}
		r, err := Project(context.Background(), p, s)
		if !errors.Is(err, ErrNotConverged) || r.Iterations != early {
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
		p := Problem{Cost: dense(t, []float64{1, 1}), Source: []float64{1}, Lo: lo, Hi: hi, Reg: 1}
		if r, err := Project(context.Background(), p, Settings{Method: Paper, Tolerance: unmet, MaxIterations: 100}); err == nil {
			if !(r.Residual <= unmet) {
				t.Fatalf("%v: residual %v", describe(p), r.Residual)
			}
			continue // rounded to nothing
		}
		r, err := Project(context.Background(), p, Settings{Method: Paper, Tolerance: unmet})
		if !errors.Is(err, ErrNotConverged) || r.Status != Stalled {
			t.Errorf("%v: %v, residual %v, gap %v, %v", describe(p), r.Status, r.Residual, r.Gap(), err)
		}
		return
	}
	t.Error("all residuals are rounded to zero")
}
