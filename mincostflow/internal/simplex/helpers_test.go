package simplex

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// problem returns the rows with units and the bounds of u.
func problem(u given.Units) Problem {
	p := Problem{Cost: u.Cost, Low: make([]uint64, len(u.Lo)), Room: make([]uint64, len(u.Lo))}
	for i, n := range u.Source {
		if n > 0 {
			p.Rows, p.Supply = append(p.Rows, i), append(p.Supply, uint64(n))
		}
	}
	for j, lo := range u.Lo {
		p.Low[j], p.Room[j] = uint64(lo), min(uint64(u.Hi[j]), total(p.Supply)+1)-uint64(lo)
	}
	return p
}

func total(units []uint64) (sum uint64) {
	for _, u := range units {
		sum += u
	}
	return sum
}

// loaded returns a solver that has read p.
func loaded(t *testing.T, p Problem) *Solver {
	t.Helper()
	s := new(Solver)
	if err := s.Load(context.Background(), p, nil, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// pivots is a context that ends when s has made so many pivots.
func pivots(s *Solver, most int) context.Context {
	return numtest.Until{Context: context.Background(), Over: func() bool { return s.tree.pivots >= most }}
}

// optimise goes on until no finer grid gains anything, and reports whether it could.
func (s *Solver) optimise() bool {
	for s.Run() {
		if !s.Refine() {
			return true
		}
	}
	return false
}

// mustOptimise ends with the optimum from the tree that there is, and returns its cost.
func mustOptimise(t *testing.T, s *Solver) *big.Rat {
	t.Helper()
	if !s.optimise() {
		t.Fatal("not optimal")
	}
	checkTree(t, s)
	return mustProve(t, s)
}

// mustProve ends with exact prices, and returns the cost of the plan after the proof by complementary slackness, in
// fractions.
func mustProve(t *testing.T, s *Solver) *big.Rat {
	t.Helper()
	f, g, _, ok := s.OptimiseExactly()
	if !ok {
		t.Fatal("not optimal")
	}
	flows, has := s.Flows()
	moved, sum, x := map[[2]int32]uint64{}, new(big.Rat), new(big.Rat)
	for _, a := range flows {
		moved[[2]int32{a.I, a.J}] = a.Units
	}
	left := slices.Clone(s.rows.p.Supply)
	for i := range f {
		for j, c := range s.Row(i) {
			if g[j] == nil {
				continue
			}
			cost := new(big.Rat).SetFloat64(c)
			u := moved[[2]int32{int32(i), int32(j)}]
			left[i] -= u
			sum.Add(sum, x.Mul(cost, x.SetUint64(u)))
			x.Add(f[i], g[j])
			if d := x.Cmp(cost); d > 0 || d < 0 && u > 0 {
				t.Fatalf("row %d, column %d: %v + %v at cost %v carry %d", i, j, f[i], g[j], c, u)
			}
		}
	}
	if slices.Max(left) > 0 {
		t.Fatalf("left are %d", left)
	}
	for j, p := range g {
		low := s.rows.p.Low[j]
		full := low + s.rows.p.Room[j]
		if p == nil && full == 0 && has[j] == 0 {
			continue
		}
		if has[j] < low || has[j] > full || p.Sign() > 0 && has[j] > low || p.Sign() < 0 && has[j] < full {
			t.Fatalf("column %d from %d to %d has %d at %v", j, low, full, has[j], p)
		}
	}
	return sum
}

// checkStopped checks what is known of a problem when the context has ended: a part of a plan, and potentials.
func checkStopped(t *testing.T, s *Solver) {
	t.Helper()
	flows, has := s.Flows()
	left := slices.Clone(s.rows.p.Supply)
	for _, a := range flows {
		if a.Units > left[a.I] {
			t.Fatalf("row %d sends %d of %d", a.I, a.Units, left[a.I])
		}
		left[a.I] -= a.Units
	}
	for j, h := range has {
		if h < s.rows.p.Low[j] || h-s.rows.p.Low[j] > s.rows.p.Room[j] {
			t.Fatalf("column %d has %d, from %d and room for %d", j, h, s.rows.p.Low[j], s.rows.p.Room[j])
		}
	}
	if total(has) != total(s.rows.p.Supply) {
		t.Fatalf("%d units of %d", total(has), total(s.rows.p.Supply))
	}
	f, g := make([]float64, len(s.rows.p.Rows)), make([]float64, len(s.rows.p.Low))
	s.Proved(f, g)
	x, y := new(big.Rat), new(big.Rat)
	for i := range f {
		for j, c := range s.Row(i) {
			if x.Add(x.SetFloat64(f[i]), y.SetFloat64(g[j])).Cmp(y.SetFloat64(c)) > 0 {
				t.Fatalf("row %d, column %d: %v + %v above %v", i, j, f[i], g[j], c)
			}
		}
	}
}

// checkTree checks the invariants of a basis: the list is a preorder with the right sizes, the
// flows balance, the tree is strongly feasible, and potentials are exact.
func checkTree(t *testing.T, s *Solver) {
	t.Helper()
	n, total := &s.tree, 0.0
	seen := 0
	path := []int32{n.root} // the ancestors of the last node, root first
	net := make([]int64, len(n.nodes))
	for i, u := range s.rows.p.Supply {
		net[i] = int64(u)
		total += float64(u)
	}
	for j := range n.n {
		net[n.k+j] = -int64(n.low[j])
		if n.slack[j] == AtUpper {
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

		if float64(p.flow) > 3.875*total { // see MaxUnits
			t.Fatalf("node %d: flow %d", v, p.flow)
		}
		full := p.kind == Slack && n.room[int(v)-n.k] != unbounded && p.flow >= n.room[int(v)-n.k]
		if p.up && full || !p.up && p.flow == 0 {
			t.Fatalf("node %d: nothing can go to the hub (%+v)", v, p)
		}
		if p.kind == Slack && (int(v) < n.k || p.parent != n.root || !p.up || n.slack[int(v)-n.k] != InTree) {
			t.Fatalf("node %d: misplaced slack arc %+v", v, p)
		}
		if p.kind == Real && (int(v) < n.k) == (int(p.parent) < n.k) {
			t.Fatalf("node %d: real arc to %d", v, p.parent)
		}
		if p.kind != Real && n.cost[v] != 0 {
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

// plantStar makes b the star of rows with the given units and of the columns that it has bounds of.
func plantStar(b *basis, units []uint64) {
	var f start.Forest
	f.Reset(len(units), b.low)
	b.reset(len(units), len(b.low))
	b.plant(&f, units)
}
