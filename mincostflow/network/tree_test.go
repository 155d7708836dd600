package network

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// checkSpanning checks everything that the tree promises between pivots.
func checkSpanning(t *testing.T, l *loaded) {
	t.Helper()
	n := int(l.root)
	// The list holds every node once, parents before children, and runs and sizes are as stated.
	seen := make([]int, n+1)
	at := 0
	for v := l.root; ; {
		at++
		seen[v] = at
		w := l.next[v]
		if l.prev[w] != v {
			t.Fatalf("prev[next[%d]] = %d", v, l.prev[w])
		}
		if v = w; v == l.root {
			break
		}
		if seen[v] != 0 {
			t.Fatalf("node %d is twice in the list", v)
		}
		if p := l.tree[v].parent; seen[p] == 0 {
			t.Fatalf("node %d comes before its parent %d", v, p)
		}
	}
	if at != n+1 {
		t.Fatalf("%d of %d nodes in the list", at, n+1)
	}
	size := make([]int32, n+1)
	last := make([]int, n+1)
	net := make([]int64, n+1)
	for k, v := n, l.prev[l.root]; k >= 0; k, v = k-1, l.prev[v] {
		size[v]++
		last[v] = max(last[v], seen[v])
		if p := l.tree[v].parent; p >= 0 {
			size[p] += size[v]
			last[p] = max(last[p], last[v])
		}
		if size[v] != l.tree[v].size || last[v] != seen[l.tree[v].last] || last[v] != seen[v]+int(size[v])-1 {
			t.Fatalf("node %d: size %d, last %d; want %d, at %d", v, l.tree[v].size, l.tree[v].last, size[v], last[v])
		}
	}
	// Tree arcs join a node to its parent, have reduced cost zero, and their flow is feasible; and a
	// node can always send towards the root.
	for v := range n {
		p := &l.tree[v]
		cost, room, up := int64(0), int64(math.MaxInt64), l.supply[v] >= 0
		flow, artificial := l.artificial(v)
		if artificial {
			if p.parent != l.root || int(p.pred) != len(l.arcs)+v {
				t.Fatalf("node %d: artificial arc %d to %d", v, p.pred, p.parent)
			}
			if !up {
				cost = l.big
			}
		} else {
			a := l.arcs[p.pred]
			room = l.room[p.pred]
			up = a.from == int32(v)
			cost = a.cost
			flow = p.up
			if up {
				flow = p.down
			}
			if !up && a.to != int32(v) || a.from+a.to-int32(v) != p.parent {
				t.Fatalf("node %d: arc %d from %d to %d, parent %d", v, p.pred, a.from, a.to, p.parent)
			}
		}
		if p.up <= 0 || p.down < 0 || p.up+p.down != room {
			t.Fatalf("node %d: room %d up and %d down of %d", v, p.up, p.down, room)
		}
		if !up {
			cost, flow = -cost, -flow
		}
		if rc := cost + l.pi[v] - l.pi[p.parent]; rc != 0 {
			t.Fatalf("node %d: its arc has reduced cost %d", v, rc)
		}
		net[v] += flow
		net[p.parent] -= flow
	}
	for e, full := range l.turned {
		a := l.arcs[e]
		switch { // flow in the tree was counted in the direction in which the arc is stored
		case full:
			net[a.from] -= l.room[e]
			net[a.to] += l.room[e]
		}
	}
	for v, b := range l.supply {
		if net[v] != b {
			t.Fatalf("node %d sends %d, its supply is %d", v, net[v], b)
		}
	}
}

// TestTree checks the tree after every pivot.
func TestTree(t *testing.T) {
	seeds := 400
	if !numtest.Full() {
		seeds = 40
	}
	pivots := 0
	for seed := range seeds {
		d := newDraw(uint64(seed) + 33e6)
		g := d.network(12)
		if seed%8 == 0 {
			g = families[seed/8%len(families)].make(uint64(seed), 24, 60)
		}
		l, err := g.load()
		if err != nil {
			t.Fatal(err)
		}
		checkSpanning(t, l)
		checkSpanning(t, l)
		for {
			e, rc, _ := l.price()
			if e < 0 {
				break
			}
			if _, ok := l.pivot(e, rc); !ok {
				break
			}
			pivots++
			checkSpanning(t, l)
		}
		l.forget()
		checkSpanning(t, l)
	}
	if pivots < 5*seeds {
		t.Errorf("%d pivots in %d networks", pivots, seeds)
	}
}

// TestDegenerate: instances in which most pivots move nothing, or everything is a tie, end all the same.
func TestDegenerate(t *testing.T) {
	n := 316 // 1e5 arcs
	if !numtest.Full() {
		n = 60
	}
	d := newDraw(34e6)
	assign := func(cost func(i, j int) int64) *Problem {
		g := &Problem{Supply: make([]int64, 2*n)}
		for i := range n {
			g.Supply[i], g.Supply[n+i] = 1, -1
			for j := range n {
				g.AddArc(i, n+j, 0, Unlimited, cost(i, j))
			}
		}
		return g
	}
	// Uniform sources, each column takes from half to twice its share.
	box := func() *Problem {
		g := assign(func(i, j int) int64 { return int64(d.Intn(1000)) })
		hub := g.AddNode(-2 * int64(n))
		for i := range n {
			g.Supply[i], g.Supply[n+i] = 2, 0
			g.AddArc(n+i, hub, 1, 4, 0)
		}
		return g
	}
	smallest := int64(0) // sum of i times its mirror image
	for i := range n {
		smallest += int64(i * (n - 1 - i))
	}
	const proved = -1 // the proof is all there is
	for _, c := range []struct {
		name  string
		g     *Problem
		cost  int64
		share float64 // of degenerate pivots, at least
	}{
		{"equal costs", assign(func(i, j int) int64 { return 7 }), int64(7 * n), 0.5},
		{"zero costs", assign(func(i, j int) int64 { return 0 }), 0, 0.5},
		{"two costs", assign(func(i, j int) int64 { return int64(d.Intn(2)) }), 0, 0.5},
		{"three costs", assign(func(i, j int) int64 { return int64(i*j) % 3 }), proved, 0},
		{"products", assign(func(i, j int) int64 { return int64(i * j) }), smallest, 0.85},
		{"uniform box", box(), proved, 0.5},
		{"little supply", familyOf("netgen-low")(1, 2000, 20000), proved, 0.91},
	} {
		r := mustSolve(t, c.g)
		if r.Status != Optimal || c.cost != proved && r.Objective.Cmp(big.NewInt(c.cost)) != 0 {
			t.Errorf("%s: %v with cost %v, want %d", c.name, r.Status, r.Objective, c.cost)
		}
		got := float64(r.Stats.Degenerate) / float64(max(r.Stats.Pivots, 1))
		if got < c.share && numtest.Full() {
			t.Errorf("%s: %.3f of the pivots are degenerate; want %.3f at least, or the row tests nothing", c.name, got, c.share)
		}
		t.Logf("%s: %d pivots, %.3f of them degenerate", c.name, r.Stats.Pivots, got)
	}
}

// TestStops stops at every pivot, and whenever the context is asked: what comes back is an error
// beside a feasible flow or none, and flows get cheaper.
func TestStops(t *testing.T) {
	for seed := range uint64(10) {
		g := families[seed].make(seed, 40, 160)
		want := mustSolve(t, g)
		var before *big.Int
		for limit := 1; ; limit++ {
			r, err := Solve(context.Background(), g, Settings{MaxPivots: limit})
			if v := Verify(g, r); v != nil {
				t.Fatal(v)
			}
			if err == nil {
				if limit < want.Stats.Pivots || r.Status != Optimal || r.Objective.Cmp(want.Objective) != 0 ||
					r.Stats.Pivots != want.Stats.Pivots {
					t.Errorf("%s, limit %d: %v", families[seed].name, limit, r)
				}
				break
			}
			if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != PivotLimit || r.Stats.Pivots != limit || r.Potentials != nil {
				t.Fatalf("limit %d: %v, %+v", limit, err, r)
			}
			if (r.Flow == nil) != (r.Objective == nil) || before != nil && (r.Flow == nil || r.Objective.Cmp(before) > 0) {
				t.Fatalf("limit %d: objective %v after %v", limit, r.Objective, before)
			}
			before = r.Objective
		}
	}
	g := familyOf("netgen")(1, 1000, 20000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for asked, status := 0, Cancelled; status == Cancelled; asked++ {
		r, err := Solve(&numtest.Asked{Context: ctx, Most: asked}, g, Settings{})
		if status = r.Status; status == Cancelled &&
			(!errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled)) || status != Cancelled && err != nil {
			t.Fatalf("asked %d times: %v, %v", asked, r.Status, err)
		}
		if v := Verify(g, r); v != nil {
			t.Fatal(v)
		}
		if status == Optimal && asked < 3 {
			t.Errorf("the context was asked %d times only", asked)
		}
	}
}
