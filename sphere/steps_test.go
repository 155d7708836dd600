package sphere

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// rootOf returns the problem and the logarithm of the cap's omega, as Solve finds it.
func rootOf(t *testing.T, d int, p, eps float64) (problem, float64) {
	t.Helper()
	pr := newProblem(d, p, eps)
	m, _, err := pr.solve()
	if err != nil {
		t.Fatal(err)
	}
	return pr, math.Log(m.Omt)
}

// atLambda returns the point with the given logarithm of omega.
func (pr *problem) atLambda(lambda float64) point {
	omega := math.Exp(lambda)
	return pr.at(zeta(-math.Expm1(lambda), omega), fine)
}

var stepInputs = []struct {
	d      int
	p, eps float64
}{
	{1, 1, 0.5}, {1, 2, 6}, {2, 3, 1}, {2, 0.7, 3}, {3, 2, 2}, {5, 4, 8}, {10, 2, 0.1}, {10, 1, 1.2}, {30, 5.5, 4},
	{127, 2, 4}, {1000, 1, 1}, {1000, 3, 12},
	{4, 11, 2}, {1, 9, 0.3},
}

// TestPointDerivatives compares what a step knows about the equation with differences: the derivative of S in lambda,
// its logarithmic derivative, and the parts themselves with the equation that defines them.
func TestPointDerivatives(t *testing.T) {
	const h = 1e-4
	// h^2 times third derivatives, which are some hundred in the scale of lambda, and 1e-15/h of rounding
	const tol = 1e-5
	const same = 1e-12 // roundings of logarithms, the largest some tens
	for _, tt := range stepInputs {
		pr, root := rootOf(t, tt.d, tt.p, tt.eps)
		for _, by := range []float64{-0.02, 0, 0.02} {
			scale := 1 / (1 + math.Sqrt(float64(tt.d))*0.1) // of lambda
			lambda := root + by*scale
			pt, up, down := pr.atLambda(lambda), pr.atLambda(lambda+h*scale), pr.atLambda(lambda-h*scale)
			slope := (up.pre*up.s - down.pre*down.s) / (2 * h * scale)
			if want := pt.pre * pt.f; !(math.Abs(slope-want) <= tol*math.Abs(want)) {
				t.Errorf("%+v at %v: dS/dlambda %v by differences, %v", tt, by, slope, want)
			}
			bend := (math.Log(up.pre*up.f) - math.Log(down.pre*down.f)) / (2 * h * scale)
			if !(math.Abs(bend-pt.m) <= tol*(1+math.Abs(pt.m))) {
				t.Errorf("%+v at %v: m = %v, differences say %v", tt, by, pt.m, bend)
			}
			k := func(p point) float64 { return p.v * p.pre * p.k }
			rise := (k(up) - k(down)) / (2 * h * scale)
			if want := pr.q * pt.v * pt.pre * pt.s; !(math.Abs(rise-want) <= tol*math.Abs(want)) {
				t.Errorf("%+v at %v: dK/dlambda %v by differences, %v", tt, by, rise, want)
			}
			if !(math.Abs(pt.lambda-lambda) <= same*(1+math.Abs(lambda))) || !(math.Abs(math.Log(pt.pre)-pt.logPre) <= same) {
				t.Errorf("%+v at %v: lambda %v, log pre %v; want %v, %v", tt, by, pt.lambda, pt.logPre, lambda, math.Log(pt.pre))
			}
		}
	}
}

// TestStepOrder: a step from a distance x of the root ends at one of order x^3 with the coarse formulas and x^4 with
// the last one; halving x shows it.
func TestStepOrder(t *testing.T) {
	for _, tt := range stepInputs {
		pr, root := rootOf(t, tt.d, tt.p, tt.eps)
		// The scale on which the equation bends, from the step itself.
		at := pr.atLambda(root + 1e-3)
		d, size := pr.step(&at, true)
		unit := math.Abs(d) / size
		for _, step := range []struct {
			name  string
			order float64
			to    func(pt *point) float64
		}{
			{"coarse", 3, func(pt *point) float64 { d, _ := pr.step(pt, false); return d }},
			{"logarithmic", 3, func(pt *point) float64 { d, _ := pr.logStep(pt); return d }},
			{"last", 4, func(pt *point) float64 { d, _ := pr.step(pt, true); return d }},
		} {
			if step.name == "logarithmic" && pr.e < 1 { // it is for large ones
				continue
			}
			for _, sign := range []float64{-1, 1} {
				left := func(x float64) float64 { // of the way
					pt := pr.atLambda(root + sign*x)
					return math.Abs(sign*x + step.to(&pt))
				}
				const near = 0.06 // a few per cent of the scale, where the order shows and rounding does not
				if l, s := left(near*unit),
					left(near*unit/2); !(l <= 4*math.Pow(near, step.order)*unit) || !(s <= l/math.Pow(2, step.order-0.8)+1e-13) {
					t.Errorf("%+v, %s step from %v: %.3g left of %.3g, %.3g of half of it", tt, step.name, sign, l, near*unit, s)
				}
			}
		}
	}
}

// TestWorkCounts: the evaluations of the integrals for a grid of inputs, a fiftieth more than measured.
func TestWorkCounts(t *testing.T) {
	const enough = 2044
	sum := 0
	for _, d := range []int{1, 2, 3, 10, 100, 10000, 1e6} {
		for _, p := range []float64{MinExponent, 0.5, 1, 2, 3, 4, 7.5, MaxExponent} {
			for _, eps := range []float64{MinEpsilon, 1e-3, 0.1, 0.5, 1, 1.5, 2.9, 3.1, 5, 10, 30, 100} {
				pr := newProblem(d, p, eps)
				if _, n, err := pr.solve(); err == nil {
					sum += n
				}
			}
		}
	}
	if sum > enough+enough/50 {
		t.Errorf("%d evaluations, %d were enough", sum, enough)
	}
}

// TestLogRising compares with the recurrence Gamma(x+1) = x Gamma(x) and with the standard library.
func TestLogRising(t *testing.T) {
	const tol = 1e-13 // of Lgamma's values here, below 1e4
	g := numtest.NewSplitMix64(88)
	for range 500 {
		x, q := 0.5+60*g.Float64(), 6*g.Float64()
		a, _ := math.Lgamma(x + q)
		b, _ := math.Lgamma(x)
		if got, want := logRising(x, q), a-b-q*math.Log(x); !(math.Abs(got-want) <= tol*(1+math.Abs(a)+math.Abs(b))) {
			t.Fatalf("logRising(%v, %v) = %v, want %v", x, q, got, want)
		}
	}
}
