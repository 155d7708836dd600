//go:build unix

package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/wpm-go/wpm/mincostflow/network"
)

// families are the kinds of sparse network, each with 10^4 nodes and about 10^5 arcs.
var families = []struct {
	name string
	make func(r *rand.Rand, nodes, arcs int) *network.Problem
}{
	// as NETGEN: sources, sinks, a spine that carries everything, capacities
	{"random", func(r *rand.Rand, n, m int) *network.Problem {
		g := withNodes(n)
		for i := range n - 1 {
			g.AddArc(i, i+1, 0, 1e6, 9000+r.Int64N(1000))
		}
		for len(g.Arcs) < m {
			g.AddArc(r.IntN(n), r.IntN(n), 0, 1+r.Int64N(1000), 1+r.Int64N(10_000))
		}
		for range n / 20 {
			i, j, x := r.IntN(n/2), n/2+r.IntN(n/2), 1+r.Int64N(100)
			g.Supply[i] += x
			g.Supply[j] -= x
		}
		return g
	}},
	{"transport", func(r *rand.Rand, n, m int) *network.Problem {
		g := withNodes(n)
		for i := range n / 2 { // a matching keeps it feasible
			x := 1 + r.Int64N(1000)
			g.Supply[i], g.Supply[n/2+i] = x, -x
			g.AddArc(i, n/2+i, 0, network.Unlimited, 1+r.Int64N(10_000))
		}
		for len(g.Arcs) < m {
			g.AddArc(r.IntN(n/2), n/2+r.IntN(n/2), 0, network.Unlimited, 1+r.Int64N(10_000))
		}
		return g
	}},
	{"assignment", func(r *rand.Rand, n, m int) *network.Problem {
		g := withNodes(n)
		for i, j := range r.Perm(n / 2) {
			g.Supply[i], g.Supply[n/2+i] = 1, -1
			g.AddArc(i, n/2+j, 0, 1, 1+r.Int64N(10_000))
		}
		for len(g.Arcs) < m {
			g.AddArc(r.IntN(n/2), n/2+r.IntN(n/2), 0, 1, 1+r.Int64N(10_000))
		}
		return g
	}},
	{"grid", func(r *rand.Rand, n, m int) *network.Problem { // a square with chords, from one side to the other
		side := int(math.Sqrt(float64(n)))
		g := withNodes(side * side)
		for i := range side {
			for j := range side {
				at := i*side + j
				if j+1 < side {
					g.AddArc(at, at+1, 0, 1000+r.Int64N(1000), 1+r.Int64N(10_000))
				}
				if i+1 < side {
					g.AddArc(at, at+side, 0, 1+r.Int64N(1000), 1+r.Int64N(10_000))
				}
			}
			x := 1 + r.Int64N(500)
			g.Supply[i*side] += x
			g.Supply[i*side+side-1] -= x
		}
		for len(g.Arcs) < m {
			at := r.IntN(side * side)
			g.AddArc(at, (at+1+r.IntN(20*side))%(side*side), 0, 1+r.Int64N(1000), 1+r.Int64N(10_000))
		}
		return g
	}},
	{"paths", func(r *rand.Rand, n, m int) *network.Problem { // all shortest paths from one node
		g := withNodes(n)
		for i := 1; i < n; i++ {
			g.AddArc(r.IntN(i), i, 0, network.Unlimited, 1+r.Int64N(10_000))
			g.Supply[i] = -1
		}
		g.Supply[0] = int64(n - 1)
		for len(g.Arcs) < m {
			g.AddArc(r.IntN(n), r.IntN(n), 0, network.Unlimited, 1+r.Int64N(10_000))
		}
		return g
	}},
}

func withNodes(n int) *network.Problem { return &network.Problem{Supply: make([]int64, n)} }

// networks compares the general network simplex with LEMON's three best pivot rules.
func networks(c *config, w io.Writer) error {
	fmt.Fprint(w, "10^4 nodes and 10^5 arcs, then networks as others draw them; LEMON in int64 on a "+
		"StaticDigraph, its construction counted, as\n"+
		"ours is; the best of its three best pivot rules.\n\n")
	t := c.lines("LEMON")
	for _, f := range families {
		for seed := range uint64(2) {
			name := fmt.Sprintf("%s-%d", f.name, seed+1)
			if strings.Contains(name, c.Only) {
				if err := c.networkLine(f.name, name, f.make(rand.New(rand.NewPCG(seed, 11)), 10_000, 100_000), t); err != nil {
					return err
				}
			}
		}
	}
	for _, f := range flows {
		for seed := range uint64(3) {
			name := fmt.Sprintf("%s-%d", f.name, seed+1)
			if strings.Contains(name, c.Only) {
				if err := c.networkLine(f.name, name, f.make(rand.New(rand.NewPCG(seed, 12))), t); err != nil {
					return err
				}
			}
		}
	}
	t.write(w)
	return nil
}

// networkLine adds a network.
func (c *config) networkLine(family, name string, g *network.Problem, t *lines) error {
	var text bytes.Buffer
	if err := g.WriteDIMACS(&text); err != nil {
		return err
	}
	file := c.tmp + "/network.min"
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return err
	}
	all := []runner{often(func() (answer, error) {
		r, err := network.Solve(context.Background(), g, network.Settings{})
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", name, err)
		}
		v, _ := r.Objective.Float64()
		return answer{Value: v, Met: true}, nil
	})}
	for _, rule := range lemonRules {
		peer, err := c.compiled("lemon_network", file, rule)
		if err != nil {
			return err
		}
		defer peer.close()
		all = append(all, peer)
	}
	got, err := c.compare(all...)
	if err != nil {
		return err
	}
	best := math.Inf(1)
	for _, a := range got[1:] {
		best = min(best, a.CPU)
		if a.Value != got[0].Value {
			return fmt.Errorf("%s: cost %v, LEMON says %v", name, got[0].Value, a.Value)
		}
	}
	t.add(family, name, got[0].CPU, best)
	return nil
}
