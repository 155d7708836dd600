package kl

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// This file is the linear limit of the projection: with s = exp(-b/reg) and reg -> 0, the columns of least b are
// filled first.

// Dual returns sum mu_i f_i + sum min(lo_j g_j, hi_j g_j), and 2^-50 of the sum of the sizes of its terms, which is
// more than the value is off: products, normalised masses and the two compensated sums err by half a unit each,
// relative to the terms, and the plain sum of sizes by less than 2^-20 of itself. Both may lose half the smallest float
// a term.
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
		off += mu[i] * math.Abs(x) * 0x1p-50
	}
	return num.Dot(mu, f) + num.Sum(terms), off
}

// BestShift maximises t + sum_j min(lo_j (b_j - t), hi_j (b_j - t)), concave and piecewise linear in t with breaks at
// b_j. Its slope is 1 - (sum of lo where b_j > t) - (sum of hi where b_j < t): the answer is where it changes sign.
// It returns 0 if that is as good. order is scratch space, one for every column.
func BestShift(b, lo, hi []float64, order []int32) float64 {
	if left, right := slopes(b, lo, hi); left >= 0 && right <= 0 {
		return 0
	}
	return threshold(b, lo, hi, order)
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

// threshold finds t such that lo where b > t and hi where b < t leave no more than one column in doubt. It uses
// order, one for every column.
func threshold(b, lo, hi []float64, order []int32) float64 {
	mass := 0.0 // of the settled columns
	for j := range order {
		order[j] = int32(j)
		mass += lo[j]
	}
	need := 1 - mass // to be found in hi - lo of the least b
	open := order
	t := 0.0
	for len(open) > 0 {
		t = median(b[open[0]], b[open[len(open)/2]], b[open[len(open)-1]])
		l, r, less, same := partition(open, b, lo, hi, t)
		switch {
		case need < less:
			open = open[:l]
		case need <= less+same:
			return t
		default:
			need -= less + same
			open = open[r:]
		}
	}
	return t
}

// partition orders columns into those of b below t, up to l, at t, up to r, and above. less and same are the room of
// the first two, hi - lo.
func partition(open []int32, b, lo, hi []float64, t float64) (l, r int, less, same float64) {
	r = len(open)
	for i := 0; i < r; {
		j := open[i]
		switch x := b[j]; {
		case x < t:
			less += hi[j] - lo[j]
			open[i], open[l] = open[l], j
			l++
			i++
		case x > t:
			r--
			open[i], open[r] = open[r], j
		default:
			same += hi[j] - lo[j]
			i++
		}
	}
	return l, r, less, same
}

func median(x, y, z float64) float64 { return math.Max(math.Min(x, y), math.Min(math.Max(x, y), z)) }
