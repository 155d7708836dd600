package baseline_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
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
		with := func(m []float64, err error) func(rows [][]float64,
			err error) func(func(mu []float64) ([]float64, error)) result {
			return func(rows [][]float64, second error) func(func(mu []float64) ([]float64, error)) result {
				return func(rule func(mu []float64) ([]float64, error)) result {
					return result{m, rows, rule, errors.Join(err, second)}
				}
			}
		}
		exponential, err := baseline.NewExponential(context.Background(), c, e)
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
			"randomised response": with(baseline.RandomizedResponseMeasure(k, e))(baseline.RandomizedResponseChannel(k, e))(
				func(mu []float64) ([]float64, error) {
					return baseline.RandomizedResponse(mu, e)
				}),
			"exponential": with(exponential.Measure(), nil)(exponential.Channel(context.Background()))(
				func(mu []float64) ([]float64, error) { return exponential.Law(mu, nil) }),
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

// TestSamplersCertified: the same for everything behind Sampler, on a grid, with public data that has zeros and ties.
func TestSamplersCertified(t *testing.T) {
	const (
		rows, cols = 3, 4
		k          = rows * cols
		tol        = 1e-13 // as above
	)
	r := rand.New(rand.NewPCG(21, 22))
	draw := func(power float64) []float64 {
		mu, sum := make([]float64, k), 0.0
		for i := range mu {
			mu[i] = math.Pow(r.Float64(), power)
			sum += mu[i]
		}
		for i := range mu {
			mu[i] /= sum
		}
		return mu
	}
	inputs := make([][]float64, 0, 40)
	for range 40 - k {
		inputs = append(inputs, draw(8))
	}
	for i := range k {
		mu := make([]float64, k)
		mu[i] = 1
		inputs = append(inputs, mu)
	}
	public := draw(2)
	public[4] += public[3] + public[5] - public[6]
	public[3], public[5] = 0, public[6] // a zero, and a tie
	grid, err := cost.NewGrid(rows, cols, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1/1000", "0.5", "1", "4", "10"} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		e := eps.Float64()
		for name, newSampler := range map[string]func() (baseline.Sampler, error){
			"KPM":                 func() (baseline.Sampler, error) { return baseline.NewKPM(k, e, 0) },
			"KPM, scaled":         func() (baseline.Sampler, error) { return baseline.NewKPM(k, e, math.Exp(e/4)) },
			"randomised response": func() (baseline.Sampler, error) { return baseline.NewRandomizedResponse(k, e) },
			"exponential": func() (baseline.Sampler, error) {
				x, err := baseline.NewExponential(context.Background(), grid, e)
				if err != nil {
					return nil, err
				}
				return x.Sampler(), nil
			},
			"local, gamma 1": func() (baseline.Sampler, error) { return baseline.NewLocalMinimax(public, e, 1) },
			"local, gamma 5": func() (baseline.Sampler, error) { return baseline.NewLocalMinimax(public, e, 5) },
			"linear":         func() (baseline.Sampler, error) { return baseline.NewLinear(public, e) },
			"disk": func() (baseline.Sampler, error) {
				return baseline.NewDisk(rows, cols, baseline.DiskRadius(4, e), e)
			},
			"disk of one cell": func() (baseline.Sampler, error) { return baseline.NewDisk(rows, cols, 0, e) },
		} {
			s, err := newSampler()
			if err != nil {
				t.Fatalf("%s at eps %s: %v", name, text, err)
			}
			if in, out := s.Dims(); in != k || out != k {
				t.Fatalf("%s: %d inputs, %d outputs", name, in, out)
			}
			box, err := ldp.NewPolytope(eps, s.Measure(), 62)
			if err != nil {
				t.Fatalf("%s at eps %s: %v", name, text, err)
			}
			weights := make([]ldp.Weights, len(inputs))
			for u, mu := range inputs {
				q := make([]float64, k)
				q[0] = math.NaN() // what was there does not matter
				if err := s.Law(q, mu); err != nil {
					t.Fatalf("%s at eps %s: %v", name, text, err)
				}
				weights[u] = box.Round(q)
				for j, v := range q {
					if n := math.Ldexp(float64(weights[u].At(j)), -62); !(math.Abs(n-v) <= tol) {
						t.Errorf("%s at eps %s, input %d: %v is rounded to %v", name, text, u, v, n)
					}
				}
			}
			if err := ldp.CheckRows(eps, weights); err != nil {
				t.Errorf("%s at eps %s: %v", name, text, err)
			}
			if err := s.Law(make([]float64, k), make([]float64, k-1)); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%s with a short input: %v", name, err)
			}
			if err := s.Law(make([]float64, k+1), inputs[0]); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%s with a long output: %v", name, err)
			}
		}
	}
}

// TestLocalFull: at eps 50 the points of mu that take all the mass are full to a rounding, and stay full.
func TestLocalFull(t *testing.T) {
	for _, tt := range []struct {
		public, mu []float64
		gamma      float64
	}{
		{[]float64{0, 0.25, 0.25, 0.5}, []float64{0.11, 2.5e-17, 2.5e-17, 0.89}, 1},
		{
			[]float64{5.693451408334136e-18, 0.41025641025641024, 0.41025641025641024, 0.10256410256410256, 0.05128205128205128,
				0.02564102564102564},
			[]float64{0.1724137931034483, 0.8275862068965517, 7.7e-18, 1.5e-17, 7.7e-18, 1.9e-18}, 1.5,
		},
	} {
		s, err := baseline.NewLocalMinimax(tt.public, 50, tt.gamma)
		if err != nil {
			t.Fatal(err)
		}
		q := make([]float64, len(tt.mu))
		if err := s.Law(q, tt.mu); err != nil {
			t.Fatal(err)
		}
		if sum := num.Sum(q); !(math.Abs(sum-1) <= 1e-15) {
			t.Errorf("public %v, mu %v: %v has mass %v", tt.public, tt.mu, q, sum)
		}
	}
}

// TestLocalIsKPM: with uniform public data and gamma = k - 1 the locally minimax sampler is KPM, and with any gamma
// KPMScaled; the linear sampler is randomised response.
func TestLocalIsKPM(t *testing.T) {
	const k, tol = 6, 1e-14 // entries below 1, a dozen roundings
	uniform := slices.Repeat([]float64{1. / k}, k)
	mu := []float64{0.5, 0.3, 0.1, 0.1, 0, 0}
	for _, eps := range []float64{0, 0.1, 1, 3, 20} {
		kpm, _, err := baseline.KPM(mu, eps)
		if err != nil {
			t.Fatal(err)
		}
		response, err := baseline.RandomizedResponse(mu, eps)
		if err != nil {
			t.Fatal(err)
		}
		const gamma = 2.5
		scaled, err := baseline.KPMScaled(mu, eps, math.Exp(eps/2)*(gamma+1)/(math.Exp(eps)+gamma))
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, want []float64, s baseline.Sampler, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			q := make([]float64, k)
			if err := s.Law(q, mu); err != nil {
				t.Fatal(err)
			}
			for j := range q {
				if !(math.Abs(q[j]-want[j]) <= tol) {
					t.Errorf("%s at eps %v: q[%d] = %v, want %v", what, eps, j, q[j], want[j])
				}
			}
		}
		s, err := baseline.NewLocalMinimax(uniform, eps, k-1)
		same("KPM", kpm, s, err)
		s, err = baseline.NewLocalMinimax(uniform, eps, gamma)
		same("KPMScaled", scaled, s, err)
		s, err = baseline.NewLinear(uniform, eps)
		same("randomised response", response, s, err)
		d, err := baseline.NewDisk(2, 3, 0, eps)
		same("a disk of one cell", response, d, err)
	}
}

// TestSamplerErrors: what the constructors refuse, and the radius of a disk.
func TestSamplerErrors(t *testing.T) {
	p := []float64{0.5, 0.5}
	for what, c := range map[string][2]error{
		"no points":         {second(baseline.NewKPM(0, 1, 0)), wpmerr.ErrShape},
		"eps":               {second(baseline.NewKPM(2, -1, 0)), wpmerr.ErrEpsilon},
		"mass":              {second(baseline.NewKPM(2, 1, 9)), wpmerr.ErrInfeasible},
		"mass NaN":          {second(baseline.NewKPM(2, 1, math.NaN())), wpmerr.ErrNotFinite},
		"response":          {second(baseline.NewRandomizedResponse(0, 1)), wpmerr.ErrShape},
		"gamma":             {second(baseline.NewLocalMinimax(p, 1, 0.5)), wpmerr.ErrInfeasible},
		"gamma NaN":         {second(baseline.NewLocalMinimax(p, 1, math.NaN())), wpmerr.ErrNotFinite},
		"local, eps":        {second(baseline.NewLocalMinimax(p, 701, 2)), wpmerr.ErrEpsilon},
		"local, public":     {second(baseline.NewLocalMinimax([]float64{1, 1}, 1, 2)), wpmerr.ErrMass},
		"linear, public":    {second(baseline.NewLinear([]float64{-1, 2}, 1)), wpmerr.ErrNegative},
		"linear, eps":       {second(baseline.NewLinear(p, math.NaN())), wpmerr.ErrEpsilon},
		"disk, cells":       {second(baseline.NewDisk(0, 3, 1, 1)), wpmerr.ErrShape},
		"disk, radius":      {second(baseline.NewDisk(3, 3, -1, 1)), wpmerr.ErrShape},
		"disk, large":       {second(baseline.NewDisk(3, 3, math.MaxInt32, 1)), wpmerr.ErrShape},
		"disk, larger area": {second(baseline.NewDisk(4096, 4096, 1, 1)), wpmerr.ErrShape},
		"disk, eps":         {second(baseline.NewDisk(3, 3, 1, -1)), wpmerr.ErrEpsilon},
	} {
		if !errors.Is(c[0], c[1]) {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	// The formula as it stands, in Python: 20 times 1.1163 at 0.5, 0.8450 at 1, 0.1832 at 4; (2 + sqrt(4 + pi))/pi at 0.
	for eps, want := range map[float64]int{0: 29, 1e-12: 29, 0.5: 22, 1: 16, 4: 3, 700: 0} {
		if got := baseline.DiskRadius(20, eps); got != want {
			t.Errorf("DiskRadius(20, %v) = %d, want %d", eps, got, want)
		}
	}
	if baseline.DiskRadius(0, 1) != -1 || baseline.DiskRadius(3, math.NaN()) != -1 {
		t.Error("the radius of nothing")
	}
	for eps, want := range map[float64][]int{1: {6, 10, 13, 16}, 4: {1, 2, 3}, 700: {1}, -1: nil} {
		if got := baseline.DiskRadii(20, eps); !slices.Equal(got, want) {
			t.Errorf("DiskRadii(20, %v) = %v, want %v", eps, got, want)
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
	if q, err = baseline.GroupKPM([]float64{0, 0.2, 0.8}, one, one, 3, 0); err != nil || math.Abs(q[0]-1./3) > tol ||
		math.Abs(q[2]-1./3) > tol {
		t.Errorf("one genre: %v, %v", q, err)
	}
	for name, err := range map[string]error{
		"nil":            second(baseline.GroupKPM([]float64{1}, nil, one, 1, 0)),
		"other groups":   second(baseline.GroupKPM([]float64{1, 0, 0, 0}, in, one, 1, 0)),
		"another number": second(baseline.GroupKPM([]float64{1, 0, 0, 0}, in, one, 1, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, baseline.ErrGroup) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, mass := range []float64{math.NaN(), -1, math.Inf(1), 99} {
		if _, err := baseline.GroupKPM([]float64{1, 0, 0, 0}, in, in, 1, mass); !errors.Is(err, wpmerr.ErrInfeasible) {
			t.Errorf("mass %v: %v", mass, err)
		}
	}
	if _, err := baseline.GroupKPM([]float64{1, 0, 0, 0}, in, in, -1, 0); !errors.Is(err, wpmerr.ErrEpsilon) {
		t.Errorf("eps -1: %v", err)
	}
}
