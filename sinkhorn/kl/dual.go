package kl

import (
	"cmp"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// This file is the linear limit of the projection: with s = exp(-b/reg) and reg -> 0, the columns of least b are
// filled first.

// Dual returns sum mu_i f_i + sum min(lo_j g_j, hi_j g_j), and 2^-50 of the sum of the sizes of its terms, which is
// more than the value is off: products, normalised masses and the two compensated sums err by half a unit each,
// relative to the terms, and the plain sum of sizes by less than 2^-20 of itself. Both may lose half the smallest float
// a term. Masses may be off by projection.LostMass.
func Dual(mu, f, g, lo, hi []float64) (value, off float64) {
	terms := make([]float64, len(g))
	for j, x := range g {
		terms[j] = float64(lo[j] * x)
		if x < 0 {
			terms[j] = float64(hi[j] * x)
		}
		off += math.Abs(terms[j]) * 0x1p-50
	}
	for i, x := range f {
		off += (mu[i]*0x1p-50 + projection.LostMass) * math.Abs(x)
	}
	return num.Dot(mu, f) + num.Sum(terms), off
}

// BestShift maximises t + sum_j min(lo_j (b_j - t), hi_j (b_j - t)), concave and piecewise linear in t with breaks at
// b_j. Its slope is 1 - (sum of lo where b_j > t) - (sum of hi where b_j < t): the answer is where it changes sign.
// It returns 0 if that is as good.
func BestShift(b, lo, hi []float64) (t float64) {
	if left, right := slopes(b, lo, hi); left >= 0 && right <= 0 {
		return 0
	}
	need := 1.0 // to be found in hi - lo of the least b
	order := make([]int, len(b))
	for j, l := range lo {
		order[j] = j
		need -= l
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(b[i], b[j]) })
	for _, j := range order {
		t = b[j]
		if need -= hi[j] - lo[j]; need <= 0 {
			break
		}
	}
	return t
}

// slopes returns those of the function of BestShift on both sides of t = 0.
func slopes(b, lo, hi []float64) (left, right float64) {
	left, right = 1, 1
	for j, x := range b {
		if x >= 0 {
			left -= lo[j]
		} else {
			left -= hi[j]
		}
		if x > 0 {
			right -= lo[j]
		} else {
			right -= hi[j]
		}
	}
	return left, right
}
