package patch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// graph has the inseparable pairs of sets of nodes, each from both sides. A set has the number of its first node.
type graph struct {
	near [][]near // of each set, in order of the others
	root []int32  // of each node, the node that it was joined to; itself if it is the first of its set
	open []bool   // whether a set may still be joined to others
}

// near is another set. The signal is infinite if it is apart by now.
type near struct {
	to     int32
	signal float64
}

func newGraph(n int, pairs []pair) *graph {
	g := &graph{make([][]near, n), make([]int32, n), make([]bool, n)}
	size := make([]int, n)
	for _, p := range pairs {
		size[p.a]++
		size[p.b]++
	}
	for i := range n {
		g.near[i], g.root[i], g.open[i] = make([]near, 0, size[i]), int32(i), true
	}
	for _, p := range pairs {
		g.near[p.a] = append(g.near[p.a], near{p.b, p.signal})
		g.near[p.b] = append(g.near[p.b], near{p.a, p.signal})
	}
	for _, list := range g.near {
		slices.SortFunc(list, func(x, y near) int { return cmp.Compare(x.to, y.to) })
	}
	return g
}

// link joins nodes by complete linkage, in chains of nearest neighbours, while the largest signal between two sets is
// below separable. Sets without such another are done: joining others never brings them nearer. It returns the first
// node of the set of each.
func (g *graph) link(ctx context.Context) ([]int32, error) {
	var chain []int32
	for start := 0; start < len(g.near); {
		if len(chain) == 0 {
			if !g.open[start] {
				start++
				continue
			}
			if ctx.Err() != nil {
				return nil, wpmerr.Ended(ctx)
			}
			chain = append(chain, int32(start))
		}
		i := chain[len(chain)-1]
		before := int32(-1)
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		switch next := g.nearest(i, before); {
		case next < 0:
			g.open[i] = false // done; the chain before it goes on without it
			chain = chain[:len(chain)-1]
		case next == before:
			chain = chain[:len(chain)-2]
			g.join(min(i, next), max(i, next))
		default:
			chain = append(chain, next)
		}
	}
	for i, r := range g.root {
		g.root[i] = g.root[r] // a root is before its nodes
	}
	return g.root, nil
}

// nearest returns the open set with the least signal from i, and the set before among equals, so that a chain ends.
func (g *graph) nearest(i, before int32) (next int32) {
	next, least := -1, math.Inf(1)
	if before >= 0 {
		if at := g.find(i, before); at >= 0 {
			next, least = before, g.near[i][at].signal
		}
	}
	for _, p := range g.near[i] {
		if p.signal < least && g.open[p.to] {
			next, least = p.to, p.signal
		}
	}
	return next
}

// find returns where the pair of a and b is in the list of a; -1 if they are apart.
func (g *graph) find(a, b int32) int {
	at, ok := slices.BinarySearchFunc(g.near[a], b, func(p near, b int32) int { return cmp.Compare(p.to, b) })
	if !ok || math.IsInf(g.near[a][at].signal, 1) {
		return -1
	}
	return at
}

// join adds set b to set a, which is before it.
func (g *graph) join(a, b int32) {
	g.root[b], g.open[b] = a, false
	kept, other := g.near[a][:0], g.near[b]
	for _, p := range g.near[a] {
		if !g.open[p.to] || math.IsInf(p.signal, 1) {
			continue
		}
		for len(other) > 0 && other[0].to < p.to {
			other = other[1:]
		}
		far := math.Inf(1)
		if len(other) > 0 && other[0].to == p.to {
			far = max(p.signal, other[0].signal)
		}
		if at := g.find(p.to, a); at >= 0 {
			g.near[p.to][at].signal = far
		}
		if !math.IsInf(far, 1) {
			kept = append(kept, near{p.to, far})
		}
	}
	g.near[a], g.near[b] = kept, nil
}
