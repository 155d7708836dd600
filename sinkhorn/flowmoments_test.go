package sinkhorn

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/sinkhorn/grid"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/internal/gridproof"
	"github.com/wpm-go/wpm/wpmerr"
)

// carriedPlan is the plan of logV at reg, row by row, moved along a flow.
type carriedPlan struct {
	p    [][]float64
	v    *verifier
	flow *grid.Flow
}

func (c *carriedPlan) columns() []float64 {
	sum := make([]float64, c.v.Kv)
	for _, row := range c.p {
		for j, x := range row {
			sum[j] += x
		}
	}
	return sum
}

func (c *carriedPlan) cost() float64 {
	var sum float64
	for i, row := range c.p {
		for j, x := range row {
			sum += x * c.v.Cost.Row(i, nil)[j]
		}
	}
	return sum
}

// move follows the flow, as Verify does with the rows of a plan.
func (c *carriedPlan) move() {
	_, row := c.v.grid.Moves((*gridproof.Flow)(c.flow))(c.columns())
	for _, p := range c.p {
		row(p)
	}
}

// TestLargeGridInFloats: from 10^8 pairs of a row with mass and a column on, the upper bound of a grid is proved in
// floats; with fewer such rows, exactly.
func TestLargeGridInFloats(t *testing.T) {
	const rows, cols = 100, 101
	p := gridProblem(t, rows, cols, 1, 1e-4) // few cells within reach, so that sums are short
	r, err := onGrid(t, context.Background(), p, Settings{Initial: make([]float64, rows*cols), MaxIterations: 1})
	if !is(err, wpmerr.ErrNotConverged) {
		t.Fatal(err)
	}
	r.Flow = nil
	v := verifierOf(t, p, r.Q)
	got, err := v.upper(r)
	if err != nil {
		t.Fatal(err)
	}
	if x, exact := got.Float64(); !exact {
		t.Errorf("%v is not a float", x)
	}
	// One row: the bound in floats has a margin that the exact one has not.
	p.Source, p.Support = []float64{1}, []int{0}
	p.Lo, p.Hi = make([]float64, rows*cols), slices.Repeat([]float64{1}, rows*cols)
	row := scaledPlan(t, verifierOf(t, p, nil), r.LogV, r.Reg)[0]
	r.Q, r.Residual, r.Transport = row, 0, num.Dot(row, p.Cost.Row(0, make([]float64, rows*cols)))
	v = verifierOf(t, p, row)
	exact, err := v.plan(r, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.upper(r); err != nil || got.Cmp(exact) != 0 {
		t.Errorf("one row: %v, %v, want %v", got, err, exact)
	}
}

// TestFlowCost: Upper is the cost of the plan of LogV after its flow, followed cell by cell, and the rest at the
// largest cost.
func TestFlowCost(t *testing.T) {
	const same = 1e-10 // margins for rounding
	for _, size := range [][2]int{{6, 9}, {1, 17}, {14, 1}, {8, 8}} {
		for _, reg := range []float64{0.3, 0.03} {
			for _, most := range []int{1, 5, 40} {
				p := gridProblem(t, size[0], size[1], 2, reg)
				r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-12, MaxIterations: most})
				if err != nil && !is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				v := verifierOf(t, p, r.Q)
				plan := carriedPlan{v: v, flow: r.Flow, p: scaledPlan(t, v, r.LogV, r.Reg)}
				before := plan.cost()
				d0 := distance1(plan.columns(), r.Q)
				plan.move()
				want := min(plan.cost()+given.Max(p.Cost)*distance1(plan.columns(), r.Q), before+given.Max(p.Cost)*d0)
				if !(math.Abs(r.Upper-min(want, given.Max(p.Cost))) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Upper = %v, and the plan costs %v, %v before", size, reg, most, r.Upper, want,
						before)
				}
				upper, _, err := Verify(context.Background(), p, r)
				if err != nil {
					t.Fatal(err)
				}
				// Verify puts what is missing in at the true cost of it.
				c := make([][]float64, v.K)
				for i := range c {
					c[i] = append([]float64(nil), p.Cost.Row(i, make([]float64, v.Kv))...)
				}
				repaired := min(given.Max(p.Cost), repairedCost(plan.p, c, p.Source, r.Q))
				if x, _ := upper.Float64(); !(math.Abs(x-repaired) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Verify proves %v, and the plan costs %v", size, reg, most, x, repaired)
				}
			}
		}
	}
}
