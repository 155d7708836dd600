package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// This file holds the compensated arithmetic of the solver: sums and products that carry their
// own rounding error. (verify.go has its own, exact, arithmetic and uses nothing from here.)

// dd is an unevaluated sum hi + lo with |lo| at most half an ulp of hi: about 106 bits.
type dd struct{ hi, lo float64 }

// twoSum returns s = fl(a+b) and the exact error, a + b = s + e (Knuth). No product occurs, so
// no compiler may fuse anything.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// twoProd returns p = fl(a*b) and e with a*b = p + e, barring underflow of e. The conversion
// matters: without it a caller's p + x may become one fused operation, on other numbers.
func twoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// renorm returns the dd nearest to s + e for |e| well below |s|.
func renorm(s, e float64) dd {
	h := s + e
	return dd{h, e - (h - s)}
}

// plus returns x + y with a relative error of a few 2^-105 of |x| + |y|.
func (x dd) plus(y dd) dd {
	s, e := twoSum(x.hi, y.hi)
	t, f := twoSum(x.lo, y.lo)
	z := renorm(s, e+t)
	return renorm(z.hi, z.lo+f)
}

// plusFloat returns x + y.
func (x dd) plusFloat(y float64) dd {
	s, e := twoSum(x.hi, y)
	return renorm(s, e+x.lo)
}

// neg returns -x.
func (x dd) neg() dd { return dd{-x.hi, -x.lo} }

// times returns x * y.
func (x dd) times(y float64) dd {
	p, e := twoProd(x.hi, y)
	return renorm(p, math.FMA(x.lo, y, e))
}

// over returns x / y for y != 0.
func (x dd) over(y dd) dd {
	q := x.hi / y.hi
	r := x.plus(y.times(q).neg())
	q2 := r.hi / y.hi
	r = r.plus(y.times(q2).neg())
	return renorm(q, q2).plusFloat(r.hi / y.hi)
}

// value returns x rounded to the nearest float64.
func (x dd) value() float64 { return x.hi + x.lo }

// total returns the sum of xs, each capped at most, with an error below len(xs) * 2^-100 times
// the sum of their magnitudes.
func total(xs []float64, most float64) dd {
	// Four sums, because every addition to one waits for the one before.
	var s [4]dd
	for len(xs) >= 4 {
		s[0] = s[0].plusFloat(min(xs[0], most))
		s[1] = s[1].plusFloat(min(xs[1], most))
		s[2] = s[2].plusFloat(min(xs[2], most))
		s[3] = s[3].plusFloat(min(xs[3], most))
		xs = xs[4:]
	}
	for _, x := range xs {
		s[0] = s[0].plusFloat(min(x, most))
	}
	return s[0].plus(s[1]).plus(s[2].plus(s[3]))
}

// compare returns the sign of (sum of xs, each capped at most) - t - u, exactly, where x is that sum by total.
// The xs are finite and >= 0, most is about 1, and so are t and u at most.
func (x dd) compare(xs []float64, most, t, u float64) int {
	d := x.plusFloat(-t).plusFloat(-u)
	// The sum is at most most*n, so its error is far below n * 2^-90.
	if slack := float64(len(xs)+1) * most * 0x1p-90; d.hi > slack {
		return 1
	} else if d.hi < -slack {
		return -1
	}
	var a num.Acc
	for _, x := range xs {
		a.Add(min(x, most))
	}
	a.Add(-t)
	a.Add(-u)
	return a.Rat().Sign()
}
