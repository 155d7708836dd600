package baseline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// TestCertified: package ldp makes a box of the base measure of every rule, rounds what the rule gives for point masses
// and for mixtures into it, and decides in integers that all those rows together are eps-LDP; rounding moves less than
// the units of the box.
func TestCertified(t *testing.T) {
	const (
		k = 7
		// Of a q rounded to units of 2^-62, in a box of as many: a unit for every point, and what the floats of q and of the
		// box are off by.
		tol = 1e-13
	)
	r := rand.New(rand.NewPCG(11, 12))
	points := make([][]float64, k)
	for i := range points {
		points[i] = []float64{r.Float64(), r.Float64()}
	}
	c, err := cost.NewPoints(points, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	in, err := baseline.NewGroups(k, [][]int{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := baseline.NewGroups(5, [][]int{{0}, {0, 1, 2}, {3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	inputs := make([][]float64, 40, 40+k)
	for u := range inputs {
		mu := make([]float64, k)
		var sum float64
		for i := range mu {
			mu[i] = math.Pow(r.Float64(), 8)
			sum += mu[i]
		}
		for i := range mu {
			mu[i] /= sum
		}
		inputs[u] = mu
	}
	for i := range k {
		mu := make([]float64, k)
		mu[i] = 1
		inputs = append(inputs, mu)
	}
	for _, text := range []string{"1/1000", "0.5", "1", "4", "10"} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		e := eps.Float64()
		mass := math.Exp(0.3 * e) // of GroupKPM: few groups cannot hold it all
		type result struct {
			m    []float64
			rows [][]float64
			rule func(mu []float64) ([]float64, error)
			err  error
		}
		with := func(m []float64, err error) func(rows [][]float64, err error) func(func(mu []float64) ([]float64, error)) result {
			return func(rows [][]float64, second error) func(func(mu []float64) ([]float64, error)) result {
				return func(rule func(mu []float64) ([]float64, error)) result {
					return result{m, rows, rule, errors.Join(err, second)}
				}
			}
		}
		exponential, err := baseline.NewExponential(c, e)
		if err != nil {
			t.Fatal(err)
		}
		genreMeasure := func(mass float64) ([]float64, error) { return out.Spread([]float64{mass / 3, mass / 3, mass / 3}) }
		genre := func(mass float64) func(mu []float64) ([]float64, error) {
			return func(mu []float64) ([]float64, error) { return baseline.GroupKPM(mu, in, out, e, mass) }
		}
		for name, x := range map[string]result{
			"KPM": with(baseline.KPMMeasure(k, e))(baseline.KPMChannel(k, e))(func(mu []float64) ([]float64, error) {
				q, _, err := baseline.KPM(mu, e)
				return q, err
			}),
			"randomised response": with(baseline.RandomizedResponseMeasure(k, e))(baseline.RandomizedResponseChannel(k, e))(func(mu []float64) ([]float64, error) {
				return baseline.RandomizedResponse(mu, e)
			}),
			"exponential":       with(exponential.Measure(), nil)(exponential.Channel(), nil)(func(mu []float64) ([]float64, error) { return exponential.Law(mu, nil) }),
			"genre KPM":         with(genreMeasure(3*baseline.KPMBase(3, e)))(nil, nil)(genre(0)),
			"genre KPM, scaled": with(genreMeasure(1/mass))(nil, nil)(genre(1 / mass)),
		} {
			if x.err != nil {
				t.Fatalf("%s at eps %s: %v", name, text, x.err)
			}
			box, err := ldp.NewPolytope(eps, x.m, 62)
			if err != nil {
				t.Fatalf("%s at eps %s: %v", name, text, err)
			}
			rows := x.rows
			for _, mu := range inputs {
				q, err := x.rule(mu)
				if err != nil {
					t.Fatalf("%s at eps %s: %v", name, text, err)
				}
				rows = append(rows, q)
			}
			weights := make([]ldp.Weights, len(rows))
			for u, q := range rows {
				weights[u] = box.Round(q)
				for j, v := range q {
					if n := math.Ldexp(float64(weights[u].At(j)), -62); math.Abs(n-v) > tol {
						t.Errorf("%s at eps %s, row %d: %v is rounded to %v", name, text, u, v, n)
					}
				}
			}
			if err := ldp.CheckRows(eps, weights); err != nil {
				t.Errorf("%s at eps %s: %v", name, text, err)
			}
		}
	}
}

// TestGroupKPMFewGenres: a user of one genre cannot be held by it, and a world of one genre says nothing.
func TestGroupKPMFewGenres(t *testing.T) {
	const tol = 1e-15 // of masses below 1, a few roundings
	in, err := baseline.NewGroups(4, [][]int{{0}, {1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	// mass 0.5 at eps = ln 9: each genre between 1/24 and 9/24 of the mass 1. One genre takes 9/24, the three others 5/24
	// each.
	q, err := baseline.GroupKPM([]float64{0, 1, 0, 0}, in, in, math.Log(9), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for j, x := range q {
		want := 5. / 24
		if j == 1 {
			want = 9. / 24
		}
		if math.Abs(x-want) > tol {
			t.Errorf("q[%d] = %v, want %v", j, x, want)
		}
	}
	one, err := baseline.NewGroups(3, [][]int{{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if q, err = baseline.GroupKPM([]float64{0, 0.2, 0.8}, one, one, 3, 0); err != nil || math.Abs(q[0]-1./3) > tol || math.Abs(q[2]-1./3) > tol {
		t.Errorf("one genre: %v, %v", q, err)
	}
	for name, err := range map[string]error{
		"nil":            second(baseline.GroupKPM([]float64{1}, nil, one, 1, 0)),
		"other groups":   second(baseline.GroupKPM([]float64{1, 0, 0, 0}, in, one, 1, 0)),
		"another number": second(baseline.GroupKPM([]float64{1, 0, 0, 0}, in, one, 1, 0)),
	} {
		if !errors.Is(err, baseline.ErrGroup) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, mass := range []float64{math.NaN(), -1, math.Inf(1), 99} {
		if _, err := baseline.GroupKPM([]float64{1, 0, 0, 0}, in, in, 1, mass); !errors.Is(err, baseline.ErrInfeasible) {
			t.Errorf("mass %v: %v", mass, err)
		}
	}
	if _, err := baseline.GroupKPM([]float64{1, 0, 0, 0}, in, in, -1, 0); !errors.Is(err, baseline.ErrEpsilon) {
		t.Errorf("eps -1: %v", err)
	}
}
