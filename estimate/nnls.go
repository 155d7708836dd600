package estimate

import (
	"context"
	"math"
	"slices"
)

// activeSet minimizes
//
//	|A x - b|^2 / 2 + c x   over x >= 0,   A = diag(scale) P', without the rows of scale 0,   c > 0
//
// by the method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23), with a linear term. Of the
// columns of A whose x_i may be positive, only the factor R of R'R = A'A is kept. A column that is nearly a sum of
// others is corrected once, by what it leaves: the seminormal equations of Björck (Linear Algebra Appl. 88, 1987). A
// column leaves by Givens rotations.
//
// A column that depends on those present brings no curvature: the objective is linear along a direction that keeps A x.
// x then moves along it until a weight is 0, and that column leaves. So equal inputs of different cost are told apart.
// The minimum exists because c > 0.
//
// A change of one column takes O(s^2) with s columns present, and a few products with P.
type activeSet struct {
	channel *Channel
	scale   []float64 // by output
	b       []float64 // by output
	cost    []float64 // c

	x       []float64 // positive on passive alone
	passive []int
	barred  []bool      // inputs that rounding keeps out
	r       [][]float64 // r[j] is column j of R, from the top to the diagonal

	out  []float64 // by output
	w    []float64 // by input: A'(b - A x)
	some []float64 // by input
	z    []float64
}

// dependent is how much of a column must be new, relatively: less than this squared is lost in the curvature, which the
// sums know to some 1e-14 of a column's.
const dependent = 1e-7

// cancelled is the share of a column's square that a difference of squares may leave: it loses two digits.
const cancelled = 0.01

func newActiveSet(channel *Channel) *activeSet {
	k, kv := channel.Dims()
	return &activeSet{
		channel: channel, scale: make([]float64, kv), b: make([]float64, kv), x: make([]float64, k),
		barred: make([]bool, k), out: make([]float64, kv), w: make([]float64, k), some: make([]float64, k),
	}
}

// clone returns a copy to work on, apart from the vectors that a solution does not need.
func (s *activeSet) clone() *activeSet {
	c := newActiveSet(s.channel)
	copy(c.scale, s.scale)
	copy(c.x, s.x)
	c.passive = slices.Clone(s.passive)
	for _, r := range s.r {
		c.r = append(c.r, slices.Clone(r))
	}
	return c
}

// rescale makes R anew for the scale, and keeps x with the columns where it is positive.
func (s *activeSet) rescale() {
	old := s.passive
	s.passive, s.r = nil, nil
	for _, i := range old {
		if _, ok := s.add(i); !ok {
			s.x[i] = 0
		}
	}
}

// add puts column i last. If it depends on the others, it stays out, and they make it up with the weights same.
func (s *activeSet) add(i int) (same []float64, ok bool) {
	n := len(s.passive)
	row := s.channel.row(i)
	r, same := make([]float64, n+1), make([]float64, n)
	whole, rest := 0.0, 0.0 // squares, of the column and of what is new
	for pass := range 2 {
		copy(s.out, row)
		if pass > 0 {
			clear(s.some)
			for l, t := range same {
				s.some[s.passive[l]] = t
			}
			s.channel.mix(s.some, s.out, math.Inf(-1), s.channel.smooth)
			for j, v := range s.out {
				s.out[j] = row[j] - v
			}
		}
		left := 0.0
		for j, c := range s.scale {
			v := c * s.out[j]
			left += v * v
			s.out[j] = c * v
		}
		if pass == 0 {
			whole = left
		}
		if rest = left; !(rest > dependent*dependent*whole) {
			return same, false
		}
		s.z = slices.Grow(s.z[:0], n)[:n]
		s.channel.backOf(s.passive, s.out, s.z)
		s.forward(s.z)
		add(1, s.z, r[:n])
		if rest = left - dot(s.z, s.z); rest > cancelled*left {
			break
		}
		s.backward(s.z)
		add(1, s.z, same)
	}
	if !(rest > dependent*dependent*whole) {
		return same, false
	}
	r[n] = math.Sqrt(rest)
	s.passive, s.r = append(s.passive, i), append(s.r, r)
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
	}
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
	clear(s.barred)
	s.slopes()
	s.solvePassive()
	for range 3*len(s.x) + 10 { // Lawson and Hanson's limit
		if ctx.Err() != nil {
			return
		}
		s.slopes()
		i := s.worst(tolerance)
		if i < 0 {
			return
		}
		s.enter(i)
	}
}

// slopes sets w.
func (s *activeSet) slopes() {
	s.channel.forward(s.x, s.out)
	for j, c := range s.scale {
		s.out[j] = c * (s.b[j] - c*s.out[j])
	}
	s.channel.back(s.out, s.w)
}

// worst returns the input whose multiplier is the largest in units of its cost, or -1.
func (s *activeSet) worst(tolerance float64) int {
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

// solvePassive moves x towards the minimum on the columns present, and drops those whose weight becomes 0 on the way. w
// is that of x before.
func (s *activeSet) solvePassive() {
	for _, i := range s.passive {
		s.w[i] -= s.cost[i]
	}
	for len(s.passive) > 0 {
		s.z = s.z[:0]
		for _, i := range s.passive {
			s.z = append(s.z, s.w[i])
		}
		s.forward(s.z)
		s.backward(s.z)
		for l, i := range s.passive {
			s.z[l] += s.x[i]
		}
		step, out := s.longest()
		if out < 0 {
			for l, i := range s.passive {
				s.x[i] = s.z[l]
			}
			return
		}
		for l, i := range s.passive {
			s.x[i] = max(0, s.x[i]+step*(s.z[l]-s.x[i]))
			s.w[i] *= 1 - step // what is left of a slope, which falls to 0 at z
		}
		s.x[s.passive[out]] = 0
		for l := len(s.passive) - 1; l >= 0; l-- {
			if s.x[s.passive[l]] == 0 && !(s.z[l] > 0) { // not what has just come, and is to grow
				s.drop(l)
			}
		}
	}
}
