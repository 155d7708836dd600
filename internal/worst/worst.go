// Package worst finds the input with the largest cost, certified, by looking at few inputs where geometry allows.
//
// The value of input i is phi_i = min over q in a fixed set of <C_i, q>, with C_ij = d(x_i, v_j)^p: to the power 1/p it is
// the distance W_p of the point mass at x_i from a set of distributions. By the triangle inequality of W_p that changes by at
// most d(x_i, x_i') from one input to another. For p < 1 the cost itself is a metric, and for 1 - cosine, half the square of
// the distance of unit vectors, the root is sqrt(2 phi).
package worst

import (
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
)

// A Space knows how far inputs are from each other.
type Space struct {
	k      int
	alike  bool        // all inputs have the same value
	metric cost.Matrix // distances between inputs, or 1 - cosine; nil if there are none
	chord  bool        // metric is 1 - cosine
	power  float64     // the value is the root to this power, or half its square with chord
	// How far the root of a cost that floats give may be from the distance: relative, and absolute.
	rel, abs float64
}

// NewSpace returns the space of the inputs of a cost. Without places it has no distances, and all inputs are looked at.
func NewSpace(c cost.Matrix) *Space {
	k, _ := c.Dims()
	s := &Space{k: k, power: 1}
	switch c.(type) {
	case *cost.Ring, *cost.Grid, *cost.Points, *cost.GreatCircle, *cost.Cosine:
	default:
		return s
	}
	spec, err := cost.SpecOf(c)
	if err != nil {
		return s
	}
	axes := 2.0
	if spec.X != nil {
		axes = float64(len(spec.X[0]))
	}
	s.rel = (axes + 32) * 0x1p-52 // of distances (axes/2 + 2) 2^-53, see package cost; of powers and roots a few 2^-53
	p := spec.P
	spec.V = nil
	switch spec.Kind {
	case "ring":
		s.alike = true
		return s
	case "cosine":
		for _, x := range spec.X { // a zero vector is at distance 1 from all, itself included
			if !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) {
				return s
			}
		}
		s.chord, s.power = true, 2
		s.abs = math.Sqrt(2 * (axes + 8) * 0x1p-52) // the cost is off by half of that, squared
	case "greatcircle":
		s.abs = 1e-10 // km, ten times what package cost states
	}
	switch {
	case s.chord:
	case p < 1:
		s.abs = math.Pow(s.abs, p) // |a^p - b^p| <= |a - b|^p
	default:
		spec.P, s.power = 1, p
		s.abs += math.Pow(0x1p-1060, 1/p) // what powers lose below the normal range
	}
	if s.metric, err = spec.Build(); err != nil {
		s.metric = nil
	}
	return s
}

// root and value turn values into distances and back, to a few roundings.
func (s *Space) root(v float64) float64 {
	switch {
	case s.chord:
		return math.Sqrt(2 * v)
	case s.power == 1:
		return v
	case s.power == 2:
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
)

// Search returns the largest value. value computes that of an input, from several goroutines at a time, with a relative error of
// at most relErr; it is the least cost of the input in a set that is the same for all inputs, or more by slack at most in the
// root. Errors: those of value and of ctx.
func (s *Space) Search(ctx context.Context, value func(i int) (float64, error), relErr, slack float64) (Result, error) {
	bound := make([]float64, s.k) // of the root
	for i := range bound {
		bound[i] = math.Inf(1)
	}
	r := Result{Value: -1}
	see := func(i int, v float64) {
		r.Looked++
		bound[i] = math.Inf(-1)
		if v > r.Value || v == r.Value && i < r.Input {
			r.Value, r.Input = v, i
		}
	}
	rel := 2*s.rel + relErr + 8*0x1p-52
	abs := 3*s.abs + slack
	next, buf := 0, make([]float64, s.k)
	enough := func() float64 { return s.root(r.Value) * (1 + same) }
	for n := 0; s.metric != nil && n < patience+s.k/patient; n++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		v, err := value(next)
		if err != nil {
			return r, err
		}
		see(next, v)
		root := s.root(v)
		most := math.Inf(-1)
		for i, d := range s.metric.Row(next, buf) {
			if s.chord {
				d = math.Sqrt(2 * d)
			}
			b := bound[i]
			switch {
			case b == math.Inf(-1):
				continue
			case d == 0: // the same place
				bound[i] = math.Inf(-1)
				continue
			}
			if c := (root+d)*(1+rel) + abs; c < b {
				bound[i], b = c, c
			}
			if b > most {
				most, next = b, i
			}
		}
		if most <= enough() {
			break
		}
	}
	if s.alike {
		v, err := value(0)
		if err != nil {
			return r, err
		}
		see(0, v)
		for i := range bound {
			bound[i] = math.Inf(-1)
		}
	}
	if err := s.rest(ctx, bound, value, enough, see); err != nil {
		return r, err
	}
	r.Upper = r.Value * (1 + relErr + 4*0x1p-52)
	switch up := slices.Max(bound) * (1 + 2*0x1p-52); {
	case !(up > 0):
	case s.chord:
		r.Upper = max(r.Upper, up*up/2*(1+4*0x1p-52))
	default:
		r.Upper = max(r.Upper, math.Pow(up, s.power)*(1+4*0x1p-52))
	}
	r.Upper += math.SmallestNonzeroFloat64
	return r, nil
}

// rest looks at all inputs whose bound is above enough, those with the largest first.
func (s *Space) rest(ctx context.Context, bound []float64, value func(i int) (float64, error), enough func() float64, see func(i int, v float64)) error {
	var left []int
	for i, b := range bound {
		if b != math.Inf(-1) {
			left = append(left, i)
		}
	}
	slices.SortStableFunc(left, func(a, b int) int {
		switch {
		case bound[a] > bound[b]:
			return -1
		case bound[a] < bound[b]:
			return 1
		}
		return 0
	})
	values := make([]float64, block)
	for len(left) > 0 && !(bound[left[0]] <= enough()) {
		part := left[:min(block, len(left))]
		left = left[len(part):]
		err := parallel.Each(ctx, len(part), func(n int) (err error) {
			values[n], err = value(part[n])
			return err
		}, nil)
		if err != nil {
			return err
		}
		for n, i := range part {
			see(i, values[n])
		}
	}
	return nil
}

// Spread returns up to n inputs, in order: each the farthest from those before it, from input 0 on (Gonzalez 1985); without
// distances, at even steps. Copies of a place may be left out, but not if n is at least the number of inputs.
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
