package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/wpmerr"
)

// slowMLE is plain expectation-maximization.
func slowMLE(counts []uint64, rows [][]float64, goal float64, most int) (theta []float64, gap float64) {
	k, kv, n := len(rows), len(counts), 0.0
	for _, c := range counts {
		n += float64(c)
	}
	theta = slices.Repeat([]float64{1 / float64(k)}, k)
	p := make([][]float64, k)
	for i := range p {
		p[i] = normalized(slices.Clone(rows[i]))
	}
	for range most {
		q := make([]float64, kv)
		for i, t := range theta {
			for j, x := range p[i] {
				q[j] += t * x
			}
		}
		g, top := make([]float64, k), 0.0
		for i := range p {
			for j, x := range p[i] {
				if counts[j] > 0 {
					g[i] += float64(counts[j]) / n * x / q[j]
				}
			}
			top = max(top, g[i])
		}
		if gap = top - 1; gap <= goal {
			break
		}
		for i := range theta {
			theta[i] *= g[i]
		}
	}
	return theta, gap
}

// TestMLEExactly: where the counts are exactly those of an inner theta and the channel is invertible, the estimate is
// that theta.
func TestMLEExactly(t *testing.T) {
	rows := [][]float64{{6, 1, 1}, {1, 4, 3}, {2, 1, 5}} // each sums to 8
	theta := []float64{0.25, 0.5, 0.25}
	counts := make([]uint64, 3)
	for j := range counts {
		s := 0.0
		for i := range rows {
			s += theta[i] * rows[i][j]
		}
		counts[j] = uint64(4 * s)
	}
	got, err := MLE(context.Background(), Problem{Counts: counts, Channel: channelOf(t, rows)}, 1e-12)
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

// likelihoodTol covers logarithms of up to 700 and sums over a dozen.
const likelihoodTol = 1e-11

// TestMLEGap: the gap that was asked for is reached, and what is returned is what is claimed of it; no other theta is
// more likely than the gap allows, not the slow method's either.
func TestMLEGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		goal := rapid.SampledFrom([]float64{1e-2, 1e-5, 1e-9}).Draw(t, "gap")
		k := len(w.rows)
		c, err := NewChannel(k, len(w.counts), func(i int, dst []float64) { copy(dst, w.rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Clone(w.counts)
		got, err := MLE(context.Background(), Problem{Counts: w.counts, Channel: c}, goal)
		if err != nil {
			t.Fatalf("%v on %+v", err, w)
		}
		if !slices.Equal(w.counts, kept) {
			t.Fatal("counts were changed")
		}
		checkDistribution(t, got.Theta, k)
		l := logLikelihood(w.counts, w.rows, got.Theta)
		if !(got.Gap > 0 && got.Gap <= goal) || !(math.Abs(l-got.LogLikelihood) <= likelihoodTol) {
			t.Fatalf("likelihood %v: %+v on %+v", l, got, w)
		}
		slow, gap := slowMLE(w.counts, w.rows, goal, 2000)
		if s := logLikelihood(w.counts, w.rows, slow); s > l+got.Gap+likelihoodTol || l > s+gap+likelihoodTol {
			t.Fatalf("likelihood %v within %v, the slow method has %v within %v, on %+v", l, got.Gap, s, gap, w)
		}
		r := rand.New(rand.NewPCG(1, uint64(k)))
		for range 20 {
			other := someTheta(r, k)
			for i := range other { // near by, too
				other[i] = (other[i] + 9*got.Theta[i]) / 10
			}
			if o := logLikelihood(w.counts, w.rows, other); o > l+got.Gap+likelihoodTol {
				t.Fatalf("%v has likelihood %v, above %v + %v", other, o, l, got.Gap)
			}
		}
	})
}

// TestMLEGrid: for two and three inputs, no point of a fine grid is more likely.
func TestMLEGrid(t *testing.T) {
	for _, w := range []world{
		{[][]float64{{3, 1, 2}, {1, 3, 2}}, []uint64{5, 2, 7}},
		{[][]float64{{3, 1}, {1, 3}}, []uint64{9, 1}}, // at a corner
		{[][]float64{{3, 1, 1}, {1, 3, 1}, {1, 1, 3}}, []uint64{5, 2, 7}},
		{[][]float64{{3, 1, 1}, {1, 3, 1}, {2, 2, 1}}, []uint64{5, 5, 2}}, // a segment of best maps
		{[][]float64{{3, 1, 1, 0}, {1, 3, 1, 0}, {1, 1, 0, 3}}, []uint64{1, 0, 0, 1}},
	} {
		got, err := MLE(context.Background(), Problem{Counts: w.counts, Channel: channelOf(t, w.rows)}, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		best, at := math.Inf(-1), []float64(nil)
		const steps = 200
		for a := 0; a <= steps; a++ {
			for b := 0; a+b <= steps; b++ {
				theta := []float64{float64(a) / steps, 1 - float64(a)/steps}
				if len(w.rows) == 3 {
					theta = []float64{float64(a) / steps, float64(b) / steps, float64(steps-a-b) / steps}
				}
				if l := logLikelihood(w.counts, w.rows, theta); l > best {
					best, at = l, theta
				}
			}
		}
		// The best point of the grid is within a cell of the maximum, where L falls by the square of that times its
		// curvature.
		if best > got.LogLikelihood+1e-10+likelihoodTol || best < got.LogLikelihood-50./steps/steps {
			t.Errorf("%v: %+v, the grid has %v at %v", w, got, best, at)
		}
	}
}

// TestMLEFast: on a channel of discs, the gap of the slow method in a hundredth of its steps. Places enter and leave a
// few at a time.
func TestMLEFast(t *testing.T) {
	rows := discRows(12, 2, 0.2)
	c := channelOf(t, rows)
	counts := drawCounts(rand.New(rand.NewPCG(3, 1)), c, twoTowns(12), 20000)
	got, err := MLE(context.Background(), Problem{Counts: counts, Channel: c}, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	slow, gap := slowMLE(counts, rows, 1e-3, 20000)
	if l := logLikelihood(counts, rows, slow); l > got.LogLikelihood+got.Gap || got.LogLikelihood > l+gap+likelihoodTol {
		t.Errorf("%v within %v, the slow method has %v within %v", got.LogLikelihood, got.Gap, l, gap)
	}
	if got.Iterations > firstSteps+8 {
		t.Errorf("%d iterations", got.Iterations)
	}
	// The law of the releases is unique and counts as much as the data: no gap is out of reach.
	for _, gap := range []float64{1e-8, 1e-12} {
		if got, err := MLE(context.Background(), Problem{Counts: counts, Channel: c}, gap); err != nil {
			t.Errorf("gap %v: %v, %v", gap, got.Gap, err)
		}
	}
	for range 2 {
		old := runtime.GOMAXPROCS(8)
		again, _ := MLE(context.Background(), Problem{Counts: counts, Channel: c}, 1e-5)
		runtime.GOMAXPROCS(old)
		if !slices.Equal(again.Theta, got.Theta) || again.Gap != got.Gap {
			t.Error("not the same bits")
		}
	}
}

func TestMLEErrors(t *testing.T) {
	ok := [][]float64{{1, 1}, {1, 3}}
	for name, c := range map[string]struct {
		counts []uint64
		rows   [][]float64
		gap    float64
		want   error
	}{
		"nothing":       {[]uint64{0, 0}, ok, 0, ErrCounts},
		"one count":     {[]uint64{4}, ok, 0, wpmerr.ErrShape},
		"unreachable":   {[]uint64{1, 1}, [][]float64{{0, 1}, {0, 1}}, 0, ErrChannel},
		"hardly":        {[]uint64{4, 4}, [][]float64{{1e-303, 1}, {0, 1}}, 0, ErrChannel},
		"NaN gap":       {[]uint64{1, 1}, ok, math.NaN(), wpmerr.ErrSettings},
		"negative gap":  {[]uint64{1, 1}, ok, -1, wpmerr.ErrSettings},
		"infinite gap":  {[]uint64{1, 1}, ok, math.Inf(1), wpmerr.ErrSettings},
		"gap too small": {[]uint64{9, 1}, ok, 1e-17, wpmerr.ErrNotConverged},
		"too many":      {[]uint64{math.MaxUint64, 1}, ok, 0, ErrCounts},
	} {
		got, err := MLE(context.Background(), Problem{Counts: c.counts, Channel: channelOf(t, c.rows)}, c.gap)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if errors.Is(err, wpmerr.ErrNotConverged) && !(got.Gap < 1e-13 && len(got.Theta) == 2) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := MLE(context.Background(), Problem{Counts: []uint64{1}}, 0); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no channel: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := MLE(ctx, Problem{Counts: []uint64{9, 1}, Channel: channelOf(t, ok)}, 1e-10)
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || len(r.Theta) != 2 || !(r.Gap > 1e-10) {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}

func BenchmarkMLE(b *testing.B) {
	for _, c := range []struct {
		name   string
		eps, f float64
		n      int
	}{{"eps=1/N=500", 1, .333, 500}, {"eps=1/N=20000", 1, .333, 20000}, {"eps=4/N=20000", 4, .077, 20000}} {
		b.Run(c.name, func(b *testing.B) {
			channel := channelOf(b, discRows(20, c.eps, c.f))
			counts := drawCounts(rand.New(rand.NewPCG(3, 1)), channel, twoTowns(20), c.n)
			var r Likeliest
			for b.Loop() {
				var err error
				if r, err = MLE(context.Background(), Problem{Counts: counts, Channel: channel}, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Iterations), "steps")
		})
	}
}
