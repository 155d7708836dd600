package mincostflow

import "math"

const (
	// gridBits is the fineness of the cost grid: costs below 2^e are rounded to multiples of
	// 2^(e-gridBits). The optimum of the rounded costs is within one grid of the true one, since
	// the mass is 1; potentials may reach 2^(51-gridBits) times 2^e without rounding error.
	gridBits = 48
	// coarser is by how many bits the grid grows when potentials outgrow that.
	coarser = 2
	// When the plan uses only arcs far cheaper than the dearest, the grid can be refined. That is
	// done if it gains refineBits and if the plan is further than refineTol times its dearest arc
	// from its bound. (There are at most 2100 bits to gain, so this ends.)
	refineBits = 6
	refineTol  = 0x1p-46
)

// simplex is the network simplex on costs that are rounded to a grid: the tree, the pricing of its arcs, and the grid
// and the price of artificial arcs in force. begin plants a forest, run pivots until the tree is optimal, and refine
// makes the grid finer. Whoever wants the answer reads flows and prices off the tree.
type simplex struct {
	tree basis
	pr   pricer

	exp     int     // the grid in force is 2^exp
	tried   int     // the finest grid asked for so far
	retried bool    // that grid has been asked for again, after potentials outgrew it
	full    float64 // price of artificial arcs at which they carry nothing at an optimum

	rescales int // changes of the grid or of the price after the first
}

// begin makes ready for rows with the given units and columns that take low to low + room units.
func (x *simplex) begin(w *watch, r *rows, units, low, room []uint64, maxPivots int) {
	t := &x.tree
	t.low, t.room = low, room
	x.pr.tree, x.pr.rows, x.pr.watch, x.pr.maxPivots = t, r, w, maxPivots
	x.pr.sweeps, x.pr.polls = 0, 0
	x.rescales, x.retried = -1, false
	// An artificial arc that costs more than every real one is enough: the rows and columns form
	// a complete graph, so flow on artificial arcs could be rerouted over a single real one.
	top := r.top()
	x.full = float64(1.5 * top) // not to be fused with the rounding to the grid
	if top == 0 {
		x.full = 1
	}
	x.tried = x.gridFor(top)
	t.reset(len(units), len(low))
	x.pr.reset(units)
}

// raise pivots at higher and higher prices of artificial arcs, of which price is the first, until they carry nothing or
// it has to stop. A price stays while an artificial arc carries as much as much and a pass makes many pivots: what a few
// heavy nodes have left takes long ways at higher prices, all of which must be undone.
func (x *simplex) raise(price float64, much uint64) {
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
	x.rescales = -1
}

// level gives all artificial arcs the same price.
func (x *simplex) level() {
	t := &x.tree
	for v := range t.root {
		if t.nodes[v].kind == artificial {
			t.cost[v] = 0
		}
	}
}

// run pivots until the tree is optimal for the costs rounded to the grid and artificial arcs carry nothing, and reports
// whether it could before it had to stop. The grid becomes coarser when potentials outgrow it, and artificial arcs
// dearer when they carry flow.
func (x *simplex) run() bool {
	for t := &x.tree; x.pr.run(); {
		switch {
		case t.outOfRange:
			x.setGrid(x.exp+coarser, t.bigM)
		case !x.artificialFlow(), t.bigM >= t.round(x.full): // at the full price there is none
			return true
		default: // only after refine
			big := min(max(t.bigM, t.grid)*(1<<8), x.full) // a price of zero would stay zero
			x.setGrid(max(x.gridFor(big), x.exp), big)
		}
	}
	return false
}

// refine makes the grid of an optimal tree finer, if that gains anything, and reports whether it did. The tree is
// then to be run again.
func (x *simplex) refine() bool {
	t := &x.tree
	// Four times the dearest arc in use is a guess at what rerouting costs; if it is too low,
	// artificial flow remains and the price goes up again.
	big := min(4*x.dearest(), t.bigM)
	switch exp := x.gridFor(big); {
	case exp <= x.tried-refineBits:
		x.tried = exp
	case x.exp > x.tried && !x.retried: // potentials were out of range on the way
		x.retried = true
		big = t.bigM
	default:
		return false
	}
	x.cutDear(big)
	x.setGrid(x.tried, big)
	return true
}

// gridFor returns the exponent of the grid for costs of at most c. All floats are multiples of the
// smallest one.
func (x *simplex) gridFor(c float64) int {
	_, e := math.Frexp(c)
	return max(e-gridBits, -1074)
}

// setGrid changes the grid and the price of artificial arcs.
func (x *simplex) setGrid(exp int, big float64) {
	for x.exp = exp; ; x.exp += coarser {
		x.tree.setPrices(x.exp, big)
		x.rescales++
		if !x.tree.outOfRange {
			return
		}
	}
}

// artificialFlow reports whether an artificial arc carries flow.
func (x *simplex) artificialFlow() bool { return x.mostArtificial() > 0 }

// mostArtificial returns the largest flow on an artificial arc.
func (x *simplex) mostArtificial() (most uint64) {
	for v := range x.tree.nodes[:x.tree.root] {
		if p := &x.tree.nodes[v]; p.parent >= 0 && p.kind == artificial {
			most = max(most, p.flow)
		}
	}
	return most
}

// dearest returns the largest cost of an arc with flow > 0 in units: the plan drops flows that are rounding.
func (x *simplex) dearest() float64 {
	var c float64
	for v := range x.tree.nodes[:x.tree.root] {
		if p := &x.tree.nodes[v]; p.parent >= 0 && p.kind == realArc && p.flow > 0 {
			c = max(c, x.tree.cost[v])
		}
	}
	return c
}

// cutDear hangs every row whose arc costs more than big from the hub instead. Those arcs carry
// nothing, and so do the new ones: the tree stays strongly feasible.
func (x *simplex) cutDear(big float64) {
	t := &x.tree
	for v := range int32(t.k) {
		if p := &t.nodes[v]; p.kind == realArc && p.up && p.flow == 0 && t.cost[v] > big {
			t.graft(v, v, t.root, node{parent: t.root, kind: artificial, up: true}, 0, 0)
		}
	}
}
