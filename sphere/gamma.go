package sphere

import "math"

// moment returns E[(1-u)^q] - 1 for u uniform on S^d (its first coordinate), with q = p/2. In Gamma functions it is
// Gamma(a+q) Gamma(2a) / (Gamma(a) Gamma(2a+q)) 2^q - 1, a = d/2, of size q (q-1) / (2d): never formed as a difference
// of large logarithms.
func moment(d int, q float64) float64 {
	if q == math.Trunc(q) { // E[(1-u)^q] is the product of (d + 2i) / (d + i) over i < q; exactly 1 for q = 1
		sum := 0.0
		for i := 1.0; i < q; i++ {
			sum += math.Log1p(i / (float64(d) + i))
		}
		return math.Expm1(sum)
	}
	a := float64(d) / 2
	return math.Expm1(logRising(a, q) - logRising(2*a, q))
}

// density returns the constant C of the density C e^(-a zeta^2) (zeta/u) of zeta: Gamma(a + 1/2) / (sqrt(pi) Gamma(a)).
func density(a float64) float64 {
	return math.Sqrt(a/math.Pi) * math.Exp(logRising(a, 0.5))
}

// logRising returns log(Gamma(x+q) / Gamma(x)) - q log x for x >= 1/2, 0 < q <= 6, to a few units of 2^-53 of q^2/x:
// for large x it is a small number, and it is formed from small numbers.
//
// It is Stirling's series for both Gammas, with the leading terms joined:
//
//	(x+q-1/2) (log(1+v) - v) + (q-1/2) v + stirling(x+q) - stirling(x),   v = q/x,
//
// after x has been raised to 16 or more by Gamma(x+1) = x Gamma(x).
func logRising(x, q float64) float64 {
	shift, product := 0.0, 1.0
	top := x
	for ; top < 16; top++ {
		product *= top / (top + q)
	}
	if top > x {
		shift = math.Log(product) + q*math.Log(top/x)
	}
	v := q / top
	return shift + (top+q-0.5)*log1pMinus(v) + (q-0.5)*v + stirling(top+q) - stirling(top)
}

// log1pMinus returns log(1+v) - v for v >= 0, relatively exact also for small v: with r = v/(2+v),
// log(1+v) = 2 (r + r^3/3 + ...) and v = 2 r + v r.
func log1pMinus(v float64) float64 {
	if v > 0.1 {
		return math.Log1p(v) - v
	}
	r := v / (2 + v) // below 0.048: the last term left out is below 1e-17 of the first
	y := r * r
	s := y * (1./3 + y*(1./5+y*(1./7+y*(1./9+y*(1./11+y*(1./13))))))
	return r * (2*s - v)
}

// stirling returns log Gamma(x) - ((x-1/2) log x - x + log(2 pi)/2) for x >= 16, to 1e-18.
func stirling(x float64) float64 {
	y := 1 / (x * x)
	return (1./12 - y*(1./360-y*(1./1260-y*(1./1680-y*(1./1188-y*(691./360360)))))) / x
}

// power returns x^q for x > 0 and 0 < q <= 6, to a few ulps whatever the size of x: math.Pow loses as many digits as
// log x has before the point. With x = m 2^e the exponent q e is split into its integer, applied exactly, and a rest.
func power(x, q float64) float64 {
	switch q {
	case 0.5:
		return math.Sqrt(x)
	case 1:
		return x
	}
	m, e := math.Frexp(x)
	whole := math.Round(q * float64(e))
	rest := math.FMA(q, float64(e), -whole) // |rest| <= 1/2 but for rounding
	return math.Ldexp(math.Exp(q*math.Log(m)+rest*math.Ln2), int(whole))
}
