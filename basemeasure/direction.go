package basemeasure

import "math"

// What may enter the basis.
type entryKind int

const (
	enterColumn entryKind = iota // a cut, or heavy or light
	enterSlack                   // the slack of the output at a position of J
	enterMu                      // an input joins the pool
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
// question. They are those of the note that measured the method.
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
		copy(s.rhs[:n], s.own[e.at].g)
		axpy(-1, s.pool.g[:n], s.rhs[:n])
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

// keysFollow computes the direction of the keys and of mu from that of rest.
func (s *simplex) keysFollow(e *entry) {
	see := func(i int) {
		if !s.seen[i] {
			s.seen[i] = true
			s.touch = append(s.touch, i)
		}
	}
	for _, i := range s.touch {
		s.wOwn[i], s.wMu[i], s.seen[i] = 0, 0, false
	}
	s.touch = s.touch[:0]
	s.wKey = 0
	for c, col := range s.rest {
		if i := col.input; i >= 0 && s.w[c] != 0 {
			if s.own[i] != nil {
				see(i)
				s.wOwn[i] -= s.w[c]
			} else {
				s.wKey -= s.w[c]
				if s.floorOf(i) > 0 {
					see(i)
					s.wMu[i] += s.w[c]
				}
			}
		}
	}
	switch e.kind {
	case enterColumn:
		if i := e.col.input; i >= 0 {
			if s.own[i] != nil {
				see(i)
				s.wOwn[i]++
			} else {
				s.wKey++
				if s.floorOf(i) > 0 {
					see(i)
					s.wMu[i]--
				}
			}
		}
	case enterMu:
		see(e.at)
		s.wOwn[e.at]--
		s.wKey++
	}
	if s.pool != nil && s.tracked(s.pool.input) {
		i := s.pool.input
		see(i)
		s.wMu[i] += s.wKey
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
	for c, col := range s.rest {
		add(s.w[c], col)
	}
	if s.pool != nil {
		add(s.wKey, s.pool)
	}
	for _, i := range s.touch {
		if s.own[i] != nil {
			add(s.wOwn[i], s.own[i])
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
	at    int // index in rest, input, or position
	pivot float64
	step  float64
}

type leavingKind int

const (
	leaveNone leavingKind = iota
	leaveRest
	leavePool  // the pool's key
	leaveOwn   // the key of an input on its own
	leaveMu    // an input leaves the pool
	leaveSlack // an output joins J
	leaveSelf  // the entering variable itself
)

// ratioTest finds the leaving variable after Harris: the largest pivot among those that block within a tolerance.
func (s *simplex) ratioTest(e *entry, size float64) leaving {
	tol := s.pivotTol * size
	dir := e.dir
	most := math.Inf(1)
	// Compared as products: a quotient is only formed where the minimum changes, which is rare.
	relax := func(value, w, slack float64) {
		if value = math.Max(value, 0) + slack; value < most*w && w > tol {
			most = value / w
		}
	}
	weights, values := s.w, s.tmp[:len(s.w)]
	for c, col := range s.rest[:len(values)] {
		values[c] = max(col.value, 0)
	}
	for c, w := range weights {
		if w *= dir; values[c]+s.lamTol < most*w && w > tol {
			most = (values[c] + s.lamTol) / w
		}
	}
	s.eachKeyed(func(value, w float64) { relax(value, dir*w, s.lamTol) })
	slacks := s.y[s.n:]
	moves := s.dy[s.n:][:len(slacks)]
	for p, y := range slacks {
		if y < 0 {
			y = 0
		}
		if w := -dir * moves[p]; y+s.slackTol < most*w && w > tol {
			most = (y + s.slackTol) / w
		}
	}
	var best leaving
	block := func(kind leavingKind, at int, value, w float64) {
		if w > tol && w > best.pivot {
			if r := math.Max(value, 0) / w; r <= most {
				best = leaving{kind, at, w, r}
			}
		}
	}
	for c, w := range weights {
		if w *= dir; w > best.pivot && values[c] <= most*w {
			block(leaveRest, c, values[c], w)
		}
	}
	if s.pool != nil {
		block(leavePool, 0, s.pool.value, dir*s.wKey)
	}
	for _, i := range s.touch {
		if s.own[i] != nil {
			block(leaveOwn, i, s.own[i].value, dir*s.wOwn[i])
		} else {
			block(leaveMu, i, s.mu[i], dir*s.wMu[i])
		}
	}
	for p, y := range slacks {
		if w := -dir * moves[p]; w > best.pivot && y <= most*w {
			block(leaveSlack, s.n+p, y, w)
		}
	}
	if e.limit > 0 && (best.kind == leaveNone || e.limit <= best.step) {
		return leaving{leaveSelf, 0, 1, e.limit}
	}
	return best
}

// eachKeyed calls f with the value and the direction of every key and mu that moves.
func (s *simplex) eachKeyed(f func(value, w float64)) {
	if s.pool != nil {
		f(s.pool.value, s.wKey)
	}
	for _, i := range s.touch {
		if s.own[i] != nil {
			f(s.own[i].value, s.wOwn[i])
		} else {
			f(s.mu[i], s.wMu[i])
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
	for c, col := range s.rest {
		col.value -= by * s.w[c]
	}
	if s.pool != nil {
		s.pool.value -= by * s.wKey
	}
	for _, i := range s.touch {
		if s.own[i] != nil {
			s.own[i].value -= by * s.wOwn[i]
		} else {
			s.mu[i] -= by * s.wMu[i]
		}
	}
	axpy(by, s.dy[s.n:], s.y[s.n:])
	e.value += by
}
