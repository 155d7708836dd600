package plan

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
)

// TestAround: worlds are distributions with 30 % of the mass of the prior elsewhere at most, and no farther from the
// even map than the prior is, and 15 % of that.
func TestAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prior := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-300, 1), rapid.Float64Range(0.9, 1)), 1,
			60).Draw(t, "prior")
		prior[rapid.IntRange(0, len(prior)-1).Draw(t, "at")] += rapid.SampledFrom([]float64{1e-300, 1, 1e3, 1e300}).Draw(t,
			"most")
		g, p, even := ringOf(t, prior)
		worlds, err := around(g, prior)
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range worlds {
			sum := 0.0
			for _, v := range w {
				if !(v >= 0) {
					t.Fatalf("world %d: %v", n, w)
				}
				sum += v
			}
			// A sum of k terms below 1 is off by k 2^-53 at most; a few of them are compared.
			tol := 8 * float64(len(w)) * 0x1p-53
			if off, limit := apart(w, even),
				(1+tilted)*apart(p, even); !(math.Abs(sum-1) <= tol && apart(w, p) <= moved+tol && off <= limit+tol) {
				t.Fatalf("world %d: sum %v, %v moved, %v from even, want %v at most", n, sum, apart(w, p), off, limit)
			}
		}
	})
}

// TestAroundKinds: an even map has no other worlds. From one place of k, nothing goes to other regions, and to all
// places alike moved / k.
func TestAroundKinds(t *testing.T) {
	even, spike := slices.Repeat([]float64{3}, 50), make([]float64, 50)
	spike[7] = 9
	for _, test := range []struct {
		name  string
		prior []float64
		want  float64 // share that moves
	}{{"even", even, 0}, {"one of 50", spike, moved / 50 * (1 - 1./50)}, {"one of one", []float64{3}, 0}} {
		g, p, _ := ringOf(t, test.prior)
		worlds, err := around(g, test.prior)
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range worlds {
			want := test.want
			if n%itself == itself-1 {
				want = 0
			}
			if off := apart(w, p); math.Abs(off-want) > 1e-14 { // 50 roundings of 2^-53
				t.Errorf("%s: world %d: %v moved, want %v", test.name, n, off, want)
			}
		}
	}
}

// TestTilt: the share that is asked for moves, or all that can, and none to where there was nothing. The last interval
// of the bisection is 64 x 2^-50 wide; the share changes by less than the range of a field, of some 5, along it.
func TestTilt(t *testing.T) {
	slope := make([]float64, 50)
	for i := range slope[:30] {
		slope[i] = math.Exp(-float64(i) / 3)
	}
	g, p, _ := ringOf(t, slope)
	for n := range Worlds {
		w := tilt(p, field(g, generator(n, 0), tiltLength), tilted)
		if off := apart(w, p); math.Abs(off-tilted) > 5*0x1p-44 || slices.Max(w[30:]) > 0 {
			t.Errorf("world %d: %v moved: %v", n, off, w)
		}
	}
	if w := tilt([]float64{0, 1, 0}, []float64{3, 1, 2}, tilted); w[1] != 1 {
		t.Errorf("one place: %v", w)
	}
}

// ringOf has as many places as a prior; with it come the prior and the even map as shares.
func ringOf(t interface {
	Helper()
	Fatal(...any)
}, prior []float64) (g *estimate.Geometry, p, even []float64) {
	t.Helper()
	k := len(prior)
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = estimate.NewGeometry(context.Background(), ring, 1); err != nil {
		t.Fatal(err)
	}
	if p, err = estimate.Guess(prior, k); err != nil {
		t.Fatal(err)
	}
	if even, err = estimate.Guess(nil, k); err != nil {
		t.Fatal(err)
	}
	return g, p, even
}

// TestGeneric: maps with the roughness that they are made for, some of which are nearly even and some not.
func TestGeneric(t *testing.T) {
	c, err := cost.NewGrid(9, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	even, least, most := slices.Repeat([]float64{1. / 81}, 81), 1.0, 0.0
	for n, w := range generic(g) {
		sum, mean, square := 0.0, 0.0, 0.0
		for _, v := range w {
			sum += v
			mean += math.Log(v) / 81
		}
		for _, v := range w {
			square += (math.Log(v) - mean) * (math.Log(v) - mean) / 81
		}
		if want := roughnesses[n/len(lengths)%len(roughnesses)]; math.Abs(sum-1) > 1e-12 || math.Abs(math.Sqrt(square)-want) > 1e-9 {
			t.Errorf("world %d: sum %v, roughness %v, want %v", n, sum, math.Sqrt(square), want)
		}
		least, most = min(least, apart(w, even)), max(most, apart(w, even))
	}
	if !(least < 0.1 && most > 0.8) {
		t.Errorf("%v to %v from the even map", least, most)
	}
}

// TestQuarter: of a grid it is around a corner.
func TestQuarter(t *testing.T) {
	c, err := cost.NewGrid(4, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, n := quarter(g), 0.0
	for _, w := range got {
		n += w
	}
	if n != 4 || got[15] != 1 || got[14] != 1 || got[11] != 1 || got[10] != 1 {
		t.Errorf("quarter = %v", got)
	}
}

// TestDraw: sums, impossible outputs, and the mean and the variance of each count. The sums of squares of 4,000
// standardized counts over an output are within 5 of their standard deviation, sqrt(2/4,000): a false alarm in 2
// million, for each of 12 figures.
func TestDraw(t *testing.T) {
	law := []float64{0, .5, 0, .3, .15, .05, 0}
	const runs = 4000
	for _, n := range []int{1, 10, 1000, MaxDevices} {
		mean, square := make([]float64, len(law)), make([]float64, len(law))
		for world := range runs {
			counts := draw(law, n, world)
			sum := uint64(0)
			for j, c := range counts {
				sum += c
				if law[j] == 0 && c > 0 {
					t.Fatalf("output %d was drawn", j)
				}
				z := (float64(c) - law[j]*float64(n)) / math.Sqrt(law[j]*(1-law[j])*float64(n))
				mean[j] += z / runs
				square[j] += z * z / runs
			}
			if sum != uint64(n) {
				t.Fatalf("%d of %d drawn", sum, n)
			}
		}
		for j, q := range law {
			if q == 0 {
				continue
			}
			// The fourth moment of a binomial: 3 + (1 - 6q(1-q)) / (n q (1-q)).
			fourth := 3 + (1-6*q*(1-q))/(float64(n)*q*(1-q))
			if math.Abs(mean[j]) > 5/math.Sqrt(runs) || math.Abs(square[j]-1) > 5*math.Sqrt((fourth-1)/runs)+1e-9 {
				t.Errorf("%d draws, output %d: mean %v, variance %v, in standard units", n, j, mean[j], square[j])
			}
		}
	}
	if counts := draw([]float64{0, 0, 1}, 7, 0); counts[2] != 7 {
		t.Errorf("one output: %v", counts)
	}
}

// TestQuantile: of a small variance the quantile is exact, of a large one it is at most one off, between four standard
// deviations.
func TestQuantile(t *testing.T) {
	for _, n := range []float64{1, 7, 150, 399, 401, 5000, 1e6} {
		for _, p := range []float64{1e-12, 1e-3, 0.02, 0.3, 0.5, 0.7, 0.999} {
			b, off := distuv.Binomial{N: n, P: p}, 0.0
			if n*p*(1-p) >= smooth {
				off = 1
			}
			for _, u := range []float64{0x1p-54, 1e-4, 0.1, 0.37, 0.5, 0.8, 0.999, 1 - 1e-4} {
				if u < 1e-5 && (off > 0 || p > 0.5) { // 1 - u is 1
					continue
				}
				c := quantile(u, n, p)
				// of the distribution function, which rounds
				if !(c >= 0 && c <= n) || !(b.CDF(c+off) >= u*(1-1e-9)) || c > off && !(b.CDF(c-1-off) <= u*(1+1e-9)) {
					t.Errorf("%v of %v trials of %v: %v", u, n, p, c)
				}
			}
		}
	}
}

// TestSameChance: in standard units, the counts of a world are the same for any number of devices, but for rounding and
// skewness.
func TestSameChance(t *testing.T) {
	law := []float64{.4, .3, .2, .1}
	for world := range 10 {
		few, many := draw(law, 100_000, world), draw(law, 10_000_000, world)
		for j, q := range law {
			units := func(c uint64, n float64) float64 { return (float64(c) - n*q) / math.Sqrt(n*q*(1-q)) }
			// A count is rounded by 1/2, and so are those before it; (z^2 - 1)/6 is below 2 for z below 3.5.
			if a, b := units(few[j], 1e5), units(many[j], 1e7); math.Abs(a-b) > 5/math.Sqrt(1e5*q*(1-q)) {
				t.Errorf("world %d, output %d: %v and %v", world, j, a, b)
			}
		}
	}
}
