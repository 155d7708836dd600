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

// TestIntervalBinomial: where releases are the inputs themselves, the share of one of two has the interval of the
// likelihood ratio of a binomial probability, found here by bisection.
func TestIntervalBinomial(t *testing.T) {
	c := channelOf(t, [][]float64{{1, 0}, {0, 1}})
	for _, count := range [][2]uint64{{3, 7}, {0, 5}, {1, 0}, {40, 2}, {1 << 20, 1 << 22}, {1 << 50, 1 << 52}} {
		// Quantiles x of chi2_1: erf(sqrt(x/2)) is the level.
		for level, quantile := range map[float64]float64{0.9: 2.705543454095414, 0.5: 0.454936423119573,
			0.999: 10.827566170662733} {
			x, n := float64(count[0]), float64(count[0]+count[1])
			best := x / n
			fall := func(p float64) float64 { // of twice the log-likelihood
				s := 0.0
				if x > 0 {
					s += x * (math.Log(best) - math.Log(p))
				}
				if x < n {
					s += (n - x) * (math.Log1p(-best) - math.Log1p(-p))
				}
				return 2 * s
			}
			end := func(from, to float64) float64 {
				for range 200 {
					if mid := (from + to) / 2; fall(mid) <= quantile {
						from = mid
					} else {
						to = mid
					}
				}
				return from
			}
			got, err := Interval(context.Background(), Problem{Counts: count[:], Channel: c}, []float64{1, 0}, level)
			if err != nil {
				t.Errorf("%v: %v", count, err)
			}
			low, high := end(best, 0), end(best, 1)
			// 1e-9 is for the bisection at 2^53, where differences of logarithms are lost; outward but for that.
			const tol = 1e-9
			if got.Lower > low+tol || got.Upper < high-tol || got.Lower < low-intervalTolerance-tol ||
				got.Upper > high+intervalTolerance+tol || !got.Single {
				t.Errorf("%v at %v: %+v, want %v to %v", count, level, got, low, high)
			}
		}
	}
}

// TestIntervalHolds: every map that is likely enough has its share in the interval, and the ends are shares of such
// maps, but for the tolerance: for up to three inputs, the grid of all maps comes near them.
func TestIntervalHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		k := len(w.rows)
		c, err := NewChannel(k, len(w.counts), func(i int, dst []float64) { copy(dst, w.rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "region"), 0))
		region := make([]float64, k)
		for i := range region {
			region[i] = []float64{0, 1, 0, 1, 0.5, r.Float64()}[r.IntN(6)]
		}
		p := Problem{Counts: w.counts, Channel: c}
		got, err := Interval(context.Background(), p, region, 0.9)
		if err != nil {
			t.Fatalf("%v: %+v on %+v, %v", err, got, w, region)
		}
		if !(0 <= got.Lower && got.Lower <= got.Likeliest && got.Likeliest <= got.Upper && got.Upper <= 1) {
			t.Fatalf("%+v", got)
		}
		best, err := MLE(context.Background(), p, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		n := 0.0
		for _, x := range w.counts {
			n += float64(x)
		}
		least := best.LogLikelihood - 2.705543454095414/2/n
		low, high := math.Inf(1), math.Inf(-1)
		try := func(theta []float64) {
			if v := dot(region, theta); logLikelihood(w.counts, w.rows, theta) >= least+likelihoodTol {
				low, high = min(low, v), max(high, v)
			}
		}
		other := make([]float64, k)
		for range 100 {
			far := someTheta(r, k)
			for _, step := range []float64{1, 0.3, 0.03, 0.001} {
				for i := range other {
					other[i] = step*far[i] + (1-step)*best.Theta[i]
				}
				try(other)
			}
		}
		const steps = 100
		if k <= 3 {
			for a := 0; a <= steps; a++ {
				for b := 0; a+b <= steps; b++ {
					full := []float64{float64(a) / steps, float64(b) / steps, float64(steps-a-b) / steps}
					if k == 1 {
						full[0] = 1
					} else if k == 2 {
						full[1] = 1 - full[0]
					}
					try(full[:k])
				}
			}
		}
		const rounding = 1e-12
		if low < got.Lower-rounding || high > got.Upper+rounding {
			t.Fatalf("%+v, but %v to %v are likely enough\nregion %v of %+v", got, low, high, region, w)
		}
	})
}

// TestIntervalEnds: at an end, the best log-likelihood of the maps with that share is what the level asks for: maps a
// little further in reach it, which the dual bound cannot show.
func TestIntervalEnds(t *testing.T) {
	const cells = 6
	c := channelOf(t, discRows(cells, 2, 0.2))
	r := rand.New(rand.NewPCG(9, 9))
	counts := drawCounts(r, c, twoTowns(cells), 3000)
	region := make([]float64, cells*cells)
	for i := range region {
		region[i] = float64(i/cells) / (cells - 1) // a share of rows: a place of the map's mean
	}
	got, err := Interval(context.Background(), Problem{Counts: counts, Channel: c}, region, 0)
	if err != nil {
		t.Fatal(err)
	}
	best, err := MLE(context.Background(), Problem{Counts: counts, Channel: c}, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	least := best.LogLikelihood - 2.705543454095414/2/3000
	// With the share as a row of the least-squares problem, heavy, on the quadratic model at the last theta: a second
	// method.
	for _, side := range []struct{ end, in float64 }{{got.Lower, 1}, {got.Upper, -1}} {
		reach := func(share float64) bool {
			theta := profileAt(c, counts, best.Theta, region, share)
			return logLikelihood(counts, discRows(cells, 2, 0.2), theta) >= least && math.Abs(dot(region, theta)-share) < 1e-7
		}
		if !reach(side.end+side.in*2*intervalTolerance) || reach(side.end-side.in*1e-6) {
			t.Errorf("%+v: the end at %v is not that of the likelihood", got, side.end)
		}
	}
}

// profileAt maximizes the likelihood with a share given, by exponentiated steps and a multiplier: slow and plain.
func profileAt(c *Channel, counts []uint64, start, region []float64, share float64) []float64 {
	k, kv := c.Dims()
	theta := make([]float64, k)
	for i := range theta {
		theta[i] = 0.99*start[i] + 0.01/float64(k)
	}
	q, v, g := make([]float64, kv), make([]float64, kv), make([]float64, k)
	n := 0.0
	for _, x := range counts {
		n += float64(x)
	}
	next := make([]float64, k)
	for range 5000 {
		c.forward(theta, q)
		for j := range v {
			v[j] = float64(counts[j]) / n / q[j]
		}
		c.back(v, g)
		// EM with the share given: theta_i g_i / (1 + mu (region_i - share)), with mu such that the sum is 1.
		low, high := -1/(1-share)+1e-12, 1/share-1e-12
		for range 60 {
			mu, sum := (low+high)/2, 0.0
			for i := range theta {
				next[i] = theta[i] * g[i] / (1 + mu*(region[i]-share))
				sum += next[i] * (region[i] - share)
			}
			if sum > 0 {
				low = mu
			} else {
				high = mu
			}
		}
		copy(theta, next)
	}
	return normalized(theta)
}

func TestIntervalEdges(t *testing.T) {
	rows := [][]float64{{3, 1, 1}, {1, 3, 1}, {1, 1, 3}}
	flat := [][]float64{{1, 2, 1}, {1, 2, 1}, {1, 2, 1}}
	counts := []uint64{5, 2, 7}
	for name, c := range map[string]struct {
		rows      [][]float64
		region    []float64
		low, high float64 // -1: any
		single    bool
	}{
		"nowhere":          {rows, []float64{0, 0, 0}, 0, 0, false},
		"everywhere":       {rows, []float64{1, 1, 1}, 1, 1, false},
		"half everywhere":  {rows, []float64{.5, .5, .5}, .5, .5, false},
		"no signal":        {flat, []float64{1, 0, 0}, 0, 1, true},
		"no signal, parts": {flat, []float64{.25, .5, .75}, .25, .75, false},
		"one":              {rows, []float64{0, 1, 0}, -1, -1, true},
		"all but one":      {rows, []float64{1, 0, 1}, -1, -1, true},
		"half of one":      {rows, []float64{0, .5, 0}, -1, -1, true},
	} {
		got, err := Interval(context.Background(), Problem{Counts: counts, Channel: channelOf(t, c.rows)}, c.region, 0.9)
		if err != nil || got.Single != c.single || c.low >= 0 && (got.Lower != c.low || got.Upper != c.high) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// The complement of a region has the rest, and half a region half of it.
	p := Problem{Counts: counts, Channel: channelOf(t, rows)}
	list, err := Intervals(context.Background(), p, [][]float64{{0, 1, 0}, {1, 0, 1}, {0, .5, 0}}, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	a, b, half := list[0], list[1], list[2]
	const tol = 2 * intervalTolerance
	if math.Abs(a.Lower+b.Upper-1) > tol || math.Abs(a.Upper+b.Lower-1) > tol || math.Abs(2*half.Upper-a.Upper) > tol ||
		math.Abs(2*half.Lower-a.Lower) > tol {
		t.Errorf("%+v", list)
	}
	for n, region := range [][]float64{{0, 1, 0}, {1, 0, 1}} {
		if alone, err := Interval(context.Background(), p, region, 0.9); err != nil || alone != list[n] {
			t.Errorf("alone %+v, among others %+v", alone, list[n])
		}
	}
	old := runtime.GOMAXPROCS(1)
	again, err := Intervals(context.Background(), p, [][]float64{{0, 1, 0}, {1, 0, 1}, {0, .5, 0}}, 0.9)
	runtime.GOMAXPROCS(old)
	if err != nil || !slices.Equal(again, list) {
		t.Error("not the same bits")
	}
}

// TestIntervalFound: ends that random worlds had shown to be missed. The share of the best tilted map jumps from one
// end of a segment to the other; or so many releases that the likelihood's rounding decides.
func TestIntervalFound(t *testing.T) {
	for name, c := range map[string]struct {
		rows      [][]float64
		counts    []uint64
		region    []float64
		low, high float64
	}{
		// One release of output 0: its probability falls from p_0 at the best map, of input 0 alone, by the factor
		// exp(-2.7055/2), and the way with the least weight is to input 2: theta_0 = (0.25852 p_0 - p_2) / (p_0 - p_2).
		"a jump": {
			[][]float64{{0.7742492871633582, 0.22575071283664183}, {0.09074921814264227, 0.9092507818573577},
				{0.1870084855757998, 0.8129915144242003}},
			[]uint64{1, 0}, []float64{.5, 0, 0}, 0.0111986, .5,
		},
		"equal rows": {
			[][]float64{{1, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 0}}, []uint64{537661185982464, 561850441793536},
			[]float64{.5, 0, 0, 0, 0.9850412088603281}, 0, 0.4890,
		},
	} {
		got, err := Interval(context.Background(), Problem{Counts: c.counts, Channel: channelOf(t, c.rows)}, c.region, 0.9)
		const tol = 2 * intervalTolerance
		if err != nil || math.Abs(got.Lower-c.low) > tol || math.Abs(got.Upper-c.high) > tol {
			t.Errorf("%s: %+v, %v, want %v to %v", name, got, err, c.low, c.high)
		}
	}
}

func TestIntervalErrors(t *testing.T) {
	p := Problem{Counts: []uint64{5, 2}, Channel: channelOf(t, [][]float64{{3, 1}, {1, 3}})}
	for name, c := range map[string]struct {
		region []float64
		level  float64
		want   error
	}{
		"short":         {[]float64{1}, 0.9, wpmerr.ErrShape},
		"no region":     {nil, 0.9, wpmerr.ErrShape},
		"NaN":           {[]float64{1, math.NaN()}, 0.9, wpmerr.ErrNotFinite},
		"negative":      {[]float64{1, -0.1}, 0.9, wpmerr.ErrNegative},
		"above 1":       {[]float64{1, 1.1}, 0.9, wpmerr.ErrSettings},
		"level 1":       {[]float64{1, 0}, 1, wpmerr.ErrSettings},
		"level below 0": {[]float64{1, 0}, -0.5, wpmerr.ErrSettings},
		"level NaN":     {[]float64{1, 0}, math.NaN(), wpmerr.ErrSettings},
	} {
		if s, err := Interval(context.Background(), p, c.region, c.level); !errors.Is(err, c.want) || s != (Share{}) {
			t.Errorf("%s: %+v, %v, want %v", name, s, err, c.want)
		}
	}
	if _, err := Interval(context.Background(), Problem{}, nil, 0); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
	if list, err := Intervals(context.Background(), p, nil, 0); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := Interval(ctx, p, []float64{1, 0}, 0)
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || s.Lower != 0 || s.Upper != 1 || !s.Single {
		t.Errorf("cancelled: %+v, %v", s, err)
	}
	// A level near 1 or 0 is one.
	for _, level := range []float64{math.SmallestNonzeroFloat64, 1e-9, math.Nextafter(1, 0)} {
		s, err := Interval(context.Background(), p, []float64{1, 0}, level)
		if err != nil || !(s.Lower <= s.Likeliest && s.Likeliest <= s.Upper) ||
			level < 0.5 && s.Upper-s.Lower > 3*intervalTolerance {
			t.Errorf("level %v: %+v, %v", level, s, err)
		}
	}
}

func BenchmarkInterval(b *testing.B) {
	for _, c := range []struct {
		name   string
		eps, f float64
		n      int
	}{{"eps=1/N=500", 1, .333, 500}, {"eps=1/N=20000", 1, .333, 20000}, {"eps=4/N=20000", 4, .077, 20000}} {
		b.Run(c.name, func(b *testing.B) {
			channel := channelOf(b, discRows(20, c.eps, c.f))
			counts := drawCounts(rand.New(rand.NewPCG(3, 1)), channel, twoTowns(20), c.n)
			for b.Loop() {
				if _, err := Intervals(context.Background(), Problem{Counts: counts, Channel: channel}, quadrants(20),
					0.9); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// quadrants are the four of a square grid.
func quadrants(n int) [][]float64 {
	list := make([][]float64, 4)
	for r := range list {
		list[r] = make([]float64, n*n)
		for i := range list[r] {
			if (i/n < n/2) == (r < 2) && (i%n < n/2) == (r%2 == 0) {
				list[r][i] = 1
			}
		}
	}
	return list
}

// TestIntervalUnlikely has two inputs, of which one next to never makes the only releases that there are. With r the
// ratio of the two probabilities, the likelihood of N releases at a share x of the other is (r + (1-r) x)^N, which
// gives the lower end.
func TestIntervalUnlikely(t *testing.T) {
	for _, ratio := range []float64{0.5, 1e-3, 1e-5, 1e-8, 1e-15, 1e-20, 0} {
		channel := channelOf(t, [][]float64{{0.5, 0.5}, {0.5 * ratio, 1 - 0.5*ratio}})
		for _, n := range []uint64{1, 2, 5, 10, 1000} {
			for _, level := range []float64{0.3, 0.5, 0.7, 0.9, 0.999} {
				s, err := Interval(context.Background(), Problem{Counts: []uint64{n, 0}, Channel: channel}, []float64{1, 0}, level)
				z := math.Erfinv(level)
				want := max(0, (math.Exp(-z*z/float64(n))-ratio)/(1-ratio))
				// The sums of the bound round by some 1e-15 of numbers up to 1.
				if err != nil || s.Upper != 1 || !(s.Lower <= want+1e-13 && s.Lower >= want-intervalTolerance-1e-13) {
					t.Errorf("ratio %v, %d releases, level %v: %+v, %v, want %v to 1", ratio, n, level, s, err, want)
				}
			}
		}
	}
}
