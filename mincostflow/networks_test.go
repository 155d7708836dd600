package mincostflow

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow/network"
)

// paperNetwork is the flow graph of the paper's appendix: a source, the rows, the columns, a sink.
func paperNetwork(c [][]int64, mu, lo, hi []int64) *network.Problem {
	g := &network.Problem{}
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
			g.AddArc(i, k+j, 0, network.Unlimited, c[i][j])
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
		r, err := network.Solve(context.Background(), paperNetwork(c, mu, lo, hi), network.Settings{})
		if err != nil {
			t.Fatal(err)
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
