package aggregate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
)

// sumTol is the rounding of sums of some hundred numbers of size 1.
const sumTol = 1e-12

func TestCount(t *testing.T) {
	got, err := Count(3, []int{0, 2, 2})
	if err != nil || !slices.Equal(got, []uint64{1, 0, 2}) {
		t.Errorf("Count = %v, %v", got, err)
	}
	for _, bad := range []struct {
		kv      int
		indices []int
		want    error
	}{{0, nil, ErrShape}, {3, []int{0, 3}, ErrIndex}, {3, []int{-1}, ErrIndex}} {
		if _, err := Count(bad.kv, bad.indices); !errors.Is(err, bad.want) {
			t.Errorf("Count(%d, %v): %v, want %v", bad.kv, bad.indices, err, bad.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	counts := []uint64{0, 1, 98, 1}
	h, err := NewHistogram(counts, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if h.N != 100 || h.Confidence != DefaultConfidence {
		t.Errorf("N = %d, confidence = %v", h.N, h.Confidence)
	}
	for j := range counts {
		if !(h.Lower[j] <= h.Estimate[j] && h.Estimate[j] <= h.Upper[j]) || h.Lower[j] < 0 || h.Upper[j] > 1 {
			t.Errorf("point %d: %v not in [%v, %v]", j, h.Estimate[j], h.Lower[j], h.Upper[j])
		}
	}
	// Nothing released: the upper end solves (1-u)^100 = level.
	const level = 0.05 / 8
	if want := -math.Expm1(math.Log(level) / 100); math.Abs(h.Upper[0]-want) > 1e-9*want || h.Lower[0] != 0 {
		t.Errorf("no release: [%v, %v], want [0, %v]", h.Lower[0], h.Upper[0], want)
	}
	if h.Radius() < 0.05 || h.Radius() > 0.2 {
		t.Errorf("Radius = %v", h.Radius())
	}
	wide, err := NewHistogram(counts, Settings{Confidence: 0.999})
	if err != nil || !(wide.Upper[2] > h.Upper[2] && wide.Lower[2] < h.Lower[2]) {
		t.Errorf("more confidence, band [%v, %v] within [%v, %v], %v", wide.Lower[2], wide.Upper[2], h.Lower[2], h.Upper[2],
			err)
	}
	counts[0] = 7
	if h.Counts[0] != 0 {
		t.Error("the histogram holds the caller's slice")
	}
	for _, bad := range []struct {
		counts     []uint64
		confidence float64
		want       error
	}{
		{nil, 0, ErrShape}, {[]uint64{0, 0}, 0, ErrEmpty}, {[]uint64{1}, 1, ErrConfidence},
		{[]uint64{1}, math.NaN(), ErrConfidence},
		{[]uint64{1}, -0.5, ErrConfidence}, {[]uint64{math.MaxUint64, 2}, 0, ErrLimit},
		{[]uint64{MaxReleases, 1}, 0, ErrLimit},
	} {
		if _, err := NewHistogram(bad.counts, Settings{Confidence: bad.confidence}); !errors.Is(err, bad.want) {
			t.Errorf("NewHistogram(%v, %v): %v, want %v", bad.counts, bad.confidence, err, bad.want)
		}
	}
}

// TestCoverageOfUnequalClients: clients with different probabilities, the case that a binomial interval is not made
// for. The chance that an end is on the wrong side of the mean is a sum over the exact distribution of the count; it
// never exceeds the level.
func TestCoverageOfUnequalClients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		level := rapid.SampledFrom([]float64{0.25, 0.1, 0.025, 1e-3, 1e-6}).Draw(t, "level")
		p := make([]float64, n)
		var mean float64
		for u := range p {
			p[u] = rapid.OneOf(
				rapid.Float64Range(0, 1),
				rapid.SampledFrom([]float64{0, 1, 1e-3, 1 - 1e-3}),
				rapid.Custom(func(t *rapid.T) float64 { return math.Exp(-rapid.Float64Range(0, 20).Draw(t, "log")) }),
			).Draw(t, "p")
			mean += p[u] / float64(n)
		}
		law := make([]float64, n+1) // of the count
		law[0] = 1
		for u, x := range p {
			for c := u + 1; c >= 0; c-- {
				law[c] *= 1 - x
				if c > 0 {
					law[c] += law[c-1] * x
				}
			}
		}
		var below, above float64
		for c, prob := range law {
			lower, upper, err := interval(uint64(c), uint64(n), level)
			if err != nil {
				t.Fatal(err)
			}
			if lower > mean {
				above += prob
			}
			if upper < mean {
				below += prob
			}
		}
		if !(above <= level*(1+sumTol)) || !(below <= level*(1+sumTol)) {
			t.Fatalf("clients %v: bounds wrong with probability %v and %v, level %v", p, above, below, level)
		}
	})
}

// TestUnionOfClients: where one client has all the mass, the binomial bound at a count of one would fail; ours does
// not.
func TestUnionOfClients(t *testing.T) {
	const n, level = 100, 0.025
	lower, _, err := interval(1, n, level)
	if err != nil || lower > level/n {
		t.Errorf("lower = %v, %v: one client that releases the point with probability %v makes it fail more often than %v",
			lower, err, level, level)
	}
	_, upper, err := interval(n-1, n, level)
	if err != nil || upper < 1-level/n {
		t.Errorf("upper = %v, %v", upper, err)
	}
}

func TestEvaluate(t *testing.T) {
	c, err := cost.NewPoints([][]float64{{0}, {1}, {3}}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	// A half moves from 0 to 3 by way of nothing: 0 -> 1 and 1 -> 3 on the line.
	got, err := Evaluate(context.Background(), c, []float64{1, 1, 0}, []float64{0, 40, 40})
	if err != nil {
		t.Fatal(err)
	}
	if want := (1. + 4) / 2; math.Abs(got.Objective-want) > sumTol || got.Lower > want || got.Upper < want ||
		got.TotalVariation != 0.5 {
		t.Errorf("%+v, want %v", got, want)
	}
	if d := got.Distance(2); math.Abs(d*d-2.5) > sumTol {
		t.Errorf("Distance = %v", d)
	}
	if !math.IsNaN(got.Distance(0)) || !math.IsNaN(Bias(-1, 1)) || Bias(9, 2) != 3 {
		t.Error("Distance or Bias")
	}
	rect, err := cost.FromRows([][]float64{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := Evaluate(context.Background(), rect, []float64{5}, []float64{1, 3}); err != nil ||
		math.Abs(e.Objective-0.75) > sumTol || !math.IsNaN(e.TotalVariation) {
		t.Errorf("%+v, %v", e, err)
	}
	for _, bad := range []struct {
		truth, hist []float64
		want        error
	}{
		{[]float64{1, 1}, []float64{1, 1, 1}, ErrShape}, {[]float64{1, 1, 1}, nil, ErrShape},
		{[]float64{0, 0, 0}, []float64{1, 1, 1}, ErrEmpty},
		{[]float64{1, math.Inf(1), 0}, []float64{1, 1, 1}, ErrNotFinite},
		{[]float64{1, 1, 1}, []float64{1, -1, 1}, ErrNegative},
	} {
		if _, err := Evaluate(context.Background(), c, bad.truth, bad.hist); !errors.Is(err, bad.want) {
			t.Errorf("Evaluate(%v, %v): %v, want %v", bad.truth, bad.hist, err, bad.want)
		}
	}
	if _, err := Evaluate(context.Background(), nil, nil, nil); err == nil {
		t.Error("no cost, no error")
	}
	big := []float64{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}
	if e, err := Evaluate(context.Background(), c, big, []float64{1, 1, 1}); err != nil || e.Objective > sumTol {
		t.Errorf("huge counts: %+v, %v", e, err)
	}
}
