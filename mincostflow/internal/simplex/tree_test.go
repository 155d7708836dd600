package simplex

import (
	"context"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// TestTreeInvariants stops small solves after every number of pivots and looks at the tree.
func TestTreeInvariants(t *testing.T) {
	for seed := range 150 {
		p := problem(given.NewHard(uint64(seed) + 20e6).Units(7))
		for limit := 1; ; limit++ {
			s := loaded(t, p)
			s.Start(pivots(s, limit))
			done := s.optimise()
			checkTree(t, s)
			if done {
				break
			}
			checkStopped(t, s)
		}
	}
}

// TestSettle: new places change neither the preorder nor any pivot.
func TestSettle(t *testing.T) {
	settled := 0
	for seed := range 60 {
		p := problem(given.NewHard(uint64(seed) + 85e6).Units(12))
		for limit := 1; ; limit += 3 {
			var trees [2]*basis
			for n := range trees {
				s := loaded(t, p)
				s.Start(pivots(s, limit))
				s.optimise()
				b := &s.tree
				if trees[n] = b; n == 1 {
					before := slices.Collect(b.walk())
					b.renumber()
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
				s.Watch(pivots(s, limit+40))
				s.pr.run()
				checkTree(t, s)
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

// TestWidePotentials makes the grid too fine for the potentials, at the start or on the way, so that it has to grow,
// and is refined again in the end where that is possible.
func TestWidePotentials(t *testing.T) {
	grown, onTheWay := map[int]int{}, 0
	n := numtest.Cases(80, 200)
	for seed := range n {
		d := given.NewHard(uint64(seed) + 22e6)
		k, kv := 2+d.Intn(8), 2+d.Intn(8)
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = 0.6 * float64(d.Intn(4)) / 3
		}
		u := given.Units{Cost: c, Source: d.Counts(k, 1<<61)}
		for range kv {
			u.Lo, u.Hi = append(u.Lo, (1<<60)/int64(kv)), append(u.Hi, (3<<60)/int64(kv))
		}
		p := problem(u)
		star := loaded(t, p)
		star.Start(context.Background())
		want := mustOptimise(t, star)
		// The largest cost is below 1, artificial arcs cost 0.9, and 2^51 grids are 2^(51-bits).
		for _, bits := range []int{51, 52, 60, 70} {
			s := loaded(t, p)
			s.Start(context.Background())
			x := s
			x.tried, x.rescales = x.tried+gridBits-bits, -1
			x.setGrid(x.tried, x.full)
			atStart := x.rescales
			if !s.Run() {
				t.Fatal("not optimal")
			}
			checkTree(t, s)
			for s.Refine() && s.Run() {
			}
			if got := mustProve(t, s); got.Cmp(want) != 0 {
				t.Errorf("%d bits: %v, want %v", bits, got, want)
			}
			if x.rescales > 0 {
				grown[bits]++
			}
			onTheWay += x.rescales - atStart
		}
	}
	if grown[51] == n || grown[60] < 3*n/4 || onTheWay == 0 {
		t.Errorf("instances whose grid changed, by bits: %v; on the way: %d", grown, onTheWay)
	}
}

// TestCheapArtificialArcs: with artificial arcs too cheap at first, the solver notices the flow that they keep and
// raises their price.
func TestCheapArtificialArcs(t *testing.T) {
	raised := 0
	for seed := range 200 {
		s := loaded(t, problem(given.NewHard(uint64(seed)+23e6).Units(7)))
		s.Start(context.Background())
		s.setGrid(s.tried, s.full/1024)
		s.rescales = 0
		mustOptimise(t, s)
		raised += s.rescales
	}
	if raised == 0 {
		t.Error("the price was never raised")
	}
}
