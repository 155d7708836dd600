package sinkhorn

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestRepairedUpper: far from convergence, Upper is the cost of the plan at hand with its columns cut down to Q and
// what is missing then put in as a product of rows and columns.
func TestRepairedUpper(t *testing.T) {
	const margin = 1e-12 // roundings, which Upper has to cover
	g := newGenerator(44)
	repaired := 0
	for range 40 {
		p := g.problem(2+g.intn(8), 2+g.intn(8), 0.05)
		for _, m := range methods {
			r, err := Project(context.Background(), p, Settings{Method: m, MaxIterations: 1, Tolerance: 1e-300})
			if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
				t.Fatal(err)
			}
			if !(r.Residual > coarse) {
				continue
			}
			d := p.Cost.(*cost.Dense)
			plan, cols := make([]float64, d.K*d.Kv), make([]float64, d.Kv)
			for i := range d.K {
				e := make([]float64, d.Kv)
				for j := range e {
					e[j] = r.LogV[j] - d.Data[i*d.Kv+j]/r.Reg
				}
				all := logSumExp(e)
				for j, x := range e {
					if p.Source[i] > 0 && r.LogV[j] > math.Inf(-1) {
						plan[i*d.Kv+j] = p.Source[i] * math.Exp(x-all)
						cols[j] += plan[i*d.Kv+j]
					}
				}
			}
			var lacking, want float64
			for j, q := range r.Q {
				lacking += max(0, q-cols[j])
			}
			for i, mu := range p.Source {
				left := mu
				for j, q := range r.Q {
					if cols[j] > 0 {
						x := plan[i*d.Kv+j] * min(1, q/cols[j])
						left -= x
						want += x * d.Data[i*d.Kv+j]
					}
				}
				for j, q := range r.Q {
					want += left * max(0, q-cols[j]) / lacking * d.Data[i*d.Kv+j]
				}
			}
			repaired++
			if most := given.Max(d); !(math.Abs(r.Upper-min(want, most)) <= margin*most) {
				t.Errorf("%v %v: Upper = %v, the repaired plan costs %v", m, describe(p), r.Upper, want)
			}
		}
	}
	if repaired < 20 {
		t.Errorf("%d plans in need of repair", repaired)
	}
}

// TestColumnsInParts: the column sums of a matrix of more than one part are those of its rows.
func TestColumnsInParts(t *testing.T) {
	const k, kv, same = 520, 520, 1e-12 // 520 roundings of numbers below 1
	if loops.Chunks(k, kv) < 2 {
		t.Fatal("one part")
	}
	d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for e := range d.Data {
		d.Data[e] = float64(e%7) / 7
	}
	lo, hi, source := make([]float64, kv), make([]float64, kv), make([]float64, k)
	for j := range hi {
		hi[j] = 1
	}
	for i := range source {
		source[i] = 1. / k
	}
	_, c := loaded(t, Problem{Problem: projection.Problem{Cost: d, Source: source, Lo: lo, Hi: hi}, Reg: 0.5})
	logV := make([]float64, kv)
	for j := range logV {
		logV[j] = float64(j%5) / 5
	}
	a := newLogPlan(c, c.reg, logV)
	want, row := make([]float64, kv), make([]float64, kv)
	for i := range k {
		a.row(i, row)
		for j, x := range row {
			want[j] += x
		}
	}
	for j, x := range want {
		if !(math.Abs(a.cols[j]-x) <= same) {
			t.Fatalf("column %d: %v, want %v", j, a.cols[j], x)
		}
	}
}
