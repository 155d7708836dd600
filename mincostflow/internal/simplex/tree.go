package simplex

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// Kind tells the three kinds of arc apart that can join a node to its parent.
type Kind uint8

const (
	Real       Kind = iota // row -> column, cost C_ij, no capacity
	Slack                  // column -> hub, cost 0, capacity Room_j
	Artificial             // row -> hub or hub -> column, dearer than what it replaces, no capacity
)

// State is that of a column's slack arc.
type State int8

const (
	AtLower State = iota // out of the tree without flow: the column takes Low_j
	AtUpper              // out of the tree, full: it takes Low_j + Room_j
	InTree               // in the tree: it takes something between
)

// node is a row, a column or the hub, with the tree arc to its parent.
type node struct {
	flow   uint64 // on the arc to the parent, >= 0
	parent int32
	size   int32 // nodes of its subtree
	kind   Kind
	up     bool // the arc points to the parent
}

// preorder is a circular list of the nodes in preorder. A subtree is a run of it. Its links are by place: from time to
// time all nodes get places in the order of the list, so that those that follow each other are near in memory. A walk
// would wait for it otherwise.
type preorder struct {
	links, spare []link  // by place
	prev         []int32 // by place
	place        []int32 // of a node
	moved        int     // nodes, since they got their places
}

// renumberEvery times as many nodes as there are move before all get new places.
const renumberEvery = 32

// A pivot takes the time of about pivotEffort looks at listed arcs, and of nodeEffort for each node that it moves.
const pivotEffort, nodeEffort = 100, 2

// link is a node, and the place of the next.
type link struct{ next, node int32 }

// basis is the state of the simplex: a spanning tree of the nodes rows 0..k-1, columns
// k..k+n-1, hub k+n, rooted at the hub.
//
// Everything is exact. Flows are integers (see MaxUnits). Arc costs are rounded to multiples of grid,
// and potentials are sums of those that stay below 2^53 grids, so that float64 arithmetic on them
// has no error: a reduced cost that should be zero is zero, and every pivot is one of a true
// primal simplex, which with the leaving rule below cannot cycle.
type basis struct {
	k, n  int   // rows with mass, columns
	root  int32 // k + n
	nodes []node
	preorder
	// pi is the price of bringing one unit from a node to the hub through the tree:
	// f_i = pi[i], g_j = -pi[k+j]. Columns that take nothing have +Inf and are never priced.
	pi         []float64
	cost       []float64 // unrounded cost of the arc to the parent; of an artificial one, less bigM
	low        []uint64  // lower bounds of the columns
	room       []uint64  // capacities of the slack arcs
	slack      []State   // their states
	slackSign  []float64 // sign of the admissible change: +1 where they may fill up, -1 where they may empty, else 0
	bigM       float64   // cost of artificial arcs, a multiple of grid
	grid       float64
	outOfRange bool // a potential has come close to the limit of exactness

	pivots, degenerate int
	effort             int64 // of pivots and of the search for them, in looks at a listed arc
}

// ends returns the row and the column of the real arc from v to its parent.
func (t *basis) ends(v int32) (i, j int32) {
	p := &t.nodes[v]
	if p.up {
		return v, p.parent - int32(t.k)
	}
	return p.parent, v - int32(t.k)
}

// magic is 1.5 * 2^52 grids, which has room for nothing finer than a grid.
func (t *basis) magic() float64 { return 0x1.8p52 * t.grid }

// limit is that of exactness, 2^51 grids.
func (t *basis) limit() float64 { return 0x1p51 * t.grid }

// round returns c rounded to a multiple of grid, for |c| below 2^51 grids: adding a number of
// size 2^52 grids leaves no room for anything finer.
func (t *basis) round(c float64) float64 { return (c + t.magic()) - t.magic() }

// reset makes room for a tree of k rows and n columns; low and room are filled in.
func (t *basis) reset(k, n int) {
	t.k, t.n, t.root = k, n, int32(k+n)
	total := k + n + 1
	t.nodes, t.pi, t.cost = num.Grow(t.nodes, total), num.Grow(t.pi, total), num.Grow(t.cost, total)
	t.slack, t.slackSign = num.Grow(t.slack, n), num.Grow(t.slackSign, n)
	t.pivots, t.degenerate, t.effort = 0, 0, 0
}

// plant makes a forest the tree, for rows with the given units. What rows at the hub have left goes there over
// artificial arcs, and what they lack comes from there. What columns at the hub lack comes from there, too: from their
// slack arcs as far as these are full, and else over artificial arcs. An empty arc must point to the hub (pivot says
// why), so a column that lacks nothing hangs from its slack arc.
//
// Sums of units are those of a ring: none that is looked at reaches 2^63 (see MaxUnits).
func (t *basis) plant(f *start.Forest, units []uint64) {
	for v := range t.root {
		p := node{parent: f.Parent[v], size: 1, kind: Real}
		if p.parent < 0 {
			p.parent = t.root
		}
		if i := int(v); i < t.k {
			p.up, p.flow = true, units[i]
		} else if j := i - t.k; t.live(j) {
			p.flow = -f.Need[j]
			t.setSlack(j, AtLower)
			if f.Need[j] > t.low[j] {
				t.setSlack(j, AtUpper)
			}
		} else {
			p.parent = -1
			t.setSlack(j, AtLower)
		}
		t.nodes[v], t.cost[v] = p, f.Cost[v]
	}
	t.nodes[t.root] = node{parent: -1, size: 1}
	t.list(t.nodes)
	for v := t.before(t.root); v != t.root; v = t.before(v) {
		p := &t.nodes[v]
		q := &t.nodes[p.parent]
		q.flow += p.flow
		q.size += p.size
		switch {
		case p.parent != t.root:
			if !p.up {
				p.flow = -p.flow
			}
		case int(v) < t.k:
			p.kind = Artificial
			if int64(p.flow) < 0 {
				p.up, p.flow, t.cost[v] = false, -p.flow, -t.cost[v]
			}
		default:
			t.hang(int(v)-t.k, -p.flow, f.Need[int(v)-t.k]-t.low[int(v)-t.k])
		}
	}
	t.nodes[t.root].flow = 0
}

// hang hangs column j, which lacks so many units, from the hub. Its slack arc may bring so many of them.
func (t *basis) hang(j int, lacks, full uint64) {
	v := t.k + j
	if lacks > full {
		t.nodes[v].kind, t.nodes[v].flow = Artificial, lacks-full
		t.setSlack(j, AtLower)
		return
	}
	t.nodes[v].kind, t.nodes[v].flow, t.nodes[v].up, t.cost[v] = Slack, full-lacks, true, 0
	t.setSlack(j, InTree)
}

// list makes a list of the nodes below the last one. Their places are their numbers.
func (o *preorder) list(nodes []node) {
	n := int32(len(nodes))
	o.links, o.spare = num.Grow(o.links, int(n)), num.Grow(o.spare, int(n))
	o.prev, o.place, o.moved = num.Grow(o.prev, int(n)), num.Grow(o.place, int(n)), 0
	kids := o.spare // the first node below v is kids[v].node, and the one beside it kids[v].next
	for v := range n {
		o.place[v], o.links[v].node = v, v
		kids[v] = link{-1, -1}
	}
	for v := n - 2; v >= 0; v-- {
		if p := nodes[v].parent; p >= 0 {
			kids[v].next, kids[p].node = kids[p].node, v
		}
	}
	root := n - 1
	last := root
	for v := kids[root].node; v >= 0; {
		o.join(last, v)
		if last = v; kids[v].node >= 0 {
			v = kids[v].node
			continue
		}
		for v != root && kids[v].next < 0 {
			v = nodes[v].parent
		}
		v = kids[v].next // that of the root is -1
	}
	o.join(last, root)
}

// join makes place w the next of place v.
func (o *preorder) join(v, w int32) { o.links[v].next, o.prev[w] = w, v }

// after returns the node that is next to v.
func (o *preorder) after(v int32) int32 { return o.links[o.links[o.place[v]].next].node }

// before returns the node whose next is v.
func (o *preorder) before(v int32) int32 { return o.links[o.prev[o.place[v]]].node }

// renumber gives the nodes of the list places in its order.
func (o *preorder) renumber() {
	o.spare = num.Grow(o.spare, len(o.links))
	v, last := int32(0), int32(0)
	for at := range o.spare {
		l := o.links[v]
		last = int32(at)
		o.spare[at], o.place[l.node], o.prev[at] = link{last + 1, l.node}, last, last-1
		if v = l.next; v == 0 {
			break
		}
	}
	o.links, o.spare = o.spare, o.links
	o.join(last, 0)
	o.moved = 0
}

// live reports whether column j takes part, that is, whether it may take anything.
func (t *basis) live(j int) bool { return t.low[j] > 0 || t.room[j] > 0 }

// setPrices chooses the grid 2^exp and the price of artificial arcs, and computes all potentials
// from the tree.
func (t *basis) setPrices(exp int, big float64) {
	t.grid = math.Ldexp(1, exp)
	t.bigM = t.round(big)
	t.outOfRange = false
	for v := range t.pi {
		t.pi[v] = math.Inf(1)
	}
	t.pi[t.root] = 0
	for v := t.after(t.root); v != t.root; v = t.after(v) {
		t.pi[v] = t.round(t.step(v)) + t.pi[t.nodes[v].parent]
		if math.Abs(t.pi[v]) > t.limit() {
			t.outOfRange = true
		}
	}
}

// step returns what the price of v is above that of its parent: the unrounded cost of the arc between them.
func (t *basis) step(v int32) float64 {
	p, c := &t.nodes[v], t.cost[v]
	if p.kind == Artificial {
		c += t.bigM
	}
	if !p.up {
		return -c
	}
	return c
}

// setSlack sets the state of the slack arc of column j.
func (t *basis) setSlack(j int, state State) {
	t.slack[j] = state
	switch {
	case t.room[j] == 0 || state == InTree:
		t.slackSign[j] = 0
	case state == AtLower:
		t.slackSign[j] = 1
	default:
		t.slackSign[j] = -1
	}
}

// enterReal brings the arc from row i to column j, with unrounded cost c, into the tree if that
// improves the plan, and reports whether it did.
func (t *basis) enterReal(i, j int32, c float64) bool {
	b := int32(t.k) + j
	rc := (t.round(c) - t.pi[i]) + t.pi[b]
	if !(rc < 0) {
		return false
	}
	t.pivot(i, b, Real, c, rc, unbounded)
	return true
}

// slackColumns returns how many columns, from the first, have all slack arcs that can enter the tree: none where the
// columns take what is given. Looks at them would be a twentieth of the work between 50 and 100 points.
func (t *basis) slackColumns() int {
	for j := t.n; j > 0; j-- {
		if t.room[j-1] > 0 {
			return j
		}
	}
	return 0
}

// enterSlack moves the slack arc among columns from to end - 1 that improves the plan most, into
// the tree or straight from one bound to the other, and reports whether there was one.
func (t *basis) enterSlack(from, end int) bool {
	sign := t.slackSign[from:end]
	pi := t.pi[t.k+from:][:len(sign)]
	best, at := 0.0, 0
	// The reduced cost is -p to fill up, p to empty. In this form the loop takes half of the time that it takes with x >
	// best. Dead columns: +Inf * 0.
	for j, x := range pi {
		if x *= sign[j]; x <= best || math.IsNaN(x) {
			continue
		}
		best, at = x, j
	}
	if best == 0 {
		return false
	}
	j := from + at
	if v := int32(t.k + j); sign[at] > 0 {
		t.pivot(v, t.root, Slack, 0, -best, t.room[j])
	} else {
		t.pivot(t.root, v, Slack, 0, -best, t.room[j])
	}
	return true
}

// pivot increases the flow from a to b on an arc outside the tree, of reduced cost rc < 0 and
// with room for most units, and sends it back through the tree from b to a.
//
// Of the arcs that fill up or run empty first, the last one met when the cycle is walked in the
// direction of the flow from its node nearest the hub leaves the tree. This keeps the tree
// strongly feasible (Cunningham 1976): from every node some flow could still go to the hub, that
// is, empty arcs point up and full ones do not. Every sequence of pivots that move nothing then
// ends, since each lowers the sum of potentials.
func (t *basis) pivot(a, b int32, kind Kind, cost, rc float64, most uint64) {
	t.pivots++
	nodes := t.nodes
	d := most
	out, outSide := int32(-1), int32(-1)
	u, v := a, b
	for u != v {
		// The one with the smaller subtree steps up; if they are equal, neither is above the other. On the side of a
		// the cycle runs down: the last blocking arc is the one met first (<). On the side of b it runs up: the one
		// met last (<=), and any of them comes after those of a.
		if p, q := &nodes[u], &nodes[v]; p.size <= q.size {
			if p.up && p.flow < d {
				d, out, outSide = p.flow, u, a
			}
			u = p.parent
		} else {
			if !q.up {
				if q.flow <= d {
					d, out, outSide = q.flow, v, b
				}
			} else if q.kind == Slack {
				if r := t.room[int(v)-t.k] - q.flow; r <= d {
					d, out, outSide = r, v, b
				}
			}
			v = q.parent
		}
	}
	if d == 0 {
		t.degenerate++
	} else {
		t.push(a, b, u, d)
	}
	if kind == Slack && out < 0 { // from one bound to the other; the tree stays
		if b == t.root {
			t.setSlack(int(a)-t.k, AtUpper)
		} else {
			t.setSlack(int(b)-t.k, AtLower)
		}
		return
	}
	if nodes[out].kind == Slack {
		state := AtLower
		if outSide == b {
			state = AtUpper
		}
		t.setSlack(int(out)-t.k, state)
	}
	// x is the end of the new arc in the subtree that the leaving arc cuts off, y the other one.
	x, y, shift := a, b, rc
	if outSide == b {
		x, y, shift = b, a, -rc
	}
	arc := node{parent: y, flow: d, kind: kind, up: x == a}
	if kind == Slack {
		arc.up = true
		if a == t.root {
			arc.flow = most - d
		}
		t.setSlack(int(x)-t.k, InTree)
	}
	t.graft(x, out, u, arc, cost, shift)
}

// push sends d units around the cycle that the arc a -> b closes, whose node nearest the hub is
// join.
func (t *basis) push(a, b, join int32, d uint64) {
	nodes := t.nodes
	for u := a; u != join; {
		p := &nodes[u]
		if p.up {
			p.flow -= d
		} else {
			p.flow += d
		}
		u = p.parent
	}
	for v := b; v != join; {
		p := &nodes[v]
		if p.up {
			p.flow += d
		} else {
			p.flow -= d
		}
		v = p.parent
	}
}

// graft cuts the subtree of out off its parent, makes x, a node in it, its root, hangs it from
// arc.parent by the given arc, and adds shift to its potentials. Both parents are at or below join.
//
// Only the nodes between x and out change parents. The new preorder is the subtree of x, then
// that of its old parent without it, and so on up to out: runs of the old list, taken out one
// after the other and joined.
func (t *basis) graft(x, out, join int32, arc node, cost, shift float64) {
	nodes := t.nodes
	all, y := nodes[out].size, arc.parent
	t.effort += pivotEffort + nodeEffort*int64(all)
	for v := nodes[out].parent; v != join; v = nodes[v].parent {
		nodes[v].size -= all
	}
	for v := y; v != join; v = nodes[v].parent {
		nodes[v].size += all
	}
	tail, taken := int32(-1), int32(0) // the end of the new list, and its nodes
	for cur := x; ; {
		p, from := &nodes[cur], t.place[cur]
		size := p.size
		end := t.shift(from, size-taken, shift)
		t.join(t.prev[from], t.links[end].next)
		if tail >= 0 {
			t.join(tail, from)
		}
		tail = end
		was, wasCost := *p, t.cost[cur]
		p.parent, p.flow, p.kind, p.up = arc.parent, arc.flow, arc.kind, arc.up
		p.size = all - taken
		t.cost[cur] = cost
		if cur == out {
			break
		}
		// The arc to the old parent now belongs to it, seen from the other end.
		arc = node{parent: cur, flow: was.flow, kind: was.kind, up: !was.up}
		cost, taken = wasCost, size
		cur = was.parent
	}
	below := t.place[y]
	t.join(tail, t.links[below].next)
	t.join(below, t.place[x])
	if t.moved += int(all); t.moved > renumberEvery*len(nodes) {
		t.renumber()
	}
}

// shift adds by to the potentials of so many nodes of the preorder, from a place on, and returns the last place.
func (t *basis) shift(at, many int32, by float64) (last int32) {
	links, pi, most, least := t.links, t.pi, t.limit(), -t.limit()
	for {
		l := &links[at]
		x := &pi[l.node]
		f := *x + by
		*x = f
		if f > most || f < least {
			t.outOfRange = true
		}
		if many--; many == 0 {
			return at
		}
		at = l.next
	}
}
