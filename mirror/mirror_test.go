package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEdges runs every rule on costs and levels at the edge of what there is.
func TestEdges(t *testing.T) {
	costs := map[string]*cost.Dense{
		"one by one":    matrix(1, 1, func(i, j int) float64 { return 3 }),
		"one output":    matrix(3, 1, func(i, j int) float64 { return float64(i) }),
		"one input":     matrix(1, 4, func(i, j int) float64 { return float64(j) }),
		"zero":          matrix(2, 3, func(i, j int) float64 { return 0 }),
		"constant":      matrix(3, 2, func(i, j int) float64 { return 7 }),
		"constant rows": matrix(3, 2, func(i, j int) float64 { return float64(i) }),
		"duplicates":    matrix(4, 4, func(i, j int) float64 { return float64((i/2 + j/2) % 2) }),
		"ring":          ring(5),
		"outlier": matrix(4, 4,
			func(i, j int) float64 { return math.Abs(math.Pow(10, float64(3*i)) - math.Pow(10, float64(3*j))) }),
		"more outputs":    random(3, 40, 1),
		"large":           matrix(2, 2, func(i, j int) float64 { return math.MaxFloat64 * float64((i+j)%2) }),
		"all large":       matrix(2, 2, func(i, j int) float64 { return math.MaxFloat64 / float64(1+(i+j)%2) }),
		"subnormal":       matrix(2, 3, func(i, j int) float64 { return math.SmallestNonzeroFloat64 * float64(2*i+j) }),
		"subnormal range": matrix(2, 2, func(i, j int) float64 { return 1e300*float64(i) + 1e-310*float64(j*(1-i)) }),
		"many magnitudes": matrix(3, 5, func(i, j int) float64 { return math.Pow(10, float64(100*((i+j)%5)-200)) }),
		"subnormal slopes": matrix(3, 4, func(i, j int) float64 { // the only step is one over a subnormal, found by fuzzing
			return [...]float64{6, 6, 6, 0.1875, 6, 6, 6, 0.1875, 6, 0.1875, 1.3e36, 6}[4*i+j]
		}),
		"tiny differences": matrix(2, 3, func(i, j int) float64 { return 1 + 0x1p-52*float64((i+j)%3) }),
	}
	for name, c := range costs {
		for _, eps := range []float64{0, 5e-324, 0.5, 60, 656, 700, 1e-12, 5, 400}[:numtest.Cases(6, 9)] {
			for _, rule := range allRules {
				for _, steps := range []int{33, 2, 1}[:numtest.Cases(1, 3)] {
					for _, factor := range []float64{0, 1e-6, 1e6} {
						if !numtest.Full() && factor > 0 {
							continue
						}
						t.Run(fmt.Sprintf("%s/eps=%v/%v/%d/%v", name, eps, rule, steps, factor), func(t *testing.T) {
							descend(t, c, eps, mirror.Settings{Rule: rule, Steps: steps, Factor: factor})
						})
					}
				}
			}
		}
	}
}

// TestOneStep: T = 1 evaluates the prescribed start and nothing else, so everything can be said by hand. At mass
// e^(eps/2) the box is the uniform distribution, f is the largest mean of a row, and the cut of that row has its
// least cost as threshold.
func TestOneStep(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1, 5, 1, 2, 1}}
	const eps, e = 2.0, math.E * math.E
	r := descend(t, c, eps, mirror.Settings{Steps: 1})
	tol := numtest.Tol{Rel: 1e-14, Why: "a few roundings"}
	numtest.Near(t, "f", r.F, 2, tol)
	numtest.NearSlice(t, "average", r.Average, []float64{math.E / 3, math.E / 3, math.E / 3}, tol)
	numtest.SameBits(t, "best", r.Best, r.Average)
	// One cut, eta + sum x_j h(C_j - eta): its minimum over 1/E <= sum x <= 1 is at all mass 1/E on the column
	// of least h, which is 0 at eta = 0. Nothing can be shifted, because the best place has min h = 0.
	numtest.Near(t, "max min C", r.Lower, 1, tol)
	// Bounds: k = 2, kv = 3, D_p = R = 5.
	numtest.Near(t, "paper's bound", r.PaperBound, e*5*math.Sqrt(2*(1+math.Ln2)), tol)
	repaired := descend(t, c, eps, mirror.Settings{Steps: 1, Rule: mirror.Repaired})
	numtest.Near(t, "repaired bound", repaired.Bound, e*5*math.Sqrt(2*math.Log(3)), tol)
	if r.Steps != 1 || len(r.History) != 1 || r.BestStep != 1 {
		t.Errorf("steps %d, history %v, best step %d", r.Steps, r.History, r.BestStep)
	}
}

// TestStill: where no output is better than another nothing moves, the first iterate stays the best, and the average of
// many equal iterates is that iterate to the last bit or two.
func TestStill(t *testing.T) {
	c := matrix(3, 7, func(i, j int) float64 { return float64(i) })
	for _, rule := range allRules {
		r := descend(t, c, 1.3, mirror.Settings{Steps: 3000, Rule: rule})
		if r.BestStep != 1 || r.F != 2 || r.Lower != 2 || r.Bound != 0 {
			t.Errorf("%v: best step %d, f = %v, lower %v, bound %v; want 1, 2, 2, 0", rule, r.BestStep, r.F, r.Lower, r.Bound)
		}
		numtest.NearSlice(t, "average", r.Average, r.Best, numtest.Tol{Rel: 0x1p-52, Why: "one division"})
	}
}

// TestUnknownBound: the adaptive rule goes by norms that can be below the range of float64. If a whole subgradient
// is, it stays where it is and claims nothing; otherwise it moves, however large eps is.
func TestUnknownBound(t *testing.T) {
	s := mirror.Settings{Steps: 50, Rule: mirror.Adaptive}
	lost := &cost.Dense{K: 2, Kv: 2, Data: []float64{1, 1 + 0x1p-52, 0, 1e150}}
	if r := descend(t, lost, 700, s); !math.IsInf(r.Bound, 1) {
		t.Errorf("bound %v, want +Inf", r.Bound)
	}
	if r := descend(t, ring(5), 700, s); math.IsInf(r.Bound, 1) || r.BestStep == 1 || !(r.FBest < 1e-10) {
		t.Errorf("bound %v, best step %d of f = %v", r.Bound, r.BestStep, r.FBest)
	}
}

// TestMirrorBounds writes down the bound of each rule on an ordinary instance.
func TestMirrorBounds(t *testing.T) {
	c := matrix(3, 20, func(i, j int) float64 { return 2 + math.Abs(float64(i)-float64(j)/7) }) // R < D_p, kv > k
	r, d := given.Range(c), given.Max(c)
	const eps, steps = 1.5, 500
	e, l, lk := math.Exp(eps), math.Log(20), 1+math.Log(3)
	tol := numtest.Tol{Rel: 1e-13, Why: "a dozen roundings"}
	for rule, want := range map[mirror.Rule]float64{
		// L E R/(r T) + r E R/2 at the paper's r = sqrt(2 lk/T) R/D; at sqrt(2 L/T); the audit's formula.
		mirror.Paper:    e*r*l/steps/(math.Sqrt(2*lk/steps)*r/d) + math.Sqrt(2*lk/steps)*r/d*e*r/2,
		mirror.Repaired: e * r * math.Sqrt(2*l/steps),
		mirror.Sharp:    2 * r * math.Sqrt(l*((math.E-2)*e+0.5)/steps),
	} {
		got := descend(t, c, eps, mirror.Settings{Steps: steps, Rule: rule})
		numtest.Near(t, rule.String(), got.Bound, want, tol)
		numtest.Near(t, "paper's bound", got.PaperBound, e*d*math.Sqrt(2*lk/steps), tol)
		if got.Settings.Rule != rule || got.Settings.Factor != 1 {
			t.Errorf("settings %+v", got.Settings)
		}
	}
	// With no more outputs than inputs the paper's constants are the larger ones, so its bound holds too.
	if r := descend(t, path(30), eps, mirror.Settings{Steps: steps}); !(r.Bound <= r.PaperBound) {
		t.Errorf("bound %v > %v", r.Bound, r.PaperBound)
	}
	// Below T of about 1.4 L E the sharp step is cut to e^(eps/2) R times step = 1.
	short := descend(t, path(30), 5, mirror.Settings{Steps: 10, Rule: mirror.Sharp})
	numtest.Near(t, "short", short.Bound, 29*(math.Log(30)*math.Exp(5)/10+(math.E-2)+0.5*math.Exp(-5)), tol)
}

// TestMirrorPaperBoundIsFalse is erratum 5 with the package itself: one input, many outputs, and the bound as
// stated is exceeded, while the one for the same steps with the right constants holds (check).
func TestMirrorPaperBoundIsFalse(t *testing.T) {
	const kv = 20_000
	c := matrix(1, kv, func(_, j int) float64 { return min(float64(j), 1) }) // f* = 0: all mass at output 0
	r := descend(t, c, 0.01, mirror.Settings{Steps: 30})
	if !(r.FAverage > 3*r.PaperBound) {
		t.Errorf("f(average) = %v, bound of the paper %v: want it exceeded threefold", r.FAverage, r.PaperBound)
	}
	if !(r.FAverage <= r.Bound) {
		t.Errorf("f(average) = %v, bound %v", r.FAverage, r.Bound)
	}
}

// optimum has the true f* of three spaces of 30 points: the ring from its closed form (16 digits), the others
// from a general linear program (HiGHS, tolerance 1e-10).
var optimum = map[string]map[float64]float64{
	"ring":   {0.5: 61.3287622408571, 2: 29.4954872861129, 5: 4.86155374524601},
	"square": {0.5: 0.572112607645939, 2: 0.35132285326535, 5: 0.0838777668069773},
	"path":   {0.5: 11.4628275448865, 2: 5.81934342066507, 5: 1.36618068212006},
}

var spaces = map[string]*cost.Dense{"ring": ring(30), "square": square(30), "path": path(30)}

// optimumTol is the relative error granted to the linear program.
const optimumTol = 1e-9

// TestTable repeats the table that another implementation of the paper's descent left behind: the relative error of
// the average after 1e3 and 1e5 steps, to two digits.
func TestTable(t *testing.T) {
	want := map[string]map[float64][2]float64{
		"ring":   {0.5: {8.1e-4, 6.7e-5}, 2: {8.7e-2, 4.6e-3}, 5: {12.9, 5.4}},
		"square": {0.5: {2.4e-2, 4.1e-3}, 2: {9.2e-2, 1.2e-2}, 5: {6.0, 1.4}},
		"path":   {0.5: {2.9e-2, 4.3e-3}, 2: {0.12, 1.2e-2}, 5: {8.1, 2.3}},
	}
	tol := numtest.Tol{Rel: 0.05, Why: "half a unit in the second digit"}
	for name, c := range spaces {
		for eps, best := range optimum[name] {
			for n, steps := range []int{1000, 100_000} {
				if !numtest.Full() && n > 0 {
					continue
				}
				r := descend(t, c, eps, mirror.Settings{Steps: steps})
				got := r.FAverage/best - 1
				numtest.Near(t, fmt.Sprintf("%s, eps = %v, T = %d", name, eps, steps), got, want[name][eps][n], tol)
				if !(r.Lower <= best*(1+optimumTol) && best <= r.F*(1+optimumTol)) {
					t.Errorf("%s, eps = %v: optimum %v outside [%v, %v]", name, eps, best, r.Lower, r.F)
				}
				if !(got*best <= r.Bound) {
					t.Errorf("%s, eps = %v: error %v above the bound %v", name, eps, got*best, r.Bound)
				}
			}
		}
	}
}

// TestRules compares the rules where the paper's step is at its worst, eps = 5: the sharp step must be several
// times better, and the adaptive one again.
func TestRules(t *testing.T) {
	for name, c := range spaces {
		best := optimum[name][5]
		var average, bound [4]float64
		for n, rule := range allRules {
			r := descend(t, c, 5, mirror.Settings{Steps: 3000, Rule: rule})
			average[n], bound[n] = r.FAverage/best-1, r.Bound
			if !(r.Lower <= best*(1+optimumTol) && r.FAverage-best <= r.Bound) {
				t.Errorf("%s, %v: lower %v, average %v, bound %v, optimum %v", name, rule, r.Lower, r.FAverage, r.Bound, best)
			}
		}
		t.Logf("%s: relative errors %.3g", name, average)
		if !(2*average[2] < average[0] && 10*average[3] < average[2]) {
			t.Errorf("%s: relative errors %v of %v", name, average, allRules)
		}
		if !(bound[1] <= bound[0] && 5*bound[2] < bound[1] && bound[3] < bound[2]) {
			t.Errorf("%s: bounds %v of %v", name, bound, allRules)
		}
	}
}

// TestRate is the 1/sqrt(T) law: ten times the steps divide the bound by sqrt(10), exactly, and the error of
// the average by about that, where the descent is past its start.
func TestRate(t *testing.T) {
	if !numtest.Full() {
		t.Skip("a million steps")
	}
	for _, name := range []string{"square", "path"} {
		best := optimum[name][2]
		var last mirror.Result
		for _, steps := range []int{1000, 10_000, 100_000} {
			r := descend(t, spaces[name], 2, mirror.Settings{Steps: steps})
			if last.Steps > 0 {
				numtest.Near(t, "bound", last.Bound/r.Bound, math.Sqrt(10), numtest.Tol{Rel: 1e-13, Why: "a few roundings"})
				if ratio := (last.FAverage - best) / (r.FAverage - best); !(2.2 < ratio && ratio < 4.5) {
					t.Errorf("%s: ten times the steps to %d divide the error by %v", name, steps, ratio)
				}
			}
			last = r
		}
	}
}

func TestErrors(t *testing.T) {
	table := newTable(t, ring(4))
	for _, test := range []struct {
		name  string
		table *knapsack.Table
		eps   float64
		s     mirror.Settings
		want  error
	}{
		{"nil table", nil, 1, mirror.Settings{}, wpmerr.ErrShape},
		{"zero table", new(knapsack.Table), 1, mirror.Settings{}, wpmerr.ErrShape},
		{"NaN", table, math.NaN(), mirror.Settings{}, wpmerr.ErrEpsilon},
		{"negative", table, -1e-300, mirror.Settings{}, wpmerr.ErrEpsilon},
		{"too large", table, 700.1, mirror.Settings{}, wpmerr.ErrEpsilon},
		{"infinite", table, math.Inf(1), mirror.Settings{}, wpmerr.ErrEpsilon},
		{"steps", table, 1, mirror.Settings{Steps: -1}, wpmerr.ErrSettings},
		{"rule", table, 1, mirror.Settings{Rule: 4}, wpmerr.ErrSettings},
		{"negative rule", table, 1, mirror.Settings{Rule: -1}, wpmerr.ErrSettings},
		{"negative factor", table, 1, mirror.Settings{Factor: -1}, wpmerr.ErrSettings},
		{"small factor", table, 1, mirror.Settings{Factor: 1e-300}, wpmerr.ErrSettings}, // once a NaN bound
		{"large factor", table, 1, mirror.Settings{Factor: 1e7}, wpmerr.ErrSettings},
		{"NaN factor", table, 1, mirror.Settings{Factor: math.NaN()}, wpmerr.ErrSettings},
		{"infinite factor", table, 1, mirror.Settings{Factor: math.Inf(1)}, wpmerr.ErrSettings},
		{"every", table, 1, mirror.Settings{Every: -1}, wpmerr.ErrSettings},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := mirror.Descend(background, test.table, test.eps, test.s); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
		})
	}
	for rule, want := range map[mirror.Rule]string{mirror.Paper: "paper", mirror.Adaptive: "adaptive", 9: "Rule(9)",
		-1: "Rule(-1)"} {
		if rule.String() != want {
			t.Errorf("%d: %q, want %q", int(rule), rule, want)
		}
	}
	//lint:ignore SA1012 a nil context is a caller's mistake that must not panic
	if _, err := mirror.Descend(nil, table, 1, mirror.Settings{Steps: 3}); err != nil { //nolint:staticcheck
		t.Errorf("nil context: %v", err)
	}
}

// TestCancel: whenever the context ends, the answer is that of a descent with so many steps, except that the
// constant step was chosen for more.
func TestCancel(t *testing.T) {
	c := square(30)
	table := newTable(t, c)
	for _, rule := range allRules {
		for _, at := range []int{0, 1, 8, 64} {
			ctx, cancel := context.WithCancelCause(background)
			if at == 0 {
				cancel(nil)
			}
			r, err := mirror.Descend(ctx, table, 2, mirror.Settings{
				Steps: 1000, Rule: rule,
				Report: func(h mirror.Report) {
					if h.Step == at {
						cancel(errors.New("enough"))
					}
				},
			})
			if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) {
				t.Fatalf("%v at %d: %v", rule, at, err)
			}
			check(t, c, 2, r)
			if want := at + 1; r.Steps != want { // the step after the report, which is told to stop
				t.Errorf("%v at %d: %d steps, want %d", rule, at, r.Steps, want)
			}
			if rule == mirror.Adaptive { // the only one that does not look ahead
				same := descend(t, c, 2, mirror.Settings{Steps: r.Steps, Rule: rule})
				numtest.SameBits(t, "average", r.Average, same.Average)
				if r.Bound != same.Bound || r.Lower != same.Lower {
					t.Errorf("bound %v, lower %v; want %v, %v", r.Bound, r.Lower, same.Bound, same.Lower)
				}
			}
			cancel(nil)
		}
	}
	// A context that ends with the last step comes too late.
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	if _, err := mirror.Descend(ctx, table, 2,
		mirror.Settings{Steps: 16, Every: 15, Report: func(mirror.Report) { cancel() }}); err != nil {
		t.Errorf("cancelled after step 15 of 16: %v", err)
	}
}

// TestReports: when there are reports, and that they change nothing.
func TestReports(t *testing.T) {
	c := path(12)
	quiet := descend(t, c, 1, mirror.Settings{Steps: 50, Every: 50})
	for every, want := range map[int][]int{0: {1, 2, 4, 8, 16, 32, 50}, 20: {20, 40, 50}, 25: {25, 50}, 1000: {50}} {
		var heard []mirror.Report
		r := descend(t, c, 1, mirror.Settings{Steps: 50, Every: every,
			Report: func(h mirror.Report) { heard = append(heard, h) }})
		var steps []int
		for _, h := range r.History {
			steps = append(steps, h.Step)
		}
		if !slices.Equal(steps, want) || !slices.Equal(heard, r.History) {
			t.Errorf("Every = %d: reports after %v, want %v; heard %d", every, steps, want, len(heard))
		}
		numtest.SameBits(t, "average", r.Average, quiet.Average)
		numtest.SameBits(t, "best", r.Best, quiet.Best)
		if r.Bound != quiet.Bound {
			t.Errorf("bound %v, want %v", r.Bound, quiet.Bound)
		}
	}
	if all := descend(t, c, 1, mirror.Settings{Steps: 50, Every: 1}); len(all.History) != 50 || all.Lower < quiet.Lower {
		t.Errorf("%d reports, lower %v; want 50, at least %v", len(all.History), all.Lower, quiet.Lower)
	}
}

// TestBits: the same bits at any GOMAXPROCS, on a table large enough to be shared between processors.
func TestBits(t *testing.T) {
	table := newTable(t, random(370, 370, 5))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var r [2]mirror.Result
	for n, procs := range []int{1, 8} {
		runtime.GOMAXPROCS(procs)
		var err error
		if r[n], err = mirror.Descend(background, table, 2, mirror.Settings{Steps: 20, Rule: mirror.Adaptive}); err != nil {
			t.Fatal(err)
		}
	}
	numtest.SameBits(t, "average", r[0].Average, r[1].Average)
	numtest.SameBits(t, "best", r[0].Best, r[1].Best)
	numtest.SameBits(t, "weights", r[0].Weights, r[1].Weights)
	numtest.SameBits(t, "thresholds", r[0].Thresholds, r[1].Thresholds)
	numtest.SameBits(t, "numbers", []float64{r[0].Bound, r[0].Lower, r[0].Upper},
		[]float64{r[1].Bound, r[1].Lower, r[1].Upper})
}

// TestAllocs: a descent allocates before its first step and after its last one.
func TestAllocs(t *testing.T) {
	table := newTable(t, square(20))
	for _, rule := range allRules {
		count := func(steps int) float64 {
			return testing.AllocsPerRun(3, func() {
				if _, err := mirror.Descend(background, table, 1, mirror.Settings{Steps: steps, Rule: rule}); err != nil {
					t.Fatal(err)
				}
			})
		}
		const others = 48 // of the runtime, now and then; one in every other step would be more
		if few, many := count(3), count(100); many > few+others {
			t.Errorf("%v: %v allocations for 3 steps, %v for 100", rule, few, many)
		}
	}
}
