package wpm

import (
	"context"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
)

// TestEntropicSolver holds that a cost that fits into memory gets the projection at the relative Reg, any Reg if it is
// zero, and that a grid too large to hold gets the Reg of its cells, or the one for few points.
func TestEntropicSolver(t *testing.T) {
	grid, err := cost.NewGrid(4, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := slices.Repeat([]float64{0.03}, 20), slices.Repeat([]float64{0.09}, 20)
	source := []float64{0.25, 0.75}
	support := []int{3, 11}
	for _, c := range []cost.Matrix{grid, &cost.Dense{K: 20, Kv: 20, Data: make([]float64, 400)}} {
		s, err := newEntropicSolver(context.Background(), c, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		got, gotErr := s.project(context.Background(), source, support)
		reg, err := sinkhorn.RelativeReg(context.Background(), c, EntropicReg)
		if err != nil {
			reg = 1
		}
		want, wantErr := sinkhorn.Project(context.Background(),
			sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: source, Support: support, Lo: lo, Hi: hi}, Reg: reg}, entropicSettings)
		if !slices.Equal(got.Q, want.Q) || got.Reg != want.Reg || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("Reg %v, %v; Project: %v, %v", got.Reg, gotErr, want.Reg, wantErr)
		}
	}
	large, err := cost.NewGrid(100, 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newEntropicSolver(context.Background(), large, slices.Repeat([]float64{0.5e-4}, 10_000), slices.Repeat([]float64{2e-4}, 10_000))
	if err != nil || s.held != nil || s.problem.Reg != 0.01*0.01/4 {
		t.Fatalf("%v, held: %t, Reg %v", err, s.held != nil, s.problem.Reg)
	}
	if r, err := s.project(context.Background(), []float64{1}, []int{77}); err != nil || r.Reg < fewReg {
		t.Errorf("one point: Reg %v, want at least %v; %v", r.Reg, fewReg, err)
	}
}
