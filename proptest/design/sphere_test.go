package design

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/proptest/internal/planted"
	"github.com/wpm-go/wpm/sphere"
)

func solvedSphere(d int, p, eps float64) (SphereMeasure, error) {
	m, err := sphere.Solve(d, p, eps)
	return SphereMeasure(m), err
}

// withSphere is the solver with an error planted.
func withSphere(change func(m *SphereMeasure, d int, p, eps float64)) SphereSolver {
	return func(d int, p, eps float64) (SphereMeasure, error) {
		m, err := solvedSphere(d, p, eps)
		change(&m, d, p, eps)
		return m, err
	}
}

// rim puts the cap elsewhere and keeps everything else consistent with it.
func rim(by func(d int, p, eps float64) float64) SphereSolver {
	return func(d int, p, eps float64) (SphereMeasure, error) {
		m, err := solvedSphere(d, p, eps)
		f := by(d, p, eps)
		m.Omt *= f
		m.T = 1 - m.Omt
		m.W = math.Sqrt(2 * m.Omt)
		m.J = math.Pow(m.W, p)
		return m, err
	}
}

// TestSphereLaws: each law rejects a planted error.
func TestSphereLaws(t *testing.T) {
	planted.Laws(t, SphereLaws(), solvedSphere, []planted.Error[SphereSolver]{
		{Name: "alpha without the half", Impl: withSphere(func(m *SphereMeasure, _ int, _, eps float64) { m.Alpha *= math.Exp(eps / 2) }), Killed: []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{Name: "J is not W^p", Impl: withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.J = m.W }), Killed: []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{Name: "Pout by subtraction", Impl: withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.Pout = 1 - m.Pin }), Killed: []string{"SphereIdentities"}},
		{Name: "a rim one part in 10^12 off", Impl: rim(func(int, float64, float64) float64 { return 1 + 4e-12 }), Killed: []string{"SphereClosedForm", "SphereCircle"}},
		{Name: "d for d+p in the limit", Impl: rim(func(d int, p, eps float64) float64 { return math.Exp(-2*eps/float64(d) + 2*eps/(float64(d)+p)) }), Killed: []string{"SphereLargeEpsilon"}},
		{Name: "t of d+p dimensions and a half", Impl: withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.T *= 1.02 }), Killed: []string{"SphereLargeDimension"}},
		{Name: "alpha of the next p", Impl: func(d int, p, eps float64) (SphereMeasure, error) { return solvedSphere(d, 12.5-p, eps) }, Killed: []string{"SphereDecreasing"}},
	})
}
