package basemeasure

import "math"

// simplex is a basis of the game. Slack variables y_j that are basic cost nothing: only the kernel, the basic
// columns and the rows J of the outputs whose slack is not basic, is inverted. The bounds are generalized upper bounds
// (Dantzig and Van Slyke 1967): in each of them one basic column is the key, which is eliminated, so that the working
// basis is as small as J itself: the square matrix S of the nonkey columns over J, each minus the key of its bound.
type simplex struct {
	*game
	bounds []float64 // right-hand sides
	own    []int     // the bound of each input, or noBound
	shared int       // the bound of the maximum, or noBound
	keys   []*column // by bound

	perm   []int // position -> output: J first, then the outputs with a basic slack
	n      int   // size of J, and of nonkey
	nonkey []*column
	held   []*column // columns that are not basic and have a value all the same: during the start
	coming *column   // the entering column, which may have a value too
	cands  []*column // cuts that may enter
	cols   []float64 // the numbers of the nonkey columns, row after row
	inv    inverse   // of S: a row per nonkey column, an entry per position of J
	m      []float64 // by position in J
	y      []float64 // by position beyond J

	lamTol, slackTol float64 // Harris: how far a basic variable may be pushed below zero
	pivotTol         float64 // entries below this, relative to the largest, do not block
	leastPivot       float64 // rejectPivot or lastPivot

	work   int // multiplications of the pivots, about
	pivots int
	fresh  int // pivots when the inverse was last computed from scratch
	stats  *Stats

	// The direction of the last entering variable.
	w  []float64 // of nonkey, then of the keys
	dy []float64 // by position, from checkFrom

	rhs, tmp []float64
	spreads  []float64 // of an exchange, by row of inv
	terms    []term
	spare    []*column // former columns, for their memory
}

// newSimplex returns a basis without columns; start gives it some.
func newSimplex(g *game, stats *Stats) *simplex {
	s := &simplex{
		game: g, stats: stats, leastPivot: rejectPivot, shared: noBound,
		perm: make([]int, g.kv), own: make([]int, g.k),
		y: make([]float64, g.kv), dy: make([]float64, g.kv),
		rhs: make([]float64, g.kv+1), spreads: make([]float64, g.kv+1), inv: inverse{most: g.kv},
	}
	for j := range s.perm {
		s.perm[j] = j
	}
	for i, floor := range g.aim.floor {
		s.own[i] = noBound
		if floor > 0 {
			s.own[i] = len(s.bounds)
			s.bounds = append(s.bounds, floor)
		}
	}
	if g.aim.share > 0 {
		s.shared = len(s.bounds)
		s.bounds = append(s.bounds, g.aim.share)
	}
	s.keys = make([]*column, len(s.bounds))
	s.tmp = make([]float64, g.kv+1+len(s.bounds))
	return s
}

// newColumn returns the cut of an input at eta, in units of the game, or the column of a bound on the mass.
func (s *simplex) newColumn(input, bound int, eta float64) *column {
	var c *column
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c = &column{g: make([]float64, s.kv)}
	}
	*c = column{input: input, bound: bound, g: c.g}
	switch input {
	case maxMass:
		c.t = -1 / s.alpha
		fill(c.g, 1)
	case minMass:
		c.t = 1 / s.beta
		fill(c.g, -1)
	default:
		eta = min(eta, s.top)
		c.eta, c.t = eta, eta
		s.slopes(input, eta, c.g)
	}
	return c
}

// slopes writes the g of cut (i, eta) by position.
func (s *simplex) slopes(i int, eta float64, dst []float64) {
	row := s.table.Row(i, nil)
	ab := [2]float64{s.alpha, s.beta}
	base, unit, top := s.base, s.unit, s.top
	for p, j := range s.perm[:len(dst)] {
		x := min((row[j]-base)*unit, top) - eta
		dst[p] = x * ab[math.Float64bits(x)>>63]
	}
}

// drop lets a column be used again; nobody may refer to it.
func (s *simplex) drop(c *column) { s.spare = append(s.spare, c) }

// key returns the key of the bound that a column is in; nil if it is in none.
func (s *simplex) key(c *column) *column {
	if c.bound == noBound {
		return nil
	}
	return s.keys[c.bound]
}

// basic returns the column of entry c of the direction.
func (s *simplex) basic(c int) *column {
	if c < s.n {
		return s.nonkey[c]
	}
	return s.keys[c-s.n]
}

// price is the price of a bound: the cost of its key in the model.
func (s *simplex) price(bound int) float64 {
	if bound == noBound {
		return 0
	}
	key := s.keys[bound]
	return key.t + dot(s.m, key.g[:s.n])
}

// each calls f for every column.
func (s *simplex) each(f func(c *column)) {
	for _, c := range s.keys {
		f(c)
	}
	s.eachOther(f)
}

// eachOther calls f for every column that is not a key.
func (s *simplex) eachOther(f func(c *column)) {
	for _, list := range [...][]*column{s.nonkey, s.held, s.cands} {
		for _, c := range list {
			f(c)
		}
	}
	if s.coming != nil {
		f(s.coming)
	}
}

// swap exchanges two positions.
func (s *simplex) swap(p, q int) {
	if p == q {
		return
	}
	s.perm[p], s.perm[q] = s.perm[q], s.perm[p]
	s.y[p], s.y[q] = s.y[q], s.y[p]
	s.each(func(c *column) { c.g[p], c.g[q] = c.g[q], c.g[p] })
}

// refactor computes the inverse of S, and all values, from scratch.
func (s *simplex) refactor() bool {
	s.stats.Refactors++
	b := &s.inv
	b.pending = 0
	for c, col := range s.nonkey {
		for r := range s.n {
			b.a[r*b.stride+c] = s.reduced(col, r)
		}
	}
	if !invert(b.a, s.n, b.stride) {
		return false
	}
	s.fresh = s.pivots
	return s.recompute()
}

// reduced is the number at a position of a column minus its key.
func (s *simplex) reduced(c *column, p int) float64 {
	if key := s.key(c); key != nil {
		return c.g[p] - key.g[p]
	}
	return c.g[p]
}

// recompute computes lam, y and m from the inverse, with one step of refinement for each of lam and m. It
// reports false if the numbers are not finite.
func (s *simplex) recompute() bool {
	s.stats.Recomputes++
	n := s.n
	lam := s.tmp[:n]
	for _, c := range s.nonkey {
		c.value = 0
	}
	for range 2 { // S (lam + change) = -y: the second time y is a rounding
		s.settleKeys()
		s.settleSlacks(0, n)
		for p := range n {
			s.rhs[p] = -s.y[p]
		}
		s.inv.solve(s.rhs[:n], lam)
		for c, col := range s.nonkey {
			col.value += lam[c]
		}
	}
	s.settleKeys()
	s.settleSlacks(n, s.kv)

	s.m = s.m[:n]
	clear(s.m)
	for range 2 { // m S = -(t - t of the key)
		for c, col := range s.nonkey {
			lam[c] = s.price(col.bound) - col.t - dot(s.m, col.g[:n])
		}
		s.inv.left(lam, s.rhs[:n])
		axpy(1, s.rhs, s.m)
	}
	for _, x := range s.m {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// combine adds the terms of s, from an entry on, to y.
func (s *simplex) combine(y []float64, from int) {
	terms := s.terms
	share(len(y), len(y)*len(terms), func(a, b int) { combine(terms, from+a, y[a:b]) })
}

// settleKeys computes the values of the keys from those of the other columns.
func (s *simplex) settleKeys() {
	for bound, key := range s.keys {
		key.value = s.bounds[bound]
	}
	s.eachOther(func(c *column) {
		if key := s.key(c); key != nil {
			key.value -= c.value
		}
	})
}

// settleSlacks computes y at the positions from, ..., to - 1 from the values of the columns.
func (s *simplex) settleSlacks(from, to int) {
	clear(s.y[from:to])
	s.terms = s.terms[:0]
	s.each(func(c *column) {
		if c.value != 0 {
			s.terms = append(s.terms, term{c.value, c.g})
		}
	})
	s.combine(s.y[from:to], from)
}

// infeasibility is the most negative value of a basic variable.
func (s *simplex) infeasibility() float64 {
	worst := 0.0
	see := func(x float64) {
		if !(x >= worst) {
			worst = x
		}
	}
	s.each(func(c *column) { see(c.value) })
	for _, y := range s.y[s.n:] {
		see(y)
	}
	return worst
}

// bound is the value of the objective at the basis: a lower bound on the game if the basis is feasible.
func (s *simplex) bound() float64 {
	sum := 0.0
	s.each(func(c *column) { sum += c.t * c.value })
	return sum
}
