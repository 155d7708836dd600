package sinkhorn_test

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/sinkhorn/grid"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// round is a ring of n points, a source with a bulge, and the box of the uniform measure at eps = 1.
func round(t *testing.T, n int, reg float64) sinkhorn.Problem {
	t.Helper()
	ring, err := cost.NewRing(n, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := sinkhorn.Problem{Problem: projection.Problem{Cost: ring, Source: make([]float64, n), Lo: make([]float64, n),
		Hi: make([]float64, n)}, Reg: reg}
	sum := 0.0
	for i := range p.Source {
		p.Source[i] = 1 + math.Exp(-float64(i*i)/100)*50
		sum += p.Source[i]
		p.Lo[i], p.Hi[i] = math.Exp(-0.5)/float64(n), math.Exp(0.5)/float64(n)
	}
	for i := range p.Source {
		p.Source[i] /= sum
	}
	return p
}

// TestChunks: matrices of more than 2^18 cells are worked on in parts whose sums are put together. Verify computes the
// sums once more.
func TestChunks(t *testing.T) {
	p := round(t, 520, 30)
	if k, kv := p.Cost.Dims(); k*kv <= 1<<18 {
		t.Fatalf("%d cells are one part", k*kv)
	}
	for _, m := range []sinkhorn.Method{sinkhorn.Paper, sinkhorn.Fast} {
		r, err := sinkhorn.Project(context.Background(), p,
			sinkhorn.Settings{Method: m, MaxIterations: 3, History: m == sinkhorn.Paper})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if _, _, err := sinkhorn.Verify(context.Background(), p, r); err != nil {
			t.Errorf("%v: %v", m, err)
		}
		if m == sinkhorn.Paper && len(r.History) != 3 {
			t.Errorf("a history of %d", len(r.History))
		}
	}
}

// TestProjectRefusesGridReg: a grid has a limit of its own on Reg.
func TestProjectRefusesGridReg(t *testing.T) {
	grid, err := cost.NewGrid(40, 40, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := round(t, 1600, 1e-300)
	p.Cost = grid
	if _, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{}); !errors.Is(err, wpmerr.ErrReg) {
		t.Errorf("%v, want ErrReg", err)
	}
}

// TestVerifyRefusesFlowOffGrid: a flow between neighbours means nothing where there are none.
func TestVerifyRefusesFlowOffGrid(t *testing.T) {
	p := small(t)
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r.Flow = &grid.Flow{Right: make([]float64, 4), Down: make([]float64, 4), Steps: 1}
	if _, _, err := sinkhorn.Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("%v, want ErrCertificate", err)
	}
}

// TestGapOutOfReach: where Reg is too large for the gap, the residual has nothing left to give after two iterations,
// and that is no success.
func TestGapOutOfReach(t *testing.T) {
	c, err := cost.FromRows([][]float64{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	p := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: []float64{1}, Lo: []float64{0.25, 0.25},
		Hi: []float64{0.75, 0.75}}, Reg: 10}
	for _, m := range []sinkhorn.Method{sinkhorn.Paper, sinkhorn.Fast} {
		r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Method: m, Gap: 0.1})
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != sinkhorn.RegLimit || !(r.Gap() > 0.1*r.Upper) {
			t.Errorf("%v: %v, %v, gap %v", m, r.Status, err, r.Gap())
		}
		if _, _, err := sinkhorn.Verify(context.Background(), p, r); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestRowsOfGrids: the potentials of rows without mass, on grids large enough for a method of their own if distances
// are squared, and for none if not.
func TestRowsOfGrids(t *testing.T) {
	const side = 46
	for _, exponent := range []float64{1, 2} {
		grid, err := cost.NewGrid(side, side, exponent)
		if err != nil {
			t.Fatal(err)
		}
		p := round(t, side*side, 0.5)
		p.Cost, p.Source, p.Support = grid, []float64{0.5, 0.5}, []int{3, side*side - 40}
		r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{AllRows: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := sinkhorn.Verify(context.Background(), p, r); err != nil {
			t.Errorf("distances to the power %v: %v", exponent, err)
		}
		const tight = 1e-10 // they are the largest that there are, but for the error that the method for grids allows itself
		for i := 0; i < side*side; i += 97 {
			least := math.Inf(1)
			for j, x := range grid.Row(i, nil) {
				least = min(least, x-r.Potentials.G[j])
			}
			if f := r.Potentials.F[i]; !(f >= least-tight) {
				t.Errorf("distances to the power %v: F[%d] is %v, want %v", exponent, i, f, least)
			}
		}
	}
}
