package network

import (
	"math"
	"slices"
)

// Families of networks as the literature on minimum-cost flows generates them, written anew. All of
// them are feasible and bounded.

type family struct {
	name string
	make func(seed uint64, nodes, arcs int) *Problem
}

var families = []family{
	{"netgen", func(seed uint64, n, m int) *Problem { return netgen(seed, n, m, root(n), root(n), 1000*root(n), 1000) }},
	{"netgen-low", func(seed uint64, n, m int) *Problem { return netgen(seed, n, m, root(n), root(n), 10*root(n), 1000) }},
	{"netgen-many", func(seed uint64, n, m int) *Problem { return netgen(seed, n, m, 3*n/10, 3*n/10, 300*n, 1000) }},
	{"netgen-free", func(seed uint64, n, m int) *Problem { return netgen(seed, n, m, n/10, n/10, 100*n, 0) }},
	{"gridgen", gridgen},
	{"goto", gridOnTorus},
	{"transport", transportation},
	{"assignment", assignment},
	{"path", shortestPaths},
	{"circulation", circulation},
}

func familyOf(name string) func(seed uint64, nodes, arcs int) *Problem {
	for _, f := range families {
		if f.name == name {
			return f.make
		}
	}
	return nil
}

func root(n int) int { return max(int(math.Sqrt(float64(n))), 1) }

// between draws from lo to hi, both included.
func (d draw) between(lo, hi int) int { return lo + d.Intn(hi-lo+1) }

// split divides total into n parts, positive if total >= n.
func (d draw) split(total, n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(total / n)
	}
	x[0] += int64(total % n)
	for i := range x { // shift about half of each part somewhere else
		if x[i] > 1 {
			y := int64(d.Intn(int(x[i])))
			x[i] -= y
			x[d.Intn(n)] += y
		}
	}
	return x
}

func (d draw) shuffle(x []int) {
	for i := range x {
		j := i + d.Intn(len(x)-i)
		x[i], x[j] = x[j], x[i]
	}
}

// netgen is after Klingman, Napier and Stutz (1974): sources first, sinks last; chains of all
// nodes between, one for each source, carry its supply to some sinks; then random arcs. Costs
// are from 1 to 10000, capacities from 1 to most, or none if most is 0.
func netgen(seed uint64, nodes, arcs, sources, sinks, supply, most int) *Problem {
	d := newDraw(seed)
	g := &Problem{Supply: make([]int64, nodes)}
	cost := func() int64 { return int64(d.between(1, 10000)) }
	capacity := func() int64 {
		if most == 0 {
			return Unlimited
		}
		return int64(d.between(1, most))
	}
	wide := int64(supply)
	if most == 0 {
		wide = Unlimited
	}
	first := nodes - sinks
	middle := make([]int, nodes-sources-sinks)
	for i := range middle {
		middle[i] = sources + i
	}
	d.shuffle(middle)
	chains := make([][]int, sources)
	for i, v := range middle {
		s := i
		if i >= len(middle)*6/10 {
			s = d.Intn(sources)
		}
		chains[s%sources] = append(chains[s%sources], v)
	}
	sent := d.split(supply, sources)
	fed := 0
	for s, chain := range chains {
		g.Supply[s] = sent[s]
		at := s
		for _, v := range chain {
			g.AddArc(at, v, 0, wide, cost())
			at = v
		}
		// Feed a few sinks from nodes of the chain, so that all sinks are fed in the end.
		feeds := max(min(1+2*len(chain)*sinks/max(len(middle), 1), sinks), (sinks+sources-1)/sources)
		parts := d.split(int(sent[s]), feeds)
		for i := range feeds {
			t := first + (fed+i)%sinks
			from := s
			if len(chain) > 0 {
				from = chain[d.Intn(len(chain))]
			}
			g.AddArc(from, t, 0, wide, cost())
			g.Supply[t] -= parts[i]
		}
		fed += feeds
	}
	for len(g.Arcs) < arcs {
		u, v := d.Intn(first), d.between(sources, nodes-1)
		if u != v {
			g.AddArc(u, v, 0, capacity(), cost())
		}
	}
	return g
}

// gridgen is after Lee and Orlin (1991): a grid with arcs both ways, random arcs beside it; a row of
// sources, a row of sinks, and a path of any capacity through all nodes that makes it feasible.
func gridgen(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	width := root(nodes)
	height := nodes / width
	nodes = width * height
	g := &Problem{Supply: make([]int64, nodes)}
	cost := func() int64 { return int64(d.between(1, 10000)) }
	capacity := func() int64 { return int64(d.between(1, 1000)) }
	both := func(u, v int) {
		g.AddArc(u, v, 0, capacity(), cost())
		g.AddArc(v, u, 0, capacity(), cost())
	}
	for y := range height {
		for x := range width {
			if v := y*width + x; true {
				if x+1 < width {
					both(v, v+1)
				}
				if y+1 < height {
					both(v, v+width)
				}
			}
		}
	}
	for v := range nodes { // the expensive way round
		g.AddArc(v, (v+1)%nodes, 0, Unlimited, 10000)
	}
	for i, b := range d.split(1000*width, width) {
		g.Supply[i] += b
		g.Supply[nodes-1-i] -= b
	}
	for len(g.Arcs) < arcs {
		if u, v := d.Intn(nodes), d.Intn(nodes); u != v {
			g.AddArc(u, v, 0, capacity(), cost())
		}
	}
	return g
}

// gridOnTorus is after Goldberg (GOTO): nodes on a torus, arcs to neighbours are wide and dear or
// narrow and cheap, and one supply has to come around: known to be hard for its size.
func gridOnTorus(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	width := root(nodes)
	nodes = width * (nodes / width)
	g := &Problem{Supply: make([]int64, nodes)}
	const most, dear = 1 << 14, 1 << 12
	out := max(arcs/nodes, 2)
	for v := range nodes {
		g.AddArc(v, (v+1)%nodes, 0, most, dear) // feasible, whatever else
		for k := 1; k < out; k++ {
			// Farther arcs are cheaper for their length, and narrower.
			step := 1 + d.Intn(width*k)
			g.AddArc(v, (v+step)%nodes, 0, int64(d.between(1, most/(k+1))), int64(d.between(1, dear)*(1+step/width)/(k+1)))
		}
	}
	g.Supply[0], g.Supply[nodes/2] = most, -most
	return g
}

// transportation: half the nodes send, half take, arcs go across and have no capacity.
func transportation(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	half := nodes / 2
	g := &Problem{Supply: make([]int64, 2*half)}
	for i, b := range d.split(1000*half, half) {
		g.Supply[i] = b
	}
	for i, b := range d.split(1000*half, half) {
		g.Supply[half+i] = -b
	}
	for i := range half { // a cycle through all makes it feasible
		g.AddArc(i, half+i, 0, Unlimited, int64(d.between(1, 10000)))
		g.AddArc(i, half+(i+1)%half, 0, Unlimited, int64(d.between(1, 10000)))
		// and the way back, dear
		g.AddArc(half+(i+1)%half, i, 0, Unlimited, 20000)
	}
	for len(g.Arcs) < arcs {
		g.AddArc(d.Intn(half), half+d.Intn(half), 0, Unlimited, int64(d.between(1, 10000)))
	}
	return g
}

// assignment: half the nodes are to be matched with the other half.
func assignment(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	half := nodes / 2
	g := &Problem{Supply: slices.Repeat([]int64{1}, 2*half)}
	for i := range half {
		g.Supply[half+i] = -1
		g.AddArc(i, half+i, 0, 1, int64(d.between(1, 10000)))
	}
	for len(g.Arcs) < arcs {
		g.AddArc(d.Intn(half), half+d.Intn(half), 0, 1, int64(d.between(1, 10000)))
	}
	return g
}

// shortestPaths sends one unit from node 0 to every other: the flow is a tree of shortest paths.
func shortestPaths(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	g := &Problem{Supply: slices.Repeat([]int64{-1}, nodes)}
	g.Supply[0] = int64(nodes - 1)
	for v := 1; v < nodes; v++ {
		g.AddArc(d.Intn(v), v, 0, Unlimited, int64(d.between(1, 10000)))
	}
	for len(g.Arcs) < arcs {
		if u, v := d.Intn(nodes), d.Intn(nodes); u != v {
			g.AddArc(u, v, 0, Unlimited, int64(d.between(1, 10000)))
		}
	}
	return g
}

// circulation has no supplies: flow is there because it pays, or because it must.
func circulation(seed uint64, nodes, arcs int) *Problem {
	d := newDraw(seed)
	g := &Problem{Supply: make([]int64, nodes)}
	for v := range nodes {
		low := int64(d.Intn(10))
		g.AddArc(v, (v+1)%nodes, 0, Unlimited, 10000)
		g.AddArc(v, d.Intn(nodes), low, low+int64(d.Intn(1000)), int64(d.between(-1000, 1000)))
	}
	for len(g.Arcs) < arcs {
		g.AddArc(d.Intn(nodes), d.Intn(nodes), -int64(d.Intn(10)), int64(d.Intn(1000)), int64(d.between(-10000, 10000)))
	}
	return g
}
