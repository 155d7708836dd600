package sphere

import (
	"fmt"
	"math"
	"math/big"
)

// Bounds enclose w* = (1-T)/2 = sin^2(theta/2) for the optimal cap of angle theta, by rationals: Lower < w* < Upper.
type Bounds struct {
	Lower, Upper *big.Rat
}

// W returns bounds on the worst case of W_p, which is 2 sqrt(w*): the chord from the centre of the cap to its rim.
func (b Bounds) W() (lower, upper float64) {
	if b.Lower == nil || b.Upper == nil || b.Lower.Sign() < 0 || b.Upper.Sign() < 0 {
		return math.NaN(), math.NaN()
	}
	return rootBound(b.Lower, -1), rootBound(b.Upper, 1)
}

// rootBound returns a float on the given side of 2 sqrt(w), at most two units of the last place away.
func rootBound(w *big.Rat, side int) float64 {
	f, _ := w.Float64()
	x := 2 * math.Sqrt(f)
	four := new(big.Rat).Mul(w, big.NewRat(4, 1))
	square := func(x float64) *big.Rat {
		r := new(big.Rat).SetFloat64(x)
		return r.Mul(r, r)
	}
	for square(x).Cmp(four)*side < 0 {
		x = math.Nextafter(x, math.Inf(side))
	}
	return x
}

const (
	// firstBits and lastBits are the precisions that sign works at: doubled until the sign is clear.
	firstBits = 160
	lastBits  = 1 << 13
	// maxPolynomial is the largest even d for which the polynomial is used rather than the series.
	maxPolynomial = 128
)

// Verify proves b for d, p, eps, or fails with ErrBounds (the bounds are false, or not in order, or not in (0, 1)) or
// ErrPrecision (they are so close to w* that 8192 bits do not decide on which side they lie). It shares no code with
// Solve.
//
// What it checks: with kappa = e^eps - 1, s the law of (1 - <x,y>)/2 for y uniform (a Beta law with both parameters a =
// d/2), q = p/2 and h = E[s^q], the function
//
//	P(w) = h - w^q - kappa E[(w^q - s^q)_+]
//
// is strictly decreasing on (0, 1) and w* is its zero (the paper's equation over 2^p e^(-eps/2)): P(Lower) > 0 >
// P(Upper). If d <= 128 is even and p is even, P is a polynomial whose coefficients are rational except for kappa, and
// is evaluated exactly for rational bounds of kappa. On S^2 the same holds for odd p, in sqrt(w). In all other cases
// two series of positive terms enclose P / w^q in interval arithmetic, each with a bound on its tail (see series in
// interval.go); the constants come from the same series at w = 1/2.
func (b Bounds) Verify(d int, p, eps float64) error {
	if err := check(d, p, eps); err != nil {
		return err
	}
	if b.Lower == nil || b.Upper == nil || b.Lower.Sign() <= 0 || b.Lower.Cmp(b.Upper) >= 0 ||
		b.Upper.Cmp(big.NewRat(1, 1)) >= 0 {
		return fmt.Errorf("%w: want 0 < lower < upper < 1", ErrBounds)
	}
	e := newEquation(d, p, eps)
	far := farAbove(d)
	for _, side := range []struct {
		name string
		w    *big.Rat
		want int
	}{{"lower", b.Lower, 1}, {"upper", b.Upper, -1}} {
		w := side.w
		if w.Cmp(far) > 0 { // near 1 the series are long
			w = far
		}
		s, err := e.sign(w)
		if err == nil && w != side.w && s > 0 { // far is not above w* after all: P decreases, so only its other sign decides
			s, err = e.sign(side.w)
		}
		if err != nil {
			return err
		}
		if s != side.want {
			f, _ := side.w.Float64()
			return fmt.Errorf("%w: the %s one, about %v, is on the other side (d = %d, p = %v, eps = %v)", ErrBounds, side.name,
				f, d, p, eps)
		}
	}
	return nil
}

// farAbove is a number above every w* in dimension d: w* <= E[s^q]^(1/q) <= E[s^6]^(1/6) < (d+10)/(2d+10), with room,
// and at most 15/16. Verify does not depend on its being so.
func farAbove(d int) *big.Rat {
	most := big.NewRat(5*(int64(d)+10), 4*(2*int64(d)+10))
	if top := big.NewRat(15, 16); most.Cmp(top) > 0 {
		return top
	}
	return most
}

// equation is P, with the constants that do not depend on w kept for each precision.
type equation struct {
	d         int
	a, q, eps *big.Rat
	constants map[uint]constants
}

type constants struct {
	kappa interval
	scale interval // a / (2 Sigma_0(1/2)): A(w) = scale (4w(1-w))^a
	h2    interval // h 2^q
}

func newEquation(d int, p, eps float64) *equation {
	q := new(big.Rat).SetFloat64(p)
	return &equation{
		d: d, a: big.NewRat(int64(d), 2), q: q.Quo(q, big.NewRat(2, 1)), eps: new(big.Rat).SetFloat64(eps),
		constants: map[uint]constants{},
	}
}

// sign returns the sign of P(w), 0 < w < 1.
func (e *equation) sign(w *big.Rat) (int, error) {
	for bits := uint(firstBits); bits <= lastBits; bits *= 2 {
		v := e.value(arith{bits}, w)
		if v.lo.Sign() > 0 {
			return 1, nil
		}
		if v.hi.Sign() < 0 {
			return -1, nil
		}
	}
	f, _ := w.Float64()
	return 0, fmt.Errorf("%w: %d bits do not decide the side of w = %v", ErrPrecision, lastBits, f)
}

// value encloses P(w) by the polynomial, or P(w) / w^q by the series.
func (e *equation) value(ar arith, w *big.Rat) interval {
	two := big.NewRat(2, 1)
	odd := e.d == 2 && !e.q.IsInt() && new(big.Rat).Mul(e.q, two).IsInt()
	if e.d%2 == 0 && e.d <= maxPolynomial && e.q.IsInt() || odd {
		return e.polynomial(ar, w)
	}
	return e.series(ar, w)
}

// polynomial is, for integers a and q,
//
//	P(w) = h - w^q - kappa / B(a,a) sum_{k<a} (-1)^k C(a-1,k) w^(a+q+k) (1/(a+k) - 1/(a+q+k)),   h = prod_{i<q} (a+i)/(2a+i),
//
// from integrating (w^q - s^q) s^(a-1) (1-s)^(a-1). With a = 1 it holds for every q: h = 1/(1+q). Everything but kappa
// (and sqrt(w) for odd p) is exact.
func (e *equation) polynomial(ar arith, w *big.Rat) interval {
	a := int64(e.d / 2)
	one := big.NewRat(1, 1)
	whole := new(big.Int).Quo(e.q.Num(), e.q.Denom())
	h := big.NewRat(1, 1)
	if a == 1 {
		h.Quo(one, new(big.Rat).Add(one, e.q))
	} else {
		for i := int64(0); i < whole.Int64(); i++ {
			h.Mul(h, big.NewRat(a+i, 2*a+i))
		}
	}
	// 1/B(a,a) = (2a-1)! / ((a-1)!)^2
	top := new(big.Int).MulRange(1, 2*a-1)
	bottom := new(big.Int).MulRange(1, a-1)
	invB := new(big.Rat).SetFrac(top, bottom.Mul(bottom, bottom))
	sum, power, binomial := new(big.Rat), new(big.Rat).Set(one), new(big.Int)
	for range a {
		power.Mul(power, w)
	}
	for k := int64(0); k < a; k++ {
		ak := new(big.Rat).SetInt64(a + k)
		term := new(big.Rat).Quo(one, ak)
		term.Sub(term, new(big.Rat).Quo(one, ak.Add(ak, e.q)))
		term.Mul(term, power).Mul(term, new(big.Rat).SetInt(binomial.Binomial(a-1, k)))
		if k%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power.Mul(power, w)
	}
	sum.Mul(sum, invB) // = E[(w^q - s^q)_+] / w^q > 0
	wq := ar.rat(w)
	if e.q.IsInt() {
		exact := big.NewRat(1, 1)
		for range whole.Int64() {
			exact.Mul(exact, w)
		}
		wq = ar.rat(exact)
	} else {
		wq = ar.pow(wq, e.q)
	}
	kappa := e.at(ar).kappa
	return ar.sub(ar.rat(h), ar.mul(wq, ar.add(ar.ratio(1, 1), ar.mul(kappa, ar.rat(sum)))))
}

// series is, with A = w^a (1-w)^a / B(a,a) and
//
//	Sigma_0(w) = sum_n (2a)_n / (a+1)_n w^n,   Sigma_1(w) = sum_n (2a+q)_n / (a+q+1)_n w^n,
//
// P(w) / w^q = h / w^q - 1 - kappa A (Sigma_0 / a - Sigma_1 / (a+q)).
func (e *equation) series(ar arith, w *big.Rat) interval {
	c := e.at(ar)
	iw := ar.rat(w)
	s0 := ar.quo(e.sigma0(ar, iw), ar.rat(e.a))
	s1 := ar.quo(e.sigma1(ar, iw), ar.rat(new(big.Rat).Add(e.a, e.q)))
	base := new(big.Rat).Sub(big.NewRat(1, 1), w)
	base.Mul(base, w).Mul(base, big.NewRat(4, 1))
	factor := ar.mul(c.kappa, ar.mul(c.scale, ar.pow(ar.rat(base), e.a)))
	left := ar.add(ar.quo(c.h2, ar.pow(ar.add(iw, iw), e.q)), ar.mul(factor, s1))
	right := ar.add(ar.ratio(1, 1), ar.mul(factor, s0))
	return ar.sub(left, right)
}

func (e *equation) sigma0(ar arith, w interval) interval {
	one := big.NewRat(1, 1)
	return ar.series(new(big.Rat).Add(e.a, e.a), new(big.Rat).Add(e.a, one), w)
}

func (e *equation) sigma1(ar arith, w interval) interval {
	n := new(big.Rat).Add(e.a, e.q)
	m := new(big.Rat).Add(n, big.NewRat(1, 1))
	return ar.series(n.Add(n, e.a), m, w)
}

// at returns the constants. The Beta functions are incomplete ones at 1/2: by symmetry I_1/2(a,a) = 1/2 gives
//
//	a B(a,a) = 2 4^-a Sigma_0(1/2),
//
// and B(a+q,a) = B_1/2(a+q,a) + B_1/2(a,a+q) gives
//
//	h 2^q = (Sigma_1(1/2)/(a+q) + Sigma_2(1/2)/a) / (2 Sigma_0(1/2)/a),   Sigma_2(w) = sum_n (2a+q)_n / (a+1)_n w^n.
func (e *equation) at(ar arith) constants {
	if c, ok := e.constants[ar.bits]; ok {
		return c
	}
	half := ar.ratio(1, 2)
	ia := ar.rat(e.a)
	s0 := e.sigma0(ar, half)
	s0 = ar.add(s0, s0)
	n := new(big.Rat).Add(e.a, e.q)
	s1 := ar.quo(e.sigma1(ar, half), ar.rat(n))
	s2 := ar.quo(ar.series(n.Add(n, e.a), new(big.Rat).Add(e.a, big.NewRat(1, 1)), half), ia)
	c := constants{kappa: ar.expm1(e.eps), scale: ar.quo(ia, s0), h2: ar.quo(ar.add(s1, s2), ar.quo(s0, ia))}
	e.constants[ar.bits] = c
	return c
}
