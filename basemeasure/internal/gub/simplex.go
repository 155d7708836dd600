package gub

import (
	"math"
	"slices"
)

// Column is a column of the program.
type Column struct {
	Label     int     // whatever the caller knows it by
	Bound     int     // the bound that holds it, or NoBound
	Objective float64 // its coefficient t there
	Value     float64 // of its variable x
	a         []float64
}

// NoBound is the bound of a column that is in none.
const NoBound = -1

// Counts are counts of work.
type Counts struct {
	Pivots     int
	Refactors  int // inverses computed from scratch
	Recomputes int // values and prices computed from the inverse
}

// Simplex is a basis, and the columns that may enter it. Rows have positions: first those whose slack is not basic, J,
// then the others. Coefficients of columns are kept by position.
type Simplex struct {
	rhs     []float64 // of the bounds
	rows    []int     // position -> row
	keys    []*Column // by bound
	nonkey  []*Column // the other basic columns, as many as J has rows
	offered []*Column // columns that are not basic; they have values during Start
	spare   []*Column // former columns, for their memory
	matrix  []float64 // the coefficients of the nonkey columns, one after the other
	inv     inverse   // of S: a row per nonkey column, an entry per position of J
	m       []float64 // by position in J
	y       []float64 // by position beyond J

	valueTol, slackTol float64 // how far the ratio test may push a basic variable below zero
	desperate          bool

	counts                *Counts
	oldInverse, oldValues int // pivots since the inverse, and all values, were last computed from scratch

	// The direction of the last entering variable.
	w  []float64 // of nonkey, then of the keys
	dy []float64 // by position, from checkFrom

	scratch [3][]float64
}

// New returns a basis without columns; Start gives it some. rhs are the right-hand sides of the bounds, which must not
// be negative. Values of columns may end below zero by valueTol, and slacks by slackTol. Work is added to counts.
func New(rows int, rhs []float64, valueTol, slackTol float64, counts *Counts) *Simplex {
	s := &Simplex{
		rhs: rhs, rows: make([]int, rows), keys: make([]*Column, len(rhs)), inv: inverse{most: rows},
		y: make([]float64, rows), dy: make([]float64, rows),
		valueTol: valueTol, slackTol: slackTol, counts: counts,
	}
	for n := range s.scratch {
		s.scratch[n] = make([]float64, rows+1+len(rhs))
	}
	for p := range s.rows {
		s.rows[p] = p
	}
	return s
}

// Offer adds a column that may enter. write sets a[p] to the coefficient in rows[p], for all p. The column is the
// caller's to look at as long as it is offered or basic; its memory is used again then.
func (s *Simplex) Offer(label, bound int, objective float64, write func(rows []int, a []float64)) *Column {
	var c *Column
	if last := len(s.spare) - 1; last >= 0 {
		c, s.spare = s.spare[last], s.spare[:last]
	} else {
		c = &Column{a: make([]float64, len(s.rows))}
	}
	*c = Column{Label: label, Bound: bound, Objective: objective, a: c.a}
	write(s.rows, c.a)
	s.offered = append(s.offered, c)
	return c
}

// Withdraw takes back all columns that were offered and are not basic.
func (s *Simplex) Withdraw() {
	s.spare = append(s.spare, s.offered...)
	s.offered = s.offered[:0]
}

// withdraw takes a column off those that are offered.
func (s *Simplex) withdraw(c *Column) {
	if at := slices.Index(s.offered, c); at >= 0 {
		s.offered = slices.Delete(s.offered, at, at+1)
	}
}

// Columns yields all basic columns, and those that are offered.
func (s *Simplex) Columns(yield func(c *Column) bool) {
	for _, list := range [...][]*Column{s.keys, s.nonkey, s.offered} {
		for _, c := range list {
			if !yield(c) {
				return
			}
		}
	}
}

// Key returns a basic column of a bound.
func (s *Simplex) Key(bound int) *Column { return s.keys[bound] }

// BoundPrice returns the price of a bound, which is 0 for NoBound.
func (s *Simplex) BoundPrice(bound int) float64 {
	if bound == NoBound {
		return 0
	}
	key := s.keys[bound]
	return key.Objective + dot(s.m, key.a[:len(s.m)])
}

// Multipliers yields the rows of J with their multipliers. Those of all other rows are 0.
func (s *Simplex) Multipliers(yield func(row int, m float64) bool) {
	for p, x := range s.m {
		if !yield(s.rows[p], x) {
			return
		}
	}
}

// Objective is the value of the objective at the basis: at most the optimum, if the basis is feasible.
func (s *Simplex) Objective() float64 {
	sum := 0.0
	for c := range s.Columns {
		sum += c.Objective * c.Value
	}
	return sum
}

// Work is about the number of multiplications of a pivot, its pricing included.
func (s *Simplex) Work() int {
	n := len(s.nonkey)
	return n*(len(s.rows)+n+len(s.offered)) + len(s.rows)
}

// basic returns the column of entry c of the direction.
func (s *Simplex) basic(c int) *Column {
	if n := len(s.nonkey); c >= n {
		return s.keys[c-n]
	}
	return s.nonkey[c]
}

// reduced is the coefficient at a position of a column, less that of its key.
func (s *Simplex) reduced(c *Column, p int) float64 {
	if c.Bound == NoBound {
		return c.a[p]
	}
	return c.a[p] - s.keys[c.Bound].a[p]
}

// swap exchanges two positions.
func (s *Simplex) swap(p, q int) {
	if p == q {
		return
	}
	s.rows[p], s.rows[q] = s.rows[q], s.rows[p]
	s.y[p], s.y[q] = s.y[q], s.y[p]
	for c := range s.Columns {
		c.a[p], c.a[q] = c.a[q], c.a[p]
	}
}

const (
	refactorEvery  = 1500 // pivots
	recomputeEvery = 60   // pivots
	infeasibleTol  = 1e-3 // basic values below minus this are no rounding
)

// Refresh computes values, prices and the inverse again when they are due, or when the basis is infeasible. It reports
// false if the basis is beyond repair.
func (s *Simplex) Refresh() bool {
	ok := true
	switch {
	case s.oldInverse > refactorEvery:
		ok = s.Refactor()
	case s.oldValues > recomputeEvery:
		ok = s.recompute()
	}
	if ok && s.Feasible() {
		return true
	}
	return !s.Fresh() && s.Refactor() && s.Feasible()
}

// Fresh reports whether no pivot was made since the inverse was last computed from scratch.
func (s *Simplex) Fresh() bool { return s.oldInverse == 0 }

// Feasible reports whether no basic variable is far below zero.
func (s *Simplex) Feasible() bool {
	for c := range s.Columns {
		if !(c.Value > -infeasibleTol) {
			return false
		}
	}
	for _, y := range s.y[len(s.nonkey):] {
		if !(y > -infeasibleTol) {
			return false
		}
	}
	return true
}

// Refactor computes the inverse of S, and all values, from scratch. It reports false if S is singular.
func (s *Simplex) Refactor() bool {
	s.counts.Refactors++
	b, n := &s.inv, len(s.nonkey)
	for c, col := range s.nonkey {
		for r := range n {
			b.a[r*b.stride+c] = s.reduced(col, r)
		}
	}
	if !invert(b.a, n, b.stride) {
		return false
	}
	s.oldInverse = 0
	return s.recompute()
}

// recompute computes x, y and m from the inverse, with one step of refinement for each of x and m. It reports false if
// the numbers are not finite.
func (s *Simplex) recompute() bool {
	s.counts.Recomputes++
	s.oldValues = 0
	n := len(s.nonkey)
	rhs, x := s.scratch[0][:n], s.scratch[1][:n]
	for _, c := range s.nonkey {
		c.Value = 0
	}
	for range 2 { // S (x + change) = -y: the second time y is a rounding
		s.computeKeys()
		s.computeSlacks(0, n)
		for p := range n {
			rhs[p] = -s.y[p]
		}
		s.inv.solve(rhs, x)
		for c, col := range s.nonkey {
			col.Value += x[c]
		}
	}
	s.computeKeys()
	s.computeSlacks(n, len(s.rows))

	s.m = s.m[:n]
	clear(s.m)
	for range 2 { // m S = -(t - t of the key)
		for c, col := range s.nonkey {
			x[c] = s.BoundPrice(col.Bound) - col.Objective - dot(s.m, col.a[:n])
		}
		s.inv.left(x, rhs)
		axpy(1, rhs, s.m)
	}
	for _, m := range s.m {
		if !(math.Abs(m) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// computeKeys computes the values of the keys from those of the other columns.
func (s *Simplex) computeKeys() {
	for bound, key := range s.keys {
		key.Value = s.rhs[bound]
	}
	for _, list := range [...][]*Column{s.nonkey, s.offered} {
		for _, c := range list {
			if c.Bound != NoBound {
				s.keys[c.Bound].Value -= c.Value
			}
		}
	}
}

// computeSlacks computes y at the positions from, ..., to - 1 from the values of the columns.
func (s *Simplex) computeSlacks(from, to int) {
	clear(s.y[from:to])
	for c := range s.Columns {
		if c.Value != 0 {
			axpy(c.Value, c.a[from:], s.y[from:to])
		}
	}
}
