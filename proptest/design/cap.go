package design

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"pgregory.net/rapid"
)

// The law of s = (1-u)/2, u = <x,y> with y uniform on S^d, is Beta(a,a) with a = d/2. Its incomplete moments are series
// of positive terms, summed here in floats of capBits bits with a bound on the tail: nothing cancels.

// capBits is the precision. Some ten thousand roundings and a tail of 2^-tailBits leave far more than a float64 has.
const (
	capBits  = 200
	tailBits = 120
	capPi    = "3.14159265358979323846264338327950288419716939937510582097494459"
)

func capFloat(x float64) *big.Float { return new(big.Float).SetPrec(capBits).SetFloat64(x) }

func capInt(n *big.Int) *big.Float { return new(big.Float).SetPrec(capBits).SetInt(n) }

func capNew() *big.Float { return new(big.Float).SetPrec(capBits) }

func pi() *big.Float {
	x, _, err := big.ParseFloat(capPi, 10, capBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

func factorial(n int) *big.Float { return capInt(new(big.Int).MulRange(1, int64(n))) }

// power returns x^n.
func power(x *big.Float, n int) *big.Float {
	y, x := capFloat(1), capNew().Set(x)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y.Mul(y, x)
		}
		x.Mul(x, x)
	}
	return y
}

// gammaHalf returns Γ(n/2) for n >= 1.
func gammaHalf(n int) *big.Float {
	if n%2 == 0 {
		return factorial(n/2 - 1)
	}
	m := n / 2 // Γ(m + 1/2) = (2m)! sqrt(pi) / (4^m m!)
	g := factorial(2 * m)
	g.Mul(g, capNew().Sqrt(pi()))
	return g.Quo(g, capNew().Mul(power(capFloat(4), m), factorial(m)))
}

// A moment is E[s^q] and E[s^q; s <= w], and the part of the second that its density at w is, over 1/w: the derivative
// of log E[s^q; s <= w] by log w.
type moment struct {
	all, below *big.Float
	slope      float64
}

// momentOf returns the moments of order q = p/2. For p = 0 and whole p it is good to 2^-100 or so. Otherwise s^q and
// the Gamma functions of E[s^q] are those of package math: relative to d <= maxReal that is good to realTol.
func momentOf(d int, p float64, w *big.Float) moment {
	a, q := float64(d)/2, p/2
	var all, wq *big.Float
	if n := int(p); float64(n) == p {
		all = capNew().Mul(gammaHalf(d+n), gammaHalf(2*d))
		all.Quo(all, gammaHalf(d)).Quo(all, gammaHalf(2*d+n))
		wq = power(capNew().Sqrt(w), n)
	} else {
		sum := 0.0
		for _, x := range []struct{ sign, at float64 }{{1, a + q}, {1, 2 * a}, {-1, a}, {-1, 2*a + q}} {
			g, _ := math.Lgamma(x.at)
			sum += x.sign * g
		}
		all = capFloat(math.Exp(sum))
		f, _ := w.Float64()
		wq = capFloat(math.Pow(f, q))
	}

	// w^(a+q) (1-w)^a / ((a+q) B(a,a)) sum_n (2a+q)_n / (a+q+1)_n w^n, by the hypergeometric series of I_w(a+q, a). The
	// ratio of terms tends to w, from above or below.
	sum, term := capFloat(1), capFloat(1)
	for n := 0; ; n++ {
		r := capFloat(2*a + q + float64(n))
		r.Mul(r.Quo(r, capFloat(a+q+1+float64(n))), w)
		term.Mul(term, r)
		sum.Add(sum, term)
		if r.Cmp(w) < 0 {
			r.Set(w)
		}
		if left := capNew().Sub(capFloat(1), r); left.Sign() > 0 {
			tail := capNew().Quo(term, left)
			if tail.SetMantExp(tail, tailBits).Cmp(sum) < 0 {
				break
			}
		}
	}
	v := capNew().Mul(w, capNew().Sub(capFloat(1), w)) // (w (1-w))^a
	v = power(v.Sqrt(v), d)
	v.Mul(v, wq).Mul(v, gammaHalf(2*d)).Quo(v, gammaHalf(d)).Quo(v, gammaHalf(d)) // 1/B(a,a) = Γ(2a)/Γ(a)^2
	v.Quo(v, capFloat(a+q)).Mul(v, sum)

	f, _ := sum.Float64()
	x, _ := w.Float64()
	return moment{all, v, (a + q) / ((1 - x) * f)}
}

const (
	maxCap  = 2000 // dimensions: beyond, the factorials are slow
	maxReal = 40   // for a p that is not whole
	// realTol bounds the relative error of E[s^q] by math.Lgamma: the four values are at most 200 for d <= 40 and p <= 12,
	// each good to some 2^-52 of it, and the exponential takes their errors as they are.
	realTol = 1e-12
)

// SphereShare: S is the share of the cap that T, or Omt where T is near 1, ends, for every d up to 2000.
func SphereShare(t *rapid.T, f SphereSolver) {
	d, p, eps := drawCap(t)
	sphereShare(t, f, d, p, eps)
}

func sphereShare(t proptest.TB, f SphereSolver, d int, p, eps float64) {
	t.Helper()
	m := solveSphere(t, f, d, p, eps)
	w, off := rim(t, m, d, p)
	s := momentOf(d, 0, w)
	want, _ := s.below.Float64()
	proptest.Relative(t, sphereName(d, p, eps)+"S", m.S, want, SphereTol+off*s.slope+0x1p-50)
}

// SphereEquation: T solves the equation of the proposition, for every d up to 2000 and whole p, or d up to 40. With h =
// E[s^q], I = E[s^q; s <= w]/h and w = (1-T)/2 it reads w^q (1 + E S) = h (1 + E I). The derivative of the left side by
// log w is q times the left side plus the derivative of the right side. So a relative error of w shows q-fold.
func SphereEquation(t *rapid.T, f SphereSolver) {
	d, p, eps := drawCap(t)
	sphereEquation(t, f, d, p, eps)
}

func sphereEquation(t proptest.TB, f SphereSolver, d int, p, eps float64) {
	t.Helper()
	m := solveSphere(t, f, d, p, eps)
	w, off := rim(t, m, d, p)
	s, u := momentOf(d, 0, w), momentOf(d, p, w)
	e := capFloat(math.Expm1(eps))
	var wq *big.Float
	tol := p/2*off + 0x1p-50
	if n := int(p); float64(n) == p {
		wq = power(capNew().Sqrt(w), n)
	} else {
		x, _ := w.Float64()
		wq, tol = capFloat(math.Pow(x, p/2)), tol+realTol
	}
	left := capNew().Mul(e, s.below)
	left.Mul(left.Add(left, capFloat(1)), wq)
	right := capNew().Mul(e, u.below)
	right.Add(right, u.all)
	ratio, _ := capNew().Quo(left, right).Float64()
	proptest.Relative(t, sphereName(d, p, eps)+"the sides of the equation", ratio, 1, tol)
}

// onSpheres returns a law on all small dimensions, because an error may be in one of them.
func onSpheres(law func(t proptest.TB, f SphereSolver, d int, p, eps float64)) []func(proptest.TB, SphereSolver) {
	return []func(proptest.TB, SphereSolver){func(t proptest.TB, f SphereSolver) {
		for _, d := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 64, 255, 1023} {
			for _, p := range []float64{1, 2, 3} {
				law(t, f, d, p, 2)
			}
		}
	}}
}

// drawCap draws dimensions that momentOf can do.
func drawCap(t *rapid.T) (d int, p, eps float64) {
	d = rapid.OneOf(rapid.IntRange(1, maxReal), rapid.Custom(func(t *rapid.T) int {
		return int(math.Pow(10, rapid.Float64Range(0, math.Log10(maxCap)).Draw(t, "log10 d")))
	})).Draw(t, "d")
	p = rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, 7, 12}).Draw(t, "p")
	if d <= maxReal && rapid.Bool().Draw(t, "p is not whole") {
		p = rapid.Float64Range(0.5, 12).Draw(t, "p")
	}
	eps = rapid.OneOf(rapid.Float64Range(1e-3, 50), rapid.Custom(func(t *rapid.T) float64 {
		return math.Pow(10, rapid.Float64Range(-12, math.Log10(300)).Draw(t, "log10 eps"))
	})).Draw(t, "eps")
	return d, p, eps
}

// rim returns w = (1-T)/2 from the field that has more of it, and its relative error by the promise.
func rim(t proptest.TB, m SphereMeasure, d int, p float64) (w *big.Float, off float64) {
	t.Helper()
	if !(m.Omt > 0 && m.Omt < 2 && m.T < 1 && m.T > -1 || m.Omt > 0 && m.T == 1) {
		t.Fatalf("T = %v, Omt = %v", m.T, m.Omt)
	}
	byT, byOmt := SphereTol*max(math.Abs(m.T), 1/math.Sqrt(float64(d)+p)), SphereTol*m.Omt
	if byT < byOmt {
		w = capNew().Sub(capFloat(1), capFloat(m.T))
	} else {
		w = capFloat(m.Omt)
	}
	return w.SetMantExp(w, -1), min(byT, byOmt) / m.Omt
}
