package sinkhorn_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn"
)

// TestGapProjector holds that a cost that fits into memory gets the projection at the relative Reg, and any Reg if it
// is zero.
func TestGapProjector(t *testing.T) {
	grid, err := cost.NewGrid(4, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := slices.Repeat([]float64{0.03}, 20), slices.Repeat([]float64{0.09}, 20)
	source := []float64{0.25, 0.75}
	support := []int{3, 11}
	s := sinkhorn.Settings{Gap: 0.01}
	for _, c := range []cost.Matrix{grid, &cost.Dense{K: 20, Kv: 20, Data: make([]float64, 400)}} {
		a, err := sinkhorn.NewGapProjector(c, lo, hi, 0.01, s)
		if err != nil {
			t.Fatal(err)
		}
		var got sinkhorn.Result
		gotErr := a.Project(context.Background(), source, support, &got)
		reg, err := sinkhorn.RelativeReg(c, 0.01)
		if err != nil {
			reg = 1
		}
		want, wantErr := sinkhorn.Project(context.Background(),
			sinkhorn.Problem{Cost: c, Source: source, Support: support, Lo: lo, Hi: hi, Reg: reg}, s)
		if !slices.Equal(got.Q, want.Q) || got.Reg != want.Reg || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("Reg %v, %v; Project: %v, %v", got.Reg, gotErr, want.Reg, wantErr)
		}
	}
	for want, err := range map[error]error{
		sinkhorn.ErrShape:    second(sinkhorn.NewGapProjector(nil, lo, hi, 0.01, s)),
		sinkhorn.ErrReg:      second(sinkhorn.NewGapProjector(grid, lo, hi, -1, s)),
		sinkhorn.ErrBox:      second(sinkhorn.NewGapProjector(grid, hi, lo, 0.01, s)),
		sinkhorn.ErrSettings: second(sinkhorn.NewGapProjector(grid, lo, hi, 0.01, sinkhorn.Settings{History: true})),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
