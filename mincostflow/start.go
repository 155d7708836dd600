package mincostflow

import "context"

// start makes the first tree for the source in s.mass and the bounds in net.low and net.room.
func (s *solver) start(ctx context.Context, r *rows, index []int, top float64, most int) {
	t := &s.net
	k, n := len(index), len(t.low)
	s.pr.net, s.pr.rows, s.pr.index, s.pr.ctx, s.pr.most = t, r, index, ctx, most
	s.pr.sweeps, s.pr.polls = 0, 0
	s.watch = watch{ctx: ctx}
	s.rescales, s.widened = -1, 0
	if s.bits == 0 {
		s.bits = gridBits
	}
	// An artificial arc that costs more than every real one is enough: the rows and columns form
	// a complete graph, so flow on artificial arcs could be rerouted over a single real one.
	s.full = float64(1.5 * top) // not to be fused with the rounding to the grid
	if top == 0 {
		s.full = 1
	}
	t.reset(k, n, s.mass)
	big := float64(s.full * (1 - s.discount))
	s.pr.reset()
	if worthNewton(k, n) {
		if len(s.columns) != n {
			s.columns = grow(s.columns, n)
			for j := range s.columns {
				s.columns[j] = int32(j)
			}
		}
		if s.newtonPrices(ctx, top) {
			s.assign()
			s.pr.seed(s.nw.served, seedWidths*s.nw.h, &s.watch)
		}
	}
	s.setGrid(s.gridFor(top), big)
}

// assign replaces the star of reset: every column hangs from the row that serves it at least cost
// at the row prices s.nw.f, at its upper bound if that cost is below zero, and
// at its lower bound if not; an artificial arc takes what a row has left or brings what it lacks. Any
// prices give a strongly feasible tree.
//
// Columns are filled while there is mass for them, or all of them if they take at most 9/8 of the mass.
func (s *solver) assign() {
	t, w := &s.net, &s.nw
	k, n := t.k, t.n
	served := s.serve()
	if s.watch.over {
		return // the star will do
	}
	spare, wanted := s.total, uint64(0)
	for j, l := range t.low {
		spare -= l
		if served[j].least < 0 {
			wanted += min(t.room[j], 2*s.total-wanted) // 2 total is too much, and columns without bound want it
		}
	}
	if wanted <= spare+s.total/8 {
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

	last := t.root
	add := func(v, depth int32) {
		t.links[last].next, t.links[v].depth = v, depth
		t.nodes[v].prev = last
		last = v
	}
	for i, m := range s.mass {
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
		if !s.watch.row(n) {
			t.reset(k, n, s.mass)
			return
		}
		row := s.pr.rows.at(s.pr.index[i])
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
