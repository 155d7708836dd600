package aggregate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
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
		t.Errorf("more confidence, band [%v, %v] within [%v, %v], %v", wide.Lower[2], wide.Upper[2], h.Lower[2], h.Upper[2], err)
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
		{nil, 0, ErrShape}, {[]uint64{0, 0}, 0, ErrEmpty}, {[]uint64{1}, 1, ErrConfidence}, {[]uint64{1}, math.NaN(), ErrConfidence},
		{[]uint64{1}, -0.5, ErrConfidence}, {[]uint64{math.MaxUint64, 2}, 0, ErrShape}, {[]uint64{MaxReleases, 1}, 0, ErrShape},
	} {
		if _, err := NewHistogram(bad.counts, Settings{Confidence: bad.confidence}); !errors.Is(err, bad.want) {
			t.Errorf("NewHistogram(%v, %v): %v, want %v", bad.counts, bad.confidence, err, bad.want)
		}
	}
}

// TestCoverageOfUnequalClients: clients with different probabilities, the case that a binomial interval is not made for. The chance that
// an end is on the wrong side of the mean is a sum over the exact distribution of the count; it never exceeds the level.
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

// TestUnionOfClients: where one client has all the mass, the binomial bound at a count of one would fail; ours does not.
func TestUnionOfClients(t *testing.T) {
	const n, level = 100, 0.025
	lower, _, err := interval(1, n, level)
	if err != nil || lower > level/n {
		t.Errorf("lower = %v, %v: one client that releases the point with probability %v makes it fail more often than %v", lower, err, level, level)
	}
	_, upper, err := interval(n-1, n, level)
	if err != nil || upper < 1-level/n {
		t.Errorf("upper = %v, %v", upper, err)
	}
}

func likelihood(counts []uint64, rows [][]float64, theta []float64) float64 {
	var n, l float64
	for _, c := range counts {
		n += float64(c)
	}
	for j, c := range counts {
		if c == 0 {
			continue
		}
		var p float64
		for i, row := range rows {
			var sum float64
			for _, x := range row {
				sum += x
			}
			p += theta[i] * row[j] / sum
		}
		l += float64(c) / n * math.Log(p)
	}
	return l
}

// TestInvertExactly: where the counts are exactly those of an inner theta and the channel is invertible, the estimate is that theta.
func TestInvertExactly(t *testing.T) {
	rows := [][]float64{{6, 1, 1}, {1, 4, 3}, {2, 1, 5}} // each sums to 8
	theta := []float64{0.25, 0.5, 0.25}
	counts := make([]uint64, 3)
	for j := range counts {
		var s float64
		for i := range rows {
			s += theta[i] * rows[i][j]
		}
		counts[j] = uint64(4 * s)
	}
	got, err := Invert(context.Background(), counts, rows, InvertSettings{Gap: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	// The likelihood is flat to second order: a gap of 1e-12 is an error of some 1e-6.
	const tol = 1e-5
	for i := range theta {
		if math.Abs(got.Theta[i]-theta[i]) > tol {
			t.Errorf("Theta = %v, want %v", got.Theta, theta)
		}
	}
}

// TestInvertGap: no other theta is more likely than the stated gap allows, and what is returned is what is claimed of it.
func TestInvertGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		k, kv := 1+r.IntN(5), 1+r.IntN(6)
		rows := make([][]float64, k)
		for i := range rows {
			rows[i] = make([]float64, kv)
			for j := range rows[i] {
				rows[i][j] = math.Exp(10 * r.NormFloat64())
			}
		}
		counts := make([]uint64, kv)
		for range 1 + r.IntN(30) {
			counts[r.IntN(kv)]++
		}
		got, err := Invert(context.Background(), counts, rows, InvertSettings{Gap: 1e-4, MaxIterations: 1 + r.IntN(3000)})
		if err != nil && !errors.Is(err, ErrNotConverged) {
			t.Fatal(err)
		}
		if err == nil && got.Gap > 1e-4 {
			t.Fatalf("gap %v", got.Gap)
		}
		var sum float64
		for _, x := range got.Theta {
			sum += x
		}
		if math.Abs(sum-1) > sumTol || math.Abs(likelihood(counts, rows, got.Theta)-got.Likelihood) > 1e-9*(1+math.Abs(got.Likelihood)) {
			t.Fatalf("Theta sums to %v, likelihood %v, claimed %v", sum, likelihood(counts, rows, got.Theta), got.Likelihood)
		}
		for range 20 {
			other := make([]float64, k)
			var s float64
			for i := range other {
				other[i] = math.Exp(3 * r.NormFloat64())
				s += other[i]
			}
			for i := range other {
				other[i] /= s
			}
			if l := likelihood(counts, rows, other); l > got.Likelihood+got.Gap+1e-9*(1+math.Abs(l)) {
				t.Fatalf("theta %v has likelihood %v, above %v + %v", other, l, got.Likelihood, got.Gap)
			}
		}
	})
}

func TestInvertErrors(t *testing.T) {
	ok := [][]float64{{1, 1}, {1, 3}}
	for name, c := range map[string]struct {
		counts []uint64
		rows   [][]float64
		set    InvertSettings
		want   error
	}{
		"no rows":       {[]uint64{1, 1}, nil, InvertSettings{}, ErrShape},
		"no counts":     {nil, ok, InvertSettings{}, ErrShape},
		"ragged":        {[]uint64{1, 1}, [][]float64{{1, 1}, {1}}, InvertSettings{}, ErrShape},
		"nothing":       {[]uint64{0, 0}, ok, InvertSettings{}, ErrEmpty},
		"NaN":           {[]uint64{1, 1}, [][]float64{{1, math.NaN()}, {1, 1}}, InvertSettings{}, ErrChannel},
		"negative":      {[]uint64{1, 1}, [][]float64{{1, -1}, {1, 1}}, InvertSettings{}, ErrChannel},
		"zero row":      {[]uint64{1, 1}, [][]float64{{0, 0}, {1, 1}}, InvertSettings{}, ErrChannel},
		"unreachable":   {[]uint64{1, 1}, [][]float64{{0, 1}, {0, 1}}, InvertSettings{}, ErrChannel},
		"gap":           {[]uint64{1, 1}, ok, InvertSettings{Gap: math.NaN()}, ErrShape},
		"iterations":    {[]uint64{1, 1}, ok, InvertSettings{MaxIterations: -1}, ErrShape},
		"too few":       {[]uint64{9, 1}, ok, InvertSettings{Gap: 1e-10, MaxIterations: 1}, ErrNotConverged},
		"subnormal":     {[]uint64{4, 4, 0, 0}, [][]float64{{6, 6, 6, math.MaxFloat64}, {0, 6, 6, 6}}, InvertSettings{}, ErrChannel}, // found by fuzzing
		"infinite sums": {[]uint64{1, 1}, [][]float64{{math.MaxFloat64, math.MaxFloat64}, {1, 1}}, InvertSettings{}, ErrChannel},
	} {
		if _, err := Invert(context.Background(), c.counts, c.rows, c.set); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Invert(ctx, []uint64{9, 1}, ok, InvertSettings{Gap: 1e-10}); !errors.Is(err, ErrNotConverged) || len(r.Theta) != 2 {
		t.Errorf("cancelled: %v, %v", r, err)
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
	if want := (1. + 4) / 2; math.Abs(got.Objective-want) > sumTol || got.Lower > want || got.Upper < want || got.TotalVariation != 0.5 {
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
	if e, err := Evaluate(context.Background(), rect, []float64{5}, []float64{1, 3}); err != nil || math.Abs(e.Objective-0.75) > sumTol || !math.IsNaN(e.TotalVariation) {
		t.Errorf("%+v, %v", e, err)
	}
	for _, bad := range []struct {
		truth, hist []float64
		want        error
	}{
		{[]float64{1, 1}, []float64{1, 1, 1}, ErrShape}, {[]float64{1, 1, 1}, nil, ErrShape}, {[]float64{0, 0, 0}, []float64{1, 1, 1}, ErrEmpty},
		{[]float64{1, math.Inf(1), 0}, []float64{1, 1, 1}, ErrNotFinite}, {[]float64{1, 1, 1}, []float64{1, -1, 1}, ErrNegative},
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
