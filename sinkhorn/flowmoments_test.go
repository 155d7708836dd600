package sinkhorn

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// carriedPlan is the plan of logV at reg, row by row, moved along a flow cell by cell: what gridUpper knows by its
// moments alone.
type carriedPlan struct {
	p    [][]float64
	v    *verifier
	flow *Flow
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

// move follows the flow.
func (c *carriedPlan) move(cols int) {
	steps, _ := c.v.shares(c.flow, c.columns())
	for _, s := range steps {
		for i, row := range c.p {
			next := append([]float64(nil), row...)
			for j, x := range row {
				for _, to := range []struct {
					part float64
					at   int
				}{{s[j][0], j + 1}, {s[j][1], j - 1}, {s[j][2], j + cols}, {s[j][3], j - cols}} {
					if to.part > 0 {
						next[to.at] += x * to.part
						next[j] -= x * to.part
					}
				}
			}
			c.p[i] = next
		}
	}
}

// TestFlowMoments: the cost of a plan after a flow of several steps, from moments of its columns, is that of the plan
// itself.
func TestFlowMoments(t *testing.T) {
	const (
		rows, cols = 4, 5
		reg        = 0.05
		same       = 1e-10 // gridSlack is 1e-12 here, and the sums of the test are no better
	)
	p := gridProblem(t, rows, cols, 1, reg)
	v := verifierOf(t, p, nil)
	g := newGenerator(41)
	r := Result{Reg: reg, LogV: make([]float64, rows*cols)}
	for j := range r.LogV {
		r.LogV[j] = g.float()
	}
	for name, flow := range map[string]Flow{
		"right": {Right: repeated(cols, rows, 0.01, 0), Down: make([]float64, rows*cols), Steps: 3},
		"left":  {Right: repeated(cols, rows, -0.01, 0), Down: make([]float64, rows*cols), Steps: 3},
		"down":  {Right: make([]float64, rows*cols), Down: repeated(cols, rows, 0, 0.012), Steps: 4},
		"up":    {Right: make([]float64, rows*cols), Down: repeated(cols, rows, 0, -0.012), Steps: 4},
		"both":  {Right: repeated(cols, rows, 0.01, 0), Down: repeated(cols, rows, 0, -0.008), Steps: 5},
	} {
		plan := carriedPlan{v: v, flow: &flow}
		plan.p = scaledPlan(t, v, r.LogV, r.Reg)
		before := plan.columns()
		r.Transport, r.Flow = plan.cost(), &flow
		plan.move(cols)
		r.Q = plan.columns()
		r.Residual = distance1(before, r.Q)
		if !(r.Residual > 0.01) {
			t.Fatalf("%s: nothing flows", name)
		}
		upper, err := v.gridUpper(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, _ := upper.Float64()
		if want := plan.cost(); !(math.Abs(got-want) <= same) {
			t.Errorf("%s: %v, and the plan costs %v", name, got, want)
		}
	}
}

// repeated is a flow of x to the right, or of y down, from every cell that has a neighbour there.
func repeated(cols, rows int, x, y float64) []float64 {
	f := make([]float64, rows*cols)
	for i := range f {
		if x != 0 && i%cols < cols-1 {
			f[i] = x
		}
		if y != 0 && i/cols < rows-1 {
			f[i] = y
		}
	}
	return f
}

// TestLargeGridInFloats: from 10^8 pairs of a row with mass and a column on, the upper bound of a grid is proved in
// floats; with fewer such rows, exactly.
func TestLargeGridInFloats(t *testing.T) {
	const rows, cols = 100, 101
	p := gridProblem(t, rows, cols, 1, 1e-4) // few cells within reach, so that sums are short
	r, err := onGrid(t, context.Background(), p, Settings{Initial: make([]float64, rows*cols), MaxIterations: 1})
	if !is(err, ErrNotConverged) {
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
	exact, err := v.dense(r)
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
				if err != nil && !is(err, ErrNotConverged) {
					t.Fatal(err)
				}
				v := verifierOf(t, p, r.Q)
				plan := carriedPlan{v: v, flow: r.Flow, p: scaledPlan(t, v, r.LogV, r.Reg)}
				before := plan.cost()
				d0 := distance1(plan.columns(), r.Q)
				plan.move(size[1])
				want := min(plan.cost()+cost.Max(p.Cost)*distance1(plan.columns(), r.Q), before+cost.Max(p.Cost)*d0)
				if !(math.Abs(r.Upper-min(want, cost.Max(p.Cost))) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Upper = %v, and the plan costs %v, %v before", size, reg, most, r.Upper, want, before)
				}
				upper, _, err := Verify(p, r)
				if err != nil {
					t.Fatal(err)
				}
				// Verify puts what is missing in at the true cost of it.
				c := make([][]float64, v.K)
				for i := range c {
					c[i] = append([]float64(nil), p.Cost.Row(i, make([]float64, v.Kv))...)
				}
				repaired := min(cost.Max(p.Cost), repairedCost(plan.p, c, p.Source, r.Q))
				if x, _ := upper.Float64(); !(math.Abs(x-repaired) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Verify proves %v, and the plan costs %v", size, reg, most, x, repaired)
				}
			}
		}
	}
}

// TestSlack: the margin of gridUpper grows by what its comment says.
func TestSlack(t *testing.T) {
	const unit = 0x1p-53
	for _, x := range []struct {
		what      string
		got, want float64 // exact: small multiples of powers of two
	}{
		{"slack, exponents", gridSlack(8, 16, 3, 1) - gridSlack(8, 16, 2, 1), 2 * 60 * unit},
		{"slack, steps", gridSlack(8, 16, 2, 2) - gridSlack(8, 16, 2, 1), 2 * 40 * unit},
		{"slack, nothing", gridSlack(8, 16, 0, 0), 2 * (8*24 + 128 + 100) * unit},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v units, want %v", x.what, x.got/unit, x.want/unit)
		}
	}
}
