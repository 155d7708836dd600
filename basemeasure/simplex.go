package basemeasure

import "math"

// simplex is a basis of the game. Slack variables y_j that are basic cost nothing: only the kernel, the basic
// columns and the rows J of the outputs whose slack is not basic, is inverted. The rows of the inputs are generalized
// upper bounds (Dantzig and Van Slyke 1967): in each of them one basic column is the key, which is eliminated, so that
// the working basis is as small as J itself.
//
// The surplus mu_i of a bound may be basic too. The rows of the inputs where it is, and the row of the mu, add up to one
// row, the shared bound, with one key. What remains is the square matrix S of the nonkey columns over J, each minus
// the key of its row.
type simplex struct {
	*game
	perm   []int     // position -> output: J first, then the outputs with a basic slack
	where  []int     // output -> position
	n      int       // size of J, and of nonkey
	shared *column   // key of the shared bound
	keys   []*column // keys of the inputs with a bound of their own; nil for those in the shared one
	mu     []float64 // of inputs in the shared bound with a floor
	nonkey []*column
	held   []*column   // columns that are not basic and have a value all the same: during the start
	coming *column     // the entering column, which may have a value too
	inv    [][]float64 // inverse of S: a row per nonkey column, an entry per position of J
	m      []float64   // by position in J
	y      []float64   // by position beyond J

	lamTol, slackTol float64 // Harris: how far a basic variable may be pushed below zero
	pivotTol         float64 // entries below this, relative to the largest, do not block
	leastPivot       float64 // rejectPivot or lastPivot

	pivots int
	fresh  int // pivots when the inverse was last computed from scratch
	stats  *Stats

	// The direction of the last entering variable.
	w       []float64 // of nonkey
	wShared float64   // of the shared key
	wKeys   []float64 // of keys; zero but at touched
	wMu     []float64 // of mu; zero but at touched
	touch   []int     // inputs with a wKeys or wMu, each once
	seen    []bool    // whether an input is among them
	dy      []float64 // by position, from checkFrom

	rhs, tmp []float64
	spreads  []float64 // of an exchange, by row of inv
	terms    []term
	spare    []*column   // former columns, for their memory
	rows     [][]float64 // memory of former rows of inv
	cands    []*candidate
}

// newSimplex returns a basis without columns; start gives it some.
func newSimplex(g *game, stats *Stats) *simplex {
	s := &simplex{
		game: g, stats: stats, leastPivot: rejectPivot,
		perm: make([]int, g.kv), where: make([]int, g.kv),
		keys: make([]*column, g.k), mu: make([]float64, g.k),
		y: make([]float64, g.kv), dy: make([]float64, g.kv),
		wKeys: make([]float64, g.k), wMu: make([]float64, g.k), seen: make([]bool, g.k),
		rhs: make([]float64, g.kv+1), tmp: make([]float64, g.kv+1), spreads: make([]float64, g.kv+1), cands: make([]*candidate, 0, candidates),
	}
	for j := range s.perm {
		s.perm[j], s.where[j] = j, j
	}
	return s
}

// slopes writes the g of cut (i, eta) by position; eta is in units of the game.
func (s *simplex) slopes(i int, eta float64, dst []float64) {
	row := s.table.Row(i, nil)
	ab := [2]float64{s.alpha, s.beta}
	base, unit := s.base, s.unit
	for p, j := range s.perm[:len(dst)] {
		x := (row[j]-base)*unit - eta
		dst[p] = x * ab[math.Float64bits(x)>>63]
	}
}

func (s *simplex) newColumn(input int, eta float64) *column {
	var c *column
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c = &column{g: make([]float64, s.kv)}
	}
	*c = column{input: input, position: -1, g: c.g}
	switch input {
	case maxMass:
		c.t = -1 / s.alpha
		fill(c.g, 1)
	case minMass:
		c.t = 1 / s.beta
		fill(c.g, -1)
	default:
		c.eta, c.t = eta, eta
		s.slopes(input, eta, c.g)
	}
	return c
}

// drop lets a column be used again; nobody may refer to it.
func (s *simplex) drop(c *column) { s.spare = append(s.spare, c) }

func fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}

// key returns the key of the row that input i is in; nil for maxMass and minMass.
func (s *simplex) key(i int) *column {
	switch {
	case i < 0:
		return nil
	case s.keys[i] != nil:
		return s.keys[i]
	}
	return s.shared
}

// inShared reports whether the column is a cut of an input in the shared bound.
func (s *simplex) inShared(c *column) bool { return c.input >= 0 && s.keys[c.input] == nil }

// tracked reports whether input i is in the shared bound with a mu of its own.
func (s *simplex) tracked(i int) bool { return i >= 0 && s.keys[i] == nil && s.floorOf(i) > 0 }

// eachKey calls f for every key.
func (s *simplex) eachKey(f func(c *column)) {
	if s.shared != nil {
		f(s.shared)
	}
	if s.floor != nil {
		for _, c := range s.keys {
			if c != nil {
				f(c)
			}
		}
	}
}

// swap exchanges two positions.
func (s *simplex) swap(p, q int) {
	if p == q {
		return
	}
	s.perm[p], s.perm[q] = s.perm[q], s.perm[p]
	s.where[s.perm[p]], s.where[s.perm[q]] = p, q
	s.y[p], s.y[q] = s.y[q], s.y[p]
	s.eachKey(func(c *column) { c.g[p], c.g[q] = c.g[q], c.g[p] })
	s.eachOther(func(c *column) { c.g[p], c.g[q] = c.g[q], c.g[p] })
}

// eachOther calls f for every column that is not a key.
func (s *simplex) eachOther(f func(c *column)) {
	for _, c := range s.nonkey {
		f(c)
	}
	for _, c := range s.held {
		f(c)
	}
	if s.coming != nil {
		f(s.coming)
	}
}

// refactor computes the inverse of S, and all values, from scratch.
func (s *simplex) refactor() bool {
	s.stats.Refactors++
	n := s.n
	a := make([]float64, n*n)
	for c, col := range s.nonkey {
		key := s.key(col.input)
		for r := range n {
			x := col.g[r]
			if key != nil {
				x -= key.g[r]
			}
			a[r*n+c] = x
		}
	}
	if !invert(a, s.inv) {
		return false
	}
	s.fresh = s.pivots
	return s.recompute()
}

// recompute computes lam, mu, y and m from the inverse, with one step of refinement for each of lam and m. It
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
		s.solve(s.rhs[:n], lam)
		for c, col := range s.nonkey {
			col.value += lam[c]
		}
	}
	s.settleKeys()
	s.settleSlacks(n, s.kv)

	// Prices: m S = -(t - t of the key).
	s.m = s.m[:n]
	clear(s.m)
	for pass := range 2 {
		s.terms = s.terms[:0]
		for c, col := range s.nonkey {
			d := -col.t
			key := s.key(col.input)
			if key != nil {
				d += key.t
			}
			if pass > 0 {
				d -= dot(s.m, col.g[:n])
				if key != nil {
					d += dot(s.m, key.g[:n])
				}
			}
			if d != 0 {
				s.terms = append(s.terms, term{d, s.inv[c]})
			}
		}
		s.combine(s.m, 0)
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
	work := len(y) * len(terms)
	if work < parallelWork {
		combineFrom(terms, from, y)
		return
	}
	share(len(y), work, func(a, b int) { combineFrom(terms, from+a, y[a:b]) })
}

// settleKeys computes the values of the keys and mu from those of the other columns.
func (s *simplex) settleKeys() {
	total := s.share
	for i, key := range s.keys {
		floor := s.floorOf(i)
		s.mu[i] = -floor
		if key != nil {
			key.value = floor
		} else {
			total += floor
		}
	}
	if s.shared != nil {
		s.shared.value = total
	}
	s.eachOther(func(c *column) {
		if key := s.key(c.input); key != nil {
			key.value -= c.value
		}
		if s.tracked(c.input) {
			s.mu[c.input] += c.value
		}
	})
	if s.shared != nil && s.tracked(s.shared.input) {
		s.mu[s.shared.input] += s.shared.value
	}
}

// settleSlacks computes y at the positions from, ..., to - 1 from the values of the columns.
func (s *simplex) settleSlacks(from, to int) {
	clear(s.y[from:to])
	s.terms = s.terms[:0]
	add := func(c *column) {
		if c.value != 0 {
			s.terms = append(s.terms, term{c.value, c.g})
		}
	}
	s.eachKey(add)
	s.eachOther(add)
	s.combine(s.y[from:to], from)
}

// solve writes inv * a to x.
func (s *simplex) solve(a, x []float64) {
	n, rows := s.n, s.inv[:s.n]
	if n*n < parallelWork {
		dots(rows, a, x)
		return
	}
	share((n+3)/4, n*n, func(from, to int) {
		from, to = 4*from, min(4*to, n)
		dots(rows[from:to], a, x[from:to])
	})
}

// infeasibility is the most negative value of a basic variable.
func (s *simplex) infeasibility() float64 {
	worst := 0.0
	see := func(x float64) {
		if !(x >= worst) {
			worst = x
		}
	}
	s.eachKey(func(c *column) { see(c.value) })
	for _, c := range s.nonkey {
		see(c.value)
		if s.tracked(c.input) {
			see(s.mu[c.input])
		}
	}
	if s.shared != nil && s.tracked(s.shared.input) {
		see(s.mu[s.shared.input])
	}
	for _, y := range s.y[s.n:] {
		see(y)
	}
	return worst
}

// bound is the value of the objective at the basis: a lower bound on the game if the basis is feasible.
func (s *simplex) bound() float64 {
	sum := 0.0
	s.eachKey(func(c *column) { sum += c.t * c.value })
	for _, c := range s.nonkey {
		sum += c.t * c.value
	}
	return sum
}

// model is the price of input i: the cost that the model gives it at m.
func (s *simplex) model(i int) float64 {
	key := s.key(i)
	return key.t + dot(s.m, key.g[:s.n])
}
