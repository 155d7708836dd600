package mincostflow

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestAssign: an assignment serves every column from its best row at the given prices, and hangs none from another;
// artificial arcs carry no more than units.go allows.
func TestAssign(t *testing.T) {
	full := 0
	for seed := range 60 {
		const k, n = 20, 300
		d := newDraw(uint64(seed) + 32e6)
		eps := 3 * d.Float64()
		lo, hi := math.Exp(-eps)/n, math.Exp(eps)/n
		p := Problem{Cost: &cost.Dense{K: k, Kv: n}, Source: d.masses(k), Lo: repeat(lo, n), Hi: repeat(hi, n)}
		for j := range n {
			switch d.Intn(40) {
			case 0:
				p.Hi[j] = 5 // without bound
			case 1:
				p.Lo[j], p.Hi[j] = 0, 0
			}
		}
		for range k { // points on a line
			x := d.Float64()
			for j := range n {
				p.Cost.(*cost.Dense).Data = append(p.Cost.(*cost.Dense).Data, math.Abs(x-float64(j)/n))
			}
		}
		s, in, settings := solverOf(t, p)
		s.simplex(context.Background(), settings)
		top := s.rows.top()
		net := &s.sx.tree
		prices := make([]float64, len(in.rows))
		// prices so low that nothing is at its upper bound are fine as well
		lower := top * 0.1 * d.Float64() * float64(d.Intn(2))
		for i := range prices { // those of the optimum, nearly
			prices[i] = net.pi[i] + top*0.02*(d.Float64()-0.5) - lower
		}
		net.reset(len(in.rows), in.kv, s.units)
		s.sx.pr.reset(s.units)
		s.nw.F, s.nw.Whole = prices, false
		s.nw.assign()
		if c := carried(net); c > 2*s.total+s.total/8 {
			t.Fatalf("seed %d: artificial arcs carry %d of %d", seed, c, s.total)
		}
		s.sx.setGrid(s.sx.gridFor(top), s.sx.full)
		checkTree(t, net, s.units)
		for j := range n {
			v := &net.nodes[net.k+j]
			if v.parent < 0 || v.kind != realArc {
				continue
			}
			if net.slack[j] == atUpper {
				full++
			}
			by := v.parent
			for i := range net.k {
				c := s.rows.at(i)[j] - prices[i]
				if mine := net.cost[net.k+j] - prices[by]; c < mine {
					t.Fatalf("seed %d: column %d hangs from row %d at %v, row %d has %v", seed, j, by, mine, i, c)
				}
			}
		}
	}
	if full < 100 {
		t.Errorf("%d columns at their upper bounds", full)
	}
}

// carried is the flow on artificial arcs.
func carried(n *basis) (sum uint64) {
	for v := range n.nodes[:n.root] {
		if p := &n.nodes[v]; p.parent >= 0 && p.kind == artificial {
			sum += p.flow
		}
	}
	return sum
}

// TestSweepAsksSeldom: a sweep over the costs asks the context at its start and then once in 16 rows, or 2^16 cells.
func TestSweepAsksSeldom(t *testing.T) {
	const k, n = 300, 400
	d := newDraw(33e6)
	p := Problem{Cost: d.costs(k, n), Source: repeat(1./k, k), Lo: repeat(0.5/n, n), Hi: repeat(2./n, n)}
	s, _, settings := solverOf(t, p)
	s.simplex(context.Background(), settings)
	ctx := &asked{Context: context.Background()}
	s.watch = watch{ctx: ctx}
	if found, ok := s.sx.pr.sweep(); found || !ok {
		t.Fatalf("after the optimum: %v, %v", found, ok)
	}
	if least := k / pollRows; ctx.times < least || ctx.times > least+1 {
		t.Errorf("asked %d times in %d cells", ctx.times, k*n)
	}
}
