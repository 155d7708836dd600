package network

// initial makes a few pivots before pricing begins, as LEMON does (Kovacs 2015): artificial arcs are dear, so an arc into
// every node with a demand is worth more than one that pricing happens to meet first. With one supply and one demand,
// the arcs are those by which a search back from the demand meets nodes, over arcs that can carry everything; else the
// cheapest arc into every demand. It makes at most maxPivots pivots. Where a cycle has no bound it stops: pricing finds
// such a cycle again.
func (l *loaded) initial(maxPivots int) {
	arcs := l.cheapestInto
	if source, sink := l.terminals(); source >= 0 && sink >= 0 {
		arcs = func() []int32 { return l.wideArcs(source, sink, l.supply[source]) }
	}
	for _, e := range arcs() {
		a := &l.arcs[e]
		rc := a.cost + l.pi[a.from] - l.pi[a.to]
		if rc >= 0 {
			continue
		}
		if l.pivots >= maxPivots {
			return
		}
		if _, ok := l.pivot(e, rc); !ok {
			return
		}
	}
}

// terminals returns the node with a supply and that with a demand, each -1 if there are none or several.
func (l *loaded) terminals() (source, sink int32) {
	var list [2][]int32 // supplies, demands
	for v, b := range l.supply {
		if b > 0 {
			list[0] = append(list[0], int32(v))
		} else if b < 0 {
			list[1] = append(list[1], int32(v))
		}
	}
	only := func(nodes []int32) int32 {
		if len(nodes) == 1 {
			return nodes[0]
		}
		return -1
	}
	return only(list[0]), only(list[1])
}

// cheapestInto returns the cheapest arc into every node with a demand.
func (l *loaded) cheapestInto() (arcs []int32) {
	best := make([]int32, len(l.supply))
	for v := range best {
		best[v] = -1
	}
	for e := range l.arcs {
		a := &l.arcs[e]
		if v := a.to; l.supply[v] < 0 && l.room[e] > 0 && (best[v] < 0 || a.cost < l.arcs[best[v]].cost) {
			best[v] = int32(e)
		}
	}
	for _, e := range best {
		if e >= 0 {
			arcs = append(arcs, e)
		}
	}
	return arcs
}

// wideArcs returns arcs with room for total by which a search back from the sink meets new nodes, until it is at the
// source.
func (l *loaded) wideArcs(source, sink int32, total int64) (arcs []int32) {
	first, into := l.arcsInto()
	met := make([]bool, len(l.supply))
	met[sink] = true
	for stack := []int32{sink}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v == source {
			break
		}
		for _, e := range into[first[v]:first[v+1]] {
			if u := l.arcs[e].from; !met[u] && l.room[e] >= total {
				met[u] = true
				arcs = append(arcs, e)
				stack = append(stack, u)
			}
		}
	}
	return arcs
}

// arcsInto lists the arcs by the node that they lead into: those into v are into[first[v]:first[v+1]], in order.
func (l *loaded) arcsInto() (first, into []int32) {
	n := len(l.supply)
	first, into = make([]int32, n+1), make([]int32, len(l.arcs))
	for e := range l.arcs {
		first[l.arcs[e].to]++
	}
	for v := range n {
		first[v+1] += first[v]
	}
	for e := len(l.arcs) - 1; e >= 0; e-- {
		at := &first[l.arcs[e].to]
		*at--
		into[*at] = int32(e)
	}
	return first, into
}
