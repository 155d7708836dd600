package simplex

// Arc is the arc of the tree between a node and its parent. Nodes are the rows that take part, from 0, then the
// columns, and then the hub.
type Arc struct {
	Parent int32
	Kind   Kind
	Up     bool    // it points to the parent
	Flow   uint64  // units
	Cost   float64 // scaled; of an artificial arc, what it is priced at
}

// After returns the node after v in the preorder of the tree: each node is after its parent, and the hub is before the
// first and after the last. Columns that take no part are not in the tree.
func (s *Solver) After(v int32) int32 { return s.tree.after(v) }

// Before returns the node whose After is v.
func (s *Solver) Before(v int32) int32 { return s.tree.before(v) }

// State returns the state of the slack arc of column j.
func (s *Solver) State(j int) State { return s.tree.slack[j] }

// Arc returns the arc between v, which is not the hub, and its parent.
func (s *Solver) Arc(v int32) Arc {
	p := &s.tree.nodes[v]
	a := Arc{Parent: p.parent, Kind: p.kind, Up: p.up, Flow: p.flow, Cost: s.tree.cost[v]}
	if p.kind == Artificial {
		a.Cost += s.tree.bigM
	}
	return a
}
