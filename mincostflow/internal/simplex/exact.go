package simplex

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
)

// OptimiseExactly goes on from an optimal tree: it prices every arc with the costs as they are, in floats where that
// leaves no doubt and exactly where it does, and pivots until none improves the plan. It returns the potentials of the
// rows that take part and of the columns, nil for columns that take no part, and how many pivots there were. ok is
// false, and f and g are nil, if it had to stop.
func (s *Solver) OptimiseExactly() (f, g []*big.Rat, pivots int, ok bool) {
	var e exactPrices
	if !e.compute(s) || !e.repair(s) {
		return nil, nil, e.pivots, false
	}
	t := &s.tree
	f, g = make([]*big.Rat, t.k), make([]*big.Rat, t.n)
	for i := range f {
		f[i] = e.pi[i].Rat()
	}
	for j := range g {
		if t.live(j) {
			g[j] = new(num.Dyadic).Minus(&e.pi[t.k+j]).Rat()
		}
	}
	return f, g, e.pivots, true
}

// exactPrices are the prices of a tree for costs that are not rounded. They decide whether the tree is optimal, and
// which arc improves it if not.
type exactPrices struct {
	pi     []num.Dyadic
	near   []float64 // pi, rounded; +Inf for columns that take nothing
	pivots int
}

// compute computes the prices of the tree of s. It reports whether it could before the context ended.
func (e *exactPrices) compute(s *Solver) bool {
	t := &s.tree
	e.pi, e.near = make([]num.Dyadic, len(t.nodes)), make([]float64, len(t.nodes))
	for v := range e.near {
		e.near[v] = math.Inf(1)
	}
	e.near[t.root] = 0
	for v := t.after(t.root); v != t.root; v = t.after(v) {
		p := &t.nodes[v]
		var c *num.Dyadic
		switch p.kind {
		case Slack:
			c = new(num.Dyadic)
		case Artificial: // more than any real arc
			if c = num.NewDyadic(1); s.rows.most > 0 {
				c = num.NewDyadic(s.rows.most).Times(num.NewDyadic(2))
			}
		case Real:
			if s.rows.exp != 0 && !s.watch.look() {
				return false
			}
			c = num.NewDyadic(s.rawCost(v))
		}
		if p.up {
			e.pi[v] = *c.Add(&e.pi[p.parent])
		} else {
			e.pi[v] = *e.pi[p.parent].Minus(c)
		}
		e.near[v] = e.pi[v].Float()
	}
	return true
}

// rawCost returns the cost of the real arc from v to its parent as the matrix has it.
func (s *Solver) rawCost(v int32) float64 {
	t := &s.tree
	if s.rows.exp == 0 {
		return t.cost[v]
	}
	i, j := t.ends(v)
	return s.rows.raw(int(i))[j]
}

// repair pivots until no arc improves the plan, and reports whether it could before it had to stop.
func (e *exactPrices) repair(s *Solver) bool {
	t := &s.tree
	for clean, i := 0, 0; clean <= t.k; i++ { // the slack arcs count as one row more
		if !s.watch.look() {
			return false
		}
		if i > t.k {
			i = 0
		}
		improved := false
		if i < t.k {
			improved = e.row(s, int32(i))
		} else {
			improved = e.slacks(t)
		}
		if clean++; improved {
			clean = 0
			i-- // there may be more
		}
	}
	return true
}

// row pivots on the arc of row i that improves the plan most, and reports whether there is one.
func (e *exactPrices) row(s *Solver, i int32) bool {
	t := &s.tree
	k := int32(t.k)
	row := s.rows.raw(int(i))
	pi := e.near[i]
	near := e.near[k : int(k)+t.n][:len(row)]
	best, least := int32(-1), new(num.Dyadic)
	for j, c := range row {
		if (c-pi)+near[j] > ctransform.Doubt(c, pi, near[j]) {
			continue // certainly not
		}
		if math.IsInf(near[j], 1) && !t.live(j) {
			continue
		}
		if rc := num.NewDyadic(c).Add(&e.pi[k+int32(j)]).Minus(&e.pi[i]); rc.Cmp(least) < 0 {
			best, least = int32(j), rc
		}
	}
	if best < 0 {
		return false
	}
	e.pivot(t, i, k+best, Real, s.rows.at(int(i))[best], unbounded, least)
	return true
}

// slacks pivots on the slack arc that improves the plan most, and reports whether there is one.
func (e *exactPrices) slacks(t *basis) bool {
	best, least := -1, new(num.Dyadic)
	for j, sign := range t.slackSign {
		// The reduced cost is -pi to fill up, pi to empty.
		x := &e.pi[t.k+j]
		if sign == 0 || x.Sign() != int(sign) {
			continue
		}
		if rc := new(num.Dyadic).Minus(x.Abs()); rc.Cmp(least) < 0 {
			best, least = j, rc
		}
	}
	if best < 0 {
		return false
	}
	a, b := int32(t.k+best), t.root
	if t.slackSign[best] < 0 {
		a, b = b, a
	}
	e.pivot(t, a, b, Slack, 0, t.room[best], least)
	return true
}

// pivot is basis.pivot for an arc with reduced cost rc.
func (e *exactPrices) pivot(t *basis, a, b int32, kind Kind, cost float64, most uint64, rc *num.Dyadic) {
	e.pivots++
	t.pivot(a, b, kind, cost, 0, most)
	if kind == Slack && t.slack[int(min(a, b))-t.k] != InTree {
		return // it went from one bound to the other, and the tree stays
	}
	// The subtree that has moved hangs from the new arc.
	v := a
	if p := &t.nodes[a]; p.parent != b || p.kind != kind {
		v, rc = b, new(num.Dyadic).Minus(rc)
	}
	for range t.nodes[v].size {
		e.near[v] = e.pi[v].Add(rc).Float()
		v = t.after(v)
	}
}
