package mincostflow

import (
	"math"
	"math/big"
	"math/bits"
)

// exactPrices are the prices of a tree for costs that are not rounded: integers times 2^exp, a
// power of two that divides all costs of rows with mass. They decide whether the tree is optimal, and
// which arc improves it if not.
type exactPrices struct {
	exp    int
	pi     []big.Int
	near   []float64 // pi * 2^exp, rounded; +Inf for columns that take nothing
	pivots int

	x, rc, least big.Int
}

// compute chooses exp and computes the prices of the tree of s. It reports whether it could before the context ended.
func (e *exactPrices) compute(s *solver) bool {
	t := &s.sx.tree
	e.exp = math.MaxInt
	for i := range s.rows.index {
		if !s.watch.row(t.n) {
			return false
		}
		for _, c := range s.rows.raw(i) {
			if b := math.Float64bits(c) << 1; b != 0 { // a cost may be -0
				exp := max(int(b>>53), 1) - 1075
				e.exp = min(e.exp, exp+bits.TrailingZeros64(b>>1&(1<<52-1)|1<<52))
			}
		}
	}
	if e.exp == math.MaxInt {
		e.exp = 0
	}
	e.exp = max(e.exp, -1074)
	e.pi, e.near = make([]big.Int, len(t.nodes)), make([]float64, len(t.nodes))
	for v := range e.near {
		e.near[v] = math.Inf(1)
	}
	e.near[t.root] = 0
	for v := t.links[t.root].next; v != t.root; v = t.links[v].next {
		p := &t.nodes[v]
		var c float64
		switch p.kind {
		case realArc:
			if s.rows.exp != 0 && !s.watch.row(t.n) {
				return false
			}
			c = s.rawCost(v)
		case artificial:
			c = s.rows.most // below, twice that
		}
		e.integer(&e.x, c)
		if p.kind == artificial {
			e.x.Lsh(&e.x, 1)
			e.x.Add(&e.x, big.NewInt(1))
		}
		if !p.up {
			e.x.Neg(&e.x)
		}
		e.pi[v].Add(&e.pi[p.parent], &e.x)
		e.round(v)
	}
	return true
}

// rawCost returns the cost of the real arc from v to its parent as the matrix has it.
func (s *solver) rawCost(v int32) float64 {
	t := &s.sx.tree
	if s.rows.exp == 0 {
		return t.cost[v]
	}
	i, j := v, t.nodes[v].parent
	if int(i) >= t.k {
		i, j = j, i
	}
	return s.rows.raw(int(i))[int(j)-t.k]
}

// integer sets z to c / 2^exp, for a cost c.
func (e *exactPrices) integer(z *big.Int, c float64) {
	m, exp := math.Frexp(c)
	z.SetInt64(int64(math.Ldexp(m, 53)))
	if d := exp - 53 - e.exp; d >= 0 {
		z.Lsh(z, uint(d))
	} else {
		z.Rsh(z, uint(-d)) // zeros only
	}
}

// round brings near[v] up to date.
func (e *exactPrices) round(v int32) {
	f, _ := e.pi[v].Float64()
	e.near[v] = math.Ldexp(f, e.exp)
}

// rat returns the price of a node.
func (e *exactPrices) rat(v int32) *big.Rat {
	if e.exp >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Lsh(&e.pi[v], uint(e.exp)))
	}
	return new(big.Rat).SetFrac(&e.pi[v], new(big.Int).Lsh(big.NewInt(1), uint(-e.exp)))
}

// repair pivots until no arc improves the plan, and reports whether it could before it had to stop.
func (e *exactPrices) repair(s *solver) bool {
	t := &s.sx.tree
	for clean, i := 0, 0; clean <= t.k; i++ { // the slack arcs count as one row more
		if s.sx.pr.limited() || !s.watch.row(t.n) {
			return false
		}
		if i > t.k {
			i = 0
		}
		improved := false
		if i < t.k {
			improved = e.row(s, int32(i))
		} else {
			improved = e.slacks(s)
		}
		if clean++; improved {
			clean = 0
			i-- // there may be more
		}
	}
	return true
}

// row pivots on the arc of row i that improves the plan most, and reports whether there is one.
func (e *exactPrices) row(s *solver, i int32) bool {
	t := &s.sx.tree
	k := int32(t.k)
	row := s.rows.raw(int(i))
	pi := e.near[i]
	near := e.near[k : int(k)+t.n][:len(row)]
	best := int32(-1)
	e.least.SetInt64(0)
	for j, c := range row {
		if (c-pi)+near[j] > doubt(c, pi, near[j]) {
			continue // certainly not
		}
		if math.IsInf(near[j], 1) && !t.live(j) {
			continue
		}
		e.integer(&e.rc, c)
		e.rc.Sub(&e.rc, &e.pi[i])
		e.rc.Add(&e.rc, &e.pi[k+int32(j)])
		if e.rc.Cmp(&e.least) < 0 {
			e.least.Set(&e.rc)
			best = int32(j)
		}
	}
	if best < 0 {
		return false
	}
	e.pivot(s, i, k+best, realArc, s.rows.at(int(i))[best], unbounded)
	return true
}

// slacks pivots on the slack arc that improves the plan most, and reports whether there is one.
func (e *exactPrices) slacks(s *solver) bool {
	t := &s.sx.tree
	best := -1
	e.least.SetInt64(0)
	for j := range t.n {
		// The reduced cost is -pi to fill up, pi to empty.
		x := &e.pi[t.k+j]
		if t.slackSign[j] == 0 || x.Sign() == 0 || (x.Sign() > 0) != (t.slackSign[j] > 0) {
			continue
		}
		if x.CmpAbs(&e.least) > 0 {
			e.least.Set(x)
			best = j
		}
	}
	if best < 0 {
		return false
	}
	a, b := int32(t.k+best), t.root
	if t.slackSign[best] < 0 {
		a, b = b, a
	}
	e.least.Abs(&e.least)
	e.least.Neg(&e.least)
	e.pivot(s, a, b, slack, 0, t.room[best])
	return true
}

// pivot is basis.pivot for an arc with reduced cost e.least.
func (e *exactPrices) pivot(s *solver, a, b int32, kind arcKind, cost float64, most uint64) {
	t := &s.sx.tree
	e.pivots++
	t.pivot(a, b, kind, cost, 0, most)
	if kind == slack && t.slack[int(min(a, b))-t.k] != inTree {
		return // it went from one bound to the other, and the tree stays
	}
	// The subtree that has moved hangs from the new arc.
	v := a
	if p := &t.nodes[a]; p.parent != b || p.kind != kind {
		v = b
		e.least.Neg(&e.least)
	}
	for depth := t.links[v].depth; ; {
		e.pi[v].Add(&e.pi[v], &e.least)
		e.round(v)
		if v = t.links[v].next; t.links[v].depth <= depth {
			return
		}
	}
}
