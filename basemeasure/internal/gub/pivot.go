package gub

import "math"

// Outcome says what Enter did.
type Outcome int

const (
	Pivoted   Outcome = iota
	Retry             // the inverse was computed again, and all values and prices with it: price again
	Rejected          // no acceptable pivot; a column is not offered any more
	Broken            // the inverse could not be computed
	exhausted         // the entering variable fell to zero
)

// Tolerances of a pivot, relative to the largest entry of the direction (at least 1). The families of package
// basemeasure's TestFamilies are solved with them; docs/algorithms/base-measure.md has the table.
const (
	smallPivot  = 1e-5  // a pivot below this is only taken with a fresh inverse,
	rejectPivot = 1e-7  // and below this only when nothing else is left:
	lastPivot   = 1e-11 // rounding is 1e-16, so five digits of such a pivot are right
	residualTol = 1e-9  // of S w = a: beyond it the inverse is computed again
)

// Rounding is the reduced cost below which a variable does not enter.
const Rounding = 1e-14

// Price returns the variable with the largest reduced cost among the columns that are offered and the slacks of rows
// that may says yes to: the rule of Dantzig on a candidate list (multiple pricing).
func (s *Simplex) Price(may func(row int) bool) (e Entry, found bool) {
	e = Entry{Reduced: Rounding, sign: 1}
	prices := s.scratch[0][:len(s.keys)]
	for bound := range prices {
		prices[bound] = math.NaN() // not asked for yet
	}
	for _, c := range s.offered {
		price := 0.0
		if c.Bound != NoBound {
			if price = prices[c.Bound]; price != price {
				price = s.BoundPrice(c.Bound)
				prices[c.Bound] = price
			}
		}
		if reduced := c.Objective + dot(s.m, c.a) - price; reduced > e.Reduced {
			e.Column, e.Reduced, found = c, reduced, true
		}
	}
	for p, m := range s.m {
		if -m > e.Reduced && may(s.rows[p]) {
			e.Column, e.Row, e.at, e.Reduced, found = nil, s.rows[p], p, -m, true
		}
	}
	return e, found
}

// Enter lets a variable enter, whose reduced cost must be that of the present basis. This is one pivot.
func (s *Simplex) Enter(e Entry) Outcome {
	out := s.enter(&e)
	if e.Column != nil && out != Retry && out != Broken {
		s.withdraw(e.Column)
		if out != Pivoted {
			s.spare = append(s.spare, e.Column)
		}
	}
	return out
}

func (s *Simplex) enter(e *Entry) Outcome {
	size, residual := s.direction(e)
	if !(residual <= residualTol*size) && !s.Fresh() {
		return s.again()
	}
	l := s.leaves(e, size)
	if l.kind == leaveNone {
		return Rejected
	}
	if l.kind != leaveSelf && l.pivot < smallPivot*size {
		if !s.Fresh() {
			return s.again()
		}
		least := rejectPivot
		if s.desperate {
			least = lastPivot
		}
		if l.pivot < least*size {
			return Rejected
		}
	}
	s.move(e, l.step)
	if l.kind == leaveSelf {
		return exhausted
	}
	s.counts.Pivots++
	s.oldInverse++
	s.oldValues++
	s.exchange(e, l)
	return Pivoted
}

// Desperate sets whether pivots are taken that are so small that few of their digits are right, which are rejected
// otherwise. It reports whether that is a change.
func (s *Simplex) Desperate(yes bool) bool {
	changed := s.desperate != yes
	s.desperate = yes
	return changed
}

func (s *Simplex) again() Outcome {
	if !s.Refactor() {
		return Broken
	}
	return Retry
}

// move changes all basic values.
func (s *Simplex) move(e *Entry, step float64) {
	by := e.sign * step
	for c, w := range s.w {
		s.basic(c).Value -= by * w
	}
	n := len(s.nonkey)
	axpy(by, s.dy[n:], s.y[n:])
	if e.Column != nil {
		e.Column.Value += by
	}
}
