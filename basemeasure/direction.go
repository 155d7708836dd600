package basemeasure

import "math"

// entry is an entering variable, with its reduced cost: a column, or the slack of an output of J. A positive dir raises
// it; the starting basis also lowers columns with a value, by limit at most.
type entry struct {
	col   *column // nil for a slack
	at    int     // position of the slack
	gain  float64
	dir   float64
	limit float64
	slack float64 // its value afterwards
}

// Tolerances of the ratio test, relative to the largest entry of the direction (at least 1) where that is in
// question. The families of TestFamilies are solved with them; docs/algorithms/base-measure.md has the table.
const (
	smallPivot  = 1e-5  // a pivot below this is only taken with a fresh inverse,
	rejectPivot = 1e-7  // and below this only when nothing else is left:
	lastPivot   = 1e-11 // rounding is 1e-16, so five digits of such a pivot are right
	residualTol = 1e-9  // of S w = a: beyond it the inverse is computed again
	refineTol   = 1e-12 // beyond it w gets a step of refinement
	checkedTail = 8     // positions of J whose residual is checked at every pivot
	gainTol     = 1e-14 // a reduced cost below this is rounding
)

type outcome int

const (
	pivoted   outcome = iota
	retry             // the inverse was computed again; ask again
	rejected          // no acceptable pivot
	broken            // the inverse could not be computed
	exhausted         // the entering variable went to zero instead; nothing left
)

// direction computes how basic variables change when e enters: basic values fall by w, slacks rise by dy.
// It returns the largest |w|, at least 1, and the largest residual among the positions checked.
func (s *simplex) direction(e *entry) (size, residual float64) {
	n := s.n
	total := n + len(s.keys)
	if cap(s.w) < total {
		s.w = make([]float64, total, 2*total+16)
	}
	s.w = s.w[:total]
	if e.col == nil {
		s.inv.column(e.at, s.w[:n])
		for c := range n {
			s.w[c] = -s.w[c]
		}
	} else {
		copy(s.rhs[:n], e.col.g)
		if key := s.key(e.col); key != nil {
			axpy(-1, key.g[:n], s.rhs[:n])
		}
		s.inv.solve(s.rhs[:n], s.w[:n])
	}
	size = s.follow(e)
	for _, r := range s.dy[s.checkFrom():n] {
		residual = max(residual, math.Abs(r))
	}
	return size, residual
}

func (s *simplex) checkFrom() int { return max(0, s.n-checkedTail) }

// follow computes the direction of the keys and the slacks from that of the nonkey columns: what a column gains, the
// key of its bound loses. dy begins with the last positions of J, where it is zero but for rounding. It returns the
// largest entry of the direction of the columns, at least 1.
func (s *simplex) follow(e *entry) float64 {
	n, from := s.n, s.checkFrom()
	clear(s.w[n:])
	for c, col := range s.nonkey {
		if col.bound != noBound {
			s.w[n+col.bound] -= s.w[c]
		}
	}
	clear(s.dy[from:])
	if e.col == nil {
		if e.at >= from {
			s.dy[e.at] = -1
		}
	} else {
		copy(s.dy[from:], e.col.g[from:])
		if e.col.bound != noBound {
			s.w[n+e.col.bound]++
		}
	}
	size := 1.0
	for _, w := range s.w {
		size = max(size, math.Abs(w))
	}
	s.fall(s.dy[from:], from)
	return size
}

// fall subtracts from y, which starts at a position, what the direction of the columns takes.
func (s *simplex) fall(y []float64, from int) {
	if s.n > 0 {
		addTimes(-1, s.w[:s.n], s.cols[from:], s.kv, y)
	}
	s.terms = s.terms[:0]
	for bound, w := range s.w[s.n:] {
		if w != 0 {
			s.terms = append(s.terms, term{-w, s.keys[bound].g})
		}
	}
	s.combine(y, from)
}

// refine adds a step of iterative refinement to the direction.
func (s *simplex) refine(e *entry) {
	n := s.n
	r := s.rhs[:n]
	clear(r)
	if e.col != nil {
		copy(r, e.col.g)
	} else {
		r[e.at] = -1
	}
	s.fall(r, 0)
	s.inv.solve(r, s.tmp[:n])
	axpy(1, s.tmp, s.w[:n])
	s.follow(e)
}

// leaving names the variable that leaves.
type leaving struct {
	kind  leavingKind
	at    int // index in nonkey or keys, or position
	pivot float64
	step  float64
}

type leavingKind int

const (
	leaveNone leavingKind = iota
	leaveNonkey
	leaveKey
	leaveSlack // an output joins J
	leaveSelf  // the entering variable itself
)

// harris is the ratio test of Harris (1973) in two passes: the longest step within a tolerance, then the largest pivot
// among those that block before its end.
type harris struct {
	tol  float64 // entries below it do not block
	most float64 // the longest step
	best leaving
}

// relax shortens the step so that none of the values, which fall by sign*moves, ends below -slack.
func (h *harris) relax(values, moves []float64, sign, slack float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if value < 0 {
			value = 0
		}
		// Compared as products: a quotient is only formed where the minimum changes, which is rare.
		if w := sign * moves[i]; value+slack < h.most*w && w > h.tol {
			h.most = (value + slack) / w
		}
	}
}

// block takes the variable that blocks with the largest pivot, if that is the largest so far; the first is number from.
func (h *harris) block(kind leavingKind, from int, values, moves []float64, sign float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if w := sign * moves[i]; w > h.best.pivot && value <= h.most*w && w > h.tol {
			if r := max(value, 0) / w; r <= h.most {
				h.best = leaving{kind, from + i, w, r}
			}
		}
	}
}

// ratioTest finds the leaving variable.
func (s *simplex) ratioTest(e *entry, size float64) leaving {
	h := harris{tol: s.pivotTol * size, most: math.Inf(1)}
	values := s.tmp[:len(s.w)]
	for c := range values {
		values[c] = s.basic(c).value
	}
	slacks, moves := s.y[s.n:], s.dy[s.n:]
	h.relax(values, s.w, e.dir, s.lamTol)
	h.relax(slacks, moves, -e.dir, s.slackTol)
	h.block(leaveNonkey, 0, values[:s.n], s.w, e.dir)
	h.block(leaveKey, 0, values[s.n:], s.w[s.n:], e.dir)
	h.block(leaveSlack, s.n, slacks, moves, -e.dir)
	if e.limit > 0 && (h.best.kind == leaveNone || e.limit <= h.best.step) {
		return leaving{leaveSelf, 0, 1, e.limit}
	}
	return h.best
}

// enter performs one pivot. The column of an entering column belongs to the basis afterwards, or to the caller if
// the outcome is not pivoted.
func (s *simplex) enter(e *entry) outcome {
	s.coming = e.col
	defer func() { s.coming = nil }()
	size, residual := s.direction(e)
	fresh := s.pivots == s.fresh
	if !(residual <= residualTol*size) && !fresh {
		return s.again()
	}
	if residual > refineTol*size {
		s.refine(e)
	}
	l := s.ratioTest(e, size)
	if l.kind == leaveNone {
		return rejected
	}
	if l.kind != leaveSelf && l.pivot < smallPivot*size {
		if !fresh {
			return s.again()
		}
		if l.pivot < s.leastPivot*size {
			return rejected
		}
	}
	s.move(e, l.step)
	if l.kind == leaveSelf {
		return exhausted
	}
	s.pivots++
	s.stats.Pivots++
	s.exchange(e, l)
	if observe != nil {
		observe(s, e, l)
	}
	return pivoted
}

// observe, in tests, sees the basis after every pivot.
var observe func(*simplex, *entry, leaving)

func (s *simplex) again() outcome {
	if !s.refactor() {
		return broken
	}
	return retry
}

// move changes all basic values.
func (s *simplex) move(e *entry, step float64) {
	by := e.dir * step
	for c, w := range s.w {
		s.basic(c).value -= by * w
	}
	axpy(by, s.dy[s.n:], s.y[s.n:])
	if e.col != nil {
		e.col.value += by
	} else {
		e.slack = by
	}
}
