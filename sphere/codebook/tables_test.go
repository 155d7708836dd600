package codebook

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestAssignmentTables checks after every path what the method keeps: tables as a scan of all candidates finds them,
// lists of what is served, sums, the box, and that no edge has a negative reduced price.
func TestAssignmentTables(t *testing.T) {
	const rounding = 1e-12 // sums of some hundred masses below one, and of prices below ten
	g := numtest.NewSplitMix64(91)
	pushes, calls := 0, 0
	for n := range 60 {
		k, cands := 1+g.Intn(7), 2+g.Intn(30)
		costs, mu := make([]float64, k*cands), make([]float64, k)
		for e := range costs {
			if costs[e] = g.Float64(); n%3 == 0 { // ties
				costs[e] = float64(g.Intn(4))
			}
		}
		sum := 0.0
		for i := range mu {
			mu[i] = g.Float64()
			sum += mu[i]
		}
		lo, hi := make([]float64, cands), make([]float64, cands)
		for i := range mu {
			mu[i] /= sum
		}
		for j := range lo {
			lo[j], hi[j] = 0.5*g.Float64()/float64(cands), (1.5+4*g.Float64())/float64(cands)
			if n%4 == 1 {
				lo[j] *= float64(j % 2)
			}
		}
		a := assign(costs, mu, lo, hi)
		checkTables(t, a, mu)
		for range 40 * (cands + k) {
			start := 0
			for i := range k {
				if a.excess[i] > a.excess[start] {
					start = i
				}
			}
			if !(a.excess[start] > dust) {
				break
			}
			end := a.path(start)
			if end < 0 {
				t.Fatal("no path, but room")
			}
			for u := range k + 1 { // with the new potentials
				for v := range k + 1 {
					if u == v {
						continue
					}
					if x := a.edge(u, v).v + a.w[u] - a.w[v]; x < -rounding {
						t.Fatalf("reduced price %v from %d to %d", x, u, v)
					}
				}
			}
			for v := end; v != start; v = a.from[v] {
				if u := a.from[v]; math.Abs(a.edge(u, v).v+a.w[u]-a.w[v]) > rounding {
					t.Fatalf("the path costs %v more than the potentials say from %d to %d", a.edge(u, v).v+a.w[u]-a.w[v], u, v)
				}
			}
			before := a.excess[start]
			var full []func() bool // what may end it, to the bit
			for v := end; v != start; v = a.from[v] {
				u := a.from[v]
				j := int(a.edge(u, v).at)
				switch {
				case v == a.k:
					full = append(full, func() bool { return a.mass[j] == a.hi[j] })
				case u == a.k:
					full = append(full, func() bool { return a.mass[j] == a.lo[j] || a.pi[v*a.n+j] == 0 })
				default:
					full = append(full, func() bool { return a.pi[v*a.n+j] == 0 })
				}
			}
			a.push(start, end)
			if a.excess[start] != 0 && a.excess[end] != 0 &&
				!slices.ContainsFunc(full, func(f func() bool) bool { return f() }) {
				t.Fatal("a path that could take more")
			}
			if pushes++; !(a.excess[start] < before) {
				t.Fatal("a path without effect")
			}
			checkTables(t, a, mu)
		}
		primal, dual := a.value()
		if !(math.Abs(primal-dual) <= rounding) {
			t.Fatalf("cost %v, dual value %v", primal, dual)
		}
		b := assign(costs, mu, lo, hi)
		q := b.solve()
		for j := range q {
			if q[j] != a.mass[j] {
				t.Fatalf("candidate %d: %v by solve, %v step by step", j, q[j], a.mass[j])
			}
		}
		calls++
	}
	if enough := 518; pushes > enough+enough/20 {
		t.Errorf("%d paths for %d problems, %d were enough", pushes, calls, enough)
	}
}

// checkTables compares the state of a with a plain scan.
func checkTables(t *testing.T, a *assignment, mu []float64) {
	t.Helper()
	const rounding = 1e-12
	at := func(i, j int) (pi, cost float64) { return a.pi[i*a.n+j], a.cost[i*a.n+j] }
	check := func(what string, p price, want float64, can func(j int) bool) {
		t.Helper()
		if p.v != want || (p.at < 0) != math.IsInf(want, 1) || p.at >= 0 && !can(int(p.at)) {
			t.Fatalf("%s: %+v, want %v", what, p, want)
		}
	}
	for i := range a.k {
		row := 0.0
		served := map[int]bool{}
		for _, j := range a.served[i] {
			if served[int(j)] {
				t.Fatalf("atom %d serves %d twice", i, j)
			}
			served[int(j)] = true
		}
		put, take := math.Inf(1), math.Inf(1)
		for j := range a.n {
			pi, c := at(i, j)
			if row += pi; (pi > 0) != served[j] || pi < 0 {
				t.Fatalf("atom %d, candidate %d: %v, in the list: %v", i, j, pi, served[j])
			}
			if a.mass[j] < a.hi[j] {
				put = min(put, c)
			}
			if pi > 0 && a.mass[j] > a.lo[j] {
				take = min(take, -c)
			}
		}
		check("put", a.put[i], put, func(j int) bool { return a.mass[j] < a.hi[j] && a.cost[i*a.n+j] == put })
		check("take", a.take[i], take,
			func(j int) bool { p, c := at(i, j); return p > 0 && a.mass[j] > a.lo[j] && -c == take })
		for l := range a.k {
			move := math.Inf(1)
			for j := range a.n {
				if pi, c := at(l, j); pi > 0 && l != i {
					move = min(move, a.cost[i*a.n+j]-c)
				}
			}
			check("move", a.move[i*a.k+l], move,
				func(j int) bool { p, c := at(l, j); return p > 0 && a.cost[i*a.n+j]-c == move })
		}
		if !(math.Abs(row+a.excess[i]-mu[i]) <= rounding) {
			t.Fatalf("atom %d has placed %v and %v is left of %v", i, row, a.excess[i], mu[i])
		}
	}
	all := 0.0
	for j := range a.n {
		sum := 0.0
		for i := range a.k {
			pi, _ := at(i, j)
			sum += pi
		}
		if all += a.mass[j]; !(math.Abs(sum-a.mass[j]) <= rounding) || a.mass[j] < a.lo[j] || a.mass[j] > a.hi[j] {
			t.Fatalf("candidate %d gets %v, its mass is %v of [%v, %v]", j, sum, a.mass[j], a.lo[j], a.hi[j])
		}
	}
	if !(math.Abs(all-1-a.excess[a.k]) <= rounding) {
		t.Fatalf("%v placed, T lacks %v", all, -a.excess[a.k])
	}
}

// TestLevel: a candidate is at its bound, to the bit, after the step that leads there, and stays in its box after any
// other.
func TestLevel(t *testing.T) {
	g := numtest.NewSplitMix64(95)
	for range 2000 {
		lo := g.Float64() / 8
		hi := lo + g.Float64()
		mass := lo + (hi-lo)*g.Float64()
		at := func(d float64) float64 {
			a := assign([]float64{1}, []float64{1}, []float64{lo}, []float64{hi})
			a.mass[0] = mass
			a.level(0, d)
			return a.mass[0]
		}
		if down, up := at(-(mass - lo)), at(hi-mass); down != lo || up != hi {
			t.Fatalf("from %v in [%v, %v] down to %v and up to %v", mass, lo, hi, down, up)
		}
		if d := 2*g.Float64() - 1; at(d) != min(max(mass+d, lo), hi) {
			t.Fatalf("%v in [%v, %v] by %v is %v", mass, lo, hi, d, at(d))
		}
	}
}

// TestLevelTables: a step that leaves a candidate as full and as low as it was looks at no table and changes none.
func TestLevelTables(t *testing.T) {
	a := assign([]float64{0, 1, 1, 0}, []float64{0.5, 0.5}, []float64{0.25, 0.25}, []float64{0.5, 0.5})
	step := func(d float64, put, take price, work int) {
		t.Helper()
		before := a.work
		a.change(0, 0, d)
		a.level(0, d)
		if a.put[0] != put || a.take[0] != take || before-a.work != work {
			t.Errorf("by %v to %v: put %v, want %v; take %v, want %v; %d entries looked at, want %d", d, a.mass[0], a.put[0],
				put, a.take[0], take, before-a.work, work)
		}
	}
	step(0, price{0, 0}, none, 0)               // low
	step(0.0625, price{0, 0}, price{0, 0}, 0)   // no longer
	step(0.0625, price{0, 0}, price{0, 0}, 0)   // between
	step(-0.0625, price{0, 0}, price{0, 0}, 0)  // between
	step(0.1875, price{1, 1}, price{0, 0}, a.n) // full: another candidate to raise is looked for
	step(0.0625, price{1, 1}, price{0, 0}, 0)   // no fuller
	step(-0.0625, price{0, 0}, price{0, 0}, 0)  // no longer full
	step(-0.1875, price{0, 0}, none, 1)         // low: another to lower is looked for among the one that atom 0 serves
	step(-0.0625, price{0, 0}, none, 0)         // no lower
	if got := a.served; len(got[0]) != 1 || len(got[1]) != 1 {
		t.Errorf("served: %v", got)
	}
}

// TestChange: a change that leaves a mass at 0, or above it, leaves the lists.
func TestChange(t *testing.T) {
	a := assign([]float64{0, 1, 1, 0}, []float64{0.5, 0.5}, []float64{0.25, 0.25}, []float64{0.5, 0.5})
	for _, c := range []struct {
		d, pi  float64
		served int
	}{{0, 0, 1}, {-0.125, 0, 1}, {0.25, 0.25, 2}, {0.25, 0.5, 2}, {-0.25, 0.25, 2}, {-0.25, 0, 1}, {-0.25, 0, 1}} {
		a.change(0, 1, c.d)
		if pi, n := a.pi[1], len(a.served[0]); pi != c.pi || n != c.served || a.served[0][0] != 0 {
			t.Errorf("after %v: mass %v, want %v; served %v, want %d", c.d, pi, c.pi, a.served[0], c.served)
		}
	}
}

// TestAssignmentOrder: among equals, the first is taken. This holds for the atom that has the lower bound of a
// candidate, the candidate that is raised, the atom that is placed, and the end of a path.
func TestAssignmentOrder(t *testing.T) {
	a := assign([]float64{3, 3, 3, 3}, []float64{1}, slices.Repeat([]float64{0.125}, 4),
		slices.Repeat([]float64{0.375}, 4))
	if q := a.solve(); !slices.Equal(q, []float64{0.375, 0.375, 0.125, 0.125}) {
		t.Errorf("equal candidates get %v", q)
	}
	a = assign([]float64{3, 3, 3, 3}, []float64{0.5, 0.5}, []float64{0.5, 0.5}, []float64{0.5, 0.5})
	if !slices.Equal(a.pi, []float64{0.5, 0.5, 0, 0}) {
		t.Errorf("equal atoms serve %v", a.pi)
	}
	a = assign([]float64{3, 3}, []float64{0.5, 0.5}, []float64{0}, []float64{1})
	a.work = 1 // for one path
	if a.solve(); !slices.Equal(a.excess, []float64{0, 0.5, -0.5}) {
		t.Errorf("one of two equal atoms is placed: %v is left", a.excess)
	}
	if a = twoEnds(); a.path(0) != 1 {
		t.Error("of two ends at one distance, not the first")
	}
}

// twoEnds is an atom with mass left over, and two that have given too much, both at distance 1 from it.
func twoEnds() *assignment {
	return assign([]float64{1, 1, 0, 9, 9, 0}, []float64{0.5, 0.25, 0.25}, []float64{0.5, 0.5}, []float64{0.5, 0.5})
}

// TestDust: mass up to dust, and to no more, is as good as none.
func TestDust(t *testing.T) {
	above := math.Nextafter(dust, 1)
	for excess, want := range map[float64]float64{dust: 0, above: above} {
		a := assign([]float64{1}, []float64{1}, []float64{0}, []float64{1})
		a.excess[0] = excess
		if q := a.solve(); q[0] != want {
			t.Errorf("of %v left over, %v is placed, want %v", excess, q[0], want)
		}
	}
	for excess, end := range map[float64]int{-dust: 2, -above: 1} {
		a := twoEnds()
		a.excess[1] = excess
		if got := a.path(0); got != end {
			t.Errorf("where atom 1 has given %v too much, the path ends at %d, want %d", -excess, got, end)
		}
	}
}

// TestNoRoom: where the candidates have no room for all, they are filled, and the search ends at once.
func TestNoRoom(t *testing.T) {
	a := assign([]float64{0, 1, 1, 0}, []float64{0.5, 0.5}, []float64{0.25, 0.25}, []float64{0.375, 0.375})
	a.work = 1000
	if q := a.solve(); !slices.Equal(q, a.hi) || !slices.Equal(a.excess, []float64{0.125, 0.125, -0.25}) || a.work < 900 {
		t.Errorf("masses %v, left over %v, work left %d", q, a.excess, a.work)
	}
	if end := a.path(0); end != -1 {
		t.Errorf("a path to %d", end)
	}
}

// TestWork counts by hand what a problem of two atoms and two candidates makes the method look at.
func TestWork(t *testing.T) {
	a := assign([]float64{0, 1, 1, 0}, []float64{0.5, 0.5}, []float64{0.25, 0.25}, []float64{0.5, 0.5})
	spent := func(what string, want int) {
		t.Helper()
		if got := maxWork - a.work; got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
		a.work = maxWork
	}
	spent("the first tables", 2*2+2*1) // for each atom two candidates to raise, and one to take over from the other
	a.solve()
	// Each atom fills the candidate beside it, by a path of one edge. The choice of the atom counts 1, and the search
	// looks at two entries for each of three nodes. An atom that meant to raise the candidate that is now full looks at
	// both candidates: first atom 0, then both atoms. The last choice finds no atom.
	first, second, last := 1+2*3+2, 1+2*3+2*2, 1
	spent("solve", first+second+last)
	a.rescanTake(0)
	spent("what atom 0 can lower", 1)
	a.excess[0], a.work = 1, 0
	if a.solve(); a.work != 0 || a.excess[0] != 1 {
		t.Errorf("without work, %d more is done", -a.work)
	}
}

// assign is newAssignment in memory of its own, and so are the next two.
func assign(cost, mu, lo, hi []float64) *assignment {
	c := &Codebook{cfg: Config{Points: len(lo)}}
	return newAssignment(c.newMemory(len(mu)), cost, mu, lo, hi)
}

func costsOf(c *Codebook, seed Seed, atoms []float64) []float64 {
	return c.costs(c.newMemory(len(atoms)/(c.cfg.Dim+1)), seed, atoms)
}

func nearestOf(c *Codebook, cost []float64) []float64 { return c.nearest(c.newMemory(1), cost) }
