//go:build unix

package bench

import (
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/mincostflow/network"
)

// flows are families of networks as others draw them.
var flows = []struct {
	name string
	make func(r *rand.Rand) *network.Problem
}{
	{"GOTO, 1000 nodes, 30 000 arcs", func(r *rand.Rand) *network.Problem { return gotoGrid(r, 10, 20, 8) }},
	{"GOTO, 2200 nodes, 80 000 arcs", func(r *rand.Rand) *network.Problem { return gotoGrid(r, 13, 25, 9) }},
	{"GOTO, 4100 nodes, 30 000 arcs", func(r *rand.Rand) *network.Problem { return gotoGrid(r, 16, 4, 2) }},
	{"NETGEN-like, 10 000 nodes", func(r *rand.Rand) *network.Problem { return netgen(r, 10_000, 80_000, 1000) }},
	{"tight capacities, 4000 nodes", func(r *rand.Rand) *network.Problem { return netgen(r, 4000, 40_000, 12) }},
	{"roads, 10 000 nodes", func(r *rand.Rand) *network.Problem { return roads(r, 100, network.Unlimited) }},
	{"roads with capacities, 4000 nodes", func(r *rand.Rand) *network.Problem { return roads(r, 63, 200) }},
	{"50 layers", func(r *rand.Rand) *network.Problem { return layers(r, 50, 80) }},
	{"400 layers", func(r *rand.Rand) *network.Problem { return layers(r, 400, 10) }},
	{"500 layers", func(r *rand.Rand) *network.Problem { return layers(r, 500, 20) }},
	{"circulations, 4000 nodes", func(r *rand.Rand) *network.Problem {
		g := withNodes(4000)
		for range 40_000 {
			g.AddArc(r.IntN(4000), r.IntN(4000), 0, 1+r.Int64N(1000), r.Int64N(2000)-1000)
		}
		return g
	}},
}

// gotoGrid is a grid of side^2 columns and side rows on a torus, as Goldberg's GOTO has it (1991): from every node along
// the row to the next far nodes, over capacities that fall with the way, and down the column to the next deep ones,
// which costs little. Arcs that would pass the end of a row end at the sink, or begin at the source. A path through all
// nodes, column after column, can carry everything.
func gotoGrid(r *rand.Rand, side, far, deep int) *network.Problem {
	const mostCap, mostCost, mostDown = 1 << 14, 1 << 12, 8
	wide := side * side
	at := func(x, y int) int { return y*wide + x }
	g := withNodes(wide * side)
	source, sink := 0, wide*side-1
	alpha := math.Pow(mostCap, 1/float64(max(far, deep)+2))
	total := int64(math.Sqrt(mostCap))
	for x := range wide {
		for y := range side {
			for d := 1; d <= far; d++ {
				room := int64(math.Ceil(float64(1+r.Int64N(mostCap)) / math.Pow(alpha, float64(d-1))))
				from, to, c := at(x, y), at((x+d)%wide, y), r.Int64N(mostCost)
				if to == sink || x+d >= wide && from != sink {
					total += room
				}
				if x+d < wide {
					g.AddArc(from, to, 0, room, c)
					continue
				}
				if from != sink {
					g.AddArc(from, sink, 0, room, c)
				}
				if to != source {
					g.AddArc(source, to, 0, room, c)
				}
			}
			for d := 1; d <= deep; d++ {
				g.AddArc(at(x, y), at(x, (y+d)%side), 0, 1+r.Int64N(mostCap), r.Int64N(mostDown))
			}
		}
	}
	for x := range wide {
		for y := range side - 1 {
			g.AddArc(at(x, y), at(x, y+1), 0, total, mostCost/int64(side))
		}
		if x+1 < wide {
			g.AddArc(at(x, side-1), at(x+1, 0), 0, total, mostCost/int64(side))
		}
	}
	g.Supply[source], g.Supply[sink] = total, -total
	return g
}

// netgen has a spine that carries everything, and random arcs with capacities up to most.
func netgen(r *rand.Rand, n, m int, most int64) *network.Problem {
	g := withNodes(n)
	for i := range n - 1 {
		g.AddArc(i, i+1, 0, 1e6, 9000+r.Int64N(1000))
	}
	for len(g.Arcs) < m {
		g.AddArc(r.IntN(n), r.IntN(n), 0, 1+r.Int64N(most), 1+r.Int64N(10_000))
	}
	for range n / 20 {
		i, j, x := r.IntN(n/2), n/2+r.IntN(n/2), 1+r.Int64N(100)
		g.Supply[i] += x
		g.Supply[j] -= x
	}
	return g
}

// roads are a square of crossings, with roads both ways between neighbours, of lengths that vary little; trips go from
// some crossings to others. Some roads carry up to most, and main roads carry everything.
func roads(r *rand.Rand, side int, most int64) *network.Problem {
	g := withNodes(side * side)
	both := func(a, b int, main bool) {
		length := 80 + r.Int64N(41)
		room := int64(network.Unlimited)
		if !main && most != network.Unlimited {
			room = 1 + r.Int64N(most)
		}
		g.AddArc(a, b, 0, room, length)
		g.AddArc(b, a, 0, room, length)
	}
	for i := range side {
		for j := range side {
			if j+1 < side {
				both(i*side+j, i*side+j+1, i%10 == 0)
			}
			if i+1 < side {
				both(i*side+j, (i+1)*side+j, j%10 == 0)
			}
		}
	}
	for range side * 4 {
		a, b, x := r.IntN(side*side), r.IntN(side*side), 1+r.Int64N(50)
		g.Supply[a] += x
		g.Supply[b] -= x
	}
	return g
}

// layers are many layers of so many nodes; arcs go from a layer to the next, and one node of every layer lies on a path
// that carries everything.
func layers(r *rand.Rand, many, wide int) *network.Problem {
	g := withNodes(many * wide)
	for l := range many - 1 {
		g.AddArc(l*wide, (l+1)*wide, 0, network.Unlimited, 10_000)
		for i := range wide {
			if i > 0 {
				g.AddArc(l*wide+i, (l+1)*wide, 0, network.Unlimited, 10_000)
				g.AddArc(l*wide, (l+1)*wide+i, 0, network.Unlimited, 10_000)
			}
			for range 5 {
				g.AddArc(l*wide+i, (l+1)*wide+r.IntN(wide), 0, 1+r.Int64N(100), 1+r.Int64N(1000))
			}
		}
	}
	for i := range wide {
		x := 1 + r.Int64N(100)
		g.Supply[i] += x
		g.Supply[(many-1)*wide+r.IntN(wide)] -= x
	}
	return g
}
