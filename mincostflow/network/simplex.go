package network

import (
	"context"
	"math"
)

// The simplex on general networks. Arcs have flows from 0 to a capacity here; load.go
// brings every network to that form.

// residualArc is an arc as pricing sees it. An arc out of the tree is stored in the direction in which
// it can still take flow: one that is full is stored turned round, with its cost negated. So the
// reduced cost of an arc that improves the flow is negative, whatever its state, and that of arcs
// in the tree is zero.
type residualArc struct {
	cost     int64
	from, to int32
}

// node is a node of the simplex tree with the arc to its parent. The tree is kept as a circular
// list of its nodes in preorder (simplex.next, prev), in which the subtree of a node is the run
// from the node to last.
type node struct {
	parent, pred int32 // pred is the arc to the parent
	size, last   int32 // nodes in the subtree, and the last of them
	up, down     int64 // what the arc can still carry to the parent, and from it
}

// simplex is the state of the simplex: a simplex tree of the nodes and of a root beside them.
// Initially, each node is joined to the root by an artificial arc of infinite capacity, which
// takes its supply to the root at no cost, or brings its demand from there at the price big.
// Artificial arcs that have left the tree never come back.
//
// The tree is strongly feasible: every node can send flow to the root, that is, up is positive
// everywhere. The rule by which pivot chooses the arc that leaves keeps it so, and then no
// sequence of pivots without effect is endless (Cunningham 1976). All arithmetic is exact.
//
// Potentials may wrap around, since only differences count and these fit: see load.
type simplex struct {
	root   int32 // the number of nodes
	arcs   []residualArc
	room   []int64 // capacities of the arcs
	turned []bool  // whether arcs[e] is stored turned round
	tree   []node
	pi     []int64
	next   []int32
	prev   []int32
	big    int64

	// Residual capacities from this on are infinite. See load.
	infinite int64

	pricing

	pivots, degenerate int
	ray                int32 // the arc that closes a cycle of infinite capacity, or -1
}

// star makes the initial tree for the given supplies.
func (s *simplex) star(supply []int64) {
	n := len(supply)
	s.root = int32(n)
	s.tree = make([]node, n+1)
	s.pi = make([]int64, n+1)
	s.next = make([]int32, n+1)
	s.prev = make([]int32, n+1)
	s.ray = -1
	for v, b := range supply {
		p := &s.tree[v]
		*p = node{parent: s.root, pred: int32(len(s.arcs) + v), size: 1, last: int32(v)}
		if b >= 0 {
			p.up, p.down = math.MaxInt64-b, b
		} else {
			p.up, p.down = -b, math.MaxInt64+b
			s.pi[v] = s.big
		}
		s.next[v], s.prev[v+1] = int32(v)+1, int32(v)
	}
	s.tree[n] = node{parent: -1, pred: -1, size: int32(n) + 1, last: int32(n) - 1}
	s.next[n], s.prev[0] = 0, s.root
}

// run pivots until no arc improves the flow or something else ends it. It returns Unbounded with
// ray set when an arc closes a cycle of infinite capacity and negative cost.
func (s *simplex) run(ctx context.Context, maxPivots int) Status {
	// The context is asked once in a while, by the work done.
	const patience = 1 << 18
	work := patience
	for {
		e, rc, looked := s.price()
		if work += looked; work >= patience {
			work = 0
			if ctx.Err() != nil {
				return Cancelled
			}
		}
		if e < 0 {
			return Optimal
		}
		if s.pivots >= maxPivots {
			return PivotLimit
		}
		moved, ok := s.pivot(e, rc)
		if !ok {
			s.ray = e
			return Unbounded
		}
		work += moved
		s.adapt(moved)
	}
}

// pricing looks for an arc to enter in one block of arcs after the other, round and round, and takes
// the best of the first block that has one. Large blocks find better arcs: fewer pivots, and more
// work for each. So the size of the blocks follows the work that the last pivots were.
type pricing struct {
	cursor int // where the next block starts
	block  int
	unit   int   // square root of the number of arcs
	moved  int64 // work of the last pivots
	window int   // and their number
}

const (
	// A block has as many arcs as the square root of their number, and perWork more for each unit of work of
	// a pivot, but at most maxBlock square roots: the best on average of the factors tried, see
	// docs/algorithms/network-simplex.md.
	perWork  = 1
	maxBlock = 8
	// window is the number of pivots between changes of the size.
	window = 256
)

// start sets the first block for a number of arcs.
func (p *pricing) start(arcs int) {
	p.unit = max(int(math.Sqrt(float64(arcs))), 4)
	p.block = p.unit
}

// adapt takes note of the work of a pivot.
func (p *pricing) adapt(moved int) {
	p.moved += int64(moved)
	if p.window++; p.window == window {
		p.block = int(min(int64(p.unit)+perWork*p.moved/window, int64(p.unit)*maxBlock))
		p.moved, p.window = 0, 0
	}
}

// price returns an arc of negative reduced cost, or -1 if there is none, and how many it looked at.
func (s *simplex) price() (arc int32, rc int64, looked int) {
	pi := s.pi
	for at := s.cursor; looked < len(s.arcs); {
		end := min(at+s.block, len(s.arcs))
		best, in := int64(0), -1
		for i, a := range s.arcs[at:end] {
			if c := a.cost + pi[a.from] - pi[a.to]; c < best {
				best, in = c, i
			}
		}
		looked += end - at
		if in >= 0 {
			s.cursor = end
			if end == len(s.arcs) {
				s.cursor = 0
			}
			return int32(at + in), best, looked
		}
		if at = end; at == len(s.arcs) {
			at = 0
		}
	}
	return -1, 0, looked
}

// Where on the cycle of an entering arc the arc is that leaves the tree.
const (
	nowhere = iota // the entering arc itself meets its other bound first
	behind         // between the join and the tail of the entering arc
	ahead          // between its head and the join
)

// pivot brings arc e with reduced cost rc < 0 into the tree: it sends as much flow around the
// cycle that e closes as fits, and lets the arc leave that limits it. It reports the work it was, and false, with
// nothing changed, if the flow has no limit.
func (s *simplex) pivot(e int32, rc int64) (work int, ok bool) {
	d, out, side, join, work := s.leaving(e)
	if d >= s.infinite {
		return 0, false
	}
	s.pivots++
	in := s.arcs[e]
	if d == 0 {
		s.degenerate++
	} else {
		s.push(&in, join, d)
	}
	if side == nowhere {
		s.turn(e) // from one bound to the other; the tree stays
		return work, true
	}
	// The leaving arc is stored the way it can take flow: opposite to the cycle.
	if leaving := s.tree[out].pred; int(leaving) < len(s.arcs) && (s.arcs[leaving].from == out) != (side == behind) {
		s.turn(leaving)
	}
	// The first node is the end of e in the subtree that is cut off, the second the other one.
	room := s.room[e]
	if side == behind {
		return work + s.graft(in.from, in.to, out, join, node{pred: e, up: room - d, down: d}, -rc), true
	}
	return work + s.graft(in.to, in.from, out, join, node{pred: e, up: d, down: room - d}, rc), true
}

// leaving returns how much flow fits around the cycle that arc e closes, the node under the arc that limits it, its side
// of the cycle, and the join, which is the node of the cycle nearest the root. Of several arcs it takes the last one on
// the way from the join around the cycle along e.
func (s *simplex) leaving(e int32) (d int64, out int32, side int, join int32, work int) {
	tree := s.tree
	d, out, side = s.room[e], -1, nowhere
	u, v := s.arcs[e].from, s.arcs[e].to
	for u != v {
		if p, q := &tree[u], &tree[v]; p.size < q.size {
			if p.down < d {
				d, out, side = p.down, u, behind
			}
			u = p.parent
		} else {
			if q.up <= d {
				d, out, side = q.up, v, ahead
			}
			v = q.parent
		}
		work += stepWork
	}
	return d, out, side, u, work
}

// push sends d around the cycle of an arc.
func (s *simplex) push(in *residualArc, join int32, d int64) {
	tree := s.tree
	for u := in.from; u != join; u = tree[u].parent {
		tree[u].down -= d
		tree[u].up += d
	}
	for v := in.to; v != join; v = tree[v].parent {
		tree[v].up -= d
		tree[v].down += d
	}
}

// stepWork is the work of a step along a cycle, in units of that for an arc in pricing or for the
// potential of a node.
const stepWork = 2

// turn stores an arc the other way round.
func (s *simplex) turn(e int32) {
	a := &s.arcs[e]
	a.from, a.to, a.cost = a.to, a.from, -a.cost
	s.turned[e] = !s.turned[e]
}

// graft cuts the subtree of out off, makes x its root, joins it to y by arc, and adds shift to its
// potentials. join is the nearest common ancestor of x and y. It returns how many potentials changed.
func (s *simplex) graft(x, y, out, join int32, arc node, shift int64) (work int) {
	arc.parent, arc.size = y, s.tree[out].size
	s.cutOff(out, join)
	tail := s.reroot(x, out, arc)
	s.hang(x, y, tail, join)
	return s.reprice(x, tail, shift)
}

// cutOff takes the run of the subtree of out from the list, and the subtree from the numbers of its ancestors, those of
// the sizes up to join.
func (s *simplex) cutOff(out, join int32) {
	tree, next, prev := s.tree, s.next, s.prev
	moved, cut := tree[out].size, tree[out].parent
	end, before := tree[out].last, prev[out]
	after := next[end]
	next[before], prev[after] = after, before
	u := cut
	for ; u != join; u = tree[u].parent {
		p := &tree[u]
		if p.size -= moved; p.last == end {
			p.last = before
		}
	}
	for ; u >= 0 && tree[u].last == end; u = tree[u].parent {
		tree[u].last = before
	}
	next[end] = -1 // the end of what is cut off
}

// reroot turns a subtree that is cut off inside out: the nodes from x up to its root, out, change parents, and x becomes
// as top says. The new preorder is the old subtree of x, then what is left without it of the old subtree of its parent,
// and so on. It returns the last node.
func (s *simplex) reroot(x, out int32, top node) (tail int32) {
	tree, next, prev := s.tree, s.next, s.prev
	old := tree[x]
	child, tail, gone, rest := x, old.last, old.last, next[old.last]
	p := &tree[x]
	p.parent, p.pred, p.up, p.down, p.size = top.parent, top.pred, top.up, top.down, top.size
	for first := prev[x]; child != out; {
		// Close the gap that the run of child, which ended with gone, leaves in that of node.
		node := old.parent
		q := &tree[node]
		was := *q
		last := first
		next[first] = rest
		if rest >= 0 {
			prev[rest] = first
		}
		if was.last != gone {
			gone, last, rest = was.last, was.last, next[was.last]
		}
		first = prev[node]
		next[tail], prev[node] = node, tail
		tail = last
		q.parent, q.pred, q.up, q.down, q.size = child, old.pred, old.down, old.up, top.size-old.size
		child, old = node, was
	}
	for u := out; u != top.parent; u = tree[u].parent {
		tree[u].last = tail
	}
	return tail
}

// hang puts the run of a subtree, from x to tail, behind y, its parent.
func (s *simplex) hang(x, y, tail, join int32) {
	tree, next, prev := s.tree, s.next, s.prev
	after := next[y]
	next[y], prev[x] = x, y
	next[tail], prev[after] = after, tail
	u, moved := y, tree[x].size
	for ; u != join; u = tree[u].parent {
		p := &tree[u]
		if p.size += moved; p.last == y {
			p.last = tail
		}
	}
	for ; u >= 0 && tree[u].last == y; u = tree[u].parent {
		tree[u].last = tail
	}
}

// reprice adds shift to the potentials of the run from x to tail. Only differences of potentials count: it shifts the
// smaller side of the cut. Two walks, from both ends of its run, keep the processor busier than one.
func (s *simplex) reprice(x, tail int32, shift int64) (work int) {
	next, prev, pi := s.next, s.prev, s.pi
	count := int(s.tree[x].size)
	a, b := x, tail
	if rest := len(s.tree) - count; rest < count {
		count, a, b, shift = rest, next[tail], prev[x], -shift
	}
	for range count / 2 {
		pi[a] += shift
		a = next[a]
		pi[b] += shift
		b = prev[b]
	}
	if count&1 == 1 {
		pi[a] += shift
	}
	return count
}
