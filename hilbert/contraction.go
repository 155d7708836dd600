package hilbert

import "math"

// Contraction returns Birkhoff's coefficient tau = tanh(diameter/4) and 1 - tau, each with full
// relative accuracy:
//
//	1 - tau = sech^2(diameter/4) / (1 + tau) = 2 / (1 + e^(diameter/2)).
//
// A diameter of +Inf gives 1 and 0. A negative one or NaN gives NaN twice.
func Contraction(diameter float64) (tau, oneMinusTau float64) {
	if !(diameter >= 0) {
		return math.NaN(), math.NaN()
	}
	x := diameter / 4
	// For large x written so that e^x cannot overflow before the quotient vanishes.
	e := math.Exp(-2 * x)
	return math.Tanh(x), 2 * e / (1 + e)
}

// Rate returns c = tau^2, the factor by which one iteration of Algorithm 1 contracts Hilbert's
// metric, and 1 - c = sech^2(diameter/4), each with full relative accuracy. A diameter of +Inf gives 1
// and 0. A negative one or NaN gives NaN twice.
func Rate(diameter float64) (c, oneMinusC float64) {
	if !(diameter >= 0) {
		return math.NaN(), math.NaN()
	}
	t := math.Tanh(diameter / 4)
	e := math.Exp(-diameter / 2)
	s := 1 + e
	return t * t, 4 * e / (s * s)
}

// Posterior bounds the distance to the fixed point v* of a map that contracts by c, such as an
// iteration of Algorithm 1 with a kernel of the given diameter, after a step from v to v+:
//
//	d_H(v+, v*) <= c/(1-c) d_H(v, v+),   c/(1-c) = sinh^2(diameter/4).
//
// It is +Inf if there is no finite bound, and NaN if an argument is negative or NaN. The bound for v itself is larger
// by d_H(v, v+).
func Posterior(diameter, step float64) float64 {
	if !(diameter >= 0) || !(step >= 0) {
		return math.NaN()
	}
	if step == 0 || diameter == 0 {
		return 0
	}
	s := math.Sinh(diameter / 4)
	return s * (s * step)
}
