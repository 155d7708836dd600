package mincostflow

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// A few rows against many columns (the usual source, with a handful of atoms) is solved from coarse
// to fine: groups of mergedColumns columns are merged into one, the smaller problem is solved, in
// the same way, and its row prices tell every column which row should serve it and at which bound
// it should be. The simplex then starts from that and has little left to do. Starts change the
// work, never the answer's certificate.
const (
	mergedColumns = 8
	// Measured with 20 to 250 rows: below four columns for every row, or a hundred columns, there
	// is nothing to gain. The rows are limited because the merged costs are held in memory, and
	// that is meant to stay within a small multiple of k + n.
	coarseColumns = 100
	coarseRatio   = 4
	coarseRows    = 128
)

// worthCoarse reports whether merging columns pays.
func worthCoarse(k, n int) bool { return k <= coarseRows && n >= coarseColumns && n >= coarseRatio*k }

// start makes the first tree for the source in mass and the bounds in net.low and net.room.
func (s *solver) start(ctx context.Context, r *rows, index []int, mass []int64, top float64, most int) {
	t := &s.net
	k, n := len(index), len(t.low)
	s.pr.net, s.pr.rows, s.pr.index, s.pr.ctx, s.pr.most = t, r, index, ctx, most
	s.pr.sweeps, s.pr.polls = 0, 0
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
	t.reset(k, n, mass)
	if worthCoarse(k, n) {
		if prices, pivots := s.coarse(); prices != nil {
			t.assign(prices, r, index, mass)
			t.pivots = pivots
		}
	}
	s.setGrid(s.gridFor(top), float64(s.full*(1-s.discount)))
}

// coarse solves the problem with merged columns and returns the prices of the rows, or nil if it
// was stopped.
func (s *solver) coarse() (prices []float64, pivots int) {
	t := &s.net
	k, n := t.k, t.n
	m := (n + mergedColumns - 1) / mergedColumns
	c := solver{mass: s.mass, discount: s.discount}
	c.net.low, c.net.room = make([]int64, m), make([]int64, m)
	stand := make([]int, m) // the column whose costs stand for its group: a live one near the middle
	for g := range m {
		stand[g] = -1
		for j := g * mergedColumns; j < min((g+1)*mergedColumns, n); j++ {
			if t.live(j) && (stand[g] < 0 || j <= g*mergedColumns+mergedColumns/2) {
				stand[g] = j
			}
			c.net.low[g] += t.low[j]
			c.net.room[g] = min(c.net.room[g]+min(t.room[j], unit), unit)
		}
		if c.net.room[g] == unit {
			c.net.room[g] = unbounded
		}
	}
	costs := &cost.Dense{K: k, Kv: m, Data: make([]float64, k*m)}
	index := make([]int, k)
	var top float64
	for i := range k {
		index[i] = i
		row := s.pr.rows.at(s.pr.index[i])
		for g, j := range stand {
			if j >= 0 {
				costs.Data[i*m+g] = row[j]
				top = max(top, row[j])
			}
		}
	}
	c.start(s.pr.ctx, newRows(costs, m), index, s.mass, top, s.pr.most)
	if c.pr.run() != Optimal {
		return nil, 0
	}
	return c.net.pi[:k], c.net.pivots
}

// assign replaces the star of reset: every column hangs from the row that serves it at least cost
// at the given row prices, at its upper bound if that cost is below zero and at its lower bound if
// not, and an artificial arc takes what a row has left or brings what it lacks. Any prices give a
// strongly feasible tree.
func (t *network) assign(prices []float64, r *rows, index []int, mass []int64) {
	k, n := t.k, t.n
	least, by := make([]float64, n), make([]int32, n)
	for j := range least {
		least[j] = math.Inf(1)
	}
	for i, f := range prices {
		row := r.at(index[i])
		l := least[:len(row)]
		for j, c := range row {
			if x := c - f; x < l[j] {
				l[j], by[j] = x, int32(i)
			}
		}
	}

	left := make([]int64, k)
	copy(left, mass)
	spare := int64(unit) // what may stand above lower bounds: flows stay below three units
	first, next := make([]int32, k), make([]int32, n)
	for i := range first {
		first[i] = -1
	}
	for j := n - 1; j >= 0; j-- {
		if !t.live(j) {
			continue
		}
		state, flow := atLower, t.low[j]
		if least[j] < 0 && t.room[j] > 0 && t.room[j] <= spare {
			state, flow = atUpper, t.low[j]+t.room[j]
			spare -= t.room[j]
		}
		if flow == 0 {
			continue // it stays on its slack arc
		}
		i := by[j]
		t.setSlack(j, state)
		t.nodes[k+j] = node{parent: i, flow: flow, kind: realArc}
		left[i] -= flow
		first[i], next[j] = int32(j), first[i]
	}

	last := t.root
	add := func(v, depth int32) {
		t.links[last].next, t.links[v].depth = v, depth
		t.nodes[v].prev = last
		last = v
	}
	for i, l := range left {
		t.nodes[i] = node{parent: t.root, flow: max(l, -l), kind: artificial, up: l >= 0}
		add(int32(i), 1)
		row := r.at(index[i])
		for j := first[i]; j >= 0; j = next[j] {
			t.cost[k+int(j)] = row[j]
			add(int32(k)+j, 2)
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
