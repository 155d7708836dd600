package network

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestVerifyRefuses spoils proofs in every way that Verify has to notice.
func TestVerifyRefuses(t *testing.T) {
	inf := int64(Unlimited)
	optimal := &Problem{[]int64{4, 0, -4}, []Arc{{0, 1, 0, 3, 1}, {1, 2, 0, inf, 1}, {0, 2, 0, 9, 5}, {2, 0, -inf, 0, -6}}}
	infeasible := &Problem{[]int64{4, 0, 0, -4},
		[]Arc{{0, 1, 0, 9, 0}, {1, 2, 0, 3, 0}, {2, 3, 0, inf, 0}, {2, 1, 1, 4, 0}, {3, 0, 0, 5, 0}}}
	unbounded := &Problem{[]int64{1, -1, 0},
		[]Arc{{0, 1, 0, inf, 3}, {2, 1, -inf, 4, 5}, {2, 0, 0, inf, 1}, {0, 1, 0, 6, 0}, {1, 1, 0, inf, 1}}}
	for _, c := range []struct {
		name  string
		g     *Problem
		spoil func(g *Problem, r *Result)
		says  string
	}{
		{"fine", optimal, nil, ""},
		{"fine", infeasible, nil, ""},
		{"fine", unbounded, nil, ""},
		{"a flow is missing", optimal, func(g *Problem, r *Result) { r.Flow = r.Flow[1:] }, "3 flows on 4 arcs"},
		{"no flow", optimal, func(g *Problem, r *Result) { r.Flow = nil }, "0 flows"},
		{"below a bound", optimal, func(g *Problem, r *Result) { r.Flow[0], r.Flow[1], r.Flow[2] = -1, -1, 5 },
			"Flow[0] = -1"},
		{"above a bound", optimal, func(g *Problem, r *Result) { r.Flow[0], r.Flow[1], r.Flow[2] = 4, 4, 0 }, "Flow[0] = 4"},
		{"flow vanishes", optimal, func(g *Problem, r *Result) { r.Flow[1]-- }, "node 1 sends"},
		{"flow wraps around", &Problem{[]int64{0, 0, 0},
			[]Arc{{0, 1, 0, inf, 0}, {0, 1, 0, inf, 0}, {0, 1, 0, inf, 0}, {0, 1, 0, inf, 0}}},
			func(g *Problem, r *Result) { copy(r.Flow, []int64{1 << 62, 1 << 62, 1 << 62, 1 << 62}) }, "node 0 sends"},
		{"another cost", optimal, func(g *Problem, r *Result) { r.Objective = big.NewInt(r.Objective.Int64() - 1) },
			"Objective"},
		{"no cost", optimal, func(g *Problem, r *Result) { r.Objective = nil }, "Objective"},
		{"a dearer flow", optimal, func(g *Problem, r *Result) {
			r.Flow[0]--
			r.Flow[1]--
			r.Flow[2]++
			r.Objective = big.NewInt(r.Objective.Int64() + 3)
		}, "reduced cost"},
		{"potentials missing", optimal, func(g *Problem, r *Result) { r.Potentials = nil }, "0 potentials"},
		{"wrong potentials", optimal, func(g *Problem, r *Result) { r.Potentials[1] -= 7 }, "reduced cost"},
		{"wrong potentials, the other side", optimal, func(g *Problem, r *Result) { r.Potentials[2] += 7 }, "reduced cost"},
		{"potentials that wrap around", &Problem{[]int64{0, 0}, []Arc{{0, 1, 0, 5, 2}}},
			func(g *Problem, r *Result) { r.Potentials[0], r.Potentials[1] = math.MinInt64, math.MaxInt64 }, "reduced cost"},
		{"another network", optimal, func(g *Problem, r *Result) { g.Arcs[0].Cost = 100 }, "costs"},
		{"status without proof", optimal, func(g *Problem, r *Result) { r.Status = Infeasible }, "the cut holds 0"},
		{"no such status", optimal, func(g *Problem, r *Result) { r.Status = -1 }, "status -1"},
		{"stopped, with a wrong flow", optimal, func(g *Problem, r *Result) { r.Status, r.Flow[0] = PivotLimit, 1 }, "sends"},
		{"stopped, without a flow", optimal, func(g *Problem, r *Result) { *r = Result{Status: Cancelled} }, ""},

		{"cut too small", infeasible, func(g *Problem, r *Result) { r.Cut = r.Cut[:1] }, "the cut holds -5"},
		{"cut of everything", infeasible, func(g *Problem, r *Result) { r.Cut = []int{0, 1, 2, 3} }, "the cut holds 0"},
		{"empty cut", infeasible, func(g *Problem, r *Result) { r.Cut = nil }, "the cut holds 0"},
		{"node out of range", infeasible, func(g *Problem, r *Result) { r.Cut = []int{4} }, "node 4"},
		{"negative node", infeasible, func(g *Problem, r *Result) { r.Cut = []int{-1} }, "node -1"},
		{"a supply counted twice", infeasible, func(g *Problem, r *Result) { r.Cut = []int{0, 1, 0} }, "twice"},
		{"across an infinite arc", infeasible, func(g *Problem, r *Result) { r.Cut = []int{0, 1, 2} }, "no upper bound"},
		{"across an arc infinite backward", infeasible, func(g *Problem, r *Result) { g.Arcs[3].Lower = -inf },
			"no lower bound"},
		{"just enough capacity", infeasible, func(g *Problem, r *Result) { g.Arcs[1].Upper = 5 }, "the cut holds 0"},
		{"a lower bound less", infeasible, func(g *Problem, r *Result) { g.Arcs[1].Upper, g.Arcs[3].Lower = 4, 0 },
			"the cut holds 0"},

		{"no cycle", unbounded, func(g *Problem, r *Result) { r.Cycle = nil }, "not negative"},
		{"no flow beside the cycle", unbounded, func(g *Problem, r *Result) { r.Flow = nil }, "0 flows"},
		{"open walk", unbounded, func(g *Problem, r *Result) { r.Cycle = []Step{{1, true}} },
			"starts at node 1 and ends at node 2"},
		{"a gap in the walk", unbounded, func(g *Problem, r *Result) { r.Cycle = []Step{{1, true}, {1, true}} },
			"goes on from node 1"},
		{"arc out of range", unbounded, func(g *Problem, r *Result) { r.Cycle[0].Arc = 5 }, "arc 5"},
		{"negative arc", unbounded, func(g *Problem, r *Result) { r.Cycle[0].Arc = -1 }, "arc -1"},
		{"wrong direction", unbounded, func(g *Problem, r *Result) {
			for i := range r.Cycle {
				r.Cycle[i].Backward = !r.Cycle[i].Backward
			}
		}, "bound"},
		{"positive cycle", unbounded, func(g *Problem, r *Result) { r.Cycle = []Step{{4, false}} }, "costs 1"},
		{"a capacity on the cycle", unbounded, func(g *Problem, r *Result) { g.Arcs[2].Upper = 1e15 }, "upper bound"},
		{"a bound below on the cycle", unbounded, func(g *Problem, r *Result) { g.Arcs[1].Lower = -1e15 }, "lower bound"},
	} {
		g := c.g.clone()
		r := mustSolve(t, g)
		if want, ok := map[*Problem]Status{optimal: Optimal, infeasible: Infeasible, unbounded: Unbounded}[c.g]; ok &&
			r.Status != want {
			t.Fatalf("%s: status %v, want %v", c.name, r.Status, want)
		}
		if c.spoil != nil {
			c.spoil(g, &r)
		}
		err := Verify(g, r)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, wpmerr.ErrCertificate) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
	}
	if err := Verify(&Problem{Supply: []int64{1}}, Result{}); !errors.Is(err, ErrBalance) {
		t.Errorf("a bad network: %v", err)
	}
}

// TestPotentialsSmall holds that potentials do not contain the price of artificial arcs: each is the
// cost of some path.
func TestPotentialsSmall(t *testing.T) {
	artificial := 0
	for seed := range uint64(1000) {
		g := newDraw(seed + 36e6).network(7)
		r := mustSolve(t, g)
		if r.Status != Optimal {
			continue
		}
		l, err := g.load()
		if err != nil {
			t.Fatal(err)
		}
		for v, p := range r.Potentials {
			if max(p, -p) >= l.big {
				t.Errorf("seed %d: %+v\nPotentials[%d] = %d; no path is dearer than %d", seed, brief(g), v, p, l.big-1)
			}
		}
		l.solve(context.Background(), math.MaxInt)
		count := 0
		for v := range l.supply {
			if _, ok := l.artificial(v); ok {
				count++
			}
		}
		if count > 1 {
			artificial++
		}
	}
	if artificial < 100 {
		t.Errorf("only %d trees had artificial arcs left beside the one that it takes", artificial)
	}
}

// TestCost checks products at the edges.
func TestCost(t *testing.T) {
	edge := []int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62, -1 << 62}
	for _, a := range edge {
		for _, b := range edge {
			cost := (&Problem{Arcs: []Arc{{Cost: a}, {Cost: b}, {Cost: a}}}).cost([]int64{b, b, a})
			want := new(big.Int)
			for _, p := range [][2]int64{{a, b}, {b, b}, {a, a}} {
				want.Add(want, new(big.Int).Mul(big.NewInt(p[0]), big.NewInt(p[1])))
			}
			if cost.Cmp(want) != 0 {
				t.Fatalf("%d*%d + %d*%d + %d*%d = %v, want %v", a, b, b, b, a, a, cost, want)
			}
		}
	}
}
