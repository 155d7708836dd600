// Package worst finds the input with the largest cost, certified, by looking at few inputs where geometry allows.
//
// The value of input i is phi_i = min over q in a fixed set of <C_i, q>, with C_ij = d(x_i, v_j)^p: to the power 1/p it
// is the distance W_p of the point mass at x_i from a set of distributions. By the triangle inequality of W_p that
// changes by at most d(x_i, x_i') from one input to another. For p < 1 the cost itself is a metric, and for 1 - cosine,
// half the square of the distance of unit vectors, the root is sqrt(2 phi). For distances on a line, a plane, in space
// or on a sphere a second bound knows the slopes of the value, too.
//
// On a ring and on a grid input 0 is the worst if the set does not change when outputs change places, as a box that is
// the same for all outputs. On a ring each row is a permutation of each other. On a grid of R rows, at least n+1 rows
// are at most n < R steps from any row, and exactly n+1 from the first. So a permutation of the rows takes each row to
// one that is at least as far from the first; the same holds for columns. A cell that is at least as far in both has no
// smaller cost. So the row of costs of any cell is, after the permutation, nowhere above that of a corner.
package worst

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
)

// A Space knows how far inputs are from each other.
type Space struct {
	k       int
	at      cost.Space
	lattice cost.Matrix // if input 0 has the largest value, but for a relative error of off and an underflow
	off     float64
	metric  cost.Matrix // distances between inputs; nil if there are none
	scale   float64     // the value is scale times the root to this power
	power   float64
	// How far the root of a cost that floats give may be from the distance: relative, and absolute.
	rel, abs float64
	slopes   *slopes // nil if there are none
}

// NewSpace returns the space of the inputs of a cost. Without places it has no distances, and all inputs are looked at.
func NewSpace(c cost.Matrix) *Space {
	k, _ := c.Dims()
	s := &Space{k: k, scale: 1, power: 1, at: cost.SpaceOf(c)}
	if s.at.Power == 0 {
		return s
	}
	s.rel = max(s.at.Rel, leastRel)
	p := s.at.Power
	if s.at.First {
		s.lattice = c
		if s.at.Transitive {
			return s
		}
		s.off = 2 * max(p, 1) * s.rel * (1 + 0x1p-20) // of costs on both sides
	}
	between := c.(cost.Metric).Between
	switch {
	case math.IsInf(s.at.Abs, 1):
		return s
	case p < 1:
		s.abs = s.at.Scale * math.Pow(s.at.Abs, p) // |a^p - b^p| <= |a - b|^p
	default:
		between, s.scale, s.power = c.(cost.Metric).Distances, s.at.Scale, p
		s.abs = s.at.Abs + math.Pow(underflow, 1/p)
	}
	var err error
	if s.metric, err = between(); err != nil {
		s.metric = nil
	}
	s.slopes = newSlopes(c)
	return s
}

// leastRel is more than a root is off whose cost is exact.
const leastRel = 32 * 0x1p-52

// underflow is more than powers lose below the normal range.
const underflow = 0x1p-1060

// root and value turn values into distances and back, to a few roundings.
func (s *Space) root(v float64) float64 {
	v /= s.scale
	switch s.power {
	case 1:
		return v
	case 2:
		return math.Sqrt(v)
	}
	return math.Pow(v, 1/s.power)
}

// A Result is what Search has found.
type Result struct {
	Value  float64 // the largest value seen, as it was computed
	Input  int     // the first of those looked at that has it
	Upper  float64 // at least the value of every input
	Looked int     // how many inputs were looked at
}

// same is how much of the largest root, relative, Search does not care to tell apart.
const same = 0x1p-40

const (
	block   = 64 // inputs that are looked at side by side, whatever the number of processors
	patient = 64 // one in so many inputs, and patience more, are looked at one by one: each where the bound is largest
	// patience is more than a search takes where the bound is good.
	patience = 512
	sketched = 8 // one in so many inputs may be sketched besides
)

// Search returns the largest value. value computes that of an input, from several goroutines at a time, with a relative
// error of at most relErr; it is the least cost of the input in a set that is the same for all inputs, or more by slack
// at most in the root. The set is that of the distributions between lo and hi, to a few roundings, or any if they are
// nil. On a ring or a grid that set must not change when outputs change places, and slack is 0. Errors:
// those of value and of ctx.
func (s *Space) Search(ctx context.Context, lo, hi []float64, value func(i int) (float64, error), relErr, slack float64) (
	Result, error) {
	if s.lattice != nil {
		v, err := value(0)
		return Result{Value: v, Upper: v*(1+relErr+s.off)*(1+8*0x1p-52) + underflow, Looked: 1}, err
	}
	q := s.start(lo, hi, value, relErr, slack)
	q.loose = 1 + same
	if err := q.run(ctx); err != nil {
		return q.Result, err
	}
	r := q.Result
	r.Upper = r.Value * (1 + relErr + 4*0x1p-52)
	if up := slices.Max(q.bound) * (1 + 2*0x1p-52); up > 0 {
		r.Upper = max(r.Upper, s.scale*math.Pow(up, s.power)*(1+4*0x1p-52))
	}
	r.Upper += math.SmallestNonzeroFloat64
	return r, nil
}

// Exact calls value for inputs, from several goroutines at a time, until no other can have a larger value than the
// largest of them: whoever keeps the values exactly has the exact maximum. value returns its number with an error of at
// most 2^-50 of it, or of 2^-1074; lo, hi and slack are as for Search. Errors: those of value and of ctx.
func (s *Space) Exact(ctx context.Context, lo, hi []float64, value func(i int) (float64, error), slack float64) error {
	const relErr = 0x1p-50
	q := s.start(lo, hi, value, relErr, slack)
	q.exact, q.loose = true, 1-q.rel // what a root and its value may be off
	q.abs += 0x1p-1060
	return q.run(ctx)
}

// A query is a search under way.
type query struct {
	*Space
	Result
	value    func(i int) (float64, error)
	bound    []float64 // of the root of each input, rounded up; -Inf where nothing is left to find
	rel, abs float64
	loose    float64 // inputs whose bound is at most so many times the root of the largest value are not looked at
	exact    bool    // places that are equal to a rounding may have other values
	sketch   *sketch // of the last input that was sketched; nil without slopes
	floor    float64 // bounds below it need not be lowered
}

func (s *Space) start(lo, hi []float64, value func(i int) (float64, error), relErr, slack float64) *query {
	q := &query{Space: s, value: value, bound: make([]float64, s.k), rel: 2*s.rel + relErr + 8*0x1p-52,
		abs: 3*s.abs + slack}
	for i := range q.bound {
		q.bound[i] = math.Inf(1)
	}
	q.Value = -1
	if s.slopes != nil && lo != nil {
		q.sketch = &sketch{slopes: s.slopes, done: make([]bool, s.k)}
		for _, j := range s.slopes.order {
			q.sketch.lo, q.sketch.hi = append(q.sketch.lo, lo[j]), append(q.sketch.hi, hi[j])
		}
	}
	return q
}

func (q *query) see(i int, v float64) {
	q.Looked++
	q.bound[i] = math.Inf(-1)
	if v > q.Value || v == q.Value && i < q.Input {
		q.Value, q.Input = v, i
	}
}

// enough is the bound from which an input need not be looked at.
func (q *query) enough() float64 {
	enough := q.root(q.Value) * q.loose
	if q.exact {
		enough -= q.abs
	}
	return enough
}

// run looks at the input with the largest bound as long as that helps, and then at all that are left, side by side. With
// slopes it sketches the input first, and looks at it if its bound is the largest then, too.
func (q *query) run(ctx context.Context) error {
	patience := patience + q.k/patient
	if q.sketch != nil {
		patience += q.k / sketched
	}
	next, most, buf := 0, 0.0, make([]float64, q.k)
	for n := 0; q.metric != nil && n < patience; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at := next; q.sketch != nil && !q.sketch.done[at] {
			next, most = q.lower(at, q.trace(at), buf)
		} else {
			v, err := q.value(at)
			if err != nil {
				return err
			}
			q.see(at, v)
			if q.sketch != nil {
				next, most = q.largest()
			} else {
				next, most = q.lower(at, q.root(v), buf)
			}
		}
		if most <= q.enough() {
			break
		}
	}
	return q.rest(ctx)
}

// trace sketches an input, and returns what it costs at most.
func (q *query) trace(at int) float64 {
	d := q.sketch
	d.sketch(at)
	q.bound[at] = min(q.bound[at], (d.cost+d.off)*(1+q.rel)+q.abs)
	q.floor = max(q.floor, (d.cost-d.off)*(1-0x1p-20)-2*q.abs)
	return d.cost + d.off
}

// largest returns the largest bound.
func (q *query) largest() (at int, most float64) {
	most = math.Inf(-1)
	for i, b := range q.bound {
		if b > most {
			at, most = i, b
		}
	}
	return at, most
}

// lower lowers the bounds by what input at has as its root, and returns the largest.
func (q *query) lower(at int, root float64, buf []float64) (next int, most float64) {
	most = math.Inf(-1)
	var distances []float64
	var order []int // of them
	if q.sketch != nil && q.at.Same {
		distances, order = q.sketch.row, q.sketch.order
	} else {
		distances = q.metric.Row(at, buf)
	}
	for n, d := range distances {
		i := n
		if order != nil {
			i = order[n]
		}
		b := q.bound[i]
		switch {
		case b < q.floor:
			continue
		case d == 0 && !q.exact && i != at: // the same place
			q.bound[i] = math.Inf(-1)
			continue
		case q.sketch != nil && root-d < b:
			d = q.sketch.change(i, d)
		}
		if c := (root+d)*(1+q.rel) + q.abs; c < b {
			q.bound[i], b = c, c
		}
		if b > most {
			most, next = b, i
		}
	}
	return next, most
}

// rest looks at all inputs whose bound is above enough, those with the largest first.
func (q *query) rest(ctx context.Context) error {
	var left []int
	for i, b := range q.bound {
		if b != math.Inf(-1) {
			left = append(left, i)
		}
	}
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(q.bound[b], q.bound[a]) })
	values := make([]float64, block)
	for len(left) > 0 && !(q.bound[left[0]] <= q.enough()) {
		part := left[:min(block, len(left))]
		left = left[len(part):]
		err := parallel.Each(ctx, len(part), func(n int) (err error) {
			values[n], err = q.value(part[n])
			return err
		}, nil)
		if err != nil {
			return err
		}
		for n, i := range part {
			q.see(i, values[n])
		}
	}
	return nil
}

// Spread returns up to n inputs, in order: each the farthest from those before it, from input 0 on (Gonzalez 1985);
// without distances, at even steps. Copies of a place may be left out, but not if n is at least the number of inputs.
func (s *Space) Spread(n int) []int {
	n = min(n, s.k)
	var list []int
	if s.metric == nil || n == s.k {
		for m := range n {
			list = append(list, int(int64(m)*int64(s.k)/int64(n)))
		}
		return list
	}
	near := make([]float64, s.k)
	for i := range near {
		near[i] = math.Inf(1)
	}
	buf := make([]float64, s.k)
	for next := 0; len(list) < n; {
		list = append(list, next)
		far := -1.0
		at := next
		for i, d := range s.metric.Row(at, buf) {
			near[i] = min(near[i], d)
			if near[i] > far {
				far, next = near[i], i
			}
		}
		if far == 0 {
			break // only copies are left
		}
	}
	slices.Sort(list)
	return list
}
