package estimate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestActiveSet: the answer has the conditions of optimality, which are sufficient: the slope of the objective is 0
// where x > 0, and not negative elsewhere. Second calls start from the first answer, with other data.
func TestActiveSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		k, kv := len(w.rows), len(w.counts)
		c, err := NewChannel(k, kv, func(i int, dst []float64) { copy(dst, w.rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		s := newActiveSet(c)
		scale, cost := s.scale, make([]float64, k)
		for round := range 4 {
			if round != 2 { // the third problem has the matrix of the second
				for j := range scale {
					scale[j] = math.Exp(r.NormFloat64())
				}
				s.rescale()
			}
			for j := range s.b {
				s.b[j] = 3 * r.NormFloat64()
			}
			for i := range cost {
				cost[i] = []float64{0.01, 0.5, 1}[r.IntN(3)]
			}
			s.minimize(context.Background(), cost, 1e-9)
			residual := make([]float64, kv)
			size := 1.0 // of the terms of a slope
			for j := range residual {
				residual[j] = -s.b[j]
				for i, x := range s.x {
					residual[j] += scale[j] * c.row(i)[j] * x
					size = max(size, scale[j]*scale[j]*x, scale[j]*math.Abs(s.b[j]))
				}
			}
			for i, x := range s.x {
				slope := cost[i]
				for j, v := range residual {
					slope += scale[j] * c.row(i)[j] * v
				}
				// A column that was taken for a sum of others is off by 1e-7 of its length at most, and so may its
				// slope be.
				tol := 1e-9*cost[i] + 1e-6*size
				if !(x >= 0) || slope < -tol || x > 0 && slope > tol {
					t.Fatalf("round %d: x = %v, slope at %d is %v\nrows %v scale %v b %v c %v", round, s.x, i, slope, w.rows, scale,
						s.b, cost)
				}
			}
		}
	})
}

// TestActiveSetEqualInputs: of inputs with equal rows, the cheapest has the mass, whichever came first.
func TestActiveSetEqualInputs(t *testing.T) {
	c := channelOf(t, [][]float64{{3, 1}, {3, 1}, {3, 1}, {1, 3}})
	s := newActiveSet(c)
	copy(s.scale, []float64{1, 1})
	copy(s.b, []float64{2, 1})
	for _, cost := range [][]float64{{1, .5, .8, 1}, {.5, 1, .8, 1}, {1, .9, .8, 1}} {
		s.minimize(context.Background(), cost, 1e-12)
		cheapest := 0
		for i := range 3 {
			if cost[i] < cost[cheapest] {
				cheapest = i
			}
		}
		for i := range 3 {
			if (s.x[i] > 0) != (i == cheapest) {
				t.Errorf("cost %v: x = %v", cost, s.x)
			}
		}
	}
}

// TestActiveSetNew: what is new in a column is known to 8 digits, however little it is. By the identity of Lagrange, the
// square of what a has beyond a multiple of b is the sum of (a_i b_j - a_j b_i)^2 over i < j, divided by b's square.
func TestActiveSetNew(t *testing.T) {
	for _, delta := range []float64{.3, 1e-2, 1e-4, 1e-6} {
		t.Run(fmt.Sprint(delta), func(t *testing.T) {
			a, d := []float64{.1, .2, .3, .4}, []float64{.1, -.3, .15, .05}
			b := make([]float64, len(a))
			for j := range a {
				b[j] = a[j] + delta*d[j]
				d[j] = (b[j] - a[j]) / delta // what rounding leaves
			}
			s := newActiveSet(channelOf(t, [][]float64{a, b}))
			square, across := 0.0, 0.0
			for j := range a {
				s.scale[j] = 1
				square += a[j] * a[j]
				for i := range j {
					x := delta * (a[i]*d[j] - a[j]*d[i])
					across += x * x
				}
			}
			for i := range 2 {
				if _, ok := s.add(i); !ok {
					t.Fatalf("column %d depends on others", i)
				}
			}
			if got, want := s.r[1][1], math.Sqrt(across/square); !(math.Abs(got/want-1) <= 1e-8) {
				t.Errorf("what is new has length %v, want %v", got, want)
			}
		})
	}
}
