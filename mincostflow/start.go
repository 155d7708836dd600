package mincostflow

import "context"

// start makes the first tree for the source in s.units and the box: a star, a tree from the prices that Newton's method
// finds, or one from a smaller problem.
func (s *solver) start(ctx context.Context, maxPivots int) {
	s.watch = watch{ctx: ctx}
	x, w := &s.sx, &s.nw
	x.begin(&s.watch, &s.rows, s.units, s.in.low, s.in.room, maxPivots)
	w.bind(&x.tree, &s.rows, &s.watch, s.units, s.total)
	if worthNewton(x.tree.k, x.tree.n) && w.prices() {
		w.assign()
		x.pr.seed(w.served, seedWidths*w.h)
	} else {
		s.scales.start(x, &s.watch, s.units, s.total)
	}
	x.setGrid(x.tried, float64(x.full*(1-s.discount)))
}

// assign replaces the star of reset: every column hangs from the row that serves it at least cost
// at the row prices w.f, at its upper bound if that cost is below zero, and
// at its lower bound if not; an artificial arc takes what a row has left or brings what it lacks. Any
// prices give a strongly feasible tree.
//
// Columns are filled while there is mass for them, or all of them if they take at most 9/8 of the mass.
func (w *newton) assign() {
	served := w.serve()
	if w.watch.over {
		return // the star will do
	}
	w.serveColumns(served)
	w.preorder()
}

// serveColumns hangs the columns from the rows that serve them, as lists: first and next.
func (w *newton) serveColumns(served []service) {
	t := w.tree
	k, n := t.k, t.n
	spare, wanted := w.sum, uint64(0)
	for j, l := range t.low {
		spare -= l
		if served[j].least < 0 {
			wanted += min(t.room[j], 2*w.sum-wanted) // 2 total is too much, and columns without bound want it
		}
	}
	if wanted <= spare+w.sum/8 {
		spare = wanted
	}
	w.first, w.next, w.sent = grow(w.first, k), grow(w.next, n), grow(w.sent, k)
	clear(w.sent)
	for i := range w.first {
		w.first[i] = -1
	}
	for j := n - 1; j >= 0; j-- {
		if !t.live(j) {
			continue
		}
		state, flow := atLower, t.low[j]
		if served[j].least < 0 && t.room[j] > 0 && t.room[j] <= spare {
			state, flow = atUpper, t.low[j]+t.room[j]
			spare -= t.room[j]
		}
		if flow == 0 {
			continue // it stays on its slack arc
		}
		i := served[j].by
		t.setSlack(j, state)
		t.nodes[k+j] = node{parent: i, flow: flow, kind: realArc}
		w.sent[i] += flow
		w.first[i], w.next[j] = int32(j), w.first[i]
	}
}

// preorder links the nodes of the tree that serveColumns has chosen: every row with its artificial arc and its
// columns, then the columns on slack arcs. It makes the star again if the context ends.
func (w *newton) preorder() {
	t := w.tree
	k, n := t.k, t.n
	last := t.root
	add := func(v, depth int32) {
		t.links[last].next, t.links[v].depth = v, depth
		t.nodes[v].prev = last
		last = v
	}
	for i, m := range w.units {
		p := node{parent: t.root, kind: artificial, up: m >= w.sent[i]}
		if p.up {
			p.flow = m - w.sent[i]
		} else {
			p.flow = w.sent[i] - m
		}
		t.nodes[i] = p
		add(int32(i), 1)
		if w.first[i] < 0 {
			continue
		}
		if !w.watch.row(n) {
			t.reset(k, n, w.units)
			return
		}
		row := w.rows.at(i)
		for j := w.first[i]; j >= 0; j = w.next[j] {
			t.cost[k+int(j)] = row[j]
			if t.leaves.n > 0 {
				t.leaves.add(int32(i), j)
			} else {
				add(int32(k)+j, 2)
			}
		}
	}
	for j := range n {
		if t.live(j) && t.nodes[k+j].kind == slack {
			add(int32(k+j), 1)
		}
	}
	t.links[last].next = t.root
	t.nodes[t.root].prev = last
}
