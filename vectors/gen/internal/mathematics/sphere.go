package mathematics

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/reals"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
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

func betaHalf(a, b int) *big.Float {
	return reals.Quo(reals.Mul(gammaHalf(a), gammaHalf(b)), gammaHalf(a+b))
}

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
	s := spherical{d: d, q: reals.Float(p / 2), beta: betaHalf(d, d)}
	if p == math.Trunc(p) {
		s.mean = reals.Quo(betaHalf(d+int(p), d), s.beta)
	} else {
		s.mean = s.moment(reals.Int(1), s.q)
	}
	return s
}

// moment returns E[y^q; y <= w], by the binomial series of (1-y)^(a-1): finite for even d, else geometric in w < 1.
func (s spherical) moment(w, q *big.Float) *big.Float {
	a := reals.Float(float64(s.d) / 2)
	sum, c, power := reals.Int(0), reals.Int(1), reals.Int(1)
	for n := int64(0); ; n++ {
		term := reals.Quo(reals.Mul(c, power), reals.Add(reals.Add(a, q), reals.Int(n)))
		sum = reals.Add(sum, term)
		c = reals.Quo(reals.Mul(c, reals.Sub(reals.Int(n+1), a)), reals.Int(n+1))
		power = reals.Mul(power, w)
		if c.Sign() == 0 || power.MantExp(nil) < -reals.Precision-40 {
			break
		}
		values.Must(n < 8000, "a series that does not end")
	}
	scale := reals.Exp(reals.Mul(reals.Add(a, q), reals.Log(w)))
	return reals.Quo(reals.Mul(scale, sum), s.beta)
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
		in := sphereIn{D: values.Pick(r, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 16, 24)}
		p := values.Pick(r, 1, 2, 2, 3, 4, 6, 12, 0.5, 1.5, 2.25, 7.5)
		if in.D%2 == 1 {
			p = math.Ceil(p)
		}
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
