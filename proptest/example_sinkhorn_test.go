package proptest_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/proptest"
)

// ownSinkhorn is Algorithm 1 as anybody might write it. Row i of the kernel is divided by its largest entry, which changes u
// and nothing else.
func ownSinkhorn(p proptest.Problem, reg float64) (r proptest.EntropicProjection, err error) {
	v := slices.Repeat([]float64{1}, len(p.Lo))
	for off := 1.0; off > 1e-12; { // |q - column sums of the plan|_1
		s := make([]float64, len(v)) // s = K'u, u = mu / Kv
		for i, c := range p.C {
			kernel, sum := make([]float64, len(v)), 0.0
			for j := range c {
				kernel[j] = math.Exp((slices.Min(c) - c[j]) / reg)
				sum += kernel[j] * v[j]
			}
			for j := range c {
				s[j] += p.Mu[i] / sum * kernel[j]
			}
		}
		off, r.Q = 0, nearest(s, p.Lo, p.Hi)
		for j := range v {
			off += math.Abs(r.Q[j] - v[j]*s[j])
			v[j] = r.Q[j] / s[j]
		}
	}
	for _, x := range v {
		r.LogV = append(r.LogV, math.Log(x))
	}
	return r, nil
}

// nearest is the projection in divergence, q = min(max(e^theta s, lo), hi), with theta by bisection.
func nearest(s, lo, hi []float64) (q []float64) {
	q = make([]float64, len(s))
	low, high := -700.0, 700.0
	for range 80 {
		theta, sum := (low+high)/2, 0.0
		for j := range s {
			q[j] = min(max(math.Exp(theta)*s[j], lo[j]), hi[j])
			sum += q[j]
		}
		if sum < 1 {
			low = theta
		} else {
			high = theta
		}
	}
	return q
}

// A solver of one's own, and the test that holds it to the paper:
//
//	func TestOwnSinkhorn(t *testing.T) {
//		proptest.Run(t, proptest.EntropicLaws(), proptest.Entropic(proptest.EntropicFunc(ownSinkhorn)))
//	}
//
// That test is in this package. Leave out the division by s, or project v*s as the text of the paper has it, and it fails.
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
