package codebook

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

func shares(w ldp.Weights) []float64 {
	q := make([]float64, w.Len())
	for j := range q {
		q[j] = math.Ldexp(float64(w.At(j)), -w.Bits())
	}
	return q
}

// meanCost is E |x-y|^p over the law of a client at a point x, averaged over seeds and over 64 points for each.
func meanCost(t *testing.T, c *Codebook, lists uint64) float64 {
	t.Helper()
	const clients = 64
	g := numtest.NewSplitMix64(21)
	sum := 0.0
	for s := range lists {
		var points []float64
		for range clients {
			atoms, _ := instance(g, c.Config().Dim, 1)
			var err error
			if points, err = c.unit(points, atoms[0]); err != nil {
				t.Fatal(err)
			}
		}
		costs := costsOf(c, seeds(s), points)
		n := c.Config().Points
		for i := range clients {
			row := costs[i*n : (i+1)*n]
			w := c.box.Round(nearestOf(c, row)) // as Law does
			for j, v := range row {
				sum += v * math.Ldexp(float64(w.At(j)), -w.Bits())
			}
		}
	}
	return sum / float64(lists) / clients
}

// TestCost: W of a point against the continuous optimum. The first row is the promise. Candidates are random, so the
// mean of J scatters: by some per cent of itself for one point and one list, and a hundredth of that for 64 points on
// each of a hundred lists.
func TestCost(t *testing.T) {
	for i, c := range []struct {
		dim      int
		p        float64
		eps      string
		points   int
		lists    uint64
		min, max float64 // W / W* - 1
	}{
		{63, 2, "4", 1024, 60, -5e-4, 1e-3},
		{2, 2, "1", 1024, 100, -1e-3, 1e-3},
		{2, 2, "4", 1024, 100, -1e-3, 4e-3},
		{2, 2, "4", 64, 300, 1e-2, 4e-2}, // too few: 2.5 %
		{2, 1, "4", 1024, 100, -2e-3, 6e-3},
		{63, 2, "8", 1024, 30, 1e-3, 6e-3},
		{10, 3, "2", 2048, 20, -5e-4, 1e-3},
	} {
		if !numtest.Full() && i > 0 {
			continue
		}
		if !numtest.Full() {
			c.lists = 8
		}
		b := design(t, Config{Dim: c.dim, P: c.p, Epsilon: given.Epsilon(t, c.eps), Points: c.points})
		w := math.Pow(meanCost(t, b, c.lists), 1/c.p)
		excess := w/b.Measure().W - 1
		t.Logf("d=%d p=%v eps=%s N=%d: W = %.6f, optimum %.6f, %+.3f %%", c.dim, c.p, c.eps, c.points, w, b.Measure().W,
			100*excess)
		if !(excess >= c.min && excess <= c.max) {
			t.Errorf("d=%d p=%v eps=%s N=%d: W is off by %.3g, want %v to %v", c.dim, c.p, c.eps, c.points, excess, c.min, c.max)
		}
	}
}

// TestSimulatedCost: the mean cost of 4000 simulated releases, each with its own seed, against that of the laws; the
// standard error of the mean is at most half the largest cost, 4, over sqrt(4000), and five and a half of them have a
// false-alarm rate of 4e-8.
func TestSimulatedCost(t *testing.T) {
	b := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "3"), Points: numtest.Cases(32, 256)})
	const n = 4000
	r := newStream(77)
	x := []float64{0, 0, 1}
	sum := 0.0
	for range n {
		rep, err := b.Simulate(r, x)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Point(rep)
		if err != nil {
			t.Fatal(err)
		}
		sum += 2 - 2*y[2]
	}
	if want := meanCost(t, b, 100); math.Abs(sum/n-want) > 5.5*2/math.Sqrt(n) {
		t.Errorf("mean cost %v, want %v", sum/n, want)
	}
}

// TestAssignment compares with the exact solver of package mincostflow, whose answer Verify proves in rationals, and
// with the dual.
func TestAssignment(t *testing.T) {
	// The two solvers stop within rounding of the optimum: sums of some thousand terms, and dust of 1e-14 for each atom.
	tol := numtest.Tol{Rel: 1e-11, Why: "rounding of the sums, and dust"}
	g := numtest.NewSplitMix64(3)
	for _, c := range []struct {
		dim, atoms, points int
		p                  float64
		eps                string
	}{
		{2, 2, 4, 2, "1"}, {1, 3, 64, 2, "0.1"}, {2, 5, 128, 1, "4"}, {2, 20, 512, 2, "8"}, {7, 12, 300, 3, "2"},
		{63, 20, 1024, 2, "4"}, {2, 40, 64, 2, "1"},
		{1, 60, 16, 2, "6"}, // more atoms than candidates
	} {
		b := design(t, Config{Dim: c.dim, P: c.p, Epsilon: given.Epsilon(t, c.eps), Points: c.points})
		for s := range uint64(3) {
			atoms, weights := instance(g, c.dim, c.atoms)
			points, mu, err := b.parse(b.memoryFor(atoms), atoms, weights)
			if err != nil {
				t.Fatal(err)
			}
			costs := costsOf(b, seeds(s), points)
			a := assign(costs, mu, b.lo, b.hi)
			q := a.solve()
			primal, dual := a.value()
			numtest.Near(t, "dual value", dual, primal, tol)
			sum := 0.0
			for j, v := range q {
				if !(v >= b.lo[j] && v <= b.hi[j]) {
					t.Fatalf("candidate %d: %v outside [%v, %v]", j, v, b.lo[j], b.hi[j])
				}
				sum += v
			}
			numtest.Near(t, "mass", sum, 1, numtest.Tol{Abs: 1e-12, Why: "dust"})
			prob := projection.Problem{Cost: &cost.Dense{K: c.atoms, Kv: c.points, Data: costs}, Source: mu, Lo: b.lo, Hi: b.hi}
			res, err := mincostflow.Project(context.Background(), prob, mincostflow.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			numtest.Near(t, "cost", primal, res.Objective, tol)
			if c.points <= 128 {
				upper, lower, err := mincostflow.Verify(context.Background(), prob, res)
				if err != nil {
					t.Fatal(err)
				}
				slack := new(big.Rat).SetFloat64(1e-11)
				v := new(big.Rat).SetFloat64(primal)
				if v.Cmp(lower.Sub(lower, slack)) < 0 || v.Cmp(upper.Add(upper, slack)) > 0 {
					t.Errorf("cost %v is not between the proven bounds", primal)
				}
			}
		}
	}
}

// TestAssignmentSmall compares 2000 tiny problems of all kinds (uneven boxes, ties, zeros, full and empty ends) with
// package mincostflow. They reach every edge of the graph of atoms, also those through T.
func TestAssignmentSmall(t *testing.T) {
	cases := 2000
	if !numtest.Full() {
		cases = 300
	}
	tol := numtest.Tol{Abs: 1e-12, Why: "rounding and dust, for costs up to 8"}
	g := numtest.NewSplitMix64(17)
	for n := range cases {
		k, kv := 2+g.Intn(5), 1+g.Intn(9)
		costs := make([]float64, k*kv)
		for i := range costs {
			if costs[i] = float64(g.Intn(9)); n%2 == 0 {
				costs[i] = 8 * g.Float64()
			}
		}
		mass := func(m int, total float64) []float64 {
			x, sum := make([]float64, m), 0.0
			for i := range x {
				if g.Intn(4) > 0 {
					x[i] = g.Float64()
				}
				sum += x[i]
			}
			if sum == 0 {
				x[0], sum = 1, 1
			}
			for i := range x {
				x[i] *= total / sum
			}
			return x
		}
		mu := mass(k, 1)
		lo, room := mass(kv, g.Float64()), mass(kv, 1+g.Float64())
		hi := make([]float64, kv)
		for j := range hi {
			hi[j] = lo[j] + room[j]
		}
		a := assign(costs, mu, lo, hi)
		a.solve()
		primal, dual := a.value()
		numtest.Near(t, "dual value", dual, primal, tol)
		res, err := mincostflow.Project(context.Background(),
			projection.Problem{Cost: &cost.Dense{K: k, Kv: kv, Data: costs}, Source: mu, Lo: lo, Hi: hi},
			mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		numtest.Near(t, "cost", primal, res.Objective, tol)
		if t.Failed() {
			t.Fatalf("case %d: costs %v, mu %v, lo %v, hi %v", n, costs, mu, lo, hi)
		}
	}
}

// TestAssignmentEdges: ties, equal atoms, one atom, boxes of one point: the transport of a given distribution.
func TestAssignmentEdges(t *testing.T) {
	flat := func(n int, v float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	for _, c := range []struct {
		name   string
		cost   []float64
		mu     []float64
		lo, hi []float64
		want   float64
	}{
		{"all costs equal", flat(12, 3), flat(3, 1./3), flat(4, 0.1), flat(4, 0.7), 3},
		{"one atom", []float64{3, 1, 2}, []float64{1}, flat(3, 0.2), flat(3, 0.5), 0.2*3 + 0.5*1 + 0.3*2},
		{"a point box", []float64{0, 1, 1, 0}, []float64{0.25, 0.75}, flat(2, 0.5), flat(2, 0.5), 0.25},
		{"no lower bounds", []float64{0, 1, 1, 0}, []float64{0.25, 0.75}, flat(2, 0), flat(2, 1), 0},
		{"an atom beside the box", []float64{0, 1, 1, 0}, []float64{0, 1}, []float64{0.5, 0}, []float64{0.6, 1}, 0.5},
		{"a chain", []float64{0, 1, 9, 9, 9, 0, 1, 9, 9, 9, 0, 1}, []float64{0.5, 0.25, 0.25}, flat(4, 0.25), flat(4, 0.25),
			0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := assign(c.cost, c.mu, c.lo, c.hi)
			a.solve()
			primal, dual := a.value()
			tol := numtest.Tol{Abs: 1e-14, Why: "a few roundings of numbers near 1"}
			numtest.Near(t, c.name, primal, c.want, tol)
			numtest.Near(t, c.name+", dual", dual, c.want, tol)
		})
	}
}

// w2 is W_2 between mu on the atoms and q on the candidates, by exact transport.
func w2(t *testing.T, costs, mu, q []float64) float64 {
	t.Helper()
	sum := 0.0
	for _, v := range q {
		sum += v
	}
	res, err := mincostflow.Transport(context.Background(), &cost.Dense{K: len(mu), Kv: len(q), Data: costs}, mu, q)
	if err != nil {
		t.Fatalf("transport to a distribution of sum %v: %v", sum, err)
	}
	return math.Sqrt(res.Objective)
}

// TestAgainstRandomAtom: on S^2 the projection beats "draw an atom, release it as a point" by the margins measured for
// the paper's setting. The rival's W is its true one, by exact transport of its mixture, on the same candidates.
func TestAgainstRandomAtom(t *testing.T) {
	for _, c := range []struct {
		atoms int
		eps   string
		ratio float64 // W of the projection over W of the rival: measured on random instances .90, .76, .80, .54
	}{{5, "1", 0.95}, {5, "4", 0.85}, {20, "1", 0.86}, {20, "4", 0.62}} {
		b := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, c.eps), Points: 1024})
		g := numtest.NewSplitMix64(9)
		instances := uint64(4)
		if !numtest.Full() {
			instances = 1
		}
		var ours, rival float64
		for s := range instances {
			atoms, weights := instance(g, 2, c.atoms)
			points, mu, err := b.parse(b.memoryFor(atoms), atoms, weights)
			if err != nil {
				t.Fatal(err)
			}
			costs := costsOf(b, seeds(s), points)
			mixture := make([]float64, b.Config().Points)
			for i, x := range atoms {
				for j, v := range shares(b.Law(seeds(s), [][]float64{x}, []float64{1})) {
					mixture[j] += mu[i] * v
				}
			}
			w := w2(t, costs, mu, shares(b.Law(seeds(s), atoms, weights)))
			m := w2(t, costs, mu, mixture)
			if !(w < m) {
				t.Errorf("%d atoms, eps %s, instance %d: W_2 = %v, the rival's %v", c.atoms, c.eps, s, w, m)
			}
			ours, rival = ours+w, rival+m
		}
		t.Logf("%d atoms, eps %s: W_2 %.3f against %.3f, ratio %.3f", c.atoms, c.eps, ours/float64(instances),
			rival/float64(instances), ours/rival)
		if !(ours/rival <= c.ratio) {
			t.Errorf("%d atoms, eps %s: ratio %v, want at most %v", c.atoms, c.eps, ours/rival, c.ratio)
		}
	}
}

// TestOneAtomIsAPoint: with one atom of all the mass the two paths agree.
func TestOneAtomIsAPoint(t *testing.T) {
	b := design(t, Config{Dim: 5, P: 2, Epsilon: given.Epsilon(t, "3"), Points: 100})
	x := [][]float64{{1, 0, 2, 0, -1, 0.5}}
	points, mu, err := b.parse(b.memoryFor(x), x, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	costs := costsOf(b, seeds(1), points)
	one := nearestOf(b, costs)
	many := assign(costs, mu, b.lo, b.hi).solve()
	numtest.NearSlice(t, "law", many, one, numtest.Tol{Abs: 1e-13, Why: "dust"})
}

// TestWorkIsBounded: an assignment that runs out of work ends soon after, and what it has is in the box, no worse than
// half of the work gave.
func TestWorkIsBounded(t *testing.T) {
	b := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "0.5"), Points: 600})
	atoms, weights := instance(numtest.NewSplitMix64(3), 2, 20)
	points, mu, err := b.parse(b.memoryFor(atoms), atoms, weights)
	if err != nil {
		t.Fatal(err)
	}
	costs := costsOf(b, seeds(1), points)
	full := assign(costs, mu, b.lo, b.hi)
	full.solve()
	needed := maxWork - full.work
	if full.work < maxWork/2 {
		t.Fatalf("%d steps for a small problem", needed)
	}
	before := math.Inf(1)
	for _, share := range []int{0, 1, 2, 4, 8, 16} {
		a := assign(costs, mu, b.lo, b.hi)
		a.work = needed * share / 16
		q := a.solve()
		// One step is a path of at most k+1 nodes, and for each hop of it rescans of every table: k lists of n.
		if over, most := -a.work, 2*(a.k+1)*(a.k+1)+2*(a.k+1)*(a.k+2)*a.n; over > most {
			t.Errorf("%d/16: %d steps too many, want at most %d", share, over, most)
		}
		for j, v := range q {
			if !(v >= a.lo[j] && v <= a.hi[j]) {
				t.Fatalf("%d/16: candidate %d gets %v, not %v to %v", share, j, v, a.lo[j], a.hi[j])
			}
		}
		left := 0.0
		for _, e := range a.excess[:a.k] {
			left += max(e, 0)
		}
		if left > before {
			t.Errorf("%d/16: %v is left over, with half the work %v", share, left, before)
		}
		before = left
		w := b.box.Round(q)
		n := make([]uint64, w.Len())
		for j := range n {
			n[j] = w.At(j)
		}
		if _, err := b.box.Weights(n); err != nil {
			t.Errorf("%d/16: %v", share, err)
		}
	}
}

// value returns the cost of pi and the dual value of the potentials: equal at the optimum.
func (a *assignment) value() (primal, dual float64) {
	for e, v := range a.pi {
		primal += v * a.cost[e]
	}
	for i := range a.k {
		w := a.w[a.k] - a.w[i]
		sum := a.excess[i]
		for _, v := range a.pi[i*a.n : (i+1)*a.n] {
			sum += v // mu_i
		}
		dual += w * sum
	}
	for j := range a.n {
		m := math.Inf(1)
		for i := range a.k {
			m = min(m, a.cost[i*a.n+j]-(a.w[a.k]-a.w[i]))
		}
		if m > 0 {
			dual += a.lo[j] * m
		} else {
			dual += a.hi[j] * m
		}
	}
	return primal, dual
}
