package proptest

import (
	"math"
	"testing"

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

// TestSphere: the solver of this module keeps the laws. TestSphereLaws: each law rejects a planted error.
func TestSphere(t *testing.T) { Run(t, SphereLaws(), solvedSphere) }

func TestSphereLaws(t *testing.T) {
	testLaws(t, SphereLaws(), solvedSphere, []mutant[SphereSolver]{
		{"alpha without the half", withSphere(func(m *SphereMeasure, _ int, _, eps float64) { m.Alpha *= math.Exp(eps / 2) }), []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{"J is not W^p", withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.J = m.W }), []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{"Pout by subtraction", withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.Pout = 1 - m.Pin }), []string{"SphereIdentities"}},
		{"a rim one part in 10^12 off", rim(func(int, float64, float64) float64 { return 1 + 4e-12 }), []string{"SphereClosedForm", "SphereCircle"}},
		{"d for d+p in the limit", rim(func(d int, p, eps float64) float64 { return math.Exp(-2*eps/float64(d) + 2*eps/(float64(d)+p)) }), []string{"SphereLargeEpsilon"}},
		{"t of d+p dimensions and a half", withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.T *= 1.02 }), []string{"SphereLargeDimension"}},
		{"alpha of the next p", func(d int, p, eps float64) (SphereMeasure, error) { return solvedSphere(d, 12.5-p, eps) }, []string{"SphereDecreasing"}},
	})
}
