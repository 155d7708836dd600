package sinkhorn

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/grid"
	"github.com/wpm-go/wpm/wpmerr"
)

// gridCells is the number of pairs from which on the method for grids takes over.
const gridCells = 1 << 22

// fewRows is the number of rows with mass up to which the rows alone are worked on, whatever the cost.
const fewRows = 64

// separable returns the grid that the method for grids applies to, or nil.
func (in *instance) separable(s Settings) *cost.Grid {
	g := cost.Separable(in.matrix)
	if g == nil || s.Method == Paper {
		return nil
	}
	if len(in.Rows) <= fewRows || len(in.Rows) < gridCells/in.Kv {
		return nil
	}
	return g
}

// grid solves the instance on the grid g by package grid.
func (in *instance) grid(ctx context.Context, g *cost.Grid, set Settings) (Result, error) {
	mu := make([]float64, in.K)
	for n, i := range in.Rows {
		mu[i] = in.mass[n]
	}
	rng := grid.Range(g, mu)
	if in.choose {
		in.reg = leastReg(rng)
	}
	if in.reg < minRelReg*rng {
		return Result{}, fmt.Errorf("%w: Reg = %v is below %v of the range %v of the cost", wpmerr.ErrReg, in.reg, minRelReg, rng)
	}
	a := grid.Solve(ctx, grid.Problem{Grid: g, Mu: mu, Lo: in.Lo, Hi: in.Hi, Reg: in.reg},
		grid.Settings{Tolerance: set.Tolerance, Gap: set.Gap, MaxIterations: set.MaxIterations, Initial: set.Initial,
			Choose: in.choose})
	r := Result{
		Q: a.Q, Potentials: projection.Potentials{F: a.F, G: a.G}, LogV: a.LogV, Reg: a.Reg, Transport: a.Transport,
		Objective: a.Objective,
		Lower:     a.Lower, Upper: a.Upper, Posterior: a.Posterior,
		Residual: a.Residual, Iterations: a.Iterations, Status: Status(a.Status),
		Stats: Stats{Passes: a.Iterations}, Settings: set, Flow: a.Flow,
	}
	if a.Q == nil {
		in.unfinished(&r, a.Largest, nil)
	}
	return r, r.err(ctx)
}

// gridRows fills in the potentials f of rows without mass on a large grid at squared distance, given the prices
// g of all columns, and reports whether it has.
func (in *instance) gridRows(f, g []float64, bare []int) bool {
	c := cost.Separable(in.matrix)
	if c == nil || in.K < gridCells/in.Kv {
		return false
	}
	all := grid.RowPotentials(c, g)
	for _, i := range bare {
		f[i] = all[i]
	}
	return true
}
