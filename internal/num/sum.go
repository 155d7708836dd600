package num

import (
	"math"
	"slices"
)

// Sum returns the sum of x, compensated (Ogita, Rump and Oishi, 2005: Sum2): the rounding error of each addition is
// recovered, and the recovered errors are added at the end.
//
// With n = len(x): |Sum(x) - Σx| <= u·|Σx| + γ_n²·Σ|x|. The empty sum is 0. Finite numbers whose
// exact sum is finite never give NaN or an infinity, even if a partial sum overflows. NaN and
// infinities among x behave as in ordinary addition.
func Sum(x []float64) float64 {
	var s Twofold
	for _, v := range x {
		s = s.Add(v)
	}
	if r := s.Float(); isFinite(r) {
		return r
	}
	return dotSlow(x, slices.Repeat([]float64{1}, len(x)))
}

// Dot returns Σ x_i·y_i in about twice the working precision (Dot2 of the same paper). It panics if the lengths differ.
//
// With n = len(x): |Dot - Σxy| <= u·|Σxy| + γ_n²·Σ|xy| + 5n·2^-1075, the last term for products
// that underflow. Finite numbers whose exact dot product is finite give a finite result.
func Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("num: Dot of slices of different lengths")
	}
	var s Twofold
	for i, v := range x {
		p, e := TwoProd(v, y[i])
		s = s.Add(p)
		s.Lo += e
	}
	if r := s.Float(); isFinite(r) {
		return r
	}
	return dotSlow(x, y)
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// dotSlow serves what the fast loops cannot: overflow on the way, NaN or infinities.
func dotSlow(x, y []float64) float64 {
	var a Acc
	special := 0.0 // collects NaN and infinities by the rules of addition
	for i, v := range x {
		w := y[i]
		a.AddMul(v, w)
		if !isFinite(v) || !isFinite(w) {
			special += float64(v * w)
		}
	}
	if a.bad {
		return special
	}
	return a.Float64()
}

// LogSumExp returns log Σ exp(x_i) without overflow. The empty sum and a slice that is -Inf
// throughout give -Inf; any +Inf gives +Inf, and any NaN gives NaN.
//
// The largest term is taken out and enters as log1p, so a sum that its largest term dominates keeps
// its small part: LogSumExp(0, -40) = exp(-40), not 0. The absolute error is at most
// (n + log n + 4)·u + 2u·|result| + 2u·|result - max|: the terms are in [0, 1], and the rounding of
// x_i - max costs |x_i - max|·u relative to term i, whose weighted mean is at most log n.
func LogSumExp(x []float64) float64 {
	max, at := math.Inf(-1), -1
	for i, v := range x {
		if math.IsNaN(v) {
			return v
		}
		if v > max {
			max, at = v, i
		}
	}
	if math.IsInf(max, 0) {
		return max
	}
	var s float64
	for i, v := range x {
		if i != at {
			s += math.Exp(v - max)
		}
	}
	return max + math.Log1p(s)
}

// Total returns sum and exp with sum * 2^exp = the sum of the xs, which are finite and >= 0, as Sum has it. The
// exponent is 0 unless the largest x is beyond 2^400 or below 2^-400; entries are then taken times 2^-exp, and those
// 2^-1074 times smaller than the largest are lost.
func Total(xs []float64) (sum float64, exp int) {
	most := 0.0
	for _, x := range xs {
		most = max(most, x)
	}
	if most == 0 || most >= 0x1p-400 && most <= 0x1p400 {
		return Sum(xs), 0
	}
	_, exp = math.Frexp(most)
	scaled := make([]float64, len(xs))
	for i, x := range xs {
		scaled[i] = math.Ldexp(x, -exp)
	}
	return Sum(scaled), exp
}
