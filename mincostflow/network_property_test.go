package mincostflow

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
)

// networks draws a small network; all statuses are common.
func networks(t *rapid.T) *Network {
	n := rapid.IntRange(1, 7).Draw(t, "nodes")
	g := &Network{Supply: make([]int64, n)}
	node := rapid.IntRange(0, n-1)
	for range rapid.IntRange(0, 3*n).Draw(t, "arcs") {
		lower := rapid.OneOf(rapid.Just(int64(0)), rapid.Just(int64(0)), rapid.Int64Range(-9, 9), rapid.Just(int64(-Unlimited))).Draw(t, "lower")
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

func (g *Network) clone() *Network {
	return &Network{slices.Clone(g.Supply), slices.Clone(g.Arcs)}
}

// solveRapid is Solve with every check.
func solveRapid(t *rapid.T, g *Network) FlowResult {
	before := g.clone()
	r, err := g.Solve(context.Background(), NetworkSettings{})
	if want := map[Status]error{Infeasible: ErrInfeasible, Unbounded: ErrUnbounded}[r.Status]; !errors.Is(err, want) {
		t.Fatalf("Solve(%+v) = %v, %v", *g, r.Status, err)
	}
	if err := VerifyFlow(g, r); err != nil {
		t.Fatalf("VerifyFlow(%+v, %+v) = %v", *g, r, err)
	}
	if !slices.Equal(before.Supply, g.Supply) || !slices.Equal(before.Arcs, g.Arcs) {
		t.Fatalf("Solve changed %+v to %+v", *before, *g)
	}
	return r
}

// sameAnswer fails unless two results have the same status and, up to the given function, cost.
func sameAnswer(t *rapid.T, law string, a, b FlowResult, cost func(*big.Int) *big.Int) {
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

// TestNetworkLaws: changes to a network whose effect on the answer is known.
func TestNetworkLaws(t *testing.T) {
	for _, law := range []struct {
		name   string
		change func(t *rapid.T, g *Network) (cost func(*big.Int) *big.Int)
	}{
		{"nodes renumbered", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
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
		{"arcs reordered", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			if len(g.Arcs) > 0 {
				g.Arcs = rapid.Permutation(g.Arcs).Draw(t, "arcs")
			}
			return unchanged
		}},
		{"costs scaled", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			by := rapid.SampledFrom([]int64{2, 7, 1 << 40}).Draw(t, "by")
			for e := range g.Arcs {
				g.Arcs[e].Cost *= by
			}
			return func(x *big.Int) *big.Int { return x.Mul(x, big.NewInt(by)) }
		}},
		{"costs shifted by potentials", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
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
		{"arcs turned round", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				if rapid.Bool().Draw(t, "turn") {
					g.Arcs[e] = Arc{a.To, a.From, -a.Upper, -a.Lower, -a.Cost}
				}
			}
			return unchanged
		}},
		{"all of it turned round", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				g.Arcs[e].From, g.Arcs[e].To = a.To, a.From
			}
			for v := range g.Supply {
				g.Supply[v] = -g.Supply[v]
			}
			return unchanged
		}},
		{"an arc split in two parallel ones", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			for e, a := range g.Arcs {
				if a.hasLower() && a.hasUpper() {
					at := rapid.Int64Range(a.Lower, a.Upper).Draw(t, "at")
					g.Arcs[e].Upper = at
					g.AddArc(a.From, a.To, 0, a.Upper-at, a.Cost)
				}
			}
			return unchanged
		}},
		{"an arc split by a node", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
			for e, a := range slices.Clone(g.Arcs) {
				v := g.AddNode(0)
				g.Arcs[e].To = v
				g.AddArc(v, a.To, -Unlimited, Unlimited, 0)
			}
			return unchanged
		}},
		{"bounds and supplies shifted by a flow", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
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
		{"flows scaled", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
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
		{"a dead end added", func(t *rapid.T, g *Network) func(*big.Int) *big.Int {
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

// TestNetworkRelaxed: wider bounds never make the optimum dearer, nor a flow impossible.
func TestNetworkRelaxed(t *testing.T) {
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
		if before.Status != Infeasible && after.Status == Infeasible || before.Status == Unbounded && after.Status != Unbounded ||
			before.Status == Optimal && after.Status == Optimal && after.Objective.Cmp(before.Objective) > 0 {
			t.Fatalf("%v with cost %v, relaxed %v with cost %v", before.Status, before.Objective, after.Status, after.Objective)
		}
	})
}

// TestNetworkSame: the same network gives the same result at any GOMAXPROCS.
func TestNetworkSame(t *testing.T) {
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

// paperNetwork is the flow graph of the paper's appendix: a source, the rows, the columns, a sink.
func paperNetwork(c [][]int64, mu, lo, hi []int64) *Network {
	g := &Network{}
	k, kv := len(mu), len(lo)
	total := int64(0)
	for range k + kv {
		g.AddNode(0)
	}
	for _, m := range mu {
		total += m
	}
	s, t := g.AddNode(total), g.AddNode(-total)
	for i, m := range mu {
		g.AddArc(s, i, m, m, 0)
		for j := range kv {
			g.AddArc(i, k+j, 0, Unlimited, c[i][j])
		}
	}
	for j := range lo {
		g.AddArc(k+j, t, lo[j], hi[j], 0)
	}
	return g
}

// TestNetworkOfThePaper holds that the general solver on the paper's graph and Project agree. Masses
// are multiples of 2^-10, so that both solve the same problem exactly.
func TestNetworkOfThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 1 << 10
		k, kv := rapid.IntRange(1, 8).Draw(t, "k"), rapid.IntRange(1, 8).Draw(t, "kv")
		c := make([][]int64, k)
		matrix := &cost.Dense{K: k, Kv: kv}
		top := rapid.SampledFrom([]int64{1, 3, 1000, 1 << 40}).Draw(t, "top")
		for i := range c {
			c[i] = rapid.SliceOfN(rapid.Int64Range(0, top), kv, kv).Draw(t, "c")
			for _, x := range c[i] {
				matrix.Data = append(matrix.Data, float64(x))
			}
		}
		parts := func(n int, name string) []int64 {
			x := make([]int64, n)
			for range rapid.IntRange(1, 12).Draw(t, name) {
				x[rapid.IntRange(0, n-1).Draw(t, name)]++
			}
			sum := int64(0)
			for _, y := range x {
				sum += y
			}
			left := int64(total)
			for i, y := range x {
				x[i] = y * total / sum
				left -= x[i]
			}
			x[0] += left
			return x
		}
		mu, m := parts(k, "mu"), parts(kv, "m")
		lo, hi := make([]int64, kv), make([]int64, kv)
		p := Problem{Cost: matrix, Source: make([]float64, k), Lo: make([]float64, kv), Hi: make([]float64, kv)}
		for i := range mu {
			p.Source[i] = float64(mu[i]) / total
		}
		for j := range m {
			lo[j] = m[j] - rapid.Int64Range(0, m[j]).Draw(t, "below")
			hi[j] = m[j] + rapid.SampledFrom([]int64{0, 1, 50, total}).Draw(t, "above")
			p.Lo[j], p.Hi[j] = float64(lo[j])/total, float64(hi[j])/total
		}
		r := solveRapid(t, paperNetwork(c, mu, lo, hi))
		if r.Status != Optimal {
			t.Fatalf("status %v", r.Status)
		}
		q, err := Project(context.Background(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).SetFrac(r.Objective, big.NewInt(total))
		if rat(q.Lower).Cmp(want) > 0 || rat(q.Upper).Cmp(want) < 0 {
			t.Fatalf("Project is from %v to %v, the network costs %v", q.Lower, q.Upper, want)
		}
	})
}
