package proptest_test

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/projection"
)

// ownSinkhorn is Algorithm 1 as anybody might write it.
func ownSinkhorn(p proptest.Problem, reg float64) (r projection.EntropicProjection, err error) {
	k, v, plan := kernel(p.C, reg), slices.Repeat([]float64{1}, len(p.Lo)), make([]float64, len(p.Lo))
	off := 1.0
	for n := 0; off > 1e-12 && n < 10_000; n++ {
		s := make([]float64, len(v))
		for i, row := range k {
			floats.AddScaled(s, p.Mu[i]/floats.Dot(row, v), row) // s = K'u, u = mu / Kv
		}
		r.Q = nearest(s, p.Lo, p.Hi)
		off = floats.Distance(r.Q, floats.MulTo(plan, v, s), 1) // |q - column sums of the plan|_1
		floats.DivTo(v, r.Q, s)
	}
	r.LogV = apply(math.Log, v)
	if off > 1e-12 {
		return r, projection.ErrNoAnswer
	}
	return r, nil
}

// kernel is exp(-C/reg). Row i is divided by its largest entry, which changes u and nothing else.
func kernel(c [][]float64, reg float64) (k [][]float64) {
	for _, row := range c {
		k = append(k, apply(func(x float64) float64 { return math.Exp((slices.Min(row) - x) / reg) }, row))
	}
	return k
}

// nearest is the projection in divergence, q = min(max(e^theta s, lo), hi), with theta by bisection.
func nearest(s, lo, hi []float64) (q []float64) {
	q = make([]float64, len(s))
	low, high := -700.0, 700.0
	for range 80 {
		theta := (low + high) / 2
		for j := range s {
			q[j] = min(max(math.Exp(theta)*s[j], lo[j]), hi[j])
		}
		if floats.Sum(q) < 1 {
			low = theta
		} else {
			high = theta
		}
	}
	return q
}

func apply(f func(float64) float64, x []float64) (y []float64) {
	for _, v := range x {
		y = append(y, f(v))
	}
	return y
}

// A solver of one's own, and the test that holds it to the paper, where floats have exp(-C/reg):
//
//	func TestOwnSinkhorn(t *testing.T) {
//		own := projection.EntropicOn{Entropic: projection.EntropicFunc(ownSinkhorn), Reg: 0.1}
//		proptest.Run(t, projection.EntropicLaws(), projection.Entropic(own))
//	}
//
// That test is in this package. Leave out the division by s, or project v*s as the text of the paper has it, and it
// fails.
func Example() {
	r, err := ownSinkhorn(proptest.Problem{
		C:  [][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}},
		Mu: []float64{0.4, 0.2, 0.4},
		Lo: []float64{0.05, 0.10, 0.15},
		Hi: []float64{0.2, 0.4, 0.6},
	}, 1)
	fmt.Printf("%.6f %v\n", r.Q, err)
	// Output: [0.200000 0.400000 0.400000] <nil>
}
