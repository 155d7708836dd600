package baseline_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestScaledAtTheEnds: a mass at an end of its range, or beyond it by what is forgiven, leaves the uniform
// distribution, to the bit.
func TestScaledAtTheEnds(t *testing.T) {
	const forgiven = 9e-13
	for _, k := range []int{1, 2, 3, 7, 100} {
		mu := make([]float64, k)
		mu[k-1] = 1
		for _, eps := range []float64{0, 1e-9, 0.3, 2, 20} {
			for _, mass := range []float64{math.Exp(eps/2) * (1 + forgiven), math.Exp(-eps/2) * (1 - forgiven)} {
				q, err := baseline.KPMScaled(mu, eps, mass)
				if err != nil {
					t.Fatal(err)
				}
				for j, x := range q {
					if x != 1/float64(k) {
						t.Errorf("%d points, eps = %v, mass %v: q[%d] = %v", k, eps, mass, j, x)
					}
				}
			}
		}
	}
}

// TestScaledIsKL: no exchange between two points of the box brings q closer to mu in the divergence.
func TestScaledIsKL(t *testing.T) {
	const rounding = 1e-12
	g := numtest.NewSplitMix64(93)
	for range 400 {
		k := 2 + g.Intn(7)
		mu := make([]float64, k)
		sum := 0.0
		for i := range mu {
			mu[i] = g.Float64() * float64(g.Intn(3))
			sum += mu[i]
		}
		if sum == 0 {
			mu[0], sum = 1, 1
		}
		for i := range mu {
			mu[i] /= sum
		}
		eps := 0.1 + 3*g.Float64()
		mass := math.Exp(eps * (0.98*g.Float64() - 0.49))
		q, err := baseline.KPMScaled(mu, eps, mass)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := math.Exp(-eps/2)*mass/float64(k), min(math.Exp(eps/2)*mass/float64(k), 1)
		total := 0.0
		for i := range q {
			if total += q[i]; q[i] < lo*(1-rounding) || q[i] > hi*(1+rounding) {
				t.Fatalf("q[%d] = %v outside [%v, %v]", i, q[i], lo, hi)
			}
			for j := range q {
				// Mass moved from j to i gains mu_i/q_i - mu_j/q_j.
				if q[i] < hi*(1-rounding) && q[j] > lo*(1+rounding) && mu[i]/q[i] > (mu[j]/q[j])*(1+rounding)+rounding {
					t.Fatalf("mu = %v, eps = %v, mass %v: q = %v, more at %d and less at %d is closer", mu, eps, mass, q, i, j)
				}
			}
		}
		if !(math.Abs(total-1) <= rounding) {
			t.Fatalf("q sums to %v", total)
		}
	}
}

// TestSearchSteps compares a search with its description, point by point, for every number of evaluations.
func TestSearchSteps(t *testing.T) {
	g := numtest.NewSplitMix64(94)
	for range 20 {
		k := 1 + g.Intn(5)
		centre := make([]float64, k)
		for i := range centre {
			centre[i] = g.Float64()
		}
		loss := func(mu []float64) (float64, error) { // worst inside
			sum := 0.0
			for i, x := range mu {
				sum -= (x - centre[i]) * (x - centre[i])
			}
			return sum, nil
		}
		// Every point in the order in which it is asked for, if nothing ends the search.
		var asked [][]float64
		var values []float64
		ask := func(mu []float64) float64 {
			v, _ := loss(mu)
			asked, values = append(asked, slices.Clone(mu)), append(values, v)
			return v
		}
		point := func(i int) []float64 { mu := make([]float64, k); mu[i] = 1; return mu }
		order := make([]int, k)
		for i := range k {
			order[i] = i
			ask(point(i))
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if values[a] != values[b] {
				return map[bool]int{true: -1, false: 1}[values[a] > values[b]]
			}
			return 0
		})
		for _, start := range order[:min(3, k)] {
			at, value := point(start), values[start]
			for halvings := 1; halvings <= 6; halvings++ {
				for _, i := range order {
					step := math.Ldexp(1, -halvings)
					mu := slices.Clone(at)
					for j := range mu {
						mu[j] -= step * mu[j]
					}
					mu[i] += step
					if v := ask(mu); v > value {
						at, value = mu, v
					}
				}
			}
		}
		for _, evaluations := range []int{0, 1, k, k + 1, 2*k + 1, 5 * k, 19 * k, len(asked), len(asked) + 10} {
			n := 0
			got, err := baseline.Search(context.Background(), k, func(mu []float64) (float64, error) {
				for j := range mu { // 1 - step is exact, the product may round otherwise
					if !(math.Abs(mu[j]-asked[n][j]) <= 0x1p-50) {
						t.Fatalf("%d: asked for %v, want %v", n, mu, asked[n])
					}
				}
				n++
				return loss(mu)
			}, evaluations)
			if err != nil {
				t.Fatal(err)
			}
			most := evaluations
			if most == 0 {
				most = 20 * k
			}
			if want := min(max(most, k), len(asked)); n != want || got.Evaluations != want {
				t.Fatalf("%d points, %d evaluations asked for: %d made, %d told, want %d", k, evaluations, n, got.Evaluations, want)
			}
			best := 0
			for m := range n {
				if values[m] > values[best]+0x1p-40 {
					best = m
				}
			}
			if !(math.Abs(got.Value-values[best]) <= 0x1p-40) || got.Input != order[0] || got.Dirac != values[order[0]] {
				t.Fatalf("%+v, want %v, and %v at %d", got, values[best], values[order[0]], order[0])
			}
			if v, _ := loss(got.Mu); v != got.Value {
				t.Fatalf("%v at %v, told %v", v, got.Mu, got.Value)
			}
		}
	}
}

// TestScaledTiny: masses whose quotients with the bounds overflow share what the rest leaves in proportion, as others
// do.
func TestScaledTiny(t *testing.T) {
	const tol = 1e-15 // a few roundings of numbers below 1
	q, err := baseline.KPMScaled([]float64{1e-309, 1, 1.5e-309, 0}, 2*math.Ln2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{0.15, 0.5, 0.225, 0.125} { // the box is [1/8, 1/2]
		if !(math.Abs(q[j]-want) <= tol) {
			t.Errorf("q = %v, q[%d] should be %v", q, j, want)
		}
	}
}
