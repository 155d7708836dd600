package basemeasure_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// best runs Solve and has its evidence checked.
func best(t testing.TB, c cost.Matrix, eps float64, s basemeasure.Settings) basemeasure.Result {
	t.Helper()
	r, err := basemeasure.Solve(background, c, eps, s)
	if err != nil {
		t.Fatalf("Solve(eps = %v): %v", eps, err)
	}
	verify(t, c, eps, r)
	checkGap(t, c, r)
	return r
}

// checkGap holds a converged result to what was asked for.
func checkGap(t testing.TB, c cost.Matrix, r basemeasure.Result) {
	t.Helper()
	goal := r.Settings.Gap
	if goal == 0 {
		t.Error("no gap among the settings in force")
	}
	// Costs of the size of the smallest float leave a few of its steps open.
	const steps = 100 * math.SmallestNonzeroFloat64
	if !(r.Gap() <= max(goal*r.Upper, 1e-15*given.Max(c), steps)) || r.Status != basemeasure.Converged {
		t.Errorf("%v with gap %.3g of %v, want %.3g", r.Status, r.Gap()/r.Upper, r.Upper, goal)
	}
}

// family is a set of instances, one for each size and seed.
type family struct {
	name string
	make func(k int, r *numtest.SplitMix64) *cost.Dense
}

type point []float64

func distance(a, b point) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

func scatter(n int, draw func(i int) point) []point {
	list := make([]point, n)
	for i := range list {
		list[i] = draw(i)
	}
	return list
}

func between(x, v []point, p float64) *cost.Dense {
	return matrix(len(x), len(v), func(i, j int) float64 { return math.Pow(distance(x[i], v[j]), p) })
}

func inSquare(r *numtest.SplitMix64) func(int) point {
	return func(int) point { x := r.Float64(); return point{x, r.Float64()} }
}

// normal is one draw by Box and Muller.
func normal(r *numtest.SplitMix64) float64 {
	u := math.Sqrt(-2 * math.Log(1-r.Float64()))
	return u * math.Cos(2*math.Pi*r.Float64())
}

// spokes is a star whose leaves have the given distances from the centre 0.
func spokes(length []float64) *cost.Dense {
	return matrix(len(length), len(length), func(i, j int) float64 {
		if i == j {
			return 0
		}
		return length[i] + length[j]
	})
}

// families are ordinary and degenerate costs, metric or not, square or not.
var families = []family{
	{"ring", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { d := max(i-j, j-i); return float64(min(d, k-d)) })
	}},
	{"path", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	}},
	{"path p=2", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return float64((i - j) * (i - j)) })
	}},
	{"grid", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		side := int(math.Sqrt(float64(k)))
		p := scatter(side*((k+side-1)/side), func(i int) point { return point{float64(i % side), float64(i / side)} })
		return between(p, p, 1)
	}},
	{"square", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, inSquare(r))
		return between(p, p, 1)
	}},
	{"square p=2", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, inSquare(r))
		return between(p, p, 2)
	}},
	{"clusters", func(k int, r *numtest.SplitMix64) *cost.Dense {
		c := scatter(5, inSquare(r))
		p := scatter(k, func(i int) point { return point{c[i%5][0] + 0.02*normal(r), c[i%5][1] + 0.02*normal(r)} })
		return between(p, p, 1)
	}},
	{"gauss", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, func(int) point { return point{normal(r), normal(r)} })
		return between(p, p, 1)
	}},
	{"tall", func(k int, r *numtest.SplitMix64) *cost.Dense {
		return between(scatter(k, inSquare(r)), scatter((k+1)/2, inSquare(r)), 1)
	}},
	{"wide", func(k int, r *numtest.SplitMix64) *cost.Dense {
		return between(scatter((k+2)/3, inSquare(r)), scatter(k, inSquare(r)), 1)
	}},
	{"star", func(k int, _ *numtest.SplitMix64) *cost.Dense { return matrix(k, k, star) }},
	{"unequal star", func(k int, r *numtest.SplitMix64) *cost.Dense {
		length := make([]float64, k)
		for i := 1; i < k; i++ {
			length[i] = 0.1 + r.Float64()
		}
		return spokes(length)
	}},
	{"binary tree", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 {
			steps := 0
			for ; i != j; steps++ { // the larger number of a heap is at least as deep
				if i > j {
					i = (i - 1) / 2
				} else {
					j = (j - 1) / 2
				}
			}
			return float64(steps)
		})
	}},
	{"cosine", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, func(int) point {
			x := make(point, 16)
			for d := range x {
				x[d] = normal(r)
			}
			return x
		})
		return matrix(k, k, func(i, j int) float64 {
			zero := make(point, 16)
			d := distance(p[i], p[j])
			a, b := distance(p[i], zero), distance(p[j], zero)
			return max(0, (d*d-(a-b)*(a-b))/(2*a*b))
		})
	}},
	{"random", func(k int, r *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return r.Float64() })
	}},
	{"random integers", func(k int, r *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return math.Floor(4 * r.Float64()) })
	}},
	{"hamming", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return float64(popcount(i ^ j)) })
	}},
	{"duplicates", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter((k+2)/3, inSquare(r))
		return matrix(k, k, func(i, j int) float64 { return distance(p[i%len(p)], p[j%len(p)]) })
	}},
	{"two classes", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return float64((i ^ j) & 1) })
	}},
	{"constant", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return 3.7 })
	}},
	{"zero", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 { return 0 })
	}},
	{"exponential line", func(k int, _ *numtest.SplitMix64) *cost.Dense {
		x := func(i int) float64 { return math.Pow(1e6, float64(i)/float64(k)) }
		return matrix(k, k, func(i, j int) float64 { return math.Abs(x(i) - x(j)) })
	}},
	{"outlier", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, inSquare(r))
		p[0] = point{100, 100}
		return between(p, p, 1)
	}},
	{"offset", func(k int, r *numtest.SplitMix64) *cost.Dense {
		p := scatter(k, inSquare(r))
		return matrix(k, k, func(i, j int) float64 { return 10 + distance(p[i], p[j]) })
	}},
	{"discrete", func(k int, _ *numtest.SplitMix64) *cost.Dense { return matrix(k, k, discrete) }},
	{"sparse zeros", func(k int, r *numtest.SplitMix64) *cost.Dense {
		return matrix(k, k, func(i, j int) float64 {
			if r.Float64() < 0.1 {
				return 0
			}
			return 1
		})
	}},
}

// objectives are the settings that TestFamilies runs.
func objectives(k int) []basemeasure.Settings {
	weights := make([]float64, k)
	for i := range weights {
		weights[i] = float64((i * i) % 5) // some zero
	}
	weights[0] = 1
	return []basemeasure.Settings{
		{},
		{Objective: basemeasure.Average},
		{Objective: basemeasure.Mixed, Mix: 0.5},
		{Objective: basemeasure.Mixed, Mix: 0.125, InputWeights: weights},
	}
}

func TestFamilies(t *testing.T) {
	sizes, levels := []int{2, 3, 7, 20, 45}, []float64{0.01, 0.5, 2, 5, 12}
	if !numtest.Full() {
		sizes, levels = []int{3, 14}, []float64{0.01, 2, 12}
	}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			for _, k := range sizes {
				c := f.make(k, numtest.NewSplitMix64(uint64(k)))
				rows, _ := c.Dims()
				for _, eps := range levels {
					for n, s := range objectives(rows) {
						if k == 45 && n > 0 && eps != 2 {
							continue
						}
						r := best(t, c, eps, s)
						if t.Failed() {
							t.Fatalf("k = %d, eps = %v, settings %+v: %+v", k, eps, s, r.Stats)
						}
					}
				}
			}
		})
	}
}

// gameValue solves the explicit linear program of the adversary by gonum's simplex: a column for every input and
// every one of its costs as threshold. ok is false where that solver gives up.
func gameValue(c *cost.Dense, eps, mix float64, weights []float64) (value float64, ok bool) {
	k, kv := c.Dims()
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	h := func(x float64) float64 {
		if x > 0 {
			return alpha * x
		}
		return beta * x
	}
	// Columns: cuts, mu of each input, minMass, maxMass, a slack for each output. Rows: inputs, the sum of mu, outputs.
	// With mix = 1 the rows of the inputs and mu add up to one row; with mix = 0 there are no mu.
	inputs, mus := k+1, k
	switch mix {
	case 0:
		inputs, mus = k, 0
	case 1:
		inputs, mus = 1, 0
	}
	type cut struct {
		input int
		eta   float64
	}
	var cuts []cut
	var basis []int // feasible: the nearest cost of each input as its threshold, mu of the first, all slacks
	for i := range k {
		if inputs > 1 || i == 0 {
			basis = append(basis, len(cuts))
		}
		for _, eta := range slices.Compact(slices.Sorted(slices.Values(c.Row(i, nil)))) {
			cuts = append(cuts, cut{i, eta})
		}
	}
	mu, bounds, slacks := len(cuts), len(cuts)+mus, len(cuts)+mus+2
	a := mat.NewDense(inputs+kv, slacks+kv, nil)
	b := make([]float64, inputs+kv)
	obj := make([]float64, slacks+kv)
	for n, cut := range cuts {
		at := 0
		if inputs > 1 {
			at = cut.input
		}
		a.Set(at, n, 1)
		obj[n] = -cut.eta
		for j, x := range c.Row(cut.input, nil) {
			a.Set(inputs+j, n, h(x-cut.eta))
		}
	}
	for i := range mus {
		a.Set(i, mu+i, -1)
		a.Set(k, mu+i, 1)
	}
	if mus > 0 {
		basis = append(basis, mu)
	}
	if mix > 0 {
		b[inputs-1] = mix
	}
	if mix < 1 {
		for i, w := range weights {
			b[i] = (1 - mix) * w
		}
	}
	for j := range kv {
		a.Set(inputs+j, bounds, -1)
		a.Set(inputs+j, bounds+1, 1)
		a.Set(inputs+j, slacks+j, -1)
		basis = append(basis, slacks+j)
		b[inputs+j] = -lpPerturbation * (1 + float64(j*j%7)/7) // against cycling
	}
	obj[bounds], obj[bounds+1] = -1/beta, 1/alpha
	v, _, err := lp.Simplex(obj, a, b, lpZero, basis)
	return -v, err == nil
}

// lpZero is that simplex's tolerance on reduced costs; with less it may go round in circles.
const lpZero = 1e-11

// lpPerturbation changes the value by so much times a mass of at most e^2, the largest half eps used, times k.
const lpPerturbation = 1e-12

// lpTol is what gonum's simplex is good for on these programs: 1e-14 in nearly all cases.
var lpTol = numtest.Tol{Rel: 1e-9, Abs: 1e-12, Why: "a textbook simplex without refinement"}

func TestAgainstLP(t *testing.T) {
	size := 14
	if !numtest.Full() {
		size = 7
	}
	solved := 0
	for _, f := range families {
		for _, k := range []int{2, 5, size} {
			c := f.make(k, numtest.NewSplitMix64(uint64(100+k)))
			for _, eps := range []float64{0.3, 1, 4} {
				if want, ok := gameValue(c, eps, 1, nil); ok {
					solved++
					numtest.Near(t, fmt.Sprintf("%s, k = %d, eps = %v: F", f.name, k, eps), best(t, c, eps, basemeasure.Settings{}).F,
						want, lpTol)
				}
			}
		}
	}
	if solved < 100 {
		t.Errorf("the other solver had an answer in %d cases only", solved)
	}
}

// TestAgainstLargeLP is the note's size, 36, on a few costs.
func TestAgainstLargeLP(t *testing.T) {
	if !numtest.Full() {
		t.Skip("the textbook simplex takes a second")
	}
	solved := 0
	for _, f := range families {
		if f.name != "square" && f.name != "clusters" && f.name != "random" {
			continue
		}
		c := f.make(36, numtest.NewSplitMix64(36))
		for _, eps := range []float64{1, 5} {
			if want, ok := gameValue(c, eps, 1, nil); ok {
				solved++
				numtest.Near(t, fmt.Sprintf("%s, eps = %v: F", f.name, eps), best(t, c, eps, basemeasure.Settings{}).F, want, lpTol)
			}
		}
	}
	if solved < 4 {
		t.Errorf("the other solver had an answer in %d cases only", solved)
	}
}

func TestObjectivesAgainstLP(t *testing.T) {
	solved := 0
	for _, f := range families {
		for _, k := range []int{3, 8} {
			c := f.make(k, numtest.NewSplitMix64(uint64(200+k)))
			rows, _ := c.Dims()
			weights := make([]float64, rows)
			for i := range weights {
				weights[i] = float64(1+i%3) / 8
			}
			sum := 0.0
			for _, w := range weights {
				sum += w
			}
			for _, mix := range []float64{0, 0.25, 0.75} {
				s := basemeasure.Settings{Objective: basemeasure.Mixed, Mix: mix, InputWeights: slices.Clone(weights)}
				scaled := slices.Clone(weights)
				for i := range scaled {
					scaled[i] /= sum
				}
				if want, ok := gameValue(c, 1.5, mix, scaled); ok {
					solved++
					numtest.Near(t, fmt.Sprintf("%s, k = %d, mix = %v: F", f.name, k, mix), best(t, c, 1.5, s).F, want, lpTol)
				}
			}
		}
	}
	if solved < 60 {
		t.Errorf("the other solver had an answer in %d cases only", solved)
	}
}

// starValue is the optimal worst case on a star with n leaves at distance 1, for E = e^eps. With x-masses a of
// the centre and b of a leaf, the cuts of a leaf at 0 and 1 and that of the centre at 1 say
//
//	f >= a + 2(n-1)b,  f >= 1 - (E-n+1)b,  f >= 1 - E a.
//
// While E <= n-1 nothing beats b = 0 and a = 1, announcing the centre; beyond, the three meet.
func starValue(n int, e float64) float64 {
	l := float64(n)
	if e <= l-1 {
		return 1
	}
	return (2*e*l - l - e + 1) / (e*e + e*l - l + 1)
}

func TestClosedForms(t *testing.T) {
	tol := numtest.Tol{Rel: 1e-9, Why: "the gap that Solve is asked for"}
	for _, k := range []int{3, 4, 8, 30, 100} {
		for _, eps := range []float64{0.1, 1, 2, 3, 5, 8} {
			e := math.Exp(eps)
			r := best(t, matrix(k, k, star), eps, basemeasure.Settings{})
			numtest.Near(t, fmt.Sprintf("star of %d at eps = %v", k, eps), r.F, starValue(k-1, e), tol)
			r = best(t, matrix(k, k, discrete), eps, basemeasure.Settings{})
			numtest.Near(t, fmt.Sprintf("discrete metric on %d at eps = %v", k, eps), r.F, float64(k-1)/(e+float64(k-1)), tol)
			// One output: every mechanism is constant.
			r = best(t, matrix(k, 1, func(i, _ int) float64 { return float64(i * i % 7) }), eps, basemeasure.Settings{})
			want := 0.0
			for i := range k {
				want = max(want, float64(i*i%7))
			}
			numtest.Near(t, "one output", r.F, want, tol)
		}
	}
	if r := best(t, matrix(40, 40, star), 2, basemeasure.Settings{}); r.Nonzeros != 1 || r.M[0] == 0 || r.Peak != 40 {
		t.Errorf("star at small eps: %d nonzeros, M[0] = %v, peak %v; want all mass on the centre", r.Nonzeros, r.M[0],
			r.Peak)
	}
}

func TestSolveReference(t *testing.T) {
	var s sample
	numtest.LoadJSON(t, "testdata/base-measure-sample.json", &s)
	tol := numtest.Tol{Rel: 1e-10, Why: "what the file states"}
	for _, in := range s.Instances {
		t.Run(in.ID, func(t *testing.T) {
			r := best(t, in.cost(t), in.Eps, basemeasure.Settings{})
			numtest.Near(t, "F", r.F, in.FStar, tol)
			for _, edge := range []struct {
				what string
				x    float64
			}{{"lower", r.Lower}, {"upper", r.Upper}} {
				numtest.Near(t, edge.what, edge.x, in.FStar, numtest.Tol{Rel: 1e-9, Why: "the gap asked for"})
			}
		})
	}
}

// TestSolveTransitive: where uniform is optimal Solve finds the expectile without a pivot.
func TestSolveTransitive(t *testing.T) {
	for _, c := range []cost.Matrix{ring(t, 30, 1), ring(t, 31, 2),
		matrix(64, 64, func(i, j int) float64 { return float64(popcount(i ^ j)) })} {
		for _, eps := range []float64{0, 0.1, 1, 5, 20, 700} {
			r := best(t, c, eps, basemeasure.Settings{})
			numtest.Near(t, "F", r.F, expectile(c.Row(0, nil), eps),
				numtest.Tol{Rel: 2e-14, Why: "the closed form in float64 sums k terms"})
			if r.Stats.Pivots != 0 {
				t.Errorf("%d pivots", r.Stats.Pivots)
			}
		}
	}
}

func TestHomogeneous(t *testing.T) {
	spaces := map[string]cost.Matrix{
		"one point": matrix(1, 1, discrete), "two points": matrix(2, 2, discrete), "complete graph": matrix(20, 20, discrete),
		"ring": ring(t, 30, 1), "ring p=2": ring(t, 31, 2),
		"hypercube": matrix(64, 64, func(i, j int) float64 { return float64(popcount(i ^ j)) }),
		"torus": matrix(49, 49, func(i, j int) float64 {
			d := func(a, b int) int { return min((a-b+7)%7, (b-a+7)%7) }
			return float64(d(i/7, j/7) + d(i%7, j%7))
		}),
		"constant":    matrix(5, 5, func(int, int) float64 { return 7 }),
		"zero":        matrix(5, 5, func(int, int) float64 { return 0 }),
		"tiny":        matrix(9, 9, func(i, j int) float64 { return 5e-324 * discrete(i, j) }),
		"huge":        matrix(9, 9, func(i, j int) float64 { return math.MaxFloat64 * discrete(i, j) }),
		"offset":      matrix(6, 6, func(i, j int) float64 { return 1e9 + discrete(i, j) }),
		"latin, wide": matrix(12, 12, func(i, j int) float64 { return math.Pow(10, float64(50*((i-j+12)%12)-300)) }),
	}
	for name, c := range spaces {
		all := []float64{0, 5e-324, 1e-15, 0.001, 0.5, 2, 12, 300, 700, 1e-17, 1e-9, 1, 5, 50}
		for _, eps := range all[:numtest.Cases(9, len(all))] {
			t.Run(fmt.Sprintf("%s/eps=%v", name, eps), func(t *testing.T) {
				row := slices.Clone(c.Row(0, nil))
				r, err := basemeasure.Homogeneous(row, eps)
				if err != nil {
					t.Fatal(err)
				}
				verify(t, c, eps, r)
				k := float64(len(row))
				if !(r.Gap() <= closed*r.Upper+4*k*math.SmallestNonzeroFloat64) {
					t.Errorf("gap %.3g of %v is open", r.Gap()/r.Upper, r.Upper)
				}
				if name != "huge" && !(name == "offset" && eps == 700) { // where the plain sums overflow
					numtest.Near(t, "F", r.F, expectile(row, eps),
						numtest.Tol{Rel: 2e-14, Abs: 4 * k * math.SmallestNonzeroFloat64, Why: "the closed form in float64 sums k terms"})
				}
				if !slices.Equal(row, c.Row(0, nil)) {
					t.Error("row was changed")
				}
			})
		}
	}
	for _, bad := range []struct {
		row []float64
		eps float64
		err error
	}{
		{nil, 1, wpmerr.ErrShape}, {[]float64{1, math.NaN()}, 1, wpmerr.ErrNotFinite},
		{[]float64{math.Inf(1)}, 1, wpmerr.ErrNotFinite},
		{[]float64{0, -1}, 1, wpmerr.ErrNegative}, {[]float64{0}, -1, wpmerr.ErrEpsilon},
		{[]float64{0}, math.NaN(), wpmerr.ErrEpsilon},
	} {
		if _, err := basemeasure.Homogeneous(bad.row, bad.eps); !errors.Is(err, bad.err) {
			t.Errorf("Homogeneous(%v, %v): %v, want %v", bad.row, bad.eps, err, bad.err)
		}
	}
}

// TestSolveRange runs Solve over the corners of the number range. What they have in common: a certified result, and no
// worse than the uniform measure.
func TestSolveRange(t *testing.T) {
	line := func(i, j int) float64 { return math.Abs(float64(i - j)) }
	costs := map[string]*cost.Dense{
		"1e-300":        matrix(9, 9, func(i, j int) float64 { return 1e-300 * line(i, j) }),
		"1e300":         matrix(9, 9, func(i, j int) float64 { return 1e300 * line(i, j) }),
		"subnormal":     matrix(9, 9, func(i, j int) float64 { return 5e-324 * line(i, j) }),
		"largest float": matrix(3, 3, func(i, j int) float64 { return math.MaxFloat64 * discrete(i, j) }),
		// a mean rounds up, found by fuzzing
		"all largest": matrix(10, 1, func(int, int) float64 { return math.MaxFloat64 }),
		"exponents": matrix(9, 9,
			func(i, j int) float64 { return math.Pow(10, 300*line(i, j)/6-300) * discrete(i, j) }),
		"line":              matrix(9, 9, line),
		"one input":         matrix(1, 5, func(_, j int) float64 { return float64(5 - j) }),
		"one output":        matrix(5, 1, func(i, _ int) float64 { return float64(i) }),
		"one of each":       matrix(1, 1, func(int, int) float64 { return 3 }),
		"offset":            matrix(9, 9, func(i, j int) float64 { return 1e6 + line(i, j) }),
		"more outputs":      matrix(2, 30, func(i, j int) float64 { return line(25*i, j) }),
		"far from outputs":  matrix(9, 4, func(i, j int) float64 { return 1 + line(i, 2*j) }),
		"a free output":     matrix(6, 6, func(i, j int) float64 { return float64(min(j, 1)) * line(i, j) }),
		"unequal magnitude": matrix(6, 6, func(i, j int) float64 { return math.Pow(1000, float64(i)) * line(i, j) }),
	}
	for name, c := range costs {
		for _, eps := range []float64{0, 5e-324, 1, 40, 700, 0.01, 1e-17, 1e-9, 12, 100}[:numtest.Cases(5, 10)] {
			for n, s := range objectives(c.K)[:3] {
				t.Run(fmt.Sprintf("%s/eps=%v/%d", name, eps, n), func(t *testing.T) {
					before := slices.Clone(c.Data)
					r, err := basemeasure.Solve(background, c, eps, s)
					if err != nil && (eps < 30 || !errors.Is(err, wpmerr.ErrNotConverged)) {
						t.Fatal(err)
					}
					verify(t, c, eps, r)
					if err == nil {
						checkGap(t, c, r)
					} else {
						t.Logf("gap %.3g", r.Gap()/r.Upper)
					}
					u, err := basemeasure.Uniform(background, c, eps, s)
					if err != nil {
						t.Fatal(err)
					}
					verify(t, c, eps, u)
					if !(r.F <= u.F*(1+closed) && r.Upper >= u.Lower) {
						t.Errorf("f = %v, the uniform measure has %v; bounds %v and %v", r.F, u.F, r.Upper, u.Lower)
					}
					if !slices.Equal(before, c.Data) {
						t.Error("costs were changed")
					}
				})
			}
		}
	}
}

func TestSolveStops(t *testing.T) {
	c := families[4].make(60, numtest.NewSplitMix64(1))
	const eps = 4
	full := best(t, c, eps, basemeasure.Settings{})
	if full.Stats.Evaluations < 20 || full.Stats.Pivots < 50 {
		t.Fatalf("%+v: the test needs a longer search", full.Stats)
	}
	check := func(what string, r basemeasure.Result, err error, status basemeasure.Status) {
		t.Helper()
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != status {
			t.Errorf("%s: %v, %v", what, r.Status, err)
		}
		if !(r.F >= full.Lower && r.Lower <= full.Upper && r.Gap() > 1e-9*r.Upper) {
			t.Errorf("%s: f %v, lower %v; the optimum is %v", what, r.F, r.Lower, full.F)
		}
		verify(t, c, eps, r)
	}
	last := math.Inf(1)
	for _, limit := range []int{1, 3, 8, 15, full.Stats.Evaluations - 1} {
		r, err := basemeasure.Solve(background, c, eps, basemeasure.Settings{MaxEvaluations: limit})
		check(fmt.Sprint(limit, " evaluations"), r, err, basemeasure.Limited)
		if r.Stats.Evaluations > limit || r.F > last {
			t.Errorf("limit %d: %d evaluations, f = %v after %v", limit, r.Stats.Evaluations, r.F, last)
		}
		last = r.F
	}
	for _, limit := range []int{1, 10, 50} {
		r, err := basemeasure.Solve(background, c, eps, basemeasure.Settings{MaxPivots: limit})
		check(fmt.Sprint(limit, " pivots"), r, err, basemeasure.Limited)
		if r.Stats.Pivots > limit {
			t.Errorf("limit %d: %d pivots", limit, r.Stats.Pivots)
		}
	}
	done, cancel := context.WithCancel(background)
	cancel()
	table, err := knapsack.New(context.Background(), c) // a table is not sorted again
	if err != nil {
		t.Fatal(err)
	}
	r, err := basemeasure.Solve(done, table, eps, basemeasure.Settings{})
	check("cancelled", r, err, basemeasure.Cancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// A gap beyond float64 is not reached, and not claimed.
	r, err = basemeasure.Solve(background, c, eps, basemeasure.Settings{Gap: 1e-300})
	if err == nil && r.Gap() > 1e-15*given.Max(c) {
		t.Errorf("gap %v claims to be 1e-300", r.Gap())
	}
	verify(t, c, eps, r)
	if r.Gap() > 1e-12*r.Upper {
		t.Errorf("gap %v", r.Gap())
	}
}

// TestSolveStopsLater cancels at every look at the context in turn.
func TestSolveStopsLater(t *testing.T) {
	c := families[4].make(12, numtest.NewSplitMix64(2))
	for n := 0; ; n++ {
		ctx := &numtest.Asked{Context: background, Most: n}
		r, err := basemeasure.Solve(ctx, c, 3, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: 0.5})
		verify(t, c, 3, r)
		if err == nil {
			if n < 20 {
				t.Errorf("the context was asked %d times only", n)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || r.Status != basemeasure.Cancelled {
			t.Fatalf("after %d: %v, %v", n, r.Status, err)
		}
	}
}

func TestSolveSameBits(t *testing.T) {
	if !numtest.Full() {
		t.Skip("sizes at which the work is shared take a second")
	}
	c := families[4].make(260, numtest.NewSplitMix64(3))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for n, s := range objectives(260)[:3] {
		var want basemeasure.Result
		for _, procs := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(procs)
			r, err := basemeasure.Solve(background, c, 5, s)
			if err != nil {
				t.Fatal(err)
			}
			if procs == 1 {
				want = r
				continue
			}
			numtest.SameBits(t, "M", r.M, want.M)
			numtest.SameBits(t, "Weights", r.Weights, want.Weights)
			numtest.SameBits(t, "Thresholds", r.Thresholds, want.Thresholds)
			numtest.SameBits(t, "F, Upper, Lower", []float64{r.F, r.Upper, r.Lower}, []float64{want.F, want.Upper, want.Lower})
			if r.Stats != want.Stats {
				t.Errorf("objective %d: %+v on %d threads, %+v on one", n, r.Stats, procs, want.Stats)
			}
		}
	}
}

// TestExclude: rows left out of the maximum are as good as not there, for the worst case.
func TestExclude(t *testing.T) {
	c := families[22].make(25, numtest.NewSplitMix64(5)) // an outlier, input 0
	without := &cost.Dense{K: 24, Kv: 25, Data: c.Data[25:]}
	tol := numtest.Tol{Rel: 2e-9, Why: "the gap of both"}
	for _, eps := range []float64{0.5, 3} {
		all := best(t, c, eps, basemeasure.Settings{})
		want := best(t, without, eps, basemeasure.Settings{})
		r := best(t, c, eps, basemeasure.Settings{Exclude: []int{0}})
		numtest.Near(t, "F", r.F, want.F, tol)
		if !(r.F < all.F/2) {
			t.Errorf("eps = %v: %v without the outlier, %v with it", eps, r.F, all.F)
		}
		u, err := basemeasure.Uniform(background, c, eps, basemeasure.Settings{Exclude: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		verify(t, c, eps, u)
		numtest.Near(t, "uniform F", u.F, solve(t, without, eps).F, exactScale)
		// An excluded input still counts in the average.
		average := best(t, c, eps, basemeasure.Settings{Objective: basemeasure.Average, Exclude: []int{0}})
		numtest.Near(t, "average", average.F, best(t, c, eps, basemeasure.Settings{Objective: basemeasure.Average}).F, tol)
		mixed := best(t, c, eps, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: 0.5, Exclude: []int{3, 0}})
		numtest.Near(t, "mixed", mixed.F, 0.5*mixed.WorstCase+0.5*mixed.Mean, tol)
		// Evidence that uses an excluded input proves nothing.
		bad := r
		bad.Weights = slices.Clone(r.Weights)
		bad.Weights[0] = 1
		if _, _, err := basemeasure.Verify(context.Background(), c, eps, bad); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("a weight on an excluded input: %v", err)
		}
	}
}

func TestSettings(t *testing.T) {
	c := matrix(3, 2, func(i, j int) float64 { return float64(i + j) })
	nan, inf := math.NaN(), math.Inf(1)
	for name, s := range map[string]basemeasure.Settings{
		"evaluations":          {MaxEvaluations: -1},
		"pivots":               {MaxPivots: -1},
		"negative gap":         {Gap: -1e-9},
		"NaN gap":              {Gap: nan},
		"huge gap":             {Gap: 2},
		"objective":            {Objective: 7},
		"negative objective":   {Objective: -1},
		"mix without mixed":    {Mix: 0.5},
		"mix above one":        {Objective: basemeasure.Mixed, Mix: 1.5},
		"NaN mix":              {Objective: basemeasure.Mixed, Mix: nan},
		"weights, worst case":  {InputWeights: []float64{1, 1, 1}},
		"short weights":        {Objective: basemeasure.Average, InputWeights: []float64{1, 1}},
		"negative weight":      {Objective: basemeasure.Average, InputWeights: []float64{1, 1, -1}},
		"infinite weight":      {Objective: basemeasure.Average, InputWeights: []float64{1, 1, inf}},
		"wide weights":         {Objective: basemeasure.Average, InputWeights: []float64{1, 1e-200, 0}},
		"zero weights":         {Objective: basemeasure.Mixed, Mix: 1, InputWeights: []float64{0, 0, 0}},
		"exclude out of range": {Exclude: []int{3}},
		"exclude negative":     {Exclude: []int{-1}},
		"exclude twice":        {Exclude: []int{1, 1}},
		"exclude all":          {Exclude: []int{2, 0, 1}},
	} {
		if _, err := basemeasure.Solve(background, c, 1, s); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("%s: Solve: %v", name, err)
		}
		if _, err := basemeasure.Uniform(background, c, 1, s); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("%s: Uniform: %v", name, err)
		}
		if _, _, err := basemeasure.Verify(context.Background(), c, 1, basemeasure.Result{Settings: s}); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("%s: Verify: %v", name, err)
		}
	}
	for _, test := range []struct {
		c   cost.Matrix
		eps float64
		err error
	}{
		{nil, 1, wpmerr.ErrShape}, {matrix(2, 2, func(int, int) float64 { return nan }), 1, wpmerr.ErrNotFinite},
		{matrix(2, 2, func(int, int) float64 { return -1 }), 1, wpmerr.ErrNegative}, {c, nan, wpmerr.ErrEpsilon},
		{c, -1, wpmerr.ErrEpsilon}, {c, 701, wpmerr.ErrEpsilon},
	} {
		if _, err := basemeasure.Solve(background, test.c, test.eps, basemeasure.Settings{}); !errors.Is(err, test.err) {
			t.Errorf("Solve(%v, %v): %v, want %v", test.c, test.eps, err, test.err)
		}
	}
	// A nil context and a table are fine, and resolved settings are echoed.
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := basemeasure.Solve(nil, table, 1, basemeasure.Settings{}) //nolint:staticcheck // nil is documented to work
	if err != nil || r.Settings.Gap != basemeasure.DefaultGap || r.Settings.MaxPivots == 0 {
		t.Errorf("%v, %+v", err, r.Settings)
	}
}

// TestSolveFarApart: costs over many orders of magnitude, where a weight that is no more than rounding moves a
// threshold by more than the value. Found by TestSolveLaws. In the last one rounding stops Solve, and the gap says so.
func TestSolveFarApart(t *testing.T) {
	for n, in := range []struct {
		rows [][]float64
		eps  float64
		s    basemeasure.Settings
		open float64 // the gap that may be left, over the largest cost; 0 for none
	}{
		{[][]float64{{2.544e-13, 5.109e-12, 0.1353, 4.54e-05, 20.09, 5.109e-12, 5.109e-12},
			{0.3679, 2.26e-06, 0.01832, 20.09, 20.09, 0.1353, 5.109e-12}}, 1,
			basemeasure.Settings{Objective: basemeasure.Average}, 0},
		{[][]float64{{6.914e-22, 2.718e-09, 1.832e-11, 7.389e-09, 7.389e-09, 1.67e-14, 8.315e-16, 1.832e-11, 1.88e-21},
			{1e-09, 7.389e-09, 4.979e-11, 1.234e-13, 6.914e-22, 2.718e-09, 6.914e-22, 1.88e-21, 1.88e-21}}, 0.01,
			basemeasure.Settings{}, 0},
		{[][]float64{{2.718e-09, 6.738e-12, 2.718e-09, 4.979e-11, 9.119e-13},
			{1e-09, 2.718e-09, 2.789e-19, 2.544e-22, 3.679e-10}, {3.679e-10, 3.355e-13, 9.358e-23, 1e-09, 7.389e-09},
			{2.009e-08, 3.775e-20, 1.389e-20, 6.914e-22, 3.355e-13}, {1.832e-11, 2.718e-09, 1.125e-16, 1.67e-14, 1.523e-17}}, 5,
			basemeasure.Settings{Objective: basemeasure.Average}, 0},
		// The last output is too dear for the first input, whatever its mass.
		{[][]float64{{1.5, 1.5, 1.3194139533312e+13}, {96, 1.5, 1.5}, {1.5, 3, 1.5}}, 2.718281828459045,
			basemeasure.Settings{}, 1e-12},
	} {
		c, err := cost.FromRows(in.rows)
		if err != nil {
			t.Fatal(err)
		}
		r, err := basemeasure.Solve(background, c, in.eps, in.s)
		if in.open > 0 && r.Status == basemeasure.Stalled && errors.Is(err, wpmerr.ErrNotConverged) {
			err = nil
			if gap := r.Gap() / given.Max(c); !(gap <= in.open) {
				t.Errorf("%d: a gap of %v of the largest cost", n, gap)
			}
		}
		if err != nil {
			t.Errorf("%d: %v", n, err)
		}
		if upper, lower, err := basemeasure.Verify(context.Background(), c, in.eps, r); err != nil || lower.Cmp(upper) > 0 {
			t.Errorf("%d: [%v, %v], %v", n, lower, upper, err)
		}
	}
}

// TestFailedStatus: a call without a Result has none of the statuses of one.
func TestFailedStatus(t *testing.T) {
	c := families[0].make(3, numtest.NewSplitMix64(1))
	for name, r := range map[string]func() (basemeasure.Result, error){
		"solve": func() (basemeasure.Result, error) {
			return basemeasure.Solve(background, c, -1, basemeasure.Settings{})
		},
		"no cost": func() (basemeasure.Result, error) {
			return basemeasure.Solve(background, nil, 1, basemeasure.Settings{})
		},
		"uniform": func() (basemeasure.Result, error) {
			return basemeasure.Uniform(background, c, math.NaN(), basemeasure.Settings{})
		},
		"shape": func() (basemeasure.Result, error) {
			return basemeasure.Shape(background, c, nil, 1, basemeasure.Settings{})
		},
		"homogeneous": func() (basemeasure.Result, error) { return basemeasure.Homogeneous(nil, 1) },
	} {
		if r, err := r(); err == nil || r.Status.String() != "unknown" {
			t.Errorf("%s: %v, %v", name, r.Status, err)
		}
	}
	if r, err := basemeasure.Homogeneous([]float64{0, 1}, 1); err != nil || r.Status != basemeasure.Converged {
		t.Errorf("homogeneous: %v, %v", r.Status, err)
	}
}

// TestCancelledWhileReading: after the context has ended, 64 rows are read at most. Those few give a Result.
func TestCancelledWhileReading(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, k := range []int{48, 49, 300} {
		for _, at := range []int{0, 1, 40} {
			ctx, cancel := context.WithCancel(background)
			if at == 0 {
				cancel()
			}
			read := 0
			c := watched{families[0].make(k, numtest.NewSplitMix64(1)), func() {
				if read++; read == at {
					cancel()
				}
			}}
			r, err := basemeasure.Solve(ctx, c, 1, basemeasure.Settings{})
			if !errors.Is(err, context.Canceled) || !errors.Is(err, wpmerr.ErrNotConverged) ||
				errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%d rows, cancelled at %d: %v", k, at, err)
			}
			if (r.M != nil) != (k == 48) || (r.Status == basemeasure.Unknown) != (k > 48) {
				t.Errorf("%d rows, cancelled at %d: status %v", k, at, r.Status)
			}
			if read-at > 64 {
				t.Errorf("%d rows, cancelled at %d: %d read", k, at, read)
			}
			cancel()
		}
	}
}

// watched is a matrix that tells of every row that is read.
type watched struct {
	cost.Matrix
	tell func()
}

func (w watched) Row(i int, buf []float64) []float64 {
	w.tell()
	return w.Matrix.Row(i, buf)
}

// TestSolveFarBelow: the best value is 1e-9 of the largest cost, and randomised response on the two near outputs
// attains it.
func TestSolveFarBelow(t *testing.T) {
	c, err := cost.NewDense(2, 5, []float64{
		0, 2e-9, 1.000000003, 1.000000003, 1.000000003,
		2e-9, 0, 1.000000001, 1.000000001, 1.000000001,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0.05, 0.1, 0.2, 1, 3} {
		r, err := basemeasure.Solve(t.Context(), c, eps, basemeasure.Settings{Gap: 1e-9})
		want := 2e-9 / (1 + math.Exp(eps))
		if err != nil || math.Abs(r.F-want) > 1e-9*want {
			t.Errorf("eps %v: F = %v, want %v; %v", eps, r.F, want, err)
		}
	}
}
