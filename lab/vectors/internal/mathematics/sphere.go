package mathematics

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
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

// gammaHalf returns the gamma function of n/2, n >= 1.
func gammaHalf(n int) *big.Float {
	v := reals.Int(1)
	if n%2 == 1 {
		v.Sqrt(reals.Pi())
	}
	for m := 2 - n%2; m < n; m += 2 {
		v = reals.Mul(v, reals.Float(float64(m)/2))
	}
	return v
}

// betaBelow returns the integral of y^(a-1) (1-y)^(b-1) from 0 to w < 1: w^a (1-w)^b / a times the sum of
// (a+b)_n / (a+1)_n w^n, whose terms are positive.
func betaBelow(w, a, b *big.Float) *big.Float {
	rise, fall := reals.Add(a, b), reals.Add(a, reals.Int(1))
	sum, term := reals.Int(0), reals.Int(1)
	for n := int64(0); term.MantExp(nil) > sum.MantExp(nil)-reals.Precision-20; n++ {
		values.Must(n < 40000, "a series that does not end")
		sum = reals.Add(sum, term)
		term = reals.Quo(reals.Mul(reals.Mul(term, w), reals.Add(rise, reals.Int(n))), reals.Add(fall, reals.Int(n)))
	}
	scale := reals.Add(reals.Mul(a, reals.Log(w)), reals.Mul(b, reals.Log(reals.Sub(reals.Int(1), w))))
	return reals.Quo(reals.Mul(reals.Exp(scale), sum), a)
}

// spherical is the law of y = (1 - <x,y>)/2 on S^d: density y^(a-1) (1-y)^(a-1) / B(a,a), a = d/2. Costs |x-y|^p are
// (4y)^q, q = p/2; the factor 4^q is left out.
type spherical struct {
	a, q *big.Float
	beta *big.Float
	mean *big.Float // of y^q
}

func newSpherical(d int, p float64) spherical {
	s := spherical{a: reals.Float(float64(d) / 2), q: reals.Float(p / 2)}
	s.beta = reals.Quo(reals.Mul(gammaHalf(d), gammaHalf(d)), gammaHalf(2*d))
	half, aq := reals.Float(0.5), reals.Add(s.a, s.q) // and above the half, y for 1 - y
	s.mean = reals.Quo(reals.Add(betaBelow(half, aq, s.a), betaBelow(half, s.a, aq)), s.beta)
	return s
}

// moment returns E[y^q; y <= w].
func (s spherical) moment(w, q *big.Float) *big.Float {
	return reals.Quo(betaBelow(w, reals.Add(s.a, q), s.a), s.beta)
}

// solveSphere finds w with E K(w) = R(w), K = w^q S(w) - E[y^q; y <= w], R = E[y^q] - w^q: bisection in log w, then
// Newton's method, and a change of sign about the answer.
func solveSphere(d int, p, eps float64) sphereOut {
	s := newSpherical(d, p)
	grow := reals.Exp(reals.Float(eps))
	e := reals.Sub(grow, reals.Int(1))
	zero := reals.Int(0)
	at := func(w *big.Float) (value, slope *big.Float) {
		share := s.moment(w, zero)
		power := reals.Exp(reals.Mul(s.q, reals.Log(w)))
		value = reals.Add(reals.Sub(reals.Mul(e, reals.Sub(reals.Mul(power, share), s.moment(w, s.q))), s.mean), power)
		slope = reals.Mul(reals.Quo(reals.Mul(s.q, power), w), reals.Add(reals.Mul(e, share), reals.Int(1)))
		return value, slope
	}
	low, high := -float64(800), -0x1p-6 // of log w
	for range 40 {
		mid := (low + high) / 2
		if v, _ := at(reals.Exp(reals.Float(mid))); v.Sign() > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	w := reals.Exp(reals.Float(low))
	for n := 0; ; n++ {
		values.Must(n < 60, "a search that does not end")
		v, slope := at(w)
		step := reals.Quo(v, slope)
		w = reals.Sub(w, step)
		if step.Sign() == 0 || step.MantExp(nil) < w.MantExp(nil)-reals.Precision/2-20 {
			break // the next step would be below all digits
		}
	}
	near := reals.New().SetMantExp(reals.Int(1), -230)
	below, _ := at(reals.Mul(w, reals.Sub(reals.Int(1), near)))
	above, _ := at(reals.Mul(w, reals.Add(reals.Int(1), near)))
	values.Must(below.Sign() < 0 && above.Sign() > 0, "a cap that is not the root")
	share := s.moment(w, zero)
	mass := reals.Add(reals.Int(1), reals.Mul(e, share))
	four := reals.Mul(reals.Int(4), w)
	return sphereOut{
		T:     reals.Digits(reals.Sub(reals.Int(1), reals.Mul(reals.Int(2), w))),
		Omt:   reals.Digits(reals.Mul(reals.Int(2), w)),
		Alpha: reals.Digits(reals.Quo(reals.Exp(reals.Float(eps/2)), mass)),
		S:     reals.Digits(share),
		J:     reals.Digits(reals.Exp(reals.Mul(s.q, reals.Log(four)))),
		W:     reals.Digits(reals.New().Sqrt(four)),
		Pin:   reals.Digits(reals.Quo(reals.Mul(grow, share), mass)),
		Pout:  reals.Digits(reals.Quo(reals.Sub(reals.Int(1), share), mass)),
	}
}

// Sphere fills in the cases of the kind sphere: caps of the sphere.
func Sphere(s *cases.Set) {
	r := &s.RNG
	s.Until(205, 105, func(n int) {
		in := sphereIn{D: values.Pick(r, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 16, 24, 33, 100, 257, 1000)}
		p := values.Pick(r, 1, 2, 2, 3, 4, 6, 12, 0.5, 1.5, 2.25, 7.5)
		eps := values.Pick(r, 0x1p-30, 0.125, 0.5, 1, 2, 4, 8, 16, 30, 60, 10*r.Float(), r.Float())
		var flags []string
		switch {
		case eps >= 20:
			flags = append(flags, "large-eps")
		case eps < 1e-6:
			flags = append(flags, "small-eps")
		}
		reason := ""
		if n%3 == 2 {
			bad, flag := values.Bad(r)
			flags = []string{flag}
			switch r.Intn(3) {
			case 0:
				in.D, reason, flags = values.Pick(r, 0, -1, 10_000_001, -1<<31), "dimension", []string{}
			case 1:
				p, reason = values.Pick(r, bad, 0, math.Nextafter(0.5, 0), math.Nextafter(12, 20), 1e300), "exponent"
			case 2:
				eps, reason = values.Pick(r, bad, 0, 0x1p-40, math.Nextafter(700, 1000)), "epsilon"
			}
			if reason != "dimension" && !(math.IsNaN(p*eps) || math.IsInf(p*eps, 0) || p < 0 || eps < 0) {
				flags = []string{}
			}
		}
		in.P, in.Eps = values.HexFloat(p), values.HexFloat(eps)
		if reason != "" {
			s.Invalid(reason, in, flags...)
			return
		}
		s.Valid(in, solveSphere(in.D, p, eps), flags...)
	})
}
