package design

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
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

// moved puts the cap elsewhere and keeps everything else consistent with it.
func moved(by func(d int, p, eps float64) float64) SphereSolver {
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

// shares gives the cap another share, and recomputes what follows from it.
func shares(by func(d int) float64) SphereSolver {
	return withSphere(func(m *SphereMeasure, d int, _, eps float64) {
		m.S *= by(d)
		lo, hi := math.Exp(-eps/2), math.Exp(eps/2)
		m.Alpha = 1 / (lo + (hi-lo)*m.S)
		m.Pin, m.Pout = m.Alpha*hi*m.S, m.Alpha*lo*(1-m.S)
	})
}

// factor is x where the condition holds.
func factor(x float64, at bool) float64 {
	if at {
		return x
	}
	return 1
}

// TestMoments: the series against closed forms: S^1 and S^2, and moments of Beta distributions.
func TestMoments(t *testing.T) {
	for _, w := range []float64{0.97, 1e-9, 0.1, 0.5, 0.7, 0.999}[:numtest.Cases(5, 6)] {
		for _, tt := range []struct {
			d          int
			p          float64
			all, below float64
		}{
			{1, 0, 1, 2 / math.Pi * math.Asin(math.Sqrt(w))},
			{2, 0, 1, w},
			{2, 2, 0.5, w * w / 2},
			{2, 1, 2. / 3, 2. / 3 * math.Pow(w, 1.5)},
			{2, 0.5, 0.8, 0.8 * math.Pow(w, 1.25)},
			{4, 0, 1, w * w * (3 - 2*w)},
			{4, 4, 0.3, w * w * w * w * (1.5 - 1.2*w)},
		} {
			m := momentOf(tt.d, tt.p, capFloat(w))
			all, _ := m.all.Float64()
			below, _ := m.below.Float64()
			if !(math.Abs(all/tt.all-1) <= 1e-15 && math.Abs(below/tt.below-1) <= 1e-14) {
				t.Errorf("d %d, p %v, w %v: %v, %v, want %v, %v", tt.d, tt.p, w, all, below, tt.all, tt.below)
			}
		}
	}
}

// TestSphereLaws: each law rejects a planted error.
func TestSphereLaws(t *testing.T) {
	planted.Laws(t, SphereLaws(), solvedSphere, []planted.Error[SphereSolver]{
		{Name: "alpha without the half",
			Impl:   withSphere(func(m *SphereMeasure, _ int, _, eps float64) { m.Alpha *= math.Exp(eps / 2) }),
			Killed: []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{Name: "J is not W^p", Impl: withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.J = m.W }),
			Killed: []string{"SphereIdentities", "SphereSmallEpsilon"}},
		{Name: "Pout by subtraction", Impl: withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.Pout = 1 - m.Pin }),
			Killed: []string{"SphereIdentities"}},
		{Name: "a rim one part in 10^12 off", Impl: moved(func(int, float64, float64) float64 { return 1 + 4e-12 }),
			Killed: []string{"SphereClosedForm", "SphereCircle"}},
		{Name: "a share ten per cent off from three dimensions on",
			Impl:   shares(func(d int) float64 { return factor(0.9, d >= 3) }),
			Killed: []string{"SphereShare"}},
		{Name: "a share ten per cent off in three dimensions",
			Impl:   shares(func(d int) float64 { return factor(0.9, d == 3) }),
			Killed: []string{"SphereShare"}},
		{Name: "a share one part in 10^10 off", Impl: shares(func(d int) float64 { return 1 + 1e-10 }),
			Killed: []string{"SphereShare"}},
		{Name: "a rim one part in 1000 off in three dimensions",
			Impl:   moved(func(d int, _, _ float64) float64 { return factor(1.001, d == 3) }),
			Killed: []string{"SphereShare", "SphereEquation"}},
		{Name: "a cap of another p, all else in order", Impl: func(d int, p, eps float64) (SphereMeasure, error) {
			m, err := solvedSphere(d, p*(1+1e-9), eps)
			m.J = math.Pow(m.W, p)
			return m, err
		}, Killed: []string{"SphereEquation"}},
		{Name: "d for d+p in the limit",
			Impl:   moved(func(d int, p, eps float64) float64 { return math.Exp(-2*eps/float64(d) + 2*eps/(float64(d)+p)) }),
			Killed: []string{"SphereLargeEpsilon"}},
		{Name: "t of d+p dimensions and a half",
			Impl:   withSphere(func(m *SphereMeasure, _ int, _, _ float64) { m.T *= 1.02 }),
			Killed: []string{"SphereLargeDimension"}},
		{Name: "alpha of the next p",
			Impl:   func(d int, p, eps float64) (SphereMeasure, error) { return solvedSphere(d, 12.5-p, eps) },
			Killed: []string{"SphereDecreasing"}},
	})
}
