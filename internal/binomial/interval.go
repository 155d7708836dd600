package binomial

import (
	"errors"
	"fmt"
	"math"
)

// MaxTrials bounds n: beyond it the arithmetic here has not been checked.
const MaxTrials = 1 << 40

// ErrRange: a count, a number of trials or a level out of range.
var ErrRange = errors.New("binomial: out of range")

// tailSlack is the relative amount by which bounds are moved outward. The logarithm of a tail is computed to
// some 1e-13 (checked against 40 digits for n up to 1e12), and a bound moves relatively less than that.
const tailSlack = 1e-11

// Interval returns the Clopper-Pearson bounds of a probability p after x successes in n trials. Whatever p is,
// lower > p has probability at most level, and so has upper < p. 0 <= x <= n, 1 <= n <= MaxTrials, 0 < level
// <= 1/4.
//
// lower solves P[X >= x | lower] = level and upper P[X <= x | upper] = level; x = 0 and x = n give 0 and 1. The
// quantiles of the beta distribution would be the same thing, but gonum's (v0.17.0, after Cephes) are off by 39
// % at x = 1, n = 1e8, level 1e-14, and worse at x = 0, where an auditor needs them most. So the tail is
// computed here.
func Interval(x, n int64, level float64) (lower, upper float64, err error) {
	if n < 1 || n > MaxTrials || x < 0 || x > n {
		return 0, 1, fmt.Errorf("%w: %d successes in %d trials", ErrRange, x, n)
	}
	if !(level > 0 && level <= 0.25) {
		return 0, 1, fmt.Errorf("%w: level %v, want 0 < level <= 1/4", ErrRange, level)
	}
	_, upper = lowerBound(n-x, n, level)
	lower, _ = lowerBound(x, n, level)
	return lower * (1 - tailSlack), min(1, upper*(1+tailSlack)), nil
}

// lowerBound returns p with P[X >= x | p] = level, and 1 - p without cancellation.
//
// With t = ln(p/(1-p)), in which both ends of [0, 1] are accurate, ln P[X >= x] is concave and rises with slope
// x (1-p) P[X = x]/P[X >= x]. So Newton's method from a point where it is too small climbs to the root and does
// not pass it.
func lowerBound(x, n int64, level float64) (p, q float64) {
	want := math.Log(level)
	switch x {
	case 0:
		return 0, 1
	case n: // p^n = level
		return math.Exp(want / float64(n)), -math.Expm1(want / float64(n))
	}
	fx, fn := float64(x), float64(n)
	step := 1 / math.Sqrt(min(fx, fn-fx))
	t := math.Log(fx) - math.Log(fn-fx) - step // the tail is about 1/2 at p = x/n
	p, q = logistic(t)
	f, factor := logTail(x, n, p, q)
	for f > want {
		step *= 2
		t -= step
		p, q = logistic(t)
		f, factor = logTail(x, n, p, q)
	}
	for range 100 { // ends by itself after some ten
		move := (want - f) * factor / (fx * q)
		if !(move > 1e-14) { // p moves by no more than that, relatively
			break
		}
		t += move
		p, q = logistic(t)
		f, factor = logTail(x, n, p, q)
	}
	return p, q
}

// logistic returns p = 1/(1 + e^-t) and 1 - p.
func logistic(t float64) (p, q float64) {
	if t > 0 {
		q, p = logistic(-t)
		return p, q
	}
	e := math.Exp(t)
	return e / (1 + e), 1 / (1 + e)
}

// logTail returns ln P[X >= x] of a binomial, for 0 < x < n, 0 < p <= x/n and q = 1 - p, and P[X >= x]/P[X =
// x]. Where failures are rare the latter is a sum over their number, and a continued fraction otherwise, which
// would lose digits there.
func logTail(x, n int64, p, q float64) (log, factor float64) {
	if p > 0.5 && n-x <= maxSummed {
		factor = sumBeyond(x, n, p, q)
	} else {
		factor = fractionBeyond(x, n, p, q)
	}
	return logBinomial(x, n, p, q) + math.Log(factor), factor
}

// maxSummed is up to how many failures they are summed over: some ten thousand terms count.
const maxSummed = 1e7

// sumBeyond returns P[X >= x]/P[X = x] as 1 + r_1 (1 + r_2 (1 + ...)), with r_i = P[X = x+i]/P[X = x+i-1] < 1
// and falling.
func sumBeyond(x, n int64, p, q float64) float64 {
	sum, term := 1.0, 1.0
	for k := x; k < n; k++ {
		term *= float64(n-k) / float64(k+1) * (p / q)
		next := sum + term
		if next == sum {
			break
		}
		sum = next
	}
	return sum
}

// fractionBeyond is the same by the continued fraction of the incomplete beta function I_p(x, n-x+1) (Press et
// al., Numerical Recipes, 6.4), which converges within some dozen steps in the tail and O(sqrt n) at the
// centre.
func fractionBeyond(x, n int64, p, q float64) float64 {
	a, b := float64(x), float64(n-x+1)
	// Lentz's method.
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*p/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	h := d
	for m := 1.0; m < 1e7; m++ {
		for _, num := range [2]float64{
			m * (b - m) * p / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * p / ((a + 2*m) * (a + 2*m + 1)),
		} {
			if d = 1 + num*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + num/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			h *= d * c
		}
		if math.Abs(d*c-1) < 0x1p-51 {
			break
		}
	}
	return q * h
}

// LogTail returns ln P[X >= x] if x is above the mean and ln P[X <= x] otherwise: how surprising x is. q = 1 -
// p.
func LogTail(x, n int64, p, q float64) float64 {
	if float64(x) <= float64(n)*p {
		x, p, q = n-x, q, p
	}
	switch {
	case x == 0:
		return 0
	case p == 0:
		return math.Inf(-1)
	case x == n:
		return float64(n) * math.Log(p)
	case q == 0:
		return 0
	}
	log, _ := logTail(x, n, p, q)
	return log
}

// logBinomial returns ln P[X = x] for 0 < x < n, p + q = 1, without the cancellation of Gamma functions
// (Loader, "Fast and accurate computation of binomial probabilities", 2000).
func logBinomial(x, n int64, p, q float64) float64 {
	fx, fn := float64(x), float64(n)
	return stirling(n) - stirling(x) - stirling(n-x) - deviance(fx, fn*p) - deviance(fn-fx, fn*q) +
		0.5*math.Log(fn/(2*math.Pi*fx*(fn-fx)))
}

// stirling returns ln n! - ln( sqrt(2 pi n) (n/e)^n ), n >= 1.
func stirling(n int64) float64 {
	f := float64(n)
	if n < 16 {
		lg, _ := math.Lgamma(f + 1)
		return lg - 0.5*math.Log(2*math.Pi*f) - f*math.Log(f) + f
	}
	s := f * f
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/s)/s)/s)/s) / f
}

// deviance returns x ln(x/m) + m - x, for x, m > 0.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s, e := (x-m)*v, 2*x*v
	for j := 3.0; ; j += 2 {
		e *= v * v
		next := s + e/j
		if next == s || math.IsNaN(next) {
			return s
		}
		s = next
	}
}

// Probability returns P[X = x] of n trials with success p, 0 <= x <= n.
func Probability(x, n int64, p float64) float64 {
	switch x {
	case 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case n:
		return math.Exp(float64(n) * math.Log(p))
	}
	return math.Exp(logBinomial(x, n, p, 1-p))
}
