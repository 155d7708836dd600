package basemeasure

import "math"

// What may enter the basis.
type entryKind int

const (
	enterColumn entryKind = iota // a cut, or maxMass or minMass
	enterSlack                   // the slack of the output at a position of J
	enterMu                      // an input joins the shared bound
)

// entry is an entering variable, with its reduced cost. A positive dir raises it; the starting basis also
// lowers columns with a value, by limit at most.
type entry struct {
	kind  entryKind
	col   *column
	at    int // position or input
	gain  float64
	dir   float64
	value float64
	limit float64
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
	if cap(s.w) < n+1 {
		s.w = make([]float64, n+1, 2*n+16)
	}
	s.w = s.w[:n]
	switch e.kind {
	case enterColumn:
		copy(s.rhs[:n], e.col.g)
		if key := s.key(e.col.input); key != nil {
			axpy(-1, key.g[:n], s.rhs[:n])
		}
		s.solve(s.rhs[:n], s.w)
	case enterMu:
		copy(s.rhs[:n], s.keys[e.at].g)
		axpy(-1, s.shared.g[:n], s.rhs[:n])
		s.solve(s.rhs[:n], s.w)
	case enterSlack:
		for c := range s.w {
			s.w[c] = -s.inv[c][e.at]
		}
	}
	s.keysFollow(e)
	size = s.slacksFollow(e)
	for _, r := range s.dy[s.checkFrom():n] {
		residual = max(residual, math.Abs(r))
	}
	return size, residual
}

func (s *simplex) checkFrom() int { return max(0, s.n-checkedTail) }

// keysFollow computes the direction of the keys and of mu from that of the nonkey columns: what a column gains, the
// key of its bound loses.
func (s *simplex) keysFollow(e *entry) {
	for _, i := range s.touch {
		s.wKeys[i], s.wMu[i], s.seen[i] = 0, 0, false
	}
	s.touch = s.touch[:0]
	s.wShared = 0
	for c, col := range s.nonkey {
		if s.w[c] != 0 {
			s.keyLoses(col.input, s.w[c])
		}
	}
	switch e.kind {
	case enterColumn:
		s.keyLoses(e.col.input, -1)
	case enterMu:
		s.see(e.at)
		s.wKeys[e.at]--
		s.wShared++
	}
	if s.shared != nil && s.tracked(s.shared.input) {
		i := s.shared.input
		s.see(i)
		s.wMu[i] += s.wShared
	}
}

// keyLoses takes w from the key of input i; a mu of its own gains it.
func (s *simplex) keyLoses(i int, w float64) {
	switch {
	case i < 0:
	case s.keys[i] != nil:
		s.see(i)
		s.wKeys[i] -= w
	default:
		s.wShared -= w
		if s.floorOf(i) > 0 {
			s.see(i)
			s.wMu[i] += w
		}
	}
}

// see notes that the key or the mu of an input moves.
func (s *simplex) see(i int) {
	if !s.seen[i] {
		s.seen[i] = true
		s.touch = append(s.touch, i)
	}
}

// slacksFollow computes dy from the last positions of J on: zero there but for rounding. It returns the largest
// entry of the direction of the columns, at least 1.
func (s *simplex) slacksFollow(e *entry) float64 {
	from := s.checkFrom()
	size := 1.0
	s.terms = s.terms[:0]
	add := func(w float64, col *column) {
		if w != 0 {
			s.terms = append(s.terms, term{-w, col.g})
			size = max(size, math.Abs(w))
		}
	}
	for c, col := range s.nonkey {
		add(s.w[c], col)
	}
	if s.shared != nil {
		add(s.wShared, s.shared)
	}
	for _, i := range s.touch {
		if s.keys[i] != nil {
			add(s.wKeys[i], s.keys[i])
		}
	}
	if e.kind == enterColumn {
		copy(s.dy[from:], e.col.g[from:])
	} else {
		clear(s.dy[from:])
		if e.kind == enterSlack && e.at >= from {
			s.dy[e.at] = -1
		}
	}
	s.combine(s.dy[from:], from)
	return size
}

// refine adds a step of iterative refinement to the direction.
func (s *simplex) refine(e *entry) {
	n := s.n
	r := s.rhs[:n]
	clear(r)
	if e.kind == enterColumn {
		copy(r, e.col.g)
	} else if e.kind == enterSlack {
		r[e.at] = -1
	}
	combine(s.terms, r)
	s.solve(r, s.tmp[:n])
	for c := range s.w {
		s.w[c] += s.tmp[c]
	}
	s.keysFollow(e)
	s.slacksFollow(e)
}

// leaving names the variable that leaves.
type leaving struct {
	kind  leavingKind
	at    int // index in nonkey, input, or position
	pivot float64
	step  float64
}

type leavingKind int

const (
	leaveNone leavingKind = iota
	leaveNonkey
	leaveShared // the key of the shared bound
	leaveKey    // the key of an input's own bound
	leaveMu     // an input leaves the shared bound
	leaveSlack  // an output joins J
	leaveSelf   // the entering variable itself
)

// harris is the ratio test of Harris (1973) in two passes: the longest step within a tolerance, then the largest pivot
// among those that block before its end.
type harris struct {
	tol  float64 // entries below it do not block
	most float64 // the longest step
	best leaving
}

// relax shortens the step so that a variable falls to -slack at worst.
func (h *harris) relax(value, w, slack float64) {
	// Compared as products: a quotient is only formed where the minimum changes, which is rare.
	if value = max(value, 0) + slack; value < h.most*w && w > h.tol {
		h.most = value / w
	}
}

// block takes a variable that blocks, if its pivot is the largest so far.
func (h *harris) block(kind leavingKind, at int, value, w float64) {
	if w > h.tol && w > h.best.pivot {
		if r := max(value, 0) / w; r <= h.most {
			h.best = leaving{kind, at, w, r}
		}
	}
}

// relaxAll is relax for many values that fall by sign*moves.
func (h *harris) relaxAll(values, moves []float64, sign, slack float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if value < 0 {
			value = 0
		}
		if w := sign * moves[i]; value+slack < h.most*w && w > h.tol {
			h.most = (value + slack) / w
		}
	}
}

// blockAll is block for many values that fall by sign*moves; the first is number from.
func (h *harris) blockAll(kind leavingKind, from int, values, moves []float64, sign float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if w := sign * moves[i]; w > h.best.pivot && value <= h.most*w {
			h.block(kind, from+i, value, w)
		}
	}
}

// ratioTest finds the leaving variable.
func (s *simplex) ratioTest(e *entry, size float64) leaving {
	h := harris{tol: s.pivotTol * size, most: math.Inf(1)}
	values := s.tmp[:len(s.w)]
	for c, col := range s.nonkey[:len(values)] {
		values[c] = col.value
	}
	slacks, moves := s.y[s.n:], s.dy[s.n:]
	h.relaxAll(values, s.w, e.dir, s.lamTol)
	s.eachKeyed(func(_ leavingKind, _ int, value, w float64) { h.relax(value, e.dir*w, s.lamTol) })
	h.relaxAll(slacks, moves, -e.dir, s.slackTol)

	h.blockAll(leaveNonkey, 0, values, s.w, e.dir)
	s.eachKeyed(func(kind leavingKind, at int, value, w float64) { h.block(kind, at, value, e.dir*w) })
	h.blockAll(leaveSlack, s.n, slacks, moves, -e.dir)
	if e.limit > 0 && (h.best.kind == leaveNone || e.limit <= h.best.step) {
		return leaving{leaveSelf, 0, 1, e.limit}
	}
	return h.best
}

// eachKeyed calls f for every key and mu that moves, with its value and its direction.
func (s *simplex) eachKeyed(f func(kind leavingKind, at int, value, w float64)) {
	if s.shared != nil {
		f(leaveShared, 0, s.shared.value, s.wShared)
	}
	for _, i := range s.touch {
		if s.keys[i] != nil {
			f(leaveKey, i, s.keys[i].value, s.wKeys[i])
		} else {
			f(leaveMu, i, s.mu[i], s.wMu[i])
		}
	}
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
	for c, col := range s.nonkey {
		col.value -= by * s.w[c]
	}
	if s.shared != nil {
		s.shared.value -= by * s.wShared
	}
	for _, i := range s.touch {
		if s.keys[i] != nil {
			s.keys[i].value -= by * s.wKeys[i]
		} else {
			s.mu[i] -= by * s.wMu[i]
		}
	}
	axpy(by, s.dy[s.n:], s.y[s.n:])
	e.value += by
}
