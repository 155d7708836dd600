package basemeasure_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

var background = context.Background()

// matrix builds a k x kv cost from a formula.
func matrix(k, kv int, c func(i, j int) float64) *cost.Dense {
	d := &cost.Dense{K: k, Kv: kv}
	for i := range k {
		for j := range kv {
			d.Data = append(d.Data, c(i, j))
		}
	}
	return d
}

func ring(t testing.TB, k int, p float64) cost.Matrix {
	t.Helper()
	c, err := cost.NewRing(k, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func discrete(i, j int) float64 {
	if i == j {
		return 0
	}
	return 1
}

// star is the metric of a tree with one centre, 0, and leaves at distance 1.
func star(i, j int) float64 {
	switch {
	case i == j:
		return 0
	case i == 0 || j == 0:
		return 1
	}
	return 2
}

func popcount(x int) (n int) {
	for ; x > 0; x >>= 1 {
		n += x & 1
	}
	return n
}

// solve runs Uniform and has its evidence checked.
func solve(t testing.TB, c cost.Matrix, eps float64) basemeasure.Result {
	t.Helper()
	r, err := basemeasure.Uniform(background, c, eps, basemeasure.Settings{})
	if err != nil {
		t.Fatalf("Uniform(eps = %v): %v", eps, err)
	}
	verify(t, c, eps, r)
	return r
}

func verify(t testing.TB, c cost.Matrix, eps float64, r basemeasure.Result) {
	t.Helper()
	if !(0 <= r.Lower && r.Lower <= r.F && r.F <= r.Upper && r.Gap() >= 0) {
		t.Errorf("lower, f, upper = %v, %v, %v", r.Lower, r.F, r.Upper)
	}
	if _, _, err := basemeasure.Verify(context.Background(), c, eps, r); err != nil {
		t.Errorf("Verify: %v", err)
	}
}

// exactScale is the precision asked of the best scale: f is convex and piecewise linear in it, and the
// minimum is a kink that two lines give to a few roundings, plus one nudge of 2^-50 to the right.
var exactScale = numtest.Tol{Rel: 1e-14, Why: "kink of two lines, a few roundings each"}

// expectile is the closed form of f* on a transitive space: min over n of
// (kappa * sum of the n smallest costs + sum of all) / (kappa n + k).
func expectile(row []float64, eps float64) float64 {
	row = slices.Sorted(slices.Values(row))
	kappa, all, near, best := math.Expm1(eps), 0.0, 0.0, math.Inf(1)
	for _, c := range row {
		all += c
	}
	for n := 0; n <= len(row); n++ {
		best = min(best, (kappa*near+all)/(kappa*float64(n)+float64(len(row))))
		if n < len(row) {
			near += row[n]
		}
	}
	return best
}

// closed is the largest relative gap left open where the uniform measure is optimal: the error bounds that
// Upper and Lower carry add up to about 60 roundings.
const closed = 1e-14

func TestTransitive(t *testing.T) {
	circle := func(k int) cost.Matrix { // rows are permutations of each other only up to rounding
		return matrix(k, k, func(i, j int) float64 {
			return 2 * math.Abs(math.Sin(math.Pi*float64(i-j)/float64(k)))
		})
	}
	const roundedRows = 1e-13
	spaces := []struct {
		name string
		c    cost.Matrix
		open float64
	}{
		{"one point", matrix(1, 1, discrete), closed},
		{"two points", matrix(2, 2, discrete), closed},
		{"complete graph", matrix(20, 20, discrete), closed},
		{"ring", ring(t, 30, 1), closed},
		{"ring p=2", ring(t, 30, 2), closed},
		{"ring p=3", ring(t, 31, 3), closed},
		{"hypercube", matrix(64, 64, func(i, j int) float64 { return float64(popcount(i ^ j)) }), closed},
		{"torus", matrix(49, 49, func(i, j int) float64 {
			d := func(a, b int) int { return min((a-b+7)%7, (b-a+7)%7) }
			return float64(d(i/7, j/7) + d(i%7, j%7))
		}), closed},
		{"tiny costs", matrix(10, 10, func(i, j int) float64 { return 1e-9 * discrete(i, j) }), closed},
		{"huge costs", matrix(10, 10, func(i, j int) float64 { return 1e300 * discrete(i, j) }), closed},
		{"circle", circle(40), roundedRows},
	}
	for _, s := range spaces {
		for _, eps := range []float64{0, 0.001, 0.5, 1, 2, 5, 12, 50, 300, 700} {
			t.Run(fmt.Sprintf("%s/eps=%v", s.name, eps), func(t *testing.T) {
				r := solve(t, s.c, eps)
				want := expectile(s.c.Row(0, nil), eps)
				numtest.Near(t, "F", r.F, want, numtest.Tol{Rel: 2e-14, Why: "the closed form in float64 sums k terms"})
				// Costs of 1e-9 at eps = 700 are subnormal in the end: a few steps of the smallest float.
				if k, _ := s.c.Dims(); !(r.Gap() <= s.open*r.Upper+4*float64(k)*math.SmallestNonzeroFloat64) {
					t.Errorf("gap %.3g of %v is open", r.Gap()/r.Upper, r.Upper)
				}
			})
		}
	}
}

func TestGolden(t *testing.T) {
	kappa := math.Expm1(5)
	tests := []struct {
		name    string
		c       cost.Matrix
		eps     float64
		f, mass float64
	}{
		{"ring", ring(t, 30, 2), 5, 4.86155374524601, 0.476458239904618},
		{"ring, closed form", ring(t, 30, 2), 5, (10*kappa + 2255) / (5*kappa + 30), 0.476458239904618},
		// The KPM base measure: k e^(eps/2)/(e^eps + k - 1).
		{"discrete", matrix(20, 20, discrete), 2, 19 / (math.Exp(2) + 19), 20 * math.E / (math.Exp(2) + 19)},
		// At a leaf of a star the outputs closer than another leaf are itself and the centre. While E < k-1 both
		// are worth filling, and lo = 1/(2E+k-2): f = (E + 2(k-2))/(2E+k-2).
		{"star, small eps", matrix(20, 20, star), 2, (math.Exp(2) + 36) / (2*math.Exp(2) + 18),
			20 * math.E / (2*math.Exp(2) + 18)},
		// Beyond, the leaf alone: lo = 1/(E+k-1), f = (1 + 2(k-2))/(E+k-1).
		{"star, large eps", matrix(20, 20, star), 5, 37 / (math.Exp(5) + 19), 20 * math.Exp(2.5) / (math.Exp(5) + 19)},
		{"all zero", matrix(3, 4, func(i, j int) float64 { return 0 }), 1, 0, 1},
		{"constant", matrix(3, 4, func(i, j int) float64 { return 7 }), 1, 7, 1},
		{"constant rows", matrix(3, 4, func(i, j int) float64 { return float64(i) }), 1, 2, 1},
		{"one column", matrix(3, 1, func(i, j int) float64 { return float64(i) }), 1, 2, 1},
		{"eps = 0 is the uniform distribution", matrix(2, 4, func(i, j int) float64 { return float64(i * j) }), 0, 1.5, 1},
	}
	tol := numtest.Tol{Rel: 2e-14, Why: "closed forms and 15 printed digits"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := solve(t, test.c, test.eps)
			numtest.Near(t, "F", r.F, test.f, tol)
			numtest.Near(t, "Mass", r.Mass, test.mass, tol)
		})
	}
}

// sample is the part of the reference file that the tests use.
type sample struct {
	Problem, Splitmix64, Zipf, Fields, Tolerance string
	Instances                                    []sampleInstance
}

type sampleInstance struct {
	ID, Family, Formula string
	Params              struct {
		K, Kv int
		Seed  uint64
	}
	K, Kv             int
	P, Eps            float64
	FStar             float64    `json:"f_star"`
	WorstCaseW        float64    `json:"worst_case_W"`
	CertifiedInterval [2]float64 `json:"certified_interval"`
	Methods           []string
	RelDisagreement   float64   `json:"rel_disagreement"`
	UniformBestScale  bestScale `json:"uniform_best_scale"`
	ZipfBestScale     bestScale `json:"zipf_best_scale"`
	FUniformMass1     float64   `json:"f_uniform_mass_1"`
	FZipfMass1        float64   `json:"f_zipf_mass_1"`
	FKPM              float64   `json:"f_kpm"`
	KPMMass           float64   `json:"kpm_mass"`
}

type bestScale struct{ Mass, F float64 }

func (in sampleInstance) cost(t testing.TB) *cost.Dense {
	t.Helper()
	rnd := numtest.NewSplitMix64(in.Params.Seed)
	point := func() [2]float64 { x := rnd.Float64(); return [2]float64{x, rnd.Float64()} }
	euclid := func(a, b [2]float64) float64 {
		dx, dy := a[0]-b[0], a[1]-b[1]
		return math.Pow(math.Sqrt(dx*dx+dy*dy), in.P)
	}
	points := make([][2]float64, 0, in.K+in.Kv)
	switch in.Family {
	case "ring":
		return matrix(in.K, in.Kv, func(i, j int) float64 {
			d := max(i-j, j-i)
			return math.Pow(float64(min(d, in.K-d)), in.P)
		})
	case "path":
		return matrix(in.K, in.Kv, func(i, j int) float64 { return math.Pow(math.Abs(float64(i-j)), in.P) })
	case "star":
		return matrix(in.K, in.Kv, star)
	case "discrete":
		return matrix(in.K, in.Kv, discrete)
	case "square":
		for range in.K {
			points = append(points, point())
		}
		return matrix(in.K, in.Kv, func(i, j int) float64 { return euclid(points[i], points[j]) })
	case "rectangular":
		for range in.K + in.Kv {
			points = append(points, point())
		}
		return matrix(in.K, in.Kv, func(i, j int) float64 { return euclid(points[i], points[in.K+j]) })
	case "clusters":
		centres := make([][2]float64, 5)
		for c := range centres {
			centres[c] = point()
		}
		three := func() float64 { x := rnd.Float64(); x += rnd.Float64(); return x + rnd.Float64() - 1.5 }
		for i := range in.K {
			c := centres[i%5]
			dx := three()
			points = append(points, [2]float64{c[0] + 0.04*dx, c[1] + 0.04*three()})
		}
		return matrix(in.K, in.Kv, func(i, j int) float64 { return euclid(points[i], points[j]) })
	}
	t.Fatalf("unknown family %q", in.Family)
	return nil
}

func zipf(kv int) []float64 {
	w := make([]float64, kv)
	for j := range w {
		w[j] = 1 / float64(1+j)
	}
	return w
}

func TestReference(t *testing.T) {
	var s sample
	numtest.LoadJSON(t, "testdata/base-measure-sample.json", &s)
	if len(s.Instances) < 7 {
		t.Fatalf("%d instances", len(s.Instances))
	}
	tol := numtest.Tol{Rel: 1e-12, Why: "double precision references of f at a given measure (they state 1e-10)"}
	for _, in := range s.Instances {
		t.Run(in.ID, func(t *testing.T) {
			c := in.cost(t)
			table, err := knapsack.New(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			uniform := solve(t, table, in.Eps)
			numtest.Near(t, "best uniform f", uniform.F, in.UniformBestScale.F, tol)
			shaped, err := basemeasure.Shape(background, table, zipf(in.Kv), in.Eps, basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			verify(t, c, in.Eps, shaped)
			numtest.Near(t, "best zipf f", shaped.F, in.ZipfBestScale.F, tol)
			// The lower bounds hold for the optimum over all measures, known to 1e-12 or so.
			for _, r := range []basemeasure.Result{uniform, shaped} {
				if !(r.Lower <= in.FStar*(1+1e-12)) {
					t.Errorf("lower bound %v above f* = %v", r.Lower, in.FStar)
				}
			}
			for _, at := range []struct {
				shape   []float64
				mass, f float64
			}{
				{slices.Repeat([]float64{1}, in.Kv), 1, in.FUniformMass1},
				{zipf(in.Kv), 1, in.FZipfMass1},
				{slices.Repeat([]float64{1}, in.Kv), in.KPMMass, in.FKPM},
			} {
				numtest.Near(t, "f at a given mass", worst(t, table, at.shape, at.mass, in.Eps), at.f, tol)
			}
		})
	}
}

// worst is f of the shape scaled to a mass.
func worst(t testing.TB, table *knapsack.Table, shape []float64, mass, eps float64) float64 {
	t.Helper()
	sum := 0.0
	for _, w := range shape {
		sum += w
	}
	lo, hi := make([]float64, len(shape)), make([]float64, len(shape))
	for j, w := range shape {
		m := w * mass / sum
		lo[j], hi[j] = math.Exp(-eps/2)*m, math.Exp(eps/2)*m
	}
	f, i := table.Max(lo, hi)
	if i < 0 {
		t.Fatalf("mass %v is infeasible at eps = %v", mass, eps)
	}
	return f
}

// TestRange checks hard corners of the number range. What they have in common: a certified result.
func TestRange(t *testing.T) {
	line := func(i, j int) float64 { return math.Abs(float64(i - j)) }
	tests := []struct {
		name string
		c    *cost.Dense
		eps  float64
	}{
		{"costs 1e-9", matrix(12, 12, func(i, j int) float64 { return 1e-9 * line(i, j) }), 700},
		{"costs 1e9", matrix(12, 12, func(i, j int) float64 { return 1e9 * line(i, j) }), 700},
		{"costs 1e306", matrix(12, 12, func(i, j int) float64 { return 1e306 * line(i, j) }), 3},
		{"largest float", matrix(3, 3, func(i, j int) float64 { return math.MaxFloat64 * discrete(i, j) }), 1},
		{"largest float, constant", matrix(2, 2, func(i, j int) float64 { return math.MaxFloat64 }), 1},
		{"costs 1e-300", matrix(12, 12, func(i, j int) float64 { return 1e-300 * line(i, j) }), 3},
		{"subnormal costs", matrix(12, 12, func(i, j int) float64 { return 5e-324 * line(i, j) }), 3},
		{"subnormal costs, large eps", matrix(12, 12, func(i, j int) float64 { return 5e-324 * line(i, j) }), 700},
		{"exponents", matrix(12, 12, func(i, j int) float64 { return math.Pow(10, 300*line(i, j)/6-300) * discrete(i, j) }),
			2},
		{"exponents, large eps", matrix(12, 12,
			func(i, j int) float64 { return math.Pow(10, 300*line(i, j)/6-300) * discrete(i, j) }), 700},
		{"offset 1e6", matrix(12, 12, func(i, j int) float64 { return 1e6 + line(i, j) }), 5},
		{"subnormal eps", matrix(5, 5, line), 5e-324},
		{"eps below an ulp", matrix(5, 5, line), 1e-17},
		{"eps of a few ulps", matrix(5, 5, line), 1e-15},
		{"eps 1e-9", matrix(5, 5, line), 1e-9},
		{"duplicates", matrix(12, 9, func(i, j int) float64 { return line(i/4, j/3) }), 1},
		{"more outputs than inputs", matrix(2, 50, func(i, j int) float64 { return line(25*i, j) }), 4},
		{"no exact output", matrix(5, 5, func(i, j int) float64 { return 1 + line(i, j) }), 700},
		{"one distant input", matrix(9, 8, func(i, j int) float64 { return line(i*i*i, j) }), 5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := slices.Clone(test.c.Data)
			r := solve(t, test.c, test.eps)
			if !slices.Equal(before, test.c.Data) {
				t.Error("costs were changed")
			}
			if r.Nonzeros != test.c.Kv || r.Stats.Evaluations < 1 ||
				r.Settings.MaxEvaluations != basemeasure.DefaultMaxEvaluations {
				t.Errorf("support %d, evaluations %d, settings %v", r.Nonzeros, r.Stats.Evaluations, r.Settings)
			}
			if !(r.Mean <= r.F*(1+closed)) {
				t.Errorf("mean %v above the worst case %v", r.Mean, r.F)
			}
		})
	}
}

// TestShapes runs shapes with zeros and unusual totals; only proportions matter.
func TestShapes(t *testing.T) {
	c := ring(t, 4, 1)
	for _, test := range []struct {
		name  string
		shape []float64
		eps   float64
		f     float64
	}{
		// One output is a constant mechanism: the farthest input is at distance 2.
		{"a point", []float64{0, 0, 3, 0}, 2, 2},
		{"a point, eps = 0", []float64{0, 0, 3, 0}, 0, 2},
		{"a point, eps = 700", []float64{0, 0, 3, 0}, 700, 2},
		// Two neighbours, 0 and 1. Input 1 sees (1, 0), input 2 sees (2, 1), 3 sees (1, 2): f = 1 + 1/(1+E).
		{"two neighbours", []float64{1, 1, 0, 0}, 1, 1 + 1/(1+math.E)},
		{"huge total", []float64{math.MaxFloat64, math.MaxFloat64, 0, 0}, 1, 1 + 1/(1+math.E)},
		{"tiny total", []float64{5e-324, 5e-324, 0, 0}, 1, 1 + 1/(1+math.E)},
		{"distribution", []float64{0.25, 0.25, 0.5, 0}, 0, 1.25},
		{"huge spread", []float64{1, 1, 1e-300, 0}, 1, 1 + 1/(1+math.E)},
	} {
		t.Run(test.name, func(t *testing.T) {
			shape := slices.Clone(test.shape)
			r, err := basemeasure.Shape(background, c, shape, test.eps, basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			verify(t, c, test.eps, r)
			numtest.Near(t, "F", r.F, test.f, exactScale)
			if !slices.Equal(shape, test.shape) {
				t.Error("shape was changed")
			}
			for j, w := range shape {
				if (w > 0) != (r.M[j] > 0) {
					t.Errorf("M = %v for shape %v", r.M, shape)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	c := matrix(2, 2, discrete)
	nan, inf := math.NaN(), math.Inf(1)
	ones := []float64{1, 1}
	for _, test := range []struct {
		name     string
		c        cost.Matrix
		shape    []float64
		eps      float64
		settings basemeasure.Settings
		want     error
	}{
		{"nil cost", nil, ones, 1, basemeasure.Settings{}, wpmerr.ErrShape},
		{"empty cost", &cost.Dense{}, ones, 1, basemeasure.Settings{}, wpmerr.ErrShape},
		{"NaN cost", matrix(2, 2, func(i, j int) float64 { return nan }), ones, 1, basemeasure.Settings{},
			wpmerr.ErrNotFinite},
		{"negative cost", matrix(2, 2, func(i, j int) float64 { return -1 }), ones, 1, basemeasure.Settings{},
			wpmerr.ErrNegative},
		{"NaN eps", c, ones, nan, basemeasure.Settings{}, wpmerr.ErrEpsilon},
		{"negative eps", c, ones, -1, basemeasure.Settings{}, wpmerr.ErrEpsilon},
		{"infinite eps", c, ones, inf, basemeasure.Settings{}, wpmerr.ErrEpsilon},
		{"eps too large", c, ones, 700.1, basemeasure.Settings{}, wpmerr.ErrEpsilon},
		{"nil shape", c, nil, 1, basemeasure.Settings{}, wpmerr.ErrShape},
		{"long shape", c, []float64{1, 1, 1}, 1, basemeasure.Settings{}, wpmerr.ErrShape},
		{"NaN shape", c, []float64{1, nan}, 1, basemeasure.Settings{}, wpmerr.ErrNotFinite},
		{"infinite shape", c, []float64{1, inf}, 1, basemeasure.Settings{}, wpmerr.ErrNotFinite},
		{"negative shape", c, []float64{1, -1}, 1, basemeasure.Settings{}, wpmerr.ErrNegative},
		{"zero shape", c, []float64{0, 0}, 1, basemeasure.Settings{}, wpmerr.ErrMass},
		{"bad settings", c, ones, 1, basemeasure.Settings{MaxEvaluations: -1}, wpmerr.ErrSettings},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := basemeasure.Shape(background, test.c, test.shape, test.eps, test.settings)
			if !errors.Is(err, test.want) || r.M != nil {
				t.Errorf("Shape: %v, want %v", err, test.want)
			}
		})
	}
	if _, err := basemeasure.Uniform(background, nil, 1, basemeasure.Settings{}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("Uniform(nil): %v", err)
	}
}

// TestStops checks early stops: a feasible measure, bounds that hold, and an error that says why.
func TestStops(t *testing.T) {
	c := matrix(40, 40, func(i, j int) float64 { return math.Abs(float64(i*i - j*j)) })
	const eps = 3
	full := solve(t, c, eps)
	if full.Stats.Evaluations < 4 {
		t.Fatalf("only %d evaluations: the test needs a longer search", full.Stats.Evaluations)
	}
	for limit := 1; limit < full.Stats.Evaluations; limit++ {
		r, err := basemeasure.Uniform(background, c, eps, basemeasure.Settings{MaxEvaluations: limit})
		if !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if r.Stats.Evaluations != limit {
			t.Errorf("limit %d: %d evaluations", limit, r.Stats.Evaluations)
		}
		if r.F < full.F {
			t.Errorf("limit %d: f = %v below the minimum %v", limit, r.F, full.F)
		}
		verify(t, c, eps, r)
	}
	r, err := basemeasure.Uniform(background, c, eps, basemeasure.Settings{MaxEvaluations: full.Stats.Evaluations})
	if err != nil || r.F != full.F {
		t.Errorf("exact limit: %v, %v", r.F, err)
	}

	ctx, cancel := context.WithCancel(background)
	cancel()
	r, err = basemeasure.Uniform(ctx, c, eps, basemeasure.Settings{})
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	verify(t, c, eps, r)
	// A cost that needs no search still has its proof cut short.
	zero := matrix(2, 3, func(i, j int) float64 { return float64(i * j) })
	r, err = basemeasure.Uniform(ctx, zero, 0, basemeasure.Settings{})
	if !errors.Is(err, wpmerr.ErrNotConverged) {
		t.Errorf("cancelled, eps = 0: %v", err)
	}
	verify(t, zero, 0, r)
	var none context.Context
	if _, err := basemeasure.Uniform(none, c, eps, basemeasure.Settings{}); err != nil {
		t.Errorf("nil context: %v", err)
	}
}

func TestParallelBits(t *testing.T) {
	const k = 600 // three column blocks, above every serial threshold
	c := matrix(k, k, func(i, j int) float64 { return math.Abs(math.Sin(float64(i)) - math.Sin(float64(j))) })
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var results [2]basemeasure.Result
	for run, procs := range []int{1, 8} {
		runtime.GOMAXPROCS(procs)
		results[run] = solve(t, c, 2)
	}
	a, b := results[0], results[1]
	numtest.SameBits(t, "M", a.M, b.M)
	numtest.SameBits(t, "Thresholds", a.Thresholds, b.Thresholds)
	numtest.SameBits(t, "Weights", a.Weights, b.Weights)
	numtest.SameBits(t, "numbers", []float64{a.F, a.Upper, a.Lower, a.Mean}, []float64{b.F, b.Upper, b.Lower, b.Mean})
}
