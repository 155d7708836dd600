package mincostflow

import (
	"math"
	"sync/atomic"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// Many rows against many columns start from a smaller problem of the same kind (package start): its prices, the arcs of
// least reduced cost, and a forest of them. What the forest leaves over is on artificial arcs, priced at first a little
// above what the prices say. Trees stay small then, and few potentials change much. These prices rise, step by step,
// until nothing is left over. docs/algorithms/multiscale-start.md has the constants and where the start pays.
const (
	scaleNodes = 33 // rows, and columns that take part
	// Bounds that leave room are worth it where the columns take at most so much of the mass, and where groups are
	// well apart; without room, up to newtonRows rows or columns are worth it where groups are anything but random.
	scaleRoom = 1.5
	scaleBlur = 0.2
	smallBlur = 0.35
	// The first price is the typical reduced cost times firstPrice, and the next ones are dearer by dearer. The first is
	// at least leastPrice of the largest cost, so that there are 16 at most.
	firstPrice = 2
	dearer     = 4
	leastPrice = 0x1p-30
	// A price stays while an artificial arc carries a heavyRest-th of all mass, and a pass makes more than a pivot for every
	// fewPasses nodes.
	heavyRest = 64
	fewPasses = 64
	// raisedWidths is the first price after Newton's start, in its widths, where columns take mostRaised at most: flows
	// then stay below 2^64 (units.go).
	raisedWidths = 3
	mostRaised   = 1 << 63
)

// scales is a start from smaller and smaller problems.
type scales struct {
	nodes int // scaleNodes, unless a test sets it, which then also starts at any blur

	work  start.Work
	costs polled
	rows  rows // of the smaller problem, with its simplex and its start
	sx    simplex
	below *scales
}

// polled are rows that are read as long as the context goes on.
type polled struct {
	rows  *rows
	watch *watch
}

// Row returns row i, or false when the context has ended.
func (p *polled) Row(i int) ([]float64, bool) {
	if !p.watch.row(p.rows.kv) {
		return nil, false
	}
	return p.rows.at(i), true
}

// Share is that of start.Costs.
func (p *polled) Share(n int, t start.Task) bool {
	if !p.rows.shared(n) {
		return t.Do(0, 0, n, p)
	}
	var missed atomic.Bool
	done := p.rows.spread(p.watch, start.Parts, func(own *rows, part int) {
		w := watch{ctx: p.watch.ctx}
		if !t.Do(part, part*n/start.Parts, (part+1)*n/start.Parts, &polled{own, &w}) {
			missed.Store(true)
		}
	})
	p.watch.over = p.watch.over || missed.Load()
	return done && !missed.Load()
}

// start makes x begin with a tree near the optimum, if that is likely to pay and if there is time, and reports whether
// it did. Else x has its star.
func (c *scales) start(x *simplex, w *watch, units []uint64, total uint64) bool {
	t := &x.tree
	pays, room := c.pays(t, total)
	if !pays {
		return false
	}
	c.costs = polled{x.rows, w}
	if !c.work.Sample(start.Problem{Supply: units, Low: t.low, Room: t.room, Costs: &c.costs}) ||
		c.nodes == 0 && c.work.Blur() > mostBlur(t, room) {
		return false
	}
	f, ok := c.smaller(w, total)
	if !ok || !c.work.Plant(f) {
		return false
	}
	c.plant(t)
	x.pr.seedArcs(c.work.Arcs)
	if (x.rows.large(t.k) || c.nodes > 0) && t.k <= tallest*t.n {
		x.pr.blocks = min(max(sweepBlocks, t.k/sweepRows), mostBlocks)
	}
	c.raise(x, max(firstPrice*c.work.Typical, leastPrice*x.full), total/heavyRest)
	return true
}

// mostBlur is how far apart groups have to be (start.Work.Blur), for columns with room or without.
func mostBlur(t *basis, room bool) float64 {
	switch {
	case room:
		return scaleBlur
	case min(t.k, t.n) <= newtonRows:
		return smallBlur
	}
	return math.Inf(1)
}

// pays reports whether a start is likely to pay by the size of the problem, and whether its columns have room.
func (c *scales) pays(t *basis, total uint64) (pays, room bool) {
	nodes := c.nodes
	if nodes == 0 {
		nodes = scaleNodes
	}
	if t.k < nodes || t.n < nodes {
		return false, false
	}
	// That is 2^63 at most: flows stay below 2^64 (units.go).
	if !t.within(uint64(scaleRoom * float64(total))) {
		return false, false
	}
	columns := 0
	for j := range t.low {
		room = room || t.room[j] > 0
		if t.live(j) {
			columns++
		}
	}
	return columns >= nodes, room
}

// smaller solves the smaller problem and returns the prices of its rows.
func (c *scales) smaller(w *watch, total uint64) (f []float64, ok bool) {
	s := &c.work.Smaller
	if c.below == nil {
		c.below = &scales{nodes: c.nodes}
	}
	r, x := &c.rows, &c.sx
	r.data, r.kv, r.index, r.most, r.alone = s.Costs, len(s.Low), r.index[:0], 0, c.costs.rows.alone
	for i := range s.Supply {
		r.index = append(r.index, i)
		for _, cost := range s.Row(i) {
			r.most = max(r.most, cost)
		}
	}
	x.begin(w, r, s.Supply, s.Low, s.Room, 0)
	c.below.start(x, w, s.Supply, total)
	x.setGrid(x.tried, x.full)
	ok = x.run()
	return x.tree.pi[:x.tree.k], ok
}

// raise pivots at higher and higher prices of artificial arcs, of which price is the first, until they carry nothing or
// it has to stop. A price stays while an artificial arc carries as much as much and a pass makes many pivots: what a few
// heavy nodes have left takes long ways at higher prices, all of which must be undone. In the end the prices are those of
// a star.
func (c *scales) raise(x *simplex, price float64, much uint64) {
	t := &x.tree
	for most := x.mostArtificial(); price < x.full && most > 0; {
		before := t.pivots
		x.setGrid(x.tried, price)
		if !x.pr.pass() {
			break
		}
		if most = x.mostArtificial(); most < much || t.pivots-before <= (t.k+t.n)/fewPasses {
			price *= dearer
		}
	}
	level(t)
	x.rescales = -1
}

// level gives all artificial arcs the same price.
func level(t *basis) {
	for v := range t.root {
		if t.nodes[v].kind == artificial {
			t.cost[v] = 0
		}
	}
}

// plant makes the forest the tree. The costs of its artificial arcs are the prices of their nodes.
func (c *scales) plant(t *basis) {
	f := &c.work.Forest
	for v := range t.root {
		if t.nodes[v].parent < 0 {
			continue // takes no part
		}
		p := node{parent: f.Parent[v], flow: f.Flow[v], kind: realArc}
		t.cost[v] = f.Cost[v]
		if i := int(v); i < t.k {
			if p.up = true; p.parent < 0 {
				p.kind, p.parent, t.cost[v] = artificial, t.root, f.F[i]
			}
		} else {
			c.plantColumn(t, &p, i-t.k)
		}
		t.nodes[v] = p
	}
	last := t.root
	c.work.Walk(func(v int32) {
		if t.nodes[v].parent >= 0 {
			t.follow(last, v)
			last = v
		}
	})
	t.follow(last, t.root)
	t.measure()
}

// plantColumn completes the arc p of column j. What a column with room lacks comes from the hub: from its slack arc as
// far as that is full, and else from an artificial arc.
func (c *scales) plantColumn(t *basis, p *node, j int) {
	f := &c.work.Forest
	full := f.Need[j] - t.low[j] // of the slack arc
	state := atLower
	switch {
	case p.parent >= 0:
		if full > 0 {
			state = atUpper
		}
	case p.flow > full:
		// Not below zero where there is room: a cycle through the slack arc could pay for itself.
		*p = node{parent: t.root, flow: p.flow - full, kind: artificial}
		if t.cost[t.k+j] = f.G[j]; t.room[j] > 0 {
			t.cost[t.k+j] = max(f.G[j], 0)
		}
	default:
		*p = node{parent: t.root, flow: full - p.flow, kind: slack, up: true}
		state = inTree
	}
	t.setSlack(j, state)
}

// forget drops what belongs to the caller, and what takes much memory.
func (c *scales) forget() {
	for ; c != nil; c = c.below {
		c.work.Forget(mostCells)
		c.costs = polled{}
		c.rows.data, c.sx.rows, c.sx.pr.rows, c.sx.pr.watch, c.sx.pr.work.watch.ctx = nil, nil, nil, nil, nil
	}
}
