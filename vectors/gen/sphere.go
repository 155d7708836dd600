package main

import (
	"math"
	"math/big"
)

type sphereIn struct {
	D   int    `json:"d"`
	P   string `json:"p"`
	Eps string `json:"eps"`
}

type sphereOut struct {
	T     string `json:"t"`
	Omt   string `json:"omt"`
	Alpha string `json:"alpha"`
	S     string `json:"S"`
	J     string `json:"J"`
	W     string `json:"W"`
	Pin   string `json:"pin"`
	Pout  string `json:"pout"`
}

// pi by Machin's formula.
func pi() *big.Float {
	arctan := func(n int64) *big.Float {
		x := rdiv(realInt(1), realInt(n))
		square, sum := rmul(x, x), real0().Set(x)
		for m, power := int64(3), x; power.MantExp(nil) > -precision-16; m += 2 {
			power = rmul(power, square)
			term := rdiv(power, realInt(m))
			if m%4 == 3 {
				term.Neg(term)
			}
			sum = radd(sum, term)
		}
		return sum
	}
	return rmul(realInt(4), rsub(rmul(realInt(4), arctan(5)), arctan(239)))
}

// gammaHalf returns the gamma function of n/2, n >= 1.
func gammaHalf(n int) *big.Float {
	v := realInt(1)
	if n%2 == 1 {
		v.Sqrt(pi())
	}
	for m := 2 - n%2; m < n; m += 2 {
		v = rmul(v, realFloat(float64(m)/2))
	}
	return v
}

func betaHalf(a, b int) *big.Float { return rdiv(rmul(gammaHalf(a), gammaHalf(b)), gammaHalf(a+b)) }

// spherical is the law of y = (1 - <x,y>)/2 on S^d: density y^(a-1) (1-y)^(a-1) / B(a,a), a = d/2. Costs |x-y|^p are
// (4y)^q, q = p/2; the factor 4^q is left out.
type spherical struct {
	d    int
	q    *big.Float
	beta *big.Float
	mean *big.Float // of y^q
}

// newSpherical takes an even d, or a whole p.
func newSpherical(d int, p float64) spherical {
	s := spherical{d: d, q: realFloat(p / 2), beta: betaHalf(d, d)}
	if p == math.Trunc(p) {
		s.mean = rdiv(betaHalf(d+int(p), d), s.beta)
	} else {
		s.mean = s.moment(realInt(1), s.q)
	}
	return s
}

// moment returns E[y^q; y <= w], by the binomial series of (1-y)^(a-1): finite for even d, else geometric in w < 1.
func (s spherical) moment(w, q *big.Float) *big.Float {
	a := realFloat(float64(s.d) / 2)
	sum, c, power := realInt(0), realInt(1), realInt(1)
	for n := int64(0); ; n++ {
		term := rdiv(rmul(c, power), radd(radd(a, q), realInt(n)))
		sum = radd(sum, term)
		c = rdiv(rmul(c, rsub(realInt(n+1), a)), realInt(n+1))
		power = rmul(power, w)
		if c.Sign() == 0 || power.MantExp(nil) < -precision-40 {
			break
		}
		must(n < 8000, "a series that does not end")
	}
	scale := rexp(rmul(radd(a, q), rlog(w)))
	return rdiv(rmul(scale, sum), s.beta)
}

// solveSphere finds w with E K(w) = R(w), K = w^q S(w) - E[y^q; y <= w], R = E[y^q] - w^q: bisection in log w, then
// Newton's method, and a change of sign about the answer.
func solveSphere(d int, p, eps float64) sphereOut {
	s := newSpherical(d, p)
	grow := rexp(realFloat(eps))
	e := rsub(grow, realInt(1))
	zero := realInt(0)
	at := func(w *big.Float) (value, slope *big.Float) {
		share := s.moment(w, zero)
		power := rexp(rmul(s.q, rlog(w)))
		value = radd(rsub(rmul(e, rsub(rmul(power, share), s.moment(w, s.q))), s.mean), power)
		slope = rmul(rdiv(rmul(s.q, power), w), radd(rmul(e, share), realInt(1)))
		return value, slope
	}
	low, high := -float64(800), -0x1p-6 // of log w
	for range 40 {
		mid := (low + high) / 2
		if v, _ := at(rexp(realFloat(mid))); v.Sign() > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	w := rexp(realFloat(low))
	for n := 0; ; n++ {
		must(n < 60, "a search that does not end")
		v, slope := at(w)
		step := rdiv(v, slope)
		w = rsub(w, step)
		if step.Sign() == 0 || step.MantExp(nil) < w.MantExp(nil)-precision/2-20 {
			break // the next step would be below all digits
		}
	}
	near := real0().SetMantExp(realInt(1), -230)
	below, _ := at(rmul(w, rsub(realInt(1), near)))
	above, _ := at(rmul(w, radd(realInt(1), near)))
	must(below.Sign() < 0 && above.Sign() > 0, "a cap that is not the root")
	share := s.moment(w, zero)
	mass := radd(realInt(1), rmul(e, share))
	four := rmul(realInt(4), w)
	return sphereOut{
		T:     digits(rsub(realInt(1), rmul(realInt(2), w))),
		Omt:   digits(rmul(realInt(2), w)),
		Alpha: digits(rdiv(rexp(realFloat(eps/2)), mass)),
		S:     digits(share),
		J:     digits(rexp(rmul(s.q, rlog(four)))),
		W:     digits(real0().Sqrt(four)),
		Pin:   digits(rdiv(rmul(grow, share), mass)),
		Pout:  digits(rdiv(rsub(realInt(1), share), mass)),
	}
}

func sphereVectors(s *set) {
	r := &s.rng
	s.until(205, 105, func(n int) {
		in := sphereIn{D: pick(r, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 16, 24)}
		p := pick(r, 1, 2, 2, 3, 4, 6, 12, 0.5, 1.5, 2.25, 7.5)
		if in.D%2 == 1 {
			p = math.Ceil(p)
		}
		eps := pick(r, 0x1p-30, 0.125, 0.5, 1, 2, 4, 8, 16, 30, 60, 10*r.float(), r.float())
		var flags []string
		switch {
		case eps >= 20:
			flags = append(flags, "large-eps")
		case eps < 1e-6:
			flags = append(flags, "small-eps")
		}
		reason := ""
		if n%3 == 2 {
			bad, flag := pickBad(r)
			flags = []string{flag}
			switch r.intn(3) {
			case 0:
				in.D, reason, flags = pick(r, 0, -1, 10_000_001, -1<<31), "dimension", []string{}
			case 1:
				p, reason = pick(r, bad, 0, math.Nextafter(0.5, 0), math.Nextafter(12, 20), 1e300), "exponent"
			case 2:
				eps, reason = pick(r, bad, 0, 0x1p-40, math.Nextafter(700, 1000)), "epsilon"
			}
			if reason != "dimension" && !(math.IsNaN(p*eps) || math.IsInf(p*eps, 0) || p < 0 || eps < 0) {
				flags = []string{}
			}
		}
		in.P, in.Eps = hexFloat(p), hexFloat(eps)
		if reason != "" {
			s.invalid(reason, in, flags...)
			return
		}
		s.valid(in, solveSphere(in.D, p, eps), flags...)
	})
}
