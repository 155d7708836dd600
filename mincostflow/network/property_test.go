package network

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/wpmerr"
)

// networks draws a small network; all statuses are common.
func networks(t *rapid.T) *Problem {
	n := rapid.IntRange(1, 7).Draw(t, "nodes")
	g := &Problem{Supply: make([]int64, n)}
	node := rapid.IntRange(0, n-1)
	for range rapid.IntRange(0, 3*n).Draw(t, "arcs") {
		lower := rapid.OneOf(rapid.Just(int64(0)), rapid.Just(int64(0)), rapid.Int64Range(-9, 9),
			rapid.Just(int64(-Unlimited))).Draw(t, "lower")
		upper := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 20), rapid.Just(int64(Unlimited))).Draw(t, "upper")
		if upper != Unlimited {
			upper += max(lower, -9)
		}
		g.AddArc(node.Draw(t, "from"), node.Draw(t, "to"), lower, upper, rapid.Int64Range(-3, 9).Draw(t, "cost"))
	}
	for range rapid.IntRange(0, n).Draw(t, "supplies") {
		b := rapid.Int64Range(1, 9).Draw(t, "supply")
		g.Supply[node.Draw(t, "source")] += b
		g.Supply[node.Draw(t, "sink")] -= b
	}
	return g
}

func (g *Problem) clone() *Problem {
	return &Problem{slices.Clone(g.Supply), slices.Clone(g.Arcs)}
}

// solveRapid is Solve with every check.
func solveRapid(t *rapid.T, g *Problem) Result {
	before := g.clone()
	r, err := Solve(context.Background(), g, Settings{})
	if want := map[Status]error{Infeasible: wpmerr.ErrInfeasible, Unbounded: ErrUnbounded}[r.Status]; !errors.Is(err, want) {
		t.Fatalf("Solve(%+v) = %v, %v", *g, r.Status, err)
	}
	if err := Verify(g, r); err != nil {
		t.Fatalf("Verify(%+v, %+v) = %v", *g, r, err)
	}
	if !slices.Equal(before.Supply, g.Supply) || !slices.Equal(before.Arcs, g.Arcs) {
		t.Fatalf("Solve changed %+v to %+v", *before, *g)
	}
	return r
}

// sameAnswer fails unless two results have the same status and, up to the given function, cost.
func sameAnswer(t *rapid.T, law string, a, b Result, cost func(*big.Int) *big.Int) {
	if a.Status != b.Status {
		t.Fatalf("%s: %v becomes %v", law, a.Status, b.Status)
	}
	if a.Status != Optimal {
		return
	}
	if want := cost(new(big.Int).Set(a.Objective)); want.Cmp(b.Objective) != 0 {
		t.Fatalf("%s: cost %v, want %v", law, b.Objective, want)
	}
}

func unchanged(x *big.Int) *big.Int { return x }

// TestLaws: changes to a network whose effect on the answer is known.
func TestLaws(t *testing.T) {
	for _, law := range []struct {
		name   string
		change func(t *rapid.T, g *Problem) (cost func(*big.Int) *big.Int)
	}{
		{"nodes renumbered", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			old := g.clone()
			p := rapid.Permutation(nodesUpTo(len(g.Supply))).Draw(t, "p")
			for v, b := range old.Supply {
				g.Supply[p[v]] = b
			}
			for e := range g.Arcs {
				g.Arcs[e].From, g.Arcs[e].To = p[g.Arcs[e].From], p[g.Arcs[e].To]
			}
			return unchanged
		}},
		{"arcs reordered", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			if len(g.Arcs) > 0 {
				g.Arcs = rapid.Permutation(g.Arcs).Draw(t, "arcs")
			}
			return unchanged
		}},
		{"costs scaled", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			by := rapid.SampledFrom([]int64{2, 7, 1 << 40}).Draw(t, "by")
			for e := range g.Arcs {
				g.Arcs[e].Cost *= by
			}
			return func(x *big.Int) *big.Int { return x.Mul(x, big.NewInt(by)) }
		}},
		{"costs shifted by potentials", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			p := rapid.SliceOfN(rapid.Int64Range(-1e6, 1e6), len(g.Supply), len(g.Supply)).Draw(t, "p")
			for e := range g.Arcs {
				g.Arcs[e].Cost += p[g.Arcs[e].From] - p[g.Arcs[e].To]
			}
			sum := int64(0)
			for v, b := range g.Supply {
				sum += b * p[v]
			}
			return func(x *big.Int) *big.Int { return x.Add(x, big.NewInt(sum)) }
		}},
		{"arcs turned round", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				if rapid.Bool().Draw(t, "turn") {
					g.Arcs[e] = Arc{a.To, a.From, -a.Upper, -a.Lower, -a.Cost}
				}
			}
			return unchanged
		}},
		{"all of it turned round", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				g.Arcs[e].From, g.Arcs[e].To = a.To, a.From
			}
			for v := range g.Supply {
				g.Supply[v] = -g.Supply[v]
			}
			return unchanged
		}},
		{"an arc split in two parallel ones", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				if a.hasLower() && a.hasUpper() {
					at := rapid.Int64Range(a.Lower, a.Upper).Draw(t, "at")
					g.Arcs[e].Upper = at
					g.AddArc(a.From, a.To, 0, a.Upper-at, a.Cost)
				}
			}
			return unchanged
		}},
		{"an arc split by a node", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			for e, a := range slices.Clone(g.Arcs) {
				v := g.AddNode(0)
				g.Arcs[e].To = v
				g.AddArc(v, a.To, -Unlimited, Unlimited, 0)
			}
			return unchanged
		}},
		{"bounds and supplies shifted by a flow", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			sum := int64(0)
			for e := range g.Arcs {
				a := &g.Arcs[e]
				x := rapid.Int64Range(-1e6, 1e6).Draw(t, "x")
				if a.hasLower() {
					a.Lower += x
				}
				if a.hasUpper() {
					a.Upper += x
				}
				g.Supply[a.From] += x
				g.Supply[a.To] -= x
				sum += x * a.Cost
			}
			return func(x *big.Int) *big.Int { return x.Add(x, big.NewInt(sum)) }
		}},
		{"flows scaled", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			by := rapid.SampledFrom([]int64{2, 5, 1 << 40}).Draw(t, "by")
			for e := range g.Arcs {
				a := &g.Arcs[e]
				if a.hasLower() {
					a.Lower *= by
				}
				if a.hasUpper() {
					a.Upper *= by
				}
			}
			for v := range g.Supply {
				g.Supply[v] *= by
			}
			return func(x *big.Int) *big.Int { return x.Mul(x, big.NewInt(by)) }
		}},
		{"a dead end added", func(t *rapid.T, g *Problem) func(*big.Int) *big.Int {
			g.AddArc(rapid.IntRange(0, len(g.Supply)-1).Draw(t, "from"), g.AddNode(0), 0, Unlimited, -100)
			return unchanged
		}},
	} {
		t.Run(law.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := networks(t)
				h := g.clone()
				f := law.change(t, h)
				sameAnswer(t, law.name, solveRapid(t, g), solveRapid(t, h), f)
			})
		})
	}
}

func nodesUpTo(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// TestRelaxed: wider bounds never make the optimum dearer, nor a flow impossible.
func TestRelaxed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := networks(t)
		before := solveRapid(t, g)
		for e := range g.Arcs {
			a := &g.Arcs[e]
			if a.hasUpper() {
				a.Upper += rapid.Int64Range(0, 2).Draw(t, "wider")
			}
		}
		after := solveRapid(t, g)
		if before.Status != Infeasible && after.Status == Infeasible ||
			before.Status == Unbounded && after.Status != Unbounded ||
			before.Status == Optimal && after.Status == Optimal && after.Objective.Cmp(before.Objective) > 0 {
			t.Fatalf("%v with cost %v, relaxed %v with cost %v", before.Status, before.Objective, after.Status, after.Objective)
		}
	})
}

// TestSame: the same network gives the same result at any GOMAXPROCS.
func TestSame(t *testing.T) {
	g := familyOf("gridgen")(3, 400, 4000)
	want := mustSolve(t, g)
	for _, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		r := mustSolve(t, g)
		runtime.GOMAXPROCS(old)
		if !reflect.DeepEqual(r, want) {
			t.Errorf("GOMAXPROCS = %d gives another result", procs)
		}
	}
}
