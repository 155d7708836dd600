package mincostflow

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// checkTree checks the invariants of a basis: the list is a preorder with the right sizes, the
// flows balance, the tree is strongly feasible, and potentials are exact.
func checkTree(t *testing.T, n *basis, mass []uint64) {
	t.Helper()
	seen := 0
	path := []int32{n.root} // the ancestors of the last node, root first
	net := make([]int64, len(n.nodes))
	for i, m := range mass {
		net[i] = int64(m)
	}
	for j := range n.n {
		net[n.k+j] = -int64(n.low[j])
		if n.slack[j] == atUpper {
			net[n.k+j] -= int64(n.room[j])
		}
	}
	var order []int32
	prev := n.root
	for v := n.after(n.root); v != n.root; v = n.after(v) {
		if seen++; seen > len(n.nodes) {
			t.Fatal("the list does not return to the hub")
		}
		p := n.nodes[v]
		if before := n.before(v); before != prev {
			t.Fatalf("before %d is %d, want %d", v, before, prev)
		}
		prev = v
		d := slices.Index(path, p.parent) + 1
		if d == 0 {
			t.Fatalf("node %d: parent %d, path %v", v, p.parent, path)
		}
		path = append(path[:d], v)
		order = append(order, v)

		if p.flow > 4*unit {
			t.Fatalf("node %d: flow %d", v, p.flow)
		}
		full := p.kind == slack && n.room[int(v)-n.k] != unbounded && p.flow >= n.room[int(v)-n.k]
		if p.up && full || !p.up && p.flow == 0 {
			t.Fatalf("node %d: nothing can go to the hub (%+v)", v, p)
		}
		if p.kind == slack && (int(v) < n.k || p.parent != n.root || !p.up || n.slack[int(v)-n.k] != inTree) {
			t.Fatalf("node %d: misplaced slack arc %+v", v, p)
		}
		if p.kind == realArc && (int(v) < n.k) == (int(p.parent) < n.k) {
			t.Fatalf("node %d: real arc to %d", v, p.parent)
		}
		if p.kind != realArc && n.cost[v] != 0 {
			t.Fatalf("node %d: an arc of kind %d costs %v", v, p.kind, n.cost[v])
		}
		c := n.round(n.step(v))
		if n.pi[v] != n.pi[p.parent]+c {
			t.Fatalf("node %d: potential %v, want %v + %v", v, n.pi[v], n.pi[p.parent], c)
		}
		if r := math.Remainder(n.pi[v], n.grid); r != 0 {
			t.Fatalf("node %d: potential %v is off the grid %v", v, n.pi[v], n.grid)
		}
	}
	live := n.k
	for j := range n.n {
		if n.live(j) {
			live++
		} else if !math.IsInf(n.pi[n.k+j], 1) {
			t.Fatalf("idle column %d has potential %v", j, n.pi[n.k+j])
		}
	}
	if seen != live {
		t.Fatalf("%d nodes in the tree, want %d", seen, live)
	}
	below := make([]int32, len(n.nodes))
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		p := n.nodes[v]
		if p.size != below[v]+1 {
			t.Fatalf("node %d: size %d, %d below", v, p.size, below[v])
		}
		below[p.parent] += p.size
		flow := net[v]
		if !p.up {
			flow = -flow
		}
		if uint64(flow) != p.flow {
			t.Fatalf("node %d: flow %d, balance says %d", v, p.flow, flow)
		}
		net[p.parent] += net[v]
	}
	if p := n.nodes[n.root]; p.size != below[n.root]+1 {
		t.Fatalf("size %d, %d below the hub", p.size, below[n.root])
	}
}

// TestTreeInvariants stops small solves after every number of pivots and looks at the tree.
func TestTreeInvariants(t *testing.T) {
	for seed := range 150 {
		p := newDraw(uint64(seed) + 20e6).problem(7)
		for limit := 1; ; limit++ {
			in, err := newInstance(p)
			if err != nil {
				t.Fatal(err)
			}
			s := newSolver()
			if err := s.loadOf(in); err != nil {
				t.Fatal(err)
			}
			a := s.simplex(context.Background(), Settings{maxPivots: limit})
			checkTree(t, &s.sx.tree, s.units)
			if a.status == Optimal {
				break
			}
		}
	}
}

// TestSettle: new places change neither the preorder nor any pivot.
func TestSettle(t *testing.T) {
	settled := 0
	for seed := range 60 {
		p := newDraw(uint64(seed) + 85e6).problem(12)
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		for limit := 1; ; limit += 3 {
			var trees [2]*basis
			for n := range trees {
				s := newSolver()
				if err := s.loadOf(in); err != nil {
					t.Fatal(err)
				}
				s.simplex(context.Background(), Settings{maxPivots: limit})
				b := &s.sx.tree
				if trees[n] = b; n == 1 {
					before := slices.Collect(b.walk())
					b.settle()
					if after := slices.Collect(b.walk()); !slices.Equal(before, after) {
						t.Fatalf("seed %d: the order was %v, is %v", seed, before, after)
					}
					first := b.place[before[0]]
					for n, v := range before {
						if at := b.place[v]; int(at) != (int(first)+n)%len(before) {
							t.Fatalf("seed %d: node %d of the list is at %d, the first at %d of %d", seed, n, at, first, len(before))
						}
					}
				}
				s.sx.pr.maxPivots = limit + 40
				s.sx.pr.run()
				checkTree(t, b, s.units)
			}
			a, b := trees[0], trees[1]
			if a.pivots != b.pivots || !slices.Equal(a.nodes, b.nodes) || !slices.Equal(a.pi, b.pi) {
				t.Fatalf("seed %d: other trees after %d and %d pivots", seed, a.pivots, b.pivots)
			}
			if a.pivots <= limit {
				break
			}
			settled++
		}
	}
	if settled < 100 {
		t.Errorf("only %d trees were pivoted on", settled)
	}
}

// walk returns the nodes of the list, the hub first.
func (t *basis) walk() func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for v := t.root; yield(v); {
			if v = t.after(v); v == t.root {
				return
			}
		}
	}
}

// TestWorkspaceIsReusable solves one problem after the other with one solver, whose slices are full of
// the last one.
func TestWorkspaceIsReusable(t *testing.T) {
	s := newSolver()
	for seed := range 300 {
		p := newDraw(uint64(seed) + 21e6).problem(9)
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.loadOf(in); err != nil {
			t.Fatal(err)
		}
		settings := Settings{}
		r, err := s.result(s.simplex(context.Background(), settings), settings)
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, p, r)
		checkGap(t, p, r)
	}
}

// TestWidePotentials makes the grid too fine for the potentials, at the start or on the way, so
// that it has to grow, and is refined again in the end where that is possible.
func TestWidePotentials(t *testing.T) {
	grown, onTheWay := map[int]int{}, 0
	n := numtest.Cases(80, 200)
	for seed := range n {
		d := newDraw(uint64(seed) + 22e6)
		k, kv := 2+d.Intn(8), 2+d.Intn(8)
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = 0.6 * float64(d.Intn(4)) / 3
		}
		p := Problem{Cost: c, Source: d.masses(k), Lo: repeat(0.5/float64(kv), kv), Hi: repeat(1.5/float64(kv), kv)}
		want := mustProject(t, p, Settings{noKnapsack: true})
		// The largest cost is below 1, artificial arcs cost 0.9, and 2^51 grids are 2^(51-bits).
		for _, bits := range []int{51, 52, 60, 70} {
			in, err := newInstance(p)
			if err != nil {
				t.Fatal(err)
			}
			s := newSolver()
			if err := s.loadOf(in); err != nil {
				t.Fatal(err)
			}
			settings := Settings{}
			s.source()
			s.start(context.Background(), settings)
			x := &s.sx
			x.tried, x.rescales = x.tried+gridBits-bits, -1
			x.setGrid(x.tried, x.full)
			atStart := x.rescales
			a := s.optimise()
			checkTree(t, &s.sx.tree, s.units)
			r, err := s.result(a, settings)
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, p, r)
			checkGap(t, p, r)
			if r.Lower > want.Upper || r.Upper < want.Lower {
				t.Errorf("%d bits: [%v, %v], want [%v, %v]", bits, r.Lower, r.Upper, want.Lower, want.Upper)
			}
			if s.sx.rescales > 0 {
				grown[bits]++
			}
			onTheWay += s.sx.rescales - atStart
		}
	}
	if grown[51] == n || grown[60] < 3*n/4 || onTheWay == 0 {
		t.Errorf("instances whose grid changed, by bits: %v; on the way: %d", grown, onTheWay)
	}
}

// TestCheapArtificialArcs: with artificial arcs too cheap at first, the solver notices the flow that
// they keep and raises their price.
func TestCheapArtificialArcs(t *testing.T) {
	raised := 0
	for seed := range 200 {
		p := newDraw(uint64(seed) + 23e6).problem(7)
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		s := newSolver()
		if err := s.loadOf(in); err != nil {
			t.Fatal(err)
		}
		settings := Settings{}
		s.source()
		s.start(context.Background(), settings)
		s.sx.setGrid(s.sx.tried, s.sx.full/1024)
		s.sx.rescales = 0
		a := s.optimise()
		checkTree(t, &s.sx.tree, s.units)
		r, err := s.result(a, settings)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != Optimal {
			t.Fatalf("%v: status %v", describe(p), r.Status)
		}
		checkResult(t, p, r)
		checkGap(t, p, r)
		raised += s.sx.rescales
	}
	if raised == 0 {
		t.Error("the price was never raised")
	}
}

// unitTol: the sums of the floats below are off 1 by up to 2^-53, and one entry makes up for that
// and for the rounding of 49 others to 2^-61.
const unitTol = 0x1p-53 + 49*0x1p-61

func TestBoxUnits(t *testing.T) {
	third := 1.0 / 3
	for _, c := range []struct {
		name   string
		lo, hi []float64
	}{
		{"thirds", repeat(third, 3), repeat(third, 3)},
		{"thirds and room", repeat(third, 3), repeat(2*third, 3)},
		{"tiny", []float64{1e-300, 1}, []float64{1e-300, 1}},
		{"tiny and room", []float64{1e-300, 0}, []float64{2e-300, 1}},
		{"many", repeat(1.0/49, 49), repeat(1.0/49, 49)},
		{"huge", []float64{0, 0}, []float64{1e12, math.MaxFloat64}},
		{"nothing", []float64{0, 0, 0.5}, []float64{0, 1, 0.5}},
	} {
		low, room := make([]uint64, len(c.lo)), make([]uint64, len(c.lo))
		boxUnits(c.lo, c.hi, low, room)
		var sumLow, sumHigh uint64
		for j := range low {
			sumLow += low[j]
			sumHigh = min(sumHigh, unit) + min(low[j]+min(room[j], unit), unit)
			if (c.lo[j] == c.hi[j]) != (room[j] == 0) {
				t.Errorf("%s: column %d in [%v, %v] has room %d", c.name, j, c.lo[j], c.hi[j], room[j])
			}
			if c.lo[j] > 0 && low[j] < 1 {
				t.Errorf("%s: column %d needs %v but has lower bound %d", c.name, j, c.lo[j], low[j])
			}
			if d := math.Ldexp(float64(low[j]), -unitBits) - c.lo[j]; math.Abs(d) > unitTol {
				t.Errorf("%s: column %d: lower bound off by %g", c.name, j, d)
			}
		}
		if sumLow > unit || sumHigh < unit {
			t.Errorf("%s: units sum to [%d, %d], want %d between", c.name, sumLow, sumHigh, int64(unit))
		}
	}
}

func TestSourceUnits(t *testing.T) {
	mu := append(repeat(1.0/49, 49), 1e-300)
	in := new(instance)
	if err := in.setMatrix(&denseOnes); err != nil {
		t.Fatal(err)
	}
	if err := in.setSource(mu, nil); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 50)
	sourceUnits(in.Mass, got)
	var sum uint64
	for i, u := range got {
		sum += u
		if d := math.Ldexp(float64(u), -unitBits) - mu[i]; math.Abs(d) > unitTol {
			t.Errorf("row %d: off by %g", i, d)
		}
	}
	if sum != unit {
		t.Errorf("sum %d, want %d", sum, int64(unit))
	}
}
