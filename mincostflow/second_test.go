package mincostflow

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// Second opinions: other ways to the same optimum, short and slow.

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func ratSum(xs []float64) *big.Rat {
	s := new(big.Rat)
	for _, x := range xs {
		s.Add(s, rat(x))
	}
	return s
}

// exactOptimum solves p by successive shortest paths in rational arithmetic. Sources are normalised; the box must
// not be a point by rounding.
func exactOptimum(p Problem) *big.Rat {
	k, kv := p.Cost.Dims()
	mu, lo, hi := make([]*big.Rat, k), make([]*big.Rat, kv), make([]*big.Rat, kv)
	total := ratSum(p.Source)
	for i := range mu {
		mu[i] = rat(p.Source[i])
		mu[i].Quo(mu[i], total)
	}
	for j := range lo {
		lo[j], hi[j] = rat(p.Lo[j]), rat(p.Hi[j])
	}
	return exactFlow(p.Cost, mu, lo, hi)
}

// exactFlow works on the network of the paper with each column's arc to the sink split into a part that must be
// filled (cost -big) and a part that may be. mu sums to 1.
func exactFlow(c cost.Matrix, mu, low, high []*big.Rat) *big.Rat {
	k, kv := c.Dims()
	s, t := k+kv, k+kv+1
	type arc struct {
		from, to  int
		cap, cost *big.Rat
	}
	var arcs []arc // arc e and its reverse e^1
	add := func(from, to int, cap, cost *big.Rat) {
		arcs = append(arcs, arc{from, to, cap, cost}, arc{to, from, new(big.Rat), new(big.Rat).Neg(cost)})
	}
	top := new(big.Rat)
	for i := range k {
		add(s, i, new(big.Rat).Set(mu[i]), new(big.Rat))
		for j, c := range c.Row(i, make([]float64, kv)) {
			add(i, k+j, big.NewRat(2, 1), rat(c))
			if rat(c).Cmp(top) > 0 {
				top = rat(c)
			}
		}
	}
	must := new(big.Rat).Mul(top, big.NewRat(int64(-2*(k+kv+2)), 1))
	must.Sub(must, big.NewRat(1, 1))
	for j := range kv {
		add(k+j, t, new(big.Rat).Set(low[j]), must)
		add(k+j, t, new(big.Rat).Sub(high[j], low[j]), new(big.Rat))
	}
	value := new(big.Rat)
	for left := big.NewRat(1, 1); left.Sign() > 0; {
		// Bellman and Ford.
		dist, via := make([]*big.Rat, t+1), make([]int, t+1)
		dist[s] = new(big.Rat)
		for changed := true; changed; {
			changed = false
			for e, a := range arcs {
				if a.cap.Sign() == 0 || dist[a.from] == nil {
					continue
				}
				d := new(big.Rat).Add(dist[a.from], a.cost)
				if dist[a.to] == nil || d.Cmp(dist[a.to]) < 0 {
					dist[a.to], via[a.to], changed = d, e, true
				}
			}
		}
		if dist[t] == nil {
			return nil
		}
		flow := new(big.Rat).Set(left)
		for v := t; v != s; v = arcs[via[v]].from {
			if c := arcs[via[v]].cap; c.Cmp(flow) < 0 {
				flow.Set(c)
			}
		}
		for v := t; v != s; v = arcs[via[v]].from {
			e := via[v]
			arcs[e].cap = new(big.Rat).Sub(arcs[e].cap, flow)
			arcs[e^1].cap = new(big.Rat).Add(arcs[e^1].cap, flow)
			if c := arcs[e].cost; c.Cmp(must) != 0 && new(big.Rat).Neg(c).Cmp(must) != 0 {
				value.Add(value, new(big.Rat).Mul(c, flow))
			}
		}
		left.Sub(left, flow)
	}
	return value
}

// between fails unless Lower <= want <= Upper, exactly.
func between(t *testing.T, p Problem, r Result, want *big.Rat, by string) {
	t.Helper()
	if rat(r.Lower).Cmp(want) > 0 || rat(r.Upper).Cmp(want) < 0 {
		f, _ := want.Float64()
		t.Fatalf("%v:\nbounds [%v, %v] exclude %v by %s", describe(p), r.Lower, r.Upper, f, by)
	}
}

func TestAgainstExactShortestPaths(t *testing.T) {
	n := 250
	if !numtest.Full() {
		n = 50
	}
	done := 0
	for seed := range n {
		p := newDraw(uint64(seed) + 1e6).problem(4)
		if ratSum(p.Lo).Cmp(big.NewRat(1, 1)) > 0 || ratSum(p.Hi).Cmp(big.NewRat(1, 1)) < 0 {
			continue // a point by rounding; Transport is checked against the same below
		}
		want := exactOptimum(p)
		if want == nil {
			t.Fatalf("%v: the second opinion found no flow", describe(p))
		}
		for _, r := range mustBoth(t, p) {
			between(t, p, r, want, "exact shortest paths")
		}
		done++
	}
	if done < n/2 {
		t.Errorf("only %d of %d instances compared", done, n)
	}
}

// TestSpreadOfCosts: arcs that the optimum does not use, however dear, cost it no accuracy. The
// error is held to the dearest arc of the plan, not to the dearest arc there is.
func TestSpreadOfCosts(t *testing.T) {
	const tol = 1e-13
	refined := 0
	for seed := range numtest.Cases(130, 400) {
		d := newDraw(uint64(seed) + 12e6)
		k, kv := 2+d.Intn(4), 2+d.Intn(4)
		// Dyadic masses, lest a rounding of mass 1e-17 has to take a dear arc.
		sixteenths := func(n int) []float64 {
			x := make([]float64, n)
			for range 16 {
				x[d.Intn(n)] += 1. / 16
			}
			return x
		}
		p := Problem{Cost: &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}, Source: sixteenths(k)}
		for x := range p.Cost.(*cost.Dense).Data {
			c := 1 + d.Float64()
			if d.Intn(2) == 0 {
				c = math.Ldexp(c, 10*d.Intn(12)) // up to 1e32
			}
			p.Cost.(*cost.Dense).Data[x] = c
		}
		m := sixteenths(kv)
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
		if d.Intn(3) == 0 {
			p.Lo, p.Hi = m, m
		}
		r := mustSimplex(t, p)
		want := exactOptimum(p)
		between(t, p, r, want, "exact shortest paths")
		var dearest float64
		for _, e := range r.Plan {
			dearest = max(dearest, p.Cost.Row(e.I, nil)[e.J])
		}
		diff, _ := new(big.Rat).Sub(rat(r.Objective), want).Float64()
		if !(math.Abs(diff) <= tol*dearest) {
			t.Errorf("%v: off by %g, dearest arc used %g", describe(p), diff, dearest)
		}
		if r.Stats.Rescales > 0 {
			refined++
		}
	}
	t.Logf("%d instances refined", refined)
	if refined == 0 {
		t.Error("no instance needed a finer grid: the test tests nothing")
	}
}

// TestAgainstEnumeration compares with all plans of integer masses, of which one is optimal: the
// constraint matrix is totally unimodular. Masses are multiples of 1/8, costs small integers.
func TestAgainstEnumeration(t *testing.T) {
	const units = 8
	n := 200
	if !numtest.Full() {
		n = 40
	}
	for seed := range n {
		d := newDraw(uint64(seed) + 2e6)
		k, kv := 1+d.Intn(3), 1+d.Intn(3)
		p := Problem{Cost: &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}}
		for x := range p.Cost.(*cost.Dense).Data {
			p.Cost.(*cost.Dense).Data[x] = float64(d.Intn(6))
		}
		mu, lo, hi := make([]int, k), make([]int, kv), make([]int, kv)
		for range units {
			mu[d.Intn(k)]++
			j := d.Intn(kv)
			hi[j]++
			if d.Intn(2) == 0 {
				lo[j]++
			}
		}
		for range d.Intn(4) {
			hi[d.Intn(kv)]++
		}
		eighths := func(xs []int) []float64 {
			ys := make([]float64, len(xs))
			for i, x := range xs {
				ys[i] = float64(x) / units
			}
			return ys
		}
		p.Source, p.Lo, p.Hi = eighths(mu), eighths(lo), eighths(hi)

		best := math.Inf(1)
		q := make([]int, kv)
		var place func(i, j, left int, c float64)
		place = func(i, j, left int, c float64) {
			switch {
			case i == k:
				for j := range q {
					if q[j] < lo[j] || q[j] > hi[j] {
						return
					}
				}
				best = min(best, c)
			case j == kv-1:
				q[j] += left
				next := 0
				if i+1 < k {
					next = mu[i+1]
				}
				place(i+1, 0, next, c+float64(left)*p.Cost.Row(i, nil)[j])
				q[j] -= left
			default:
				for x := 0; x <= left; x++ {
					q[j] += x
					place(i, j+1, left-x, c+float64(x)*p.Cost.Row(i, nil)[j])
					q[j] -= x
				}
			}
		}
		place(0, 0, mu[0], 0)
		r := mustSimplex(t, p)
		between(t, p, r, rat(best/units), "enumeration")
		// The data are dyadic, so nothing at all needs rounding here.
		if r.Objective != best/units {
			t.Errorf("%v: Objective = %v, want %v exactly", describe(p), r.Objective, best/units)
		}
		for j, x := range r.Q {
			if x*units != math.Trunc(x*units) {
				t.Errorf("%v: Q[%d] = %v is not a multiple of 1/8", describe(p), j, x)
			}
		}
	}
}

// TestAgainstGonum compares with gonum's dense simplex, which calls some of these degenerate
// programmes singular or infeasible; those are left out.
func TestAgainstGonum(t *testing.T) {
	const tol = 1e-8 // gonum's own tolerance is 1e-10 on reduced costs of order 1, times a few columns
	solved := 0
	for seed := range 40 {
		d := newDraw(uint64(seed) + 3e6)
		k, kv := 2+d.Intn(4), 2+d.Intn(4)
		p := Problem{Cost: &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}, Source: make([]float64, k)}
		for x := range p.Cost.(*cost.Dense).Data {
			p.Cost.(*cost.Dense).Data[x] = d.Float64()
		}
		for i := range p.Source {
			p.Source[i] = d.Float64()
		}
		normalise(p.Source)
		p.Lo, p.Hi = box(uniform(kv), 0.5+d.Float64())
		// Variables P, then the slacks of q >= lo and q <= hi.
		rows, cols := k+2*kv, k*kv+2*kv
		a, b, c := mat.NewDense(rows, cols, nil), make([]float64, rows), make([]float64, cols)
		copy(c, p.Cost.(*cost.Dense).Data)
		for i := range k {
			b[i] = p.Source[i]
			for j := range kv {
				a.Set(i, i*kv+j, 1)
				a.Set(k+j, i*kv+j, 1)
				a.Set(k+kv+j, i*kv+j, 1)
			}
		}
		for j := range kv {
			b[k+j], b[k+kv+j] = p.Lo[j], p.Hi[j]
			a.Set(k+j, k*kv+j, -1)
			a.Set(k+kv+j, k*kv+kv+j, 1)
		}
		want, _, err := lp.Simplex(c, a, b, 1e-12, nil)
		if err != nil {
			if errors.Is(err, lp.ErrUnbounded) {
				t.Fatal(err)
			}
			continue
		}
		solved++
		if r := mustProject(t, p, Settings{}); !(math.Abs(r.Objective-want) <= tol) {
			t.Errorf("%v: Objective = %v, gonum %v", describe(p), r.Objective, want)
		}
	}
	if solved < 20 {
		t.Errorf("gonum solved only %d of 40", solved)
	}
}

// greedy is the projection of a point mass, in rationals: what is above the lower bounds goes to
// the cheapest columns.
func greedy(row, lo, hi []float64) *big.Rat {
	order := make([]int, len(row))
	left := big.NewRat(1, 1)
	value := new(big.Rat)
	give := func(j int, m *big.Rat) {
		left.Sub(left, m)
		value.Add(value, new(big.Rat).Mul(m, rat(row[j])))
	}
	for j := range order {
		order[j] = j
		give(j, rat(lo[j]))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
	for _, j := range order {
		m := new(big.Rat).Sub(rat(hi[j]), rat(lo[j]))
		if m.Cmp(left) > 0 {
			m.Set(left)
		}
		give(j, m)
	}
	return value
}

func TestPointMassIsKnapsack(t *testing.T) {
	for seed := range numtest.Cases(150, 400) {
		d := newDraw(uint64(seed) + 4e6)
		p := d.problem(12)
		one := big.NewRat(1, 1)
		if ratSum(p.Lo).Cmp(one) > 0 || ratSum(p.Hi).Cmp(one) < 0 {
			continue
		}
		at := d.Intn(len(p.Source))
		for i := range p.Source {
			p.Source[i] = 0
		}
		p.Source[at] = 1
		want := greedy(p.Cost.Row(at, nil), p.Lo, p.Hi)
		for _, r := range mustBoth(t, p) {
			between(t, p, r, want, "greedy")
		}
	}
}
