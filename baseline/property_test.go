package baseline_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// drawDistribution leans to zeros, ties and very uneven masses.
func drawDistribution(t *rapid.T, k int, label string) []float64 {
	mu := make([]float64, k)
	kind := rapid.SampledFrom([]string{"integers", "exponents", "dirac"}).Draw(t, label+" kind")
	total := 0.0
	for j := range mu {
		switch kind {
		case "integers":
			mu[j] = float64(rapid.IntRange(0, 4).Draw(t, label))
		case "exponents":
			mu[j] = math.Exp(-float64(rapid.IntRange(0, 60).Draw(t, label)))
		}
		total += mu[j]
	}
	if total == 0 {
		mu[rapid.IntRange(0, k-1).Draw(t, label+" at")] = 1
		return mu
	}
	for j := range mu {
		mu[j] /= total
	}
	return mu
}

func drawCost(t *rapid.T, k, kv int) *cost.Dense {
	c := &cost.Dense{K: k, Kv: kv}
	offset := rapid.SampledFrom([]float64{0, 0, 1e6}).Draw(t, "offset")
	entry := rapid.Map(rapid.IntRange(0, 12), func(n int) float64 { return offset + float64(n)/4 })
	for range k * kv {
		c.Data = append(c.Data, entry.Draw(t, "c"))
	}
	return c
}

var anyEps = []float64{0, 1e-12, 0.001, 0.5, 1, 2, 5, 12, 40, 700}

// TestKPMExact compares with the rule in rational arithmetic.
func TestKPMExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		checkKPM(t, drawDistribution(t, k, "mu"), rapid.SampledFrom(anyEps).Draw(t, "eps"))
	})
}

// divergence is KL(mu||q), without the terms that are 0.
func divergence(mu, q []float64) float64 {
	d := 0.0
	for j, x := range mu {
		if x > 0 {
			d += x * math.Log(x/q[j])
		}
	}
	return d
}

// divergenceTol is the rounding of two divergences of at most log(e^eps + k), eps <= 5.
const divergenceTol = 1e-13

// TestKPMProjects: no point of the box is closer to mu in KL(mu||q) than KPM's, nor than KPMScaled's in its own.
func TestKPMProjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		eps := rapid.SampledFrom([]float64{0.001, 0.5, 1, 2, 5}).Draw(t, "eps")
		mu := drawDistribution(t, k, "mu")
		mass := math.Exp(eps / 2 * rapid.SampledFrom([]float64{-1, -0.9, -0.3, 0, 0.5, 0.99, 1}).Draw(t, "mass"))
		scaled, err := baseline.KPMScaled(mu, eps, mass)
		if err != nil {
			t.Fatal(err)
		}
		checkSum(t, scaled)
		plain, _, err := baseline.KPM(mu, eps)
		if err != nil {
			t.Fatal(err)
		}
		own, err := baseline.KPMScaled(mu, eps, float64(k)*baseline.KPMBase(k, eps))
		if err != nil {
			t.Fatal(err)
		}
		for j := range own {
			near(t, "KPMScaled at KPM's mass", own[j], plain[j],
				numtest.Tol{Abs: 1e-15, Rel: 1e-14, Why: "the box itself is rounded"})
		}

		other := drawDistribution(t, k, "other")
		for _, test := range []struct {
			q    []float64
			mass float64
		}{{scaled, mass}, {plain, float64(k) * baseline.KPMBase(k, eps)}} {
			lo, hi := math.Exp(-eps/2)*test.mass/float64(k), math.Exp(eps/2)*test.mass/float64(k)
			for _, x := range test.q {
				if !(x >= lo*(1-1e-12) && x <= hi*(1+1e-12)) {
					t.Fatalf("%v outside [%v, %v]", test.q, lo, hi)
				}
			}
			q := intoBox(other, lo, hi)
			if got, least := divergence(mu, q), divergence(mu, test.q); !(least <= got+divergenceTol) {
				t.Fatalf("mass %v: KL(mu||%v) = %v, but KL(mu||%v) = %v", test.mass, test.q, least, q, got)
			}
			// And on the way from the projection to that point.
			for _, step := range []float64{1e-6, 1e-3, 0.1} {
				for j := range q {
					q[j] = test.q[j] + step*(q[j]-test.q[j])
				}
				if got, least := divergence(mu, q), divergence(mu, test.q); !(least <= got+divergenceTol) {
					t.Fatalf("mass %v: step %v improves %v to %v", test.mass, step, least, got)
				}
			}
		}
	})
}

// intoBox moves q to a point of the box [lo, hi]^k with the same order, or so.
func intoBox(q []float64, lo, hi float64) []float64 {
	x := slices.Clone(q)
	for j := range x {
		x[j] = min(max(x[j], lo), hi)
	}
	for range 200 {
		rest := 1.0
		for _, v := range x {
			rest -= v
		}
		for j := range x {
			x[j] = min(max(x[j]+rest/float64(len(x)), lo), hi)
		}
	}
	return x
}

// boxTol is the rounding of q and of the two bounds.
const boxTol = 1e-13

// TestBoxes holds every rule, on Diracs and others, to its box; and so, to e^eps.
func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		kv := rapid.IntRange(1, 6).Draw(t, "kv")
		eps := rapid.SampledFrom(anyEps).Draw(t, "eps")
		c := drawCost(t, k, kv)
		mu := drawDistribution(t, k, "mu")
		must := func(x []float64, err error) []float64 {
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		kpm := func(mu []float64) []float64 {
			q, _, err := baseline.KPM(mu, eps)
			return must(q, err)
		}
		members := make([][]int, k)
		for at := range members {
			members[at] = []int{at, k} // one item of its own, and one that all groups share
		}
		groups, err := baseline.NewGroups(k+1, members)
		if err != nil {
			t.Fatal(err)
		}
		exponential, err := baseline.NewExponential(context.Background(), c, eps)
		if err != nil {
			t.Fatal(err)
		}
		rules := []struct {
			name string
			m    []float64
			rule func(mu []float64) []float64
		}{
			{"KPM", must(baseline.KPMMeasure(k, eps)), kpm},
			{"RandomizedResponse", must(baseline.RandomizedResponseMeasure(k, eps)), func(mu []float64) []float64 {
				return must(baseline.RandomizedResponse(mu, eps))
			}},
			{"Exponential", exponential.Measure(), func(mu []float64) []float64 { return must(exponential.Law(mu, nil)) }},
			{"Groups", must(groups.Spread(must(baseline.KPMMeasure(k, eps)))), func(mu []float64) []float64 {
				return must(groups.Spread(kpm(mu)))
			}},
		}
		inputs := [][]float64{mu}
		for i := range k {
			dirac := make([]float64, k)
			dirac[i] = 1
			inputs = append(inputs, dirac)
		}
		for _, r := range rules {
			for _, input := range inputs {
				q := r.rule(input)
				checkSum(t, q)
				for j, x := range q {
					lo, hi := math.Exp(-eps/2)*r.m[j], math.Exp(eps/2)*r.m[j]
					// A base measure below the smallest float is 0, and so is its box.
					hi += math.Exp(eps/2) * math.SmallestNonzeroFloat64
					if !(x >= lo*(1-boxTol) && x <= hi*(1+boxTol)) {
						t.Fatalf("%s(%v): q[%d] = %v outside [%v, %v]", r.name, input, j, x, lo, hi)
					}
				}
			}
		}
	})
}

// TestPermutation: the rules do not know the order of the points.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "k")
		eps := rapid.SampledFrom(anyEps).Draw(t, "eps")
		mu := drawDistribution(t, k, "mu")
		index := make([]int, k)
		for j := range index {
			index[j] = j
		}
		index = rapid.Permutation(index).Draw(t, "order")
		shuffled := make([]float64, k)
		for j := range shuffled {
			shuffled[j] = mu[index[j]]
		}
		q, r, err := baseline.KPM(mu, eps)
		if err != nil {
			t.Fatal(err)
		}
		q2, r2, err := baseline.KPM(shuffled, eps)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "r", r2, r, rounded)
		for j := range q2 {
			near(t, "q", q2[j], q[index[j]], rounded)
		}
	})
}
