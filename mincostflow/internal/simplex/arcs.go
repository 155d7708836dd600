package simplex

import "iter"

// Arc is the arc of the tree between a node and its parent. Nodes are the rows that take part, from 0, then the
// columns, and then the hub.
type Arc struct {
	Node, Parent int32
	Kind         Kind
	Up           bool    // it points to the parent
	Flow         uint64  // units
	Cost         float64 // scaled; of an artificial arc, what it is priced at
}

// Down returns the arcs of the tree, each after that of its parent. Columns that take no part have none.
func (s *Solver) Down() iter.Seq[Arc] {
	return func(yield func(Arc) bool) {
		t := &s.tree
		for v := t.after(t.root); v != t.root && yield(t.arc(v)); v = t.after(v) {
		}
	}
}

// Up returns the arcs of Down in the opposite order.
func (s *Solver) Up() iter.Seq[Arc] {
	return func(yield func(Arc) bool) {
		t := &s.tree
		for v := t.before(t.root); v != t.root && yield(t.arc(v)); v = t.before(v) {
		}
	}
}

// State returns the state of the slack arc of column j.
func (s *Solver) State(j int) State { return s.tree.slack[j] }

// arc returns the arc between v and its parent.
func (t *basis) arc(v int32) Arc {
	p := &t.nodes[v]
	a := Arc{Node: v, Parent: p.parent, Kind: p.kind, Up: p.up, Flow: p.flow, Cost: t.cost[v]}
	if p.kind == Artificial {
		a.Cost += t.bigM
	}
	return a
}
