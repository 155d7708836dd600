package design

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/proptest"
	"pgregory.net/rapid"
)

// SphereMeasure is the optimal base measure alpha sigma on the sphere S^d and the mechanism that it makes: T and Omt =
// 1-T say where the high cap ends, S is its share, J and W = J^(1/p) the worst case, Pin and Pout the probabilities
// inside and outside.
type SphereMeasure struct {
	T, Omt, Alpha, S, J, W, Pin, Pout float64
}

// A SphereSolver solves the proposition on the sphere for 1 <= d <= 10^7, 0.5 <= p <= 12, 1e-12 <= eps <= 700.
type SphereSolver func(d int, p, eps float64) (SphereMeasure, error)

// SphereLaws returns the laws of the base measure on the sphere.
func SphereLaws() []proptest.Law[SphereSolver] {
	return []proptest.Law[SphereSolver]{
		{Name: "SphereIdentities", Statement: "prop:sphere, the formulas of alpha and J", Check: SphereIdentities},
		{Name: "SphereShare", Statement: "prop:sphere, S_d for d up to 2000", Check: SphereShare,
			First: onSpheres(sphereShare)},
		{Name: "SphereEquation", Statement: "prop:sphere, the equation of t* for d up to 2000", Check: SphereEquation,
			First: onSpheres(sphereEquation)},
		{Name: "SphereClosedForm", Statement: "prop:sphere on S^2, where the equation is algebraic", Check: SphereClosedForm},
		{Name: "SphereCircle", Statement: "prop:sphere on the circle, p = 1 and 2", Check: SphereCircle},
		{Name: "SphereSmallEpsilon", Statement: "prop:sphere, limit of no output", Check: SphereSmallEpsilon},
		{Name: "SphereLargeEpsilon", Statement: "prop:sphere, limit of no privacy", Check: SphereLargeEpsilon},
		{Name: "SphereLargeDimension", Statement: "prop:sphere, limit of many dimensions", Check: SphereLargeDimension},
		{Name: "SphereDecreasing", Statement: "prop:sphere: alpha decreases in p; and W in eps", Check: SphereDecreasing},
	}
}

// SphereTol bounds the relative error of each field (of T: in units of max(|T|, 1/sqrt(d+p))): the promise.
const SphereTol = 1e-13

func solveSphere(t proptest.TB, f SphereSolver, d int, p, eps float64) SphereMeasure {
	t.Helper()
	m, err := f(d, p, eps)
	if err != nil {
		t.Fatalf("d = %d, p = %v, eps = %v: %v", d, p, eps, err)
	}
	proptest.Finite(t, "field", m.T, m.Omt, m.Alpha, m.S, m.J, m.W, m.Pin, m.Pout)
	return m
}

func sphereName(d int, p, eps float64) string {
	return fmt.Sprintf("d = %d, p = %v, eps = %v: ", d, p, eps)
}

func drawSphere(t *rapid.T, maxEps float64) (d int, p, eps float64) {
	d = int(math.Pow(10, rapid.Float64Range(0, 6.9).Draw(t, "log10 d")))
	p = rapid.OneOf(rapid.SampledFrom([]float64{0.5, 1, 2, 3, 4, 6, 12}), rapid.Float64Range(0.5, 12)).Draw(t, "p")
	eps = rapid.OneOf(rapid.Float64Range(1e-3, maxEps), rapid.Custom(func(t *rapid.T) float64 {
		return math.Pow(10, rapid.Float64Range(-12, math.Log10(maxEps)).Draw(t, "log10 eps"))
	})).Draw(t, "eps")
	return d, p, eps
}

// SphereIdentities: alpha (e^(-eps/2) + (e^(eps/2) - e^(-eps/2)) S) = 1, J = (2-2t)^(p/2), W = sqrt(2-2t), the
// probabilities of cap and complement are alpha e^(eps/2) S and alpha e^(-eps/2) (1-S).
func SphereIdentities(t *rapid.T, f SphereSolver) {
	d, p, eps := drawSphere(t, 300)
	m := solveSphere(t, f, d, p, eps)
	if !(m.S > 0 && m.S < 1 && m.Omt > 0 && m.Omt < 2 && m.Alpha > 0) {
		t.Fatalf("d = %d, p = %v, eps = %v: %+v", d, p, eps, m)
	}
	// Four fields good to SphereTol each, and exponentials of numbers up to 150, good to 150 times 2^-53.
	const tol = 5 * SphereTol
	lo, hi := math.Exp(-eps/2), math.Exp(eps/2)
	proptest.Relative(t, "Pin", m.Alpha*hi*m.S, m.Pin, tol)
	proptest.Relative(t, "Pout", m.Alpha*lo*(1-m.S), m.Pout, tol/(1-m.S))
	proptest.Relative(t, "Pin + Pout", m.Pin+m.Pout, 1, tol)
	proptest.Relative(t, "W", m.W*m.W, 2*m.Omt, tol)
	proptest.Relative(t, "log J", math.Exp(math.Log(m.J)/p), m.W, tol+0x1p-43)
	if !(math.Abs(m.T-(1-m.Omt)) <= 0x1p-50) { // some roundings of numbers below 2
		t.Fatalf("T = %v, Omt = %v", m.T, m.Omt)
	}
}

// SphereClosedForm: on S^2 with w = (1-t)/2 the equation is p E w^(p/2+1) + (p+2) w^(p/2) = 2, E = e^eps - 1, and S =
// w. For p = 2: t = tanh(eps/4) and alpha = 1.
func SphereClosedForm(t *rapid.T, f SphereSolver) {
	p := rapid.OneOf(rapid.SampledFrom([]float64{1, 2, 3, 4, 12}), rapid.Float64Range(0.5, 12)).Draw(t, "p")
	eps := rapid.Float64Range(1e-6, 60).Draw(t, "eps")
	m := solveSphere(t, f, 2, p, eps)
	w := m.Omt / 2
	e := math.Expm1(eps)
	v := math.Pow(w, p/2)
	// An error of w grows by the degree, at most 7; math.Pow of a number above e^-60 is good to some 1e-14.
	const tol = 10*SphereTol + 1e-13
	proptest.Relative(t, "the equation of S^2", p*e*w*v+(p+2)*v, 2, tol)
	proptest.Relative(t, "S", m.S, w, 2*SphereTol)
	if p == 2 {
		proptest.Relative(t, "alpha", m.Alpha, 1, SphereTol)
		proptest.Relative(t, "Omt", m.Omt, 2/(math.Exp(eps/2)+1), 2*SphereTol)
		if !(math.Abs(m.T-math.Tanh(eps/4)) <= 2*SphereTol) {
			t.Fatalf("T = %v, want %v", m.T, math.Tanh(eps/4))
		}
	}
}

// SphereCircle: on the circle, with t = cos x, S = x/pi; for p = 2 tan x = x + pi/E, for p = 1 4 E (1 - cos(x/2)) + 4 =
// 2 sin(x/2) (pi + E x).
func SphereCircle(t *rapid.T, f SphereSolver) {
	eps := rapid.Float64Range(1e-3, 12).Draw(t, "eps") // beyond, the sides of the equations cancel
	e := math.Expm1(eps)
	one, two := solveSphere(t, f, 1, 1, eps), solveSphere(t, f, 1, 2, eps)
	const tol = 10 * SphereTol
	x := math.Pi * two.S
	proptest.Relative(t, "cos(pi S)", 2*math.Sin(x/2)*math.Sin(x/2), two.Omt, tol)
	// E (tan x - x) = pi: the error of x grows by d log(tan x - x)/d log x = x tan^2 x/(tan x - x), above 3.
	slope := x * math.Tan(x) * math.Tan(x) / (math.Tan(x) - x)
	proptest.Relative(t, "p = 2", e*(math.Tan(x)-x), math.Pi, tol*slope+0x1p-48*(1+e))
	x = math.Pi * one.S
	proptest.Relative(t, "cos(pi S)", 2*math.Sin(x/2)*math.Sin(x/2), one.Omt, tol)
	s4 := math.Sin(x / 4)
	proptest.Relative(t, "p = 1", e*8*s4*s4+4, 2*math.Sin(x/2)*(math.Pi+e*x), tol)
}

// SphereSmallEpsilon: as eps falls to 0 the output becomes uniform: J tends to the mean cost E (2-2u)^(p/2), from below
// and no faster than eps times it, and alpha to 1. For p = 2 the mean is 2, for p = 4 it is 4 + 4/(d+1).
func SphereSmallEpsilon(t *rapid.T, f SphereSolver) {
	d := int(math.Pow(10, rapid.Float64Range(0, 6.9).Draw(t, "log10 d")))
	eps := math.Pow(10, rapid.Float64Range(-12, -2).Draw(t, "log10 eps"))
	for _, c := range []struct{ p, mean float64 }{{2, 2}, {4, 4 + 4/float64(d+1)}} {
		m := solveSphere(t, f, d, c.p, eps)
		if gain := 1 - m.J/c.mean; !(gain >= -SphereTol && gain <= eps+SphereTol) {
			t.Fatalf("d = %d, p = %v, eps = %v: J = %v, mean %v", d, c.p, eps, m.J, c.mean)
		}
		if !(math.Abs(math.Log(m.Alpha)) <= eps/2+SphereTol) {
			t.Fatalf("d = %d, p = %v, eps = %v: alpha = %v", d, c.p, eps, m.Alpha)
		}
	}
}

// SphereLargeEpsilon: for fixed d, W ~ const e^(-eps/(d+p)): between two large eps the logarithm of W falls by their
// difference over d+p.
func SphereLargeEpsilon(t *rapid.T, f SphereSolver) {
	d := rapid.IntRange(1, 8).Draw(t, "d")
	p := rapid.Float64Range(0.5, 12).Draw(t, "p")
	n := float64(d) + p
	// W below e^-12 or so: what the law leaves out is of the size of W^2 or W^p
	eps := rapid.Float64Range(12*n, 16*n).Draw(t, "eps")
	if p < 1.5 {
		eps = rapid.Float64Range(30*n, 34*n).Draw(t, "eps")
	}
	a, b := solveSphere(t, f, d, p, eps), solveSphere(t, f, d, p, eps+n)
	const tol = 1e-4 // far above e^-24 and e^-15 times any constant of the law
	proptest.Relative(t, "log W(eps) - log W(eps + d + p)", math.Log(a.W/b.W), 1, tol)
}

// SphereLargeDimension: for fixed eps, t sqrt(d) tends to the tau with tau (1 + E Q(tau)) = E phi(tau), Q and phi the
// tail and density of a normal variable, whatever p is; the rest is of the size of 1/sqrt(d).
func SphereLargeDimension(t *rapid.T, f SphereSolver) {
	d := rapid.IntRange(1_000_000, 10_000_000).Draw(t, "d")
	p := rapid.Float64Range(0.5, 12).Draw(t, "p")
	eps := rapid.Float64Range(0.1, 30).Draw(t, "eps")
	m := solveSphere(t, f, d, p, eps)
	tau, e := m.T*math.Sqrt(float64(d)), math.Expm1(eps)
	left := tau * (1 + e*math.Erfc(tau/math.Sqrt2)/2)
	right := e * math.Exp(-tau*tau/2) / math.Sqrt(2*math.Pi)
	// t - tau/sqrt(d) is (2-p)/(4d) and less, so tau is off by 3/1000 at most; d log(right/left)/d tau is up to 1/tau +
	// tau.
	if off := math.Abs(math.Log(right / left)); !(off <= 0.003*(1/tau+tau)*1.5) {
		t.Fatalf("d = %d, p = %v, eps = %v: tau = %v, %v against %v", d, p, eps, tau, left, right)
	}
}

// SphereDecreasing: alpha falls strictly as p rises, W as eps rises. The steps are large enough to be seen in floats.
func SphereDecreasing(t *rapid.T, f SphereSolver) {
	d := int(math.Pow(10, rapid.Float64Range(0, 3).Draw(t, "log10 d")))
	p := rapid.Float64Range(0.5, 11.5).Draw(t, "p")
	step := rapid.Float64Range(0.05, 0.5).Draw(t, "step")
	eps := rapid.Float64Range(0.05, 40).Draw(t, "eps")
	a, b := solveSphere(t, f, d, p, eps), solveSphere(t, f, d, p+step, eps)
	if !(b.Alpha < a.Alpha) {
		t.Fatalf("d = %d, eps = %v: alpha = %v at p = %v and %v at %v", d, eps, a.Alpha, p, b.Alpha, p+step)
	}
	c := solveSphere(t, f, d, p, eps+step)
	if !(c.W < a.W) {
		t.Fatalf("d = %d, p = %v: W = %v at eps = %v and %v at %v", d, p, a.W, eps, c.W, eps+step)
	}
}
