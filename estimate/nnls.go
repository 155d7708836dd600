package estimate

import (
	"context"
	"math"
	"slices"
)

// activeSet minimizes
//
//	|A x - b|^2 / 2 + c x   over x >= 0,   A = diag(scale) P' on the outputs seen,   c > 0
//
// by the method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23), with a linear term. The
// columns of A whose x_i may be positive are kept as Q R with orthonormal Q; a column enters by two passes of Gram and
// Schmidt and leaves by Givens rotations (Daniel, Gragg, Kaufman and Stewart, Math. Comp. 30, 1976). With y = Q'b -
// R^-T c, their unconstrained minimum is R^-1 y and the residual there is b - Q y.
//
// A column that depends on those present brings no curvature: the objective is linear along a direction that keeps A x.
// x then moves along it until a weight is 0, and that column leaves. So equal inputs of different cost are told apart.
// The minimum exists because c > 0.
//
// Time is O(m s + s^2) for a change of one column, with m outputs seen and s columns present, and one product with P.
type activeSet struct {
	channel *Channel
	seen    []int
	scale   []float64 // by seen
	b       []float64 // by seen
	cost    []float64 // c

	x       []float64 // positive on passive alone
	passive []int
	barred  []bool // inputs that rounding keeps out
	q       [][]float64
	r       [][]float64 // r[j] is column j of R, from the top to the diagonal
	qb      []float64   // Q'b
	rc      []float64   // R^-T c

	spare    [][]float64 // vectors of the length of q's
	full     []float64   // by output
	w        []float64   // by input
	z        []float64
	residual []float64
}

// dependent is how much of a column must be new, relatively: less than this squared is lost in the curvature, which the
// sums know to some 1e-14 of a column's.
const dependent = 1e-7

// cancelled is the share of a column from which on one pass makes it orthogonal: what is left loses a digit at most.
const cancelled = 0.1

func newActiveSet(channel *Channel, seen []int) *activeSet {
	k, kv := channel.Dims()
	m := len(seen)
	return &activeSet{
		channel: channel, seen: seen, scale: make([]float64, m), b: make([]float64, m), x: make([]float64, k),
		barred: make([]bool, k),
		full:   make([]float64, kv), w: make([]float64, k), residual: make([]float64, m),
	}
}

// clone returns a copy to work on, apart from the vectors that a solution does not need.
func (s *activeSet) clone() *activeSet {
	c := newActiveSet(s.channel, s.seen)
	copy(c.scale, s.scale)
	copy(c.x, s.x)
	c.passive = slices.Clone(s.passive)
	for j := range s.q {
		c.q = append(c.q, slices.Clone(s.q[j]))
		c.r = append(c.r, slices.Clone(s.r[j]))
	}
	return c
}

// rescale sets the rows of A, and keeps x with the columns where it is positive.
func (s *activeSet) rescale(scale []float64) {
	copy(s.scale, scale)
	old := s.passive
	s.spare = append(s.spare, s.q...)
	s.passive, s.q, s.r, s.qb, s.rc = nil, nil, nil, nil, nil
	for _, i := range old {
		if _, ok := s.add(i); !ok {
			s.x[i] = 0
		}
	}
}

// add puts column i last. If it depends on the others, it stays out and the result is R^-1 Q' a_i, by which they make
// it up.
func (s *activeSet) add(i int) (same []float64, ok bool) {
	var v []float64
	if n := len(s.spare); n > 0 {
		v, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		v = make([]float64, len(s.seen))
	}
	row := s.channel.row(i)
	for n, j := range s.seen {
		v[n] = s.scale[n] * row[j]
	}
	n := len(s.passive)
	r := make([]float64, n+1)
	norm := math.Sqrt(dot(v, v))
	rest := norm
	for range 2 {
		before := rest
		for j, q := range s.q {
			t := dot(q, v)
			r[j] += t
			add(-t, q, v)
		}
		if rest = math.Sqrt(dot(v, v)); rest > cancelled*before {
			break
		}
	}
	if !(rest > dependent*norm) {
		s.spare = append(s.spare, v)
		s.backward(r[:n])
		return r[:n], false
	}
	for j := range v {
		v[j] /= rest
	}
	r[n] = rest
	s.passive, s.q, s.r = append(s.passive, i), append(s.q, v), append(s.r, r)
	if s.cost != nil {
		s.qb = append(s.qb, dot(v, s.b))
		s.rc = append(s.rc, (s.cost[i]-dot(r[:n], s.rc))/rest)
	}
	return nil, true
}

// drop takes the column at place l out.
func (s *activeSet) drop(l int) {
	s.x[s.passive[l]] = 0
	s.passive = slices.Delete(s.passive, l, l+1)
	s.r = slices.Delete(s.r, l, l+1)
	last := len(s.passive)
	for j := l; j < last; j++ {
		a, b := s.r[j][j], s.r[j][j+1]
		h := math.Hypot(a, b)
		c, d := a/h, b/h
		s.r[j] = s.r[j][:j+1]
		s.r[j][j] = h
		for _, col := range s.r[j+1:] {
			col[j], col[j+1] = c*col[j]+d*col[j+1], c*col[j+1]-d*col[j]
		}
		blasOf.Drot(len(s.seen), s.q[j], 1, s.q[j+1], 1, c, d)
		s.qb[j], s.qb[j+1] = c*s.qb[j]+d*s.qb[j+1], c*s.qb[j+1]-d*s.qb[j]
		s.rc[j], s.rc[j+1] = c*s.rc[j]+d*s.rc[j+1], c*s.rc[j+1]-d*s.rc[j]
	}
	s.spare = append(s.spare, s.q[last])
	s.q, s.qb, s.rc = s.q[:last], s.qb[:last], s.rc[:last]
}

// backward replaces v by R^-1 v.
func (s *activeSet) backward(v []float64) {
	for j := len(v) - 1; j >= 0; j-- {
		v[j] /= s.r[j][j]
		add(-v[j], s.r[j][:j], v[:j])
	}
}

// forward replaces v by R^-T v.
func (s *activeSet) forward(v []float64) {
	for j := range v {
		v[j] = (v[j] - dot(s.r[j][:j], v[:j])) / s.r[j][j]
	}
}

// minimize finds x for b and c, from the x that it has, until no input outside has a multiplier above tolerance c_i. It
// stops without that after many changes, when rounding hinders it, or when ctx is over: x is then feasible and no worse
// than before.
func (s *activeSet) minimize(ctx context.Context, cost []float64, tolerance float64) {
	s.cost = cost
	s.qb, s.rc = s.qb[:0], s.rc[:0]
	for l, i := range s.passive {
		s.qb = append(s.qb, dot(s.q[l], s.b))
		s.rc = append(s.rc, cost[i])
	}
	s.forward(s.rc)
	clear(s.barred)
	s.solvePassive()
	for range 3*len(s.x) + 10 { // Lawson and Hanson's limit
		if ctx.Err() != nil {
			return
		}
		i := s.worst(tolerance)
		if i < 0 {
			return
		}
		s.enter(i)
	}
}

// worst returns the input whose multiplier is the largest in units of its cost, or -1.
func (s *activeSet) worst(tolerance float64) int {
	copy(s.residual, s.b)
	for l, q := range s.q {
		add(-(s.qb[l] - s.rc[l]), q, s.residual)
	}
	for n, j := range s.seen {
		s.full[j] = s.scale[n] * s.residual[n]
	}
	s.channel.back(s.full, s.w)
	at, most := -1, tolerance
	for i, w := range s.w {
		if w = w/s.cost[i] - 1; w > most && s.x[i] == 0 && !s.barred[i] {
			at, most = i, w
		}
	}
	return at
}

// enter lets x_i grow from 0.
func (s *activeSet) enter(i int) {
	same, ok := s.add(i)
	if !ok {
		s.exchange(i, same)
		return
	}
	s.solvePassive()
	if s.x[i] == 0 { // it came and went: only rounding does that
		s.barred[i] = true
	}
}

// exchange lets x_i grow where column i is the sum of those present with weights same, until one of them is 0.
func (s *activeSet) exchange(i int, same []float64) {
	slope, step, out := s.cost[i], math.Inf(1), -1
	for l, d := range same {
		at := s.passive[l]
		slope -= d * s.cost[at]
		if d > 0 && s.x[at] < step*d {
			step, out = s.x[at]/d, l
		}
	}
	if !(slope < 0) || out < 0 {
		s.barred[i] = true
		return
	}
	for l, d := range same {
		at := s.passive[l]
		s.x[at] = max(0, s.x[at]-step*d)
	}
	s.drop(out)
	if _, ok := s.add(i); !ok {
		s.barred[i] = true
	} else {
		s.x[i] = step
	}
	s.solvePassive()
}

// longest returns the part of the way from x to z that keeps all weights, and the column whose weight is 0 there, or -1
// for all of the way.
func (s *activeSet) longest() (step float64, out int) {
	step, out = 1.0, -1
	for l, i := range s.passive {
		if z, x := s.z[l], s.x[i]; !(z > 0) {
			if t := x / (x - z); !(t >= step) {
				step, out = t, l
			}
		}
	}
	if !(step >= 0) { // 0/0: a weight that is 0 and stays 0
		step = 0
	}
	return step, out
}

// solvePassive moves x towards the minimum on the columns present, and drops those whose weight becomes 0 on the way.
func (s *activeSet) solvePassive() {
	for len(s.passive) > 0 {
		s.z = append(s.z[:0], s.qb...)
		for l := range s.z {
			s.z[l] -= s.rc[l]
		}
		s.backward(s.z)
		step, out := s.longest()
		if out < 0 {
			for l, i := range s.passive {
				s.x[i] = s.z[l]
			}
			return
		}
		for l, i := range s.passive {
			s.x[i] = max(0, s.x[i]+step*(s.z[l]-s.x[i]))
		}
		s.x[s.passive[out]] = 0
		for l := len(s.passive) - 1; l >= 0; l-- {
			if s.x[s.passive[l]] == 0 && !(s.z[l] > 0) { // not what has just come, and is to grow
				s.drop(l)
			}
		}
	}
}
