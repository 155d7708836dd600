package network

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// mustSolve solves g, which must have an answer, and checks the proof and what else a result promises.
func mustSolve(t testing.TB, g *Problem) Result {
	t.Helper()
	r, err := Solve(context.Background(), g, Settings{})
	// A status that is no flow of least cost is an error, too, and the other way about.
	if want := map[Status]error{Infeasible: wpmerr.ErrInfeasible, Unbounded: ErrUnbounded}[r.Status]; !errors.Is(err, want) {
		t.Fatalf("Solve(%+v) = %v, %v", brief(g), r.Status, err)
	}
	if err := Verify(g, r); err != nil {
		t.Fatalf("Verify(%+v, %+v) = %v", brief(g), r, err)
	}
	switch {
	case r.Status == PivotLimit || r.Status == Cancelled:
		t.Fatalf("Solve(%+v): status %v without an error", brief(g), r.Status)
	case (r.Status == Optimal) != (r.Potentials != nil) && len(g.Supply) > 0,
		(r.Status == Infeasible) != (r.Cut != nil),
		(r.Status == Infeasible) == (r.Flow != nil),
		(r.Status == Unbounded) != (r.Cycle != nil):
		t.Fatalf("Solve(%+v): status %v with %+v", brief(g), r.Status, r)
	}
	return r
}

// brief prints a network if it is small enough to paste into a test.
func brief(g *Problem) any {
	if len(g.Arcs) <= 40 {
		return *g
	}
	return []int{len(g.Supply), len(g.Arcs)}
}

// network draws a small network that leans to trouble.
func (d draw) network(most int) *Problem {
	g := &Problem{}
	n := 1 + d.Intn(most)
	for range n {
		g.AddNode(0)
	}
	small := func() int64 { return int64(d.between(-4, 4)) }
	kind := d.Intn(6)
	for range d.Intn(3*n + 1) {
		u, v := d.Intn(n), d.Intn(n)
		lower, upper := int64(0), int64(d.Intn(6))
		cost := small()
		switch kind {
		case 0: // nothing special
			cost = int64(d.Intn(10))
		case 1:
			cost = int64(d.Intn(2))
		case 2: // all sorts of bounds
			lower = small()
			upper = lower + int64(d.Intn(5))
		case 3: // infinite capacities
			if d.Intn(2) == 0 {
				upper = Unlimited
			}
			cost = int64(d.between(-1, 8))
		case 4: // everything
			lower, upper = small(), Unlimited
			if d.Intn(2) == 0 {
				upper = lower + int64(d.Intn(9))
			}
			if d.Intn(4) == 0 {
				lower = -Unlimited
			}
		case 5: // unbounded on both sides, mostly potentials differences
			lower, upper = -Unlimited, Unlimited
			cost = int64(u*u - v*v)
			if d.Intn(3) == 0 {
				lower, cost = -3, cost+small()
			}
		}
		g.AddArc(u, v, lower, upper, cost)
	}
	if d.Intn(3) == 0 { // supplies at random
		for range n {
			u, v, b := d.Intn(n), d.Intn(n), small()
			g.Supply[u] += b
			g.Supply[v] -= b
		}
	} else { // supplies of some flow
		for _, a := range g.Arcs {
			x := a.Lower
			switch {
			case a.Lower == -Unlimited && a.Upper == Unlimited:
				x = small()
			case a.Lower == -Unlimited:
				x = a.Upper - int64(d.Intn(4))
			case a.Upper == Unlimited:
				x += int64(d.Intn(4))
			default:
				x += int64(d.Intn(int(a.Upper-a.Lower) + 1))
			}
			g.Supply[a.From] += x
			g.Supply[a.To] -= x
		}
	}
	return g
}

func TestAgainstShortestPaths(t *testing.T) {
	n := 6000
	if !numtest.Full() {
		n = 600
	}
	seen := map[Status]int{}
	for seed := range n {
		g := newDraw(uint64(seed) + 31e6).network(7)
		r := mustSolve(t, g)
		status, cost := dumbFlow(g)
		if r.Status != status {
			t.Fatalf("seed %d: %+v\nstatus %v, want %v", seed, brief(g), r.Status, status)
		}
		if status == Optimal && r.Objective.Cmp(cost) != 0 {
			t.Fatalf("seed %d: %+v\nobjective %v, want %v", seed, brief(g), r.Objective, cost)
		}
		seen[status]++
	}
	for _, s := range []Status{Optimal, Infeasible, Unbounded} {
		if seen[s] < n/20 {
			t.Errorf("%d of %d networks are %v: the generator no longer makes enough", seen[s], n, s)
		}
	}
	t.Log(seen)
}

func TestAgainstAllFlows(t *testing.T) {
	n := 3000
	if !numtest.Full() {
		n = 300
	}
	optimal := 0
	for seed := range n {
		d := newDraw(uint64(seed) + 32e6)
		g := &Problem{Supply: make([]int64, 1+d.Intn(4))}
		for range d.Intn(7) {
			lower := int64(d.between(-1, 1))
			g.AddArc(d.Intn(len(g.Supply)), d.Intn(len(g.Supply)), lower, lower+int64(d.Intn(4)), int64(d.between(-3, 3)))
		}
		for range d.Intn(4) {
			u, v, b := d.Intn(len(g.Supply)), d.Intn(len(g.Supply)), int64(d.Intn(3))
			g.Supply[u] += b
			g.Supply[v] -= b
		}
		r := mustSolve(t, g)
		status, cost := bruteFlow(g)
		if r.Status != status || status == Optimal && r.Objective.Cmp(cost) != 0 {
			t.Fatalf("seed %d: %+v\n%v with cost %v, want %v with cost %v", seed, brief(g), r.Status, r.Objective, status, cost)
		}
		if status == Optimal {
			optimal++
		}
	}
	if optimal < n/4 || optimal > n*9/10 {
		t.Errorf("%d of %d networks have a flow: the generator no longer makes enough of both", optimal, n)
	}
}

// TestFamilies holds that families of middling size agree with the dumb solver.
func TestFamilies(t *testing.T) {
	seeds := 4
	if !numtest.Full() {
		seeds = 1
	}
	for _, f := range families {
		for seed := range seeds {
			g := f.make(uint64(seed), 30, 120)
			r := mustSolve(t, g)
			status, cost := dumbFlow(g)
			if r.Status != Optimal || status != Optimal || r.Objective.Cmp(cost) != 0 {
				t.Errorf("%s %d: %v with cost %v, want %v with cost %v", f.name, seed, r.Status, r.Objective, status, cost)
			}
		}
	}
}

// TestErrors holds one row for every way to be refused.
func TestErrors(t *testing.T) {
	pair := func(b int64, arcs ...Arc) *Problem { return &Problem{Supply: []int64{b, -b}, Arcs: arcs} }
	for _, c := range []struct {
		name string
		g    *Problem
		s    Settings
		want error
		says string
	}{
		{"no network", nil, Settings{}, wpmerr.ErrShape, "no network"},
		{"supplies do not sum to zero", &Problem{Supply: []int64{3, -1}}, Settings{}, ErrBalance, "sum is 2"},
		{"nor after wrapping around", &Problem{Supply: []int64{math.MaxInt64, math.MaxInt64, 2}}, Settings{}, ErrBalance,
			"sum is 18446744073709551616"},
		{"a deficit", &Problem{Supply: []int64{math.MinInt64, -1}}, Settings{}, ErrBalance, "sum is -9223372036854775809"},
		{"arc from nowhere", pair(0, Arc{From: -1, Upper: 1}), Settings{}, ErrArc, "Arcs[0].From = -1"},
		{"arc from just behind", pair(0, Arc{From: 2, Upper: 1}), Settings{}, ErrArc, "Arcs[0].From = 2"},
		{"arc to nowhere", pair(0, Arc{Upper: 1}, Arc{To: 2, Upper: 1}), Settings{}, ErrArc, "Arcs[1].To = 2"},
		{"arc in no network", &Problem{Arcs: []Arc{{Upper: 1}}}, Settings{}, ErrArc, "there are 0 nodes"},
		{"bounds crossed", pair(0, Arc{To: 1, Lower: 2, Upper: 1}), Settings{}, wpmerr.ErrBox, "Lower = 2, Upper = 1"},
		{"lower bound infinite above", pair(0, Arc{To: 1, Lower: Unlimited, Upper: Unlimited}), Settings{}, ErrArc,
			"infinity"},
		{"upper bound infinite below", pair(0, Arc{To: 1, Lower: -Unlimited, Upper: -Unlimited}), Settings{}, ErrArc,
			"minus infinity"},
		{"the least integer as upper bound", pair(0, Arc{To: 1, Lower: math.MinInt64, Upper: math.MinInt64}), Settings{},
			ErrArc, "minus infinity"},
		{"negative limit", pair(0), Settings{MaxPivots: -1}, wpmerr.ErrSettings, "MaxPivots = -1"},

		// Overflow, refused before any work.
		{"a supply without room for artificial flow", pair(math.MaxInt64-1, Arc{To: 1, Upper: Unlimited}), Settings{},
			wpmerr.ErrOverflow, "the supplies"},
		{"supplies that sum to too much", &Problem{Supply: []int64{math.MaxInt64, -math.MaxInt64, 1, -1}}, Settings{},
			wpmerr.ErrOverflow, "the supplies sum to 9223372036854775808"},
		{"a lower bound on top of a supply", pair(math.MinInt64+1, Arc{To: 1, Lower: 5, Upper: 7}), Settings{}, wpmerr.ErrOverflow,
			"Supply[0]"},
		{"dear arcs", pair(0, Arc{To: 1, Upper: 1, Cost: math.MaxInt64}), Settings{}, wpmerr.ErrOverflow, "nodes 0 to 0"},
		{"the dearest arc", pair(0, Arc{To: 1, Upper: 1, Cost: math.MinInt64}), Settings{}, wpmerr.ErrOverflow, "nodes 0 to 0"},
		{"two half as dear", pair(0, Arc{To: 1, Upper: 1, Cost: maxPath/2 + 1}), Settings{}, wpmerr.ErrOverflow, "nodes 0 to 1"},
		{"a bound far out and none on the other side",
			pair(0, Arc{To: 1, Lower: math.MaxInt64 - 3, Upper: Unlimited}, Arc{From: 1, Upper: Unlimited}), Settings{},
			wpmerr.ErrOverflow, "an arc has a bound"},
		{"a circle that is worth more than fits",
			pair(0, Arc{To: 1, Upper: 1 << 62, Cost: -1}, Arc{To: 1, Upper: 1 << 62, Cost: -1}, Arc{From: 1, Upper: Unlimited}),
			Settings{}, wpmerr.ErrOverflow, "arcs with negative cost"},
		{"negative infinite arc beside vast capacities",
			pair(0, Arc{To: 1, Upper: Unlimited, Cost: -1}, Arc{From: 1, Upper: maxTreeFlow + 1, Cost: 2}), Settings{},
			wpmerr.ErrOverflow, "finite capacities"},
	} {
		r, err := Solve(context.Background(), c.g, c.s)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %v that says %q", c.name, err, c.want, c.says)
		}
		if !reflect.DeepEqual(r, Result{}) {
			t.Errorf("%s: result %+v beside an error", c.name, r)
		}
	}
}

// TestCases: small networks with a known answer. want is the cost, or a status.
func TestCases(t *testing.T) {
	const most = math.MaxInt64
	inf := int64(Unlimited)
	grid := func(k, kv int, cost func(i, j int) int64, a, b []int64) *Problem { // plain transport
		g := &Problem{}
		for _, x := range a {
			g.AddNode(x)
		}
		for _, x := range b {
			g.AddNode(-x)
		}
		for i := range k {
			for j := range kv {
				g.AddArc(i, k+j, 0, inf, cost(i, j))
			}
		}
		return g
	}
	times := func(x int64, n int) []int64 { return slices.Repeat([]int64{x}, n) }
	for _, c := range []struct {
		name string
		g    *Problem
		want string
	}{
		{"no nodes", &Problem{}, "0"},
		{"one node", &Problem{Supply: []int64{0}}, "0"},
		{"nodes without arcs", &Problem{Supply: []int64{0, 0, 0}}, "0"},
		{"supply without arcs", &Problem{Supply: []int64{1, -1}}, "infeasible"},
		{"one arc", &Problem{[]int64{5, -5}, []Arc{{0, 1, 0, 5, 3}}}, "15"},
		{"one arc too narrow", &Problem{[]int64{5, -5}, []Arc{{0, 1, 0, 4, 3}}}, "infeasible"},
		{"the wrong way", &Problem{[]int64{5, -5}, []Arc{{1, 0, 0, 9, 3}}}, "infeasible"},
		{"the wrong way, flow negative", &Problem{[]int64{5, -5}, []Arc{{1, 0, -9, 9, -3}}}, "15"},
		{"parallel arcs", &Problem{[]int64{5, -5}, []Arc{{0, 1, 0, 2, 1}, {0, 1, 0, 2, 4}, {0, 1, 0, 2, 9}}}, "19"},
		{"lower bounds force a circle", &Problem{[]int64{0, 0}, []Arc{{0, 1, 2, 4, 3}, {1, 0, 0, 9, -1}}}, "4"},
		{"lower bounds without a way back", &Problem{[]int64{0, 0}, []Arc{{0, 1, 2, 4, 3}}}, "infeasible"},
		{"negative circle, bounded", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, 4, 3}, {1, 0, 0, inf, -5}}}, "-8"},
		{"negative circle, unbounded", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, inf, 3}, {1, 0, 0, inf, -5}}}, "unbounded"},
		{"negative circle backward", &Problem{[]int64{0, 0}, []Arc{{1, 0, -inf, 0, -3}, {1, 0, 0, inf, -5}}}, "unbounded"},
		{"unbounded but infeasible", &Problem{[]int64{0, 0, 1, -1}, []Arc{{0, 1, 0, inf, 3}, {1, 0, 0, inf, -5}}},
			"infeasible"},
		{"circle of cost zero", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, inf, 5}, {1, 0, 0, inf, -5}}}, "0"},
		{"loop that pays", &Problem{[]int64{0}, []Arc{{0, 0, 0, 7, -2}}}, "-14"},
		{"loop that costs", &Problem{[]int64{0}, []Arc{{0, 0, 3, 7, 2}}}, "6"},
		{"loop without end", &Problem{[]int64{0}, []Arc{{0, 0, 0, inf, -2}}}, "unbounded"},
		{"loop without beginning", &Problem{[]int64{0}, []Arc{{0, 0, -inf, 3, 2}}}, "unbounded"},
		{"loop without either", &Problem{[]int64{0}, []Arc{{0, 0, -inf, inf, 0}}}, "0"},
		{"loop without end, infeasible", &Problem{[]int64{1, -1}, []Arc{{0, 0, 0, inf, -2}}}, "infeasible"},
		{"free arc, either way", &Problem{[]int64{-5, 5}, []Arc{{0, 1, -inf, inf, 3}}}, "-15"},
		{"two free arcs apart in cost", &Problem{[]int64{0, 0}, []Arc{{0, 1, -inf, inf, 3}, {0, 1, -inf, inf, 4}}},
			"unbounded"},
		{"no lower bound", &Problem{[]int64{-5, 5}, []Arc{{0, 1, -inf, -2, 3}}}, "-15"},
		{"the least integer means no lower bound", &Problem{[]int64{-5, 5}, []Arc{{0, 1, math.MinInt64, -2, 3}}}, "-15"},
		{"fixed flow", &Problem{[]int64{2, -2}, []Arc{{0, 1, 2, 2, -7}}}, "-14"},
		{"fixed flow against the supply", &Problem{[]int64{2, -2}, []Arc{{0, 1, 3, 3, -7}}}, "infeasible"},
		{"two components, one infeasible", &Problem{[]int64{1, -1, 1, -1}, []Arc{{0, 1, 0, 1, 1}}}, "infeasible"},
		{"narrow in the middle", &Problem{[]int64{4, 0, 0, -4}, []Arc{{0, 1, 0, 9, 0}, {1, 2, 0, 3, 0}, {2, 3, 0, 9, 0}}},
			"infeasible"},

		// At the edge of 64 bits.
		{"capacities to the limit", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, most - 1, -1}, {1, 0, 0, most - 1, 0}}},
			"-9223372036854775806"},
		{"an interval of the whole range", &Problem{[]int64{0, 0}, []Arc{{0, 1, -most + 1, most - 1, 2}, {1, 0, -9, 9, 0}}},
			"-18"},
		{"a supply at the limit", &Problem{[]int64{most - 2, 2 - most}, []Arc{{0, 1, 0, most - 1, 1}}},
			"9223372036854775805"},
		{"and through an infinite arc", &Problem{[]int64{most - 2, 2 - most}, []Arc{{0, 1, 0, inf, 1}}},
			"9223372036854775805"},
		{"a cost at the limit", &Problem{[]int64{1, -1}, []Arc{{0, 1, 0, inf, maxPath / 2}}}, "576460752303423487"},
		{"costs that sum to the limit",
			&Problem{[]int64{1, 0, -1}, []Arc{{0, 1, 0, inf, 1}, {1, 2, 0, inf, (maxPath - 1) / 2}}}, "576460752303423488"},
		{"loops and fixed flows of any cost",
			&Problem{[]int64{1, -1}, []Arc{{0, 0, 0, 1, math.MinInt64}, {0, 1, 1, 1, math.MaxInt64},
				{1, 1, 2, 3, math.MaxInt64}}}, "18446744073709551613"},
		{"all of it through lower bounds", &Problem{[]int64{most - 2, 2 - most}, []Arc{{0, 1, most - 2, most - 1, -1}}},
			"-9223372036854775805"},
		{"vast arcs of negative cost that cannot all be full",
			&Problem{[]int64{0, 0}, []Arc{{0, 1, 0, 1 << 62, -1}, {0, 1, 0, 1 << 62, -1}, {1, 0, 0, 5, 0}}}, "-5"},
		{"a negative cost on a vast arc", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, maxTreeFlow, -1}, {1, 0, 0, inf, -1}}},
			"-9223372036854775806"},
		{"far below zero and endless", &Problem{[]int64{1, -1}, []Arc{{0, 1, 2 - most, inf, 1}, {1, 0, 2 - most, 0, 0}}},
			"-9223372036854775804"},
		{"far above zero and endless below",
			&Problem{[]int64{1, -1}, []Arc{{0, 1, -inf, most - 2, -1}, {1, 0, 0, most - 3, 0}}}, "-9223372036854775805"},
		{"vast capacities on a path",
			&Problem{[]int64{1, 0, -1}, []Arc{{0, 1, 0, 1 << 62, -5}, {1, 2, 0, 1 << 62, -5}, {0, 2, 0, inf, 0}}}, "-10"},

		// What users reported elsewhere.
		{"scipy: the total cost overflows an int64", &Problem{[]int64{1 << 61, -1 << 61}, []Arc{{0, 1, 0, inf, 1 << 40}}},
			"2535301200456458802993406410752"},
		{"POT, pyemd: zero bins on both sides",
			grid(4, 4, func(i, j int) int64 { return int64((i - j) * (i - j)) }, []int64{0, 3, 0, 0}, []int64{0, 0, 0, 3}),
			"12"},
		{"pyemd: nothing but zero bins", grid(3, 3, func(i, j int) int64 { return int64(i + j) }, times(0, 3), times(0, 3)),
			"0"},
		{"pyemd: a cost that is no metric, on two supports",
			grid(2, 3, func(i, j int) int64 { return int64(7*i + 3*j%5) }, []int64{2, 4}, []int64{3, 2, 1}), "35"},
		{"POT: integer masses and costs",
			grid(2, 2, func(i, j int) int64 { return int64(i ^ j) }, []int64{1, 2}, []int64{2, 1}), "1"},
		{"POT: arcs forbidden by a huge cost", grid(3, 3, func(i, j int) int64 {
			if i == j {
				return 1e16
			}
			return int64(i)
		}, times(1, 3), times(1, 3)), "3"},
		{"POT: the huge cost must be paid",
			grid(2, 2, func(i, j int) int64 { return []int64{1e16, 1e16 + 1, 5, 5}[2*i+j] }, times(1, 2), times(1, 2)),
			"10000000000000005"},
		{"OR-tools: capacities far beyond any flow",
			&Problem{[]int64{3, 0, -3}, []Arc{{0, 1, 0, 1 << 60, 1}, {1, 2, 0, 1 << 61, 1}, {0, 2, 0, 1 << 62, 3}}}, "6"},
		{"OR-tools: infeasible, not an endless loop",
			&Problem{[]int64{3, 0, -3}, []Arc{{0, 1, 0, 1 << 60, 1}, {2, 1, 0, 1 << 61, -1}}}, "infeasible"},
		{"k-means-constrained: minimum sizes beyond the samples",
			&Problem{[]int64{1, 1, -2}, []Arc{{0, 2, 0, 1, 1}, {1, 2, 2, 3, 1}}}, "infeasible"},
		{"k-means-constrained: minimum sizes met exactly",
			&Problem{[]int64{1, 1, 0, 0, -2},
				[]Arc{{0, 2, 0, 1, 5}, {0, 3, 0, 1, 1}, {1, 2, 0, 1, 9}, {1, 3, 0, 1, 2}, {2, 4, 1, 2, 0}, {3, 4, 1, 2, 0}}}, "7"},
		{"networkx: a triangle of ties", grid(3, 3, func(i, j int) int64 { return 4 }, times(5, 3), times(5, 3)), "60"},
	} {
		r := mustSolve(t, c.g)
		got := r.Status.String()
		if r.Status == Optimal {
			got = r.Objective.String()
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if status, cost := dumbFlow(c.g); status != r.Status || status == Optimal && cost.Cmp(r.Objective) != 0 {
			t.Errorf("%s: %v with cost %v, the second opinion is %v with cost %v", c.name, r.Status, r.Objective, status, cost)
		}
	}
}

// TestNilContext holds that no context is one that never ends.
func TestNilContext(t *testing.T) {
	var none context.Context
	if r, err := Solve(none, &Problem{[]int64{1, -1}, []Arc{{0, 1, 0, 1, 1}}}, Settings{}); err != nil ||
		r.Status != Optimal {
		t.Errorf("%v, %v", r.Status, err)
	}
}

// TestBuild holds that nodes and arcs are numbered as they come.
func TestBuild(t *testing.T) {
	var g Problem
	for v := range 3 {
		if got := g.AddNode(int64(v)); got != v {
			t.Errorf("AddNode = %d, want %d", got, v)
		}
	}
	for e := range 3 {
		if got := g.AddArc(e, 0, int64(e), 5, 6); got != e {
			t.Errorf("AddArc = %d, want %d", got, e)
		}
	}
	want := Problem{[]int64{0, 1, 2}, []Arc{{0, 0, 0, 5, 6}, {1, 0, 1, 5, 6}, {2, 0, 2, 5, 6}}}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("built %+v, want %+v", g, want)
	}
}

// TestStatus: what statuses are called; a call without a result has none of those of one.
func TestStatus(t *testing.T) {
	for s, want := range map[Status]string{
		Unknown: "unknown", Optimal: "optimal", Infeasible: "infeasible", Unbounded: "unbounded", PivotLimit: "pivot limit",
		Cancelled: "cancelled", -1: "unknown", 99: "unknown",
	} {
		if got := s.String(); got != want {
			t.Errorf("Status(%d) is %q, want %q", int(s), got, want)
		}
	}
	if r, err := Solve(context.Background(), &Problem{Supply: []int64{1}}, Settings{}); err == nil || r.Status != Unknown {
		t.Errorf("%v, %v", r.Status, err)
	}
}
