package mincostflow

import (
	"context"
	"math"
)

// start makes the first tree for the source in s.units and the box: a star, a tree from the prices that Newton's method
// finds, or one from a smaller problem.
func (s *solver) start(ctx context.Context, maxPivots int) {
	s.watch = watch{ctx: ctx}
	x, w := &s.sx, &s.nw
	x.begin(&s.watch, &s.rows, s.units, s.in.low, s.in.room, maxPivots)
	w.bind(&x.tree, &s.rows, &s.watch, s.units, s.total)
	switch k := x.tree.k; {
	case worthNewton(k, x.tree.n) && w.prices():
		w.assign()
		x.pr.seed(w, seedWidths*w.Width)
	case k <= lightRows && s.startHeavy():
	case s.scales.start(x, &s.watch, s.units, s.total):
	case k > lightRows && k <= lightMost:
		s.startHeavy()
	}
	x.setGrid(x.tried, float64(x.full*(1-s.discount)))
}

// startHeavy makes a tree from Newton's prices of the rows with most mass, if that is likely to pay, and reports
// whether it did. Artificial arcs have the prices of their rows, if columns cannot take so much that flows overflow.
func (s *solver) startHeavy() bool {
	x, w := &s.sx, &s.nw
	if !w.choose() || !w.prices() {
		return false
	}
	w.assign()
	x.pr.seed(w, seedWidths*w.Width)
	if t := &x.tree; !s.watch.over && t.within(mostRaised) {
		w.priceArtificial()
		s.scales.raise(x, max(raisedWidths*w.Width, leastPrice*x.full), math.MaxUint64)
	} else {
		level(t)
	}
	return true
}

// within reports whether all columns take so much at most.
func (t *basis) within(most uint64) bool {
	for j, low := range t.low {
		if low > most || t.room[j] > most-low {
			return false
		}
		most -= low + t.room[j]
	}
	return true
}

// assign replaces the star of reset: every column hangs from the row that serves it at least cost
// at the prices w.F of the heavy rows, at its upper bound if that cost is below zero, and
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
	if w.hangLight() {
		w.preorder()
	}
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
		i := w.heavy[served[j].by]
		t.setSlack(j, state)
		t.nodes[k+j] = node{parent: i, flow: flow, kind: realArc}
		w.sent[i] += flow
		w.first[i], w.next[j] = int32(j), w.first[i]
	}
}

// hangLight hangs the light rows from the columns that serve them at least cost, as far as these get more than that
// from heavy ones. It makes the star again if the context ends.
func (w *newton) hangLight() bool {
	t := w.tree
	k := t.k
	if len(w.heavy) == k {
		return true
	}
	w.onColumn, w.beside = grow(w.onColumn, t.n), grow(w.beside, k)
	for j := range w.onColumn {
		w.onColumn[j] = -1
		if t.nodes[k+j].kind != realArc { // nothing hangs from it
			w.served[j].least = math.Inf(-1)
		}
	}
	heavy := w.heavy
	for i := range k {
		if len(heavy) > 0 && int(heavy[0]) == i {
			heavy = heavy[1:]
			continue
		}
		if !w.watch.row(t.n) {
			t.reset(k, t.n, w.units)
			return false
		}
		row := w.rows.at(i)
		at, least := w.cheapest(row)
		if t.cost[i] = least; at < 0 {
			t.cost[i] = 0
			continue
		}
		if c := &t.nodes[k+at]; w.units[i] < c.flow {
			c.flow -= w.units[i]
			w.sent[c.parent] -= w.units[i]
			t.nodes[i] = node{parent: int32(k + at), flow: w.units[i], kind: realArc, up: true}
			t.cost[i] = row[at]
			w.onColumn[at], w.beside[i] = int32(i), w.onColumn[at]
		}
	}
	return true
}

// cheapest returns the column of least cost less price in a row, and that price of the row; or -1 if there is none.
func (w *newton) cheapest(row []float64) (at int, least float64) {
	at, least = -1, math.Inf(1)
	served := w.served[:len(row)]
	for j, c := range row {
		if x := c - served[j].least; x < least {
			at, least = j, x
		}
	}
	return at, least
}

// priceArtificial gives the artificial arcs of heavy rows their prices. hangLight has done so for light ones.
func (w *newton) priceArtificial() {
	for n, i := range w.heavy {
		w.tree.cost[i] = w.F[n]
		if !w.tree.nodes[i].up {
			w.tree.cost[i] = -w.F[n]
		}
	}
}

// preorder links the nodes of the tree that serveColumns has chosen: every row with its artificial arc and its
// columns, then the columns on slack arcs. It makes the star again if the context ends.
func (w *newton) preorder() {
	t := w.tree
	k, n := t.k, t.n
	last := t.root
	add := func(v int32) {
		t.follow(last, v)
		last = v
	}
	for i, m := range w.units {
		if t.nodes[i].kind == realArc {
			continue
		}
		p := node{parent: t.root, kind: artificial, up: m >= w.sent[i]}
		if p.up {
			p.flow = m - w.sent[i]
		} else {
			p.flow = w.sent[i] - m
		}
		t.nodes[i] = p
		add(int32(i))
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
				add(int32(k) + j)
			}
			if len(w.heavy) < k {
				for l := w.onColumn[j]; l >= 0; l = w.beside[l] {
					add(l)
				}
			}
		}
	}
	for j := range n {
		if t.live(j) && t.nodes[k+j].kind == slack {
			add(int32(k + j))
		}
	}
	t.follow(last, t.root)
	t.measure()
}
