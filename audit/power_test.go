package audit

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/binomial"
)

// TestQuantiles: the counts that detection starts from are reached with probability sqrt(1/2) at least: in
// rationals for small n, by the tails (which have tests of their own) for large n; and they are not much
// farther out than needed.
func TestQuantiles(t *testing.T) {
	const slack = 1e-12 // of sums of a few probabilities
	root := exactly(quantile - slack)
	for n := int64(1); n <= 12; n++ {
		for step := int64(0); step <= 16; step++ {
			p := big.NewRat(step, 16)
			f, _ := p.Float64()
			if x := atMost(n, f); x < 0 || x > n || lowerTail(x, n, p).Cmp(root) < 0 ||
				x > 0 && lowerTail(x-1, n, p).Cmp(root) > 0 {
				t.Errorf("atMost(%d, %v) = %d", n, p, x)
			}
			if x := atLeast(n, f); x < 0 || x > n || upperTail(x, n, p).Cmp(root) < 0 {
				t.Errorf("atLeast(%d, %v) = %d", n, p, x)
			}
		}
	}
	for _, n := range []int64{1000, 1_000_000, 1_000_000_000} {
		for _, p := range []float64{1e-9, 1e-4, 0.01, 0.3, 0.9} {
			x, mean := atMost(n, p), float64(n)*p
			sd := math.Sqrt(mean * (1 - p))
			// P[X <= x] >= sqrt(1/2) iff P[X >= x+1] <= 1 - sqrt(1/2).
			if float64(x+1) > mean && x+1 < n && math.Exp(binomial.LogTail(x+1, n, p, 1-p)) > 1-quantile+1e-9 {
				t.Errorf("atMost(%d, %v) = %d is reached too rarely", n, p, x)
			}
			if far := (float64(x) - mean); far > sd+4 {
				t.Errorf("atMost(%d, %v) = %d, %v deviations out", n, p, x, far/sd)
			}
		}
	}
}

// TestDetectionRate: at the stated overshoot the simulated audit flags at least half of the time, and at a
// third of it hardly ever. Fixed seed; of 400 trials, a true rate of 1/2 gives fewer than 160 with probability
// 4e-5.
func TestDetectionRate(t *testing.T) {
	const trials, level = 400, 1e-8
	rng := rand.New(rand.NewChaCha8(key("test", 1, 0)))
	draw := func(n int64, p float64) int64 { // by inversion of a normal: n p is large here
		return int64(math.Round(float64(n)*p + math.Sqrt(float64(n)*p*(1-p))*rng.NormFloat64()))
	}
	for _, c := range []struct {
		low, eps float64
		n        int64
	}{{0.15, 1, 100_000}, {0.001, 5, 1_000_000}, {0.4, 0.2, 10_000}} {
		over := Overshoot(c.low, c.eps, level, c.n)
		rate := func(over float64) int {
			high, low := excess(c.low, c.eps, over)
			found := 0
			for range trials {
				l, _, _ := Interval(draw(c.n, high), c.n, level)
				_, u, _ := Interval(draw(c.n, low), c.n, level)
				if math.Log(l/u) > c.eps {
					found++
				}
			}
			return found
		}
		if got := rate(over); got < 160 {
			t.Errorf("low %v, eps %v, n %d: overshoot %v was flagged in %d of %d trials", c.low, c.eps, c.n, over, got, trials)
		}
		if got := rate(over / 3); got > trials/10 {
			t.Errorf("low %v, eps %v, n %d: a third of overshoot %v was flagged in %d of %d trials: the limit is not one", c.low,
				c.eps, c.n, over, got, trials)
		}
	}
}

// TestLimitLaws: more draws find less, a rarer output hides more, and SamplesFor is where Overshoot says.
func TestLimitLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Pow(10, -rapid.Float64Range(0.5, 6).Draw(t, "-log low"))
		eps := rapid.SampledFrom([]float64{0.1, 1, 5}).Draw(t, "eps")
		level := math.Pow(10, -rapid.Float64Range(3, 12).Draw(t, "-log level"))
		n := int64(math.Pow(10, rapid.Float64Range(2, 8).Draw(t, "log n")))
		d := Overshoot(low, eps, level, n)
		if !(d > 0) {
			t.Fatalf("Overshoot(%v, %v, %v, %d) = %v", low, eps, level, n, d)
		}
		const grain = 1.3 // counts are whole numbers: small ones move the limit by steps
		if more := Overshoot(low, eps, level, 4*n); more > d*grain {
			t.Fatalf("Overshoot(%v, %v, %v, %d) = %v, with four times the draws %v", low, eps, level, n, d, more)
		}
		if low*math.Exp(eps) < 0.1 {
			if rarer := Overshoot(low/4, eps, level, n); rarer < d/grain {
				t.Fatalf("Overshoot(%v, %v, %v, %d) = %v, at a quarter of the probability %v", low, eps, level, n, d, rarer)
			}
		}
		need := SamplesFor(low, eps, 0.1, level)
		if need <= 0 {
			t.Fatalf("SamplesFor(%v, %v, 0.1, %v) = %d", low, eps, level, need)
		}
		if at := Overshoot(low, eps, level, need); at > 0.1*grain {
			t.Fatalf("SamplesFor(%v, %v, 0.1, %v) = %d, where the limit is %v", low, eps, level, need, at)
		}
	})
}

func TestLimitEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, low := range []float64{0, -1, 1.5, math.NaN(), inf} {
		if got := Overshoot(low, 1, 1e-9, 1000); got != inf {
			t.Errorf("Overshoot(low %v) = %v", low, got)
		}
		if got := SamplesFor(low, 1, 0.1, 1e-9); got != 0 {
			t.Errorf("SamplesFor(low %v) = %d", low, got)
		}
	}
	if got := Overshoot(0.1, 1, 1e-9, 1); got != inf {
		t.Errorf("one draw finds an overshoot of %v", got)
	}
	if got := SamplesFor(1e-6, 0.01, 1e-9, 1e-9); got != 0 {
		t.Errorf("an overshoot of 1e-9 needs %d draws only", got)
	}
	if got := Overshoot(1, 1, 1e-9, 100_000); !(got < 0.1) { // the larger probability is 1, the smaller one gives way
		t.Errorf("Overshoot(1) = %v", got)
	}
}

// upperTail returns P[X >= x] of a binomial, exactly.
func upperTail(x, n int64, p *big.Rat) *big.Rat {
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	sum := new(big.Rat)
	for k := x; k <= n; k++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(n, k))
		for range k {
			term.Mul(term, p)
		}
		for range n - k {
			term.Mul(term, q)
		}
		sum.Add(sum, term)
	}
	return sum
}

func lowerTail(x, n int64, p *big.Rat) *big.Rat {
	return upperTail(n-x, n, new(big.Rat).Sub(big.NewRat(1, 1), p))
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
