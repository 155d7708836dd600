package sphere

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/wpm-go/wpm/wpmerr"
)

// MaxPaperDimension is the largest d that Paper takes: math.Gamma((d+1)/2) overflows from d = 343 on.
const MaxPaperDimension = 340

// paperNodes is the number of Gauss-Legendre nodes for each integral of Paper.
const paperNodes = 200

// Paper solves the proposition on the sphere (prop:sphere) as written. It uses the functions f, g, S, U, H of the
// paper, computes the integrals by gonum's Gauss-Legendre rule with 200 nodes in u, and solves the equation by
// bisection in t. It serves to be read beside the paper and to be compared with Solve; nothing else uses it.
//
// Accuracy compared with Solve (TestPaperRange), for 1 <= p <= 12 and 1e-6 <= eps <= 32: for 4 <= d <= 340, W is
// accurate to a relative 1e-11, and Alpha and S to 1e-10. For d = 2 and 3 they are accurate to 1e-6, and for d = 1 to
// 1e-2 if eps <= 16, because the density or its first derivatives are unbounded at the ends of the interval, where
// Gauss-Legendre converges slowly. For larger eps the cap shrinks, t approaches 1, and digits are lost in 1-t.
//
// Errors: ErrDimension above MaxPaperDimension, ErrExponent for p < 1, otherwise as Solve, and ErrNotConverged if the
// formulas give no number.
func Paper(d int, p, eps float64) (Measure, error) {
	if err := check(d, p, eps); err != nil {
		return Measure{}, err
	}
	if d > MaxPaperDimension {
		return Measure{}, fmt.Errorf("%w: d = %d, want d <= %d for the Gamma functions as the paper has them", ErrDimension,
			d, MaxPaperDimension)
	}
	if p < 1 {
		return Measure{}, fmt.Errorf("%w: p = %v, the paper has p >= 1", ErrExponent, p)
	}
	dim := float64(d)
	constant := math.Gamma((dim+1)/2) / (math.Sqrt(math.Pi) * math.Gamma(dim/2))
	f := func(u float64) float64 { return constant * math.Pow(1-u*u, (dim-2)/2) }
	g := func(u float64) float64 { return math.Pow(2-2*u, p/2) }
	integral := func(h func(float64) float64, from, to float64) float64 {
		return quad.Fixed(h, from, to, paperNodes, quad.Legendre{}, 0) // 0: no goroutines, so the same bits every time
	}
	gf := func(u float64) float64 { return g(u) * f(u) }
	share := func(t float64) float64 { return integral(f, t, 1) }
	near := func(t float64) float64 { return integral(gf, t, 1) }
	total := integral(gf, -1, 1)

	b := math.Exp(-eps / 2)
	a := math.Exp(eps/2) - b
	// G is increasing on (-1, 1).
	low, high := -1.0, 1.0
	for {
		t := low + (high-low)/2
		if t <= low || t >= high {
			break
		}
		if a*near(t)+b*total-g(t)*(b+a*share(t)) < 0 {
			low = t
		} else {
			high = t
		}
	}
	t := high
	s := share(t)
	alpha := 1 / (b + a*s)
	j := alpha * (a*near(t) + b*total)
	m := Measure{
		T: t, Omt: 1 - t, Alpha: alpha, S: s, J: j, W: math.Pow(j, 1/p),
		Pin: alpha * math.Exp(eps/2) * s, Pout: alpha * b * (1 - s),
	}
	for _, v := range [...]float64{m.Alpha, m.S, m.J, m.W, m.Pin, m.Pout} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Measure{}, fmt.Errorf("%w: the paper's integrals at d = %d, p = %v, eps = %v", wpmerr.ErrNotConverged, d, p, eps)
		}
	}
	return m, nil
}
