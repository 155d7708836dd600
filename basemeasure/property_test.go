package basemeasure_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/knapsack"
)

func drawShape(t *rapid.T, kv int) []float64 {
	w := make([]float64, kv)
	for j := range w {
		w[j] = float64(rapid.IntRange(0, 5).Draw(t, "w"))
	}
	w[rapid.IntRange(0, kv-1).Draw(t, "some")]++
	return w
}

// TestShapeLaws: the evidence holds, no other scale is better, scaling the cost by a power of two scales
// everything, and neither a permutation nor a common factor of the shape matters.
func TestShapeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := given.Cost(t, 8)
		shape := drawShape(t, c.Kv)
		eps := rapid.SampledFrom(given.Levels()).Draw(t, "eps")
		run := func(c *cost.Dense, shape []float64) basemeasure.Result {
			r, err := basemeasure.Shape(background, c, shape, eps, basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			upper, lower, err := basemeasure.Verify(context.Background(), c, eps, r)
			if err != nil {
				t.Fatal(err)
			}
			if lower.Cmp(upper) > 0 {
				t.Fatalf("lower %v > upper %v", lower, upper)
			}
			return r
		}
		r := run(c, shape)

		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.Float64Range(-1, 1).Draw(t, "another scale")
		total := 0.0
		for _, w := range shape {
			total += w
		}
		lo, hi := make([]float64, c.Kv), make([]float64, c.Kv)
		for j, w := range shape {
			m := w / total * math.Exp(at*eps/2)
			lo[j], hi[j] = math.Exp(-eps/2)*m, math.Exp(eps/2)*m
		}
		if f, i := table.Max(lo, hi); i >= 0 && !(f >= r.F*(1-1e-14)) {
			t.Fatalf("mass e^(%v eps/2) has f = %v, the best scale %v", at, f, r.F)
		}

		shuffle := rapid.Permutation(upTo(c.Kv)).Draw(t, "columns")
		scaled, permuted := &cost.Dense{K: c.K, Kv: c.Kv}, &cost.Dense{K: c.K, Kv: c.Kv}
		shape2, shape3 := make([]float64, c.Kv), make([]float64, c.Kv)
		for i := range c.K {
			for j := range c.Kv {
				scaled.Data = append(scaled.Data, c.Data[i*c.Kv+j]*0x1p40)
				permuted.Data = append(permuted.Data, c.Data[i*c.Kv+shuffle[j]])
			}
		}
		for j := range shape {
			shape2[j], shape3[j] = shape[shuffle[j]], 3*shape[j]
		}
		// Two searches may stop at different points of a kink's neighbourhood; each is within 1e-14.
		tol := numtest.Tol{Rel: 3e-14, Abs: 1e-320, Why: "two searches, 1e-14 each, and subnormal results"}
		for name, got := range map[string]float64{
			"scaled":   run(scaled, shape).F * 0x1p-40,
			"permuted": run(permuted, shape2).F,
			"factor 3": run(c, shape3).F,
		} {
			if !tol.Close(got, r.F) {
				t.Fatalf("%s: f = %v, want %v", name, got, r.F)
			}
		}
	})
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// TestMonotone: less privacy, that is a larger eps, never costs more.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := given.Cost(t, 8)
		shape := drawShape(t, c.Kv)
		last, lastLower := math.Inf(1), 0.0
		for _, eps := range given.Levels() {
			r, err := basemeasure.Shape(background, c, shape, eps, basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if !(r.F <= last*(1+1e-14)) {
				t.Fatalf("f rises from %v to %v at eps = %v", last, r.F, eps)
			}
			last, lastLower = r.F, r.Lower
		}
		// At eps = 700 every output is almost free: f is nearly max_i min_j over the support, and so at least
		// the bound over all outputs.
		if !(last >= lastLower) {
			t.Fatalf("f = %v below %v", last, lastLower)
		}
	})
}

// TestWild searches where kinks of all sizes crowd within a few roundings of each other: costs over 300 orders
// of magnitude, shapes over 17, large eps. F must still be the value of M that the verifier finds, and the
// search must end long before its limit.
func TestWild(t *testing.T) {
	rnd := numtest.NewSplitMix64(1)
	most, rounds := 0, 400
	if !numtest.Full() {
		rounds = 40
	}
	for n := range rounds {
		k, kv := 1+rnd.Intn(60), 1+rnd.Intn(60)
		if n < rounds/40 {
			k, kv = 250, 250
		}
		c := matrix(k, kv, func(i, j int) float64 { return math.Exp(100 * math.Log(rnd.Float64()+1e-3)) })
		shape := make([]float64, kv)
		for j := range shape {
			shape[j] = math.Exp(-40 * rnd.Float64() * float64(rnd.Intn(2)))
		}
		eps := []float64{12, 40, 100, 150}[rnd.Intn(4)]
		r, err := basemeasure.Shape(background, c, shape, eps, basemeasure.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		upper, _, err := basemeasure.Verify(context.Background(), c, eps, r)
		if err != nil {
			t.Fatal(err)
		}
		numtest.NearRat(t, "F", r.F, upper, exactScale)
		most = max(most, r.Stats.Evaluations)
	}
	// 49 when this was written, and 93 without the bisections.
	if most > 60 {
		t.Errorf("up to %d evaluations", most)
	}
	t.Logf("up to %d evaluations", most)
}

// TestOptimum compares both bounds with the optimum over all base measures.
func TestOptimum(t *testing.T) {
	given.BaseOptimum(t, 4, func(t *rapid.T, c *cost.Dense, eps, best float64) {
		r, err := basemeasure.Uniform(background, c, eps, basemeasure.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Lower <= best+given.SimplexTol && best <= r.Upper+given.SimplexTol) {
			t.Fatalf("optimum %v outside [%v, %v]", best, r.Lower, r.Upper)
		}
	})
}

// TestSubnormalAfterScaling has costs so far apart that the small ones become subnormal when the large ones
// are brought into range: their rounding once made the lower bound false (found by fuzzing).
func TestSubnormalAfterScaling(t *testing.T) {
	for _, test := range []struct {
		rows [][]float64
		eps  float64
	}{
		{[][]float64{{1e-9, math.MaxFloat64}}, 6},
		{[][]float64{{6, 1e-9, 6}, {1e300, 0, 0}}, 1.5},
		{[][]float64{{3e-9, 1e308}, {1e308, 7e-9}}, 0.1},
	} {
		c, err := cost.FromRows(test.rows)
		if err != nil {
			t.Fatal(err)
		}
		r, err := basemeasure.Uniform(background, c, test.eps, basemeasure.Settings{})
		if err != nil {
			t.Fatalf("%v: %v", test.rows, err)
		}
		if _, _, err := basemeasure.Verify(context.Background(), c, test.eps, r); err != nil {
			t.Errorf("%v: %v", test.rows, err)
		}
	}
}
