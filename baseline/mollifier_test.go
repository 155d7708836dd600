package baseline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// divergence is KL(mu||q), 0 log 0 = 0.
func divergence(mu, q []float64) float64 {
	var d float64
	for j, x := range mu {
		if x > 0 {
			d += x * math.Log(x/q[j])
		}
	}
	return d
}

// TestLawOfMollifier: the result is in the box, has mass 1, and no other point of the box is closer.
func TestLawOfMollifier(t *testing.T) {
	const (
		massTol = 1e-14 // k * 2^-52 for k <= 8, and some
		klTol   = 1e-12 // of a sum of a few terms of size log
	)
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "k")
		draw := func(name string, zeros bool) []float64 {
			x := make([]float64, k)
			var sum float64
			for j := range x {
				x[j] = math.Exp(rapid.Float64Range(-8, 0).Draw(t, name))
				if zeros && rapid.IntRange(0, 2).Draw(t, "zero") == 0 {
					x[j] = 0
				}
				sum += x[j]
			}
			if sum == 0 {
				x[0], sum = 1, 1
			}
			for j := range x {
				x[j] /= sum
			}
			return x
		}
		mu, ref := draw("mu", true), draw("reference", false)
		eps := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 4, 20}).Draw(t, "eps")
		q, err := Mollifier(mu, ref, eps)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for j, x := range q {
			sum += x
			if !(x >= ref[j]*math.Exp(-eps/2)*(1-massTol) && x <= ref[j]*math.Exp(eps/2)*(1+massTol)) {
				t.Fatalf("q[%d] = %v, reference %v, eps = %v", j, x, ref[j], eps)
			}
		}
		if !(math.Abs(sum-1) <= massTol) {
			t.Fatalf("q sums to 1%+g", sum-1)
		}
		// Towards any other point of the box the divergence rises: it is convex, so a short step tells.
		other, err := Mollifier(draw("other", false), ref, eps)
		if err != nil {
			t.Fatal(err)
		}
		step := make([]float64, k)
		for j := range step {
			step[j] = 0.999*q[j] + 0.001*other[j]
		}
		if a, b := divergence(mu, q), divergence(mu, step); !(a <= b+klTol) {
			t.Fatalf("KL %v, and %v a step towards %v", a, b, other)
		}
	})
}

func TestMollifier(t *testing.T) {
	mu := []float64{0.7, 0.3, 0, 0}
	even := []float64{0.25, 0.25, 0.25, 0.25}
	// With a uniform reference it is KPMScaled of mass 1.
	a, err1 := Mollifier(mu, even, 1)
	b, err2 := KPMScaled(mu, 1, 1)
	if err1 != nil || err2 != nil || !slices.Equal(a, b) {
		t.Errorf("Mollifier = %v, KPMScaled = %v; %v, %v", a, b, err1, err2)
	}
	// The points of mu are full: 1/8 and 1/8 times 2 leave 3/4 for the others, in proportion 1 : 2.
	q, err := Mollifier(mu, []float64{0.125, 0.125, 0.25, 0.5}, 2*math.Ln2)
	if want := []float64{0.25, 0.25, 1. / 6, 1. / 3}; err != nil || !nearlyEqual(q, want) {
		t.Errorf("q = %v, want %v, %v", q, want, err)
	}
	// Masses whose quotients with the bounds overflow share what the rest leaves in proportion, as others do (found by fuzzing).
	q, err = Mollifier([]float64{1e-309, 1, 5e-309, 0}, []float64{0.125, 0.25, 0.625, 0}, 2*math.Ln2)
	if want := []float64{1. / 12, 0.5, 5. / 12, 0}; err != nil || !nearlyEqual(q, want) {
		t.Errorf("tiny masses: q = %v, want %v, %v", q, want, err)
	}
	// What the reference never has is never released.
	q, err = Mollifier([]float64{1, 0}, []float64{0, 1}, 3)
	if err != nil || !slices.Equal(q, []float64{0, 1}) {
		t.Errorf("q = %v, %v", q, err)
	}
	if q, err := Mollifier(mu, []float64{0.1, 0.2, 0.3, 0.4}, 0); err != nil || !nearlyEqual(q, []float64{0.1, 0.2, 0.3, 0.4}) {
		t.Errorf("eps = 0: %v, %v", q, err)
	}
	for _, bad := range []struct {
		mu, ref []float64
		eps     float64
		want    error
	}{
		{nil, nil, 1, ErrShape}, {mu, even[:3], 1, ErrShape}, {mu, []float64{1, 1, 0, 0}, 1, ErrMass}, {[]float64{1, 1}, []float64{1, 0}, 1, ErrMass},
		{mu, []float64{1.5, -0.5, 0, 0}, 1, ErrNegative}, {mu, []float64{math.NaN(), 1, 0, 0}, 1, ErrNotFinite}, {mu, even, -1, ErrEpsilon}, {mu, even, math.NaN(), ErrEpsilon},
	} {
		if _, err := Mollifier(bad.mu, bad.ref, bad.eps); !errors.Is(err, bad.want) {
			t.Errorf("Mollifier(%v, %v, %v): %v, want %v", bad.mu, bad.ref, bad.eps, err, bad.want)
		}
	}
}

func nearlyEqual(a, b []float64) bool {
	const tol = 1e-15 // a rounding or two of numbers below 1
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tol })
}

func TestSearch(t *testing.T) {
	ctx := context.Background()
	// A convex loss has its worst case at a point.
	f, err := Search(ctx, 4, func(mu []float64) (float64, error) { return mu[2]*mu[2] + 0.5*mu[1], nil }, 0)
	if err != nil || f.Value != 1 || f.Input != 2 || f.Dirac != 1 || f.Evaluations > 80 || f.Evaluations < 4 {
		t.Errorf("%+v, %v", f, err)
	}
	// A concave one has not, and the search finds its 1/2, 1/2.
	f, err = Search(ctx, 3, func(mu []float64) (float64, error) { return mu[0] * mu[1], nil }, 0)
	if err != nil || f.Value != 0.25 || f.Dirac != 0 || !slices.Equal(f.Mu, []float64{0.5, 0.5, 0}) {
		t.Errorf("%+v, %v", f, err)
	}
	boom := errors.New("boom")
	if _, err := Search(ctx, 2, func([]float64) (float64, error) { return 0, boom }, 0); !errors.Is(err, boom) {
		t.Error(err)
	}
	if _, err := Search(ctx, 2, func([]float64) (float64, error) { return math.NaN(), nil }, 0); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	if _, err := Search(ctx, 0, nil, 0); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	if _, err := Search(ctx, 2, nil, -1); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Search(done, 2, func([]float64) (float64, error) { return 0, nil }, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
