package mincostflow

import (
	"context"
	"errors"
	"math"
	"testing"
)

// wideProblem draws a problem with few rows and enough columns to be merged, more than once for
// most.
func (d draw) wideProblem() Problem {
	k, kv := 1+d.Intn(6), coarseColumns+d.Intn(900)
	p := Problem{Cost: d.costs(k, kv), Source: d.masses(k)}
	m := d.masses(kv)
	switch d.Intn(5) {
	case 0: // tight at the top, with columns that take nothing when m has zeros
		p.Lo, p.Hi = make([]float64, kv), m
	case 1:
		p.Lo, p.Hi = m, m
	case 2: // far more room than there is mass
		p.Lo, p.Hi = make([]float64, kv), repeat(0.9, kv)
	case 3:
		p.Lo, p.Hi = scaled(m, 0.25), repeat(1e12, kv)
	default:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	return p
}

func TestCoarseStart(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		d := newDraw(uint64(seed) + 24e6)
		p := d.wideProblem()
		r := mustProject(t, p, Settings{Method: Simplex})
		// Stopped anywhere, also on the coarse levels.
		limit := 1 + d.Intn(r.Stats.Pivots+1)
		s, err := Project(context.Background(), p, Settings{Method: Simplex, MaxPivots: limit})
		if err != nil && !errors.Is(err, ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, s)
		if s.Lower > r.Upper || s.Upper < r.Lower {
			t.Fatalf("%d pivots: [%v, %v], optimum in [%v, %v]", limit, s.Lower, s.Upper, r.Lower, r.Upper)
		}
	}
}

// TestAssignAnyPrices: whatever prices the columns are assigned by, the tree is strongly feasible,
// and the simplex ends at the optimum.
func TestAssignAnyPrices(t *testing.T) {
	for seed := range 300 {
		d := newDraw(uint64(seed) + 25e6)
		var p Problem
		if seed%2 == 0 {
			p = d.problem(8)
		} else {
			p = d.wideProblem()
		}
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		var s solver
		if err := s.load(in); err != nil {
			t.Fatal(err)
		}
		settings, _ := Settings{}.resolve(in.k + in.kv)
		want, err := s.result(s.simplex(context.Background(), settings), settings)
		if err != nil {
			t.Fatal(err)
		}

		prices := make([]float64, len(in.rows))
		for i := range prices {
			prices[i] = s.full * (2*d.Float64() - 1) * float64(d.Intn(3))
		}
		s.net.reset(len(in.rows), in.kv, s.mass)
		s.net.assign(prices, s.rows, in.rows, s.mass)
		s.setGrid(s.exp, s.full)
		checkTree(t, &s.net, s.mass)
		if st := s.pr.run(); st != Optimal {
			t.Fatalf("%v: %v", describe(p), st)
		}
		checkTree(t, &s.net, s.mass)
		if s.net.wide || s.artificialFlow() {
			continue // for the caller to deal with
		}
		r, err := s.result(s.optimum(), settings)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lower > want.Upper || r.Upper < want.Lower {
			t.Fatalf("%v: [%v, %v], want [%v, %v]", describe(p), r.Lower, r.Upper, want.Lower, want.Upper)
		}
	}
}

// TestCoarseSavesWork: the point of it. Pivots are counted over all levels.
func TestCoarseSavesWork(t *testing.T) {
	p, err := instanceNamed("sq1000p1:sp20:2")
	if err != nil {
		t.Fatal(err)
	}
	r := mustProject(t, p, Settings{})
	if k, kv := p.Cost.Dims(); r.Stats.Pivots > k+kv {
		t.Errorf("%d pivots for %d columns", r.Stats.Pivots, kv)
	}
	if !worthCoarse(len(p.Support), 1000) || worthCoarse(1000, 1000) || worthCoarse(1, 50) {
		t.Error("worthCoarse does not choose as documented")
	}
}

// TestCoarseIgnoresIdleColumns: columns that take nothing may cost anything, also in the middle of
// the groups.
func TestCoarseIgnoresIdleColumns(t *testing.T) {
	const n = 160
	d := newDraw(26e6)
	p := Problem{Source: uniform(3), Lo: make([]float64, n), Hi: repeat(4./n, n)}
	rows := make([][]float64, 3)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = math.Ldexp(1+d.Float64(), -1000)
			if j%mergedColumns > 1 {
				rows[i][j], p.Hi[j] = math.MaxFloat64, 0
			}
		}
	}
	for j := range n {
		if p.Hi[j] > 0 {
			p.Hi[j] *= 2
		}
	}
	p.Cost = dense(t, rows...)
	r := mustProject(t, p, Settings{})
	if top := math.Ldexp(2, -1000); !(r.Gap() <= gapTol*top) || r.Objective > top {
		t.Errorf("objective %g, gap %g, costs at most %g", r.Objective, r.Gap(), top)
	}
}
