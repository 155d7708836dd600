package kl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

var inf, nan = math.Inf(1), math.NaN()

// generator makes random instances.
type generator struct{ *numtest.SplitMix64 }

func (g generator) float() float64 { return g.Float64() }

func (g generator) intn(n int) int { return int(g.Uint64() % uint64(n)) }

// mass returns a distribution on n points, skewed, with zeros at times.
func (g generator) mass(n int) []float64 {
	m := make([]float64, n)
	zeros, power := g.float() < 0.3, 1+g.float()*6
	var sum float64
	for i := range m {
		if zeros && i > 0 && g.float() < 0.5 {
			continue
		}
		m[i] = math.Pow(g.float(), power) + 1e-12
		sum += m[i]
	}
	for i := range m {
		m[i] /= sum
	}
	return m
}

// box returns the bounds of all distributions within e^(+-eps/2) of m.
func box(m []float64, eps float64) (lo, hi []float64) {
	lo, hi = make([]float64, len(m)), make([]float64, len(m))
	for j, x := range m {
		lo[j], hi[j] = math.Exp(-eps/2)*x, math.Exp(eps/2)*x
	}
	return lo, hi
}

func TestProject(t *testing.T) {
	tol := numtest.Tol{Abs: 1e-14, Why: "a few roundings of numbers of size 1"}
	l2, l3 := math.Log(2), math.Log(3)
	for _, c := range []struct {
		name         string
		logS, lo, hi []float64
		q            []float64
		theta        float64
	}{
		{"one", []float64{5}, []float64{0}, []float64{1}, []float64{1}, -5},
		{"inside", []float64{0, l2, 0}, []float64{0, 0, 0}, []float64{1, 1, 1}, []float64{.25, .5, .25}, -2 * l2},
		{"one at each bound", []float64{0, l3, l2}, []float64{.4, 0, 0}, []float64{1, .35, 1}, []float64{.4, .35, .25},
			math.Log(.125)},
		{"free mass is what is left", []float64{0, 0, 0}, []float64{.5, .1, .1}, []float64{.6, .4, .4},
			[]float64{.5, .25, .25}, math.Log(.25)},
		{"lo = hi", []float64{0, 3}, []float64{.25, .75}, []float64{.25, .75}, []float64{.25, .75}, 0},
		{"sum lo = 1", []float64{0, 3}, []float64{.25, .75}, []float64{1, 1}, []float64{.25, .75}, math.Log(.75) - 3},
		{"sum hi = 1", []float64{0, 3}, []float64{0, 0}, []float64{.25, .75}, []float64{.25, .75}, math.Log(.25)},
		// Every column at a bound: theta in [log .25, log .5].
		{"flat", []float64{0, math.Log(1.5)}, []float64{0, .75}, []float64{.25, 1}, []float64{.25, .75}, math.Log(.25)},
		{"zero s", []float64{-inf, 0}, []float64{.25, 0}, []float64{1, 1}, []float64{.25, .75}, math.Log(.75)},
		{"zero s everywhere needed", []float64{-inf, -inf}, []float64{.25, .75}, []float64{.25, .75}, []float64{.25, .75}, 0},
		{"logs far out of the range of exp", []float64{-5e4, l2 - 5e4, 9e5}, []float64{0, 0, .1}, []float64{1, 1, .4},
			[]float64{.2, .4, .4}, math.Log(.2) + 5e4},
		{"one column is a point between the breaks", []float64{0, 0}, []float64{0, .1875}, []float64{1, .1875},
			[]float64{.8125, .1875}, math.Log(.8125)},
		{"nothing left for a column", []float64{0, 0}, []float64{1, 0}, []float64{1, 1}, []float64{1, 0}, -inf},
		{"dead column", []float64{7, 0}, []float64{0, 0}, []float64{0, 1}, []float64{0, 1}, 0},
	} {
		q, theta, err := Project(c.logS, c.lo, c.hi)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		numtest.NearSlice(t, c.name+": q", q, c.q, numtest.Tol{Abs: 2e-11, Why: "logs of size 1e5 are good to that"})
		numtest.Near(t, c.name+": theta", theta, c.theta, numtest.Tol{Abs: tol.Abs, Rel: 1e-14, Why: tol.Why})
		if !math.IsInf(theta, -1) {
			checkKL(t, c.logS, c.lo, c.hi, q, theta)
		}
	}
}

func TestProjectErrors(t *testing.T) {
	two := []float64{0, 0}
	for _, c := range []struct {
		name         string
		logS, lo, hi []float64
		want         error
	}{
		{"nothing", nil, nil, nil, wpmerr.ErrInfeasible},
		{"lengths", two, []float64{0}, two, wpmerr.ErrShape},
		{"NaN", []float64{nan, 0}, two, []float64{1, 1}, wpmerr.ErrNotFinite},
		{"+Inf", []float64{inf, 0}, two, []float64{1, 1}, wpmerr.ErrNotFinite},
		{"NaN bound", two, []float64{nan, 0}, []float64{1, 1}, wpmerr.ErrNotFinite},
		{"negative", two, []float64{-1, 0}, []float64{1, 1}, wpmerr.ErrNegative},
		{"box", two, []float64{.6, 0}, []float64{.5, 1}, wpmerr.ErrBox},
		{"little", two, two, []float64{.5, .4}, wpmerr.ErrInfeasible},
		{"much", two, []float64{.6, .6}, []float64{1, 1}, wpmerr.ErrInfeasible},
		{"no finite divergence", []float64{-inf, 0}, two, []float64{1, .5}, wpmerr.ErrInfeasible},
	} {
		if _, _, err := Project(c.logS, c.lo, c.hi); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestProjectSpread is the case that defeats prefix sums: s over 300 decades, with most of the mass in
// few columns.
func TestProjectSpread(t *testing.T) {
	n := 601
	logS, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range logS {
		logS[j] = float64(j-300) * math.Ln10
		lo[j], hi[j] = 0.1/float64(n), 10/float64(n)
	}
	q, theta, err := Project(logS, lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	checkKL(t, logS, lo, hi, q, theta)
	free := 0
	for j := range q {
		if q[j] > lo[j] && q[j] < hi[j] {
			free++
		}
	}
	if free < 1 || free > 2 { // 10 and 0.1 are two decades apart
		t.Errorf("%d free columns", free)
	}
}

// The projection by bisection, short and slow.
func bisect(logS, lo, hi []float64) []float64 {
	a, b := -2e6, 2e6
	q := make([]float64, len(lo))
	for range 200 {
		c := (a + b) / 2
		var sum float64
		for j := range q {
			q[j] = math.Min(math.Max(math.Exp(c+logS[j]), lo[j]), hi[j])
			sum += q[j]
		}
		if sum < 1 {
			a = c
		} else {
			b = c
		}
	}
	return q
}

func TestProjectBisection(t *testing.T) {
	g := generator{numtest.NewSplitMix64(11)}
	for range 500 {
		n := 1 + g.intn(50)
		logS := make([]float64, n)
		for j := range logS {
			logS[j] = 30 * (g.float() - 0.5)
			if g.intn(8) == 0 && j > 0 {
				logS[j] = logS[j-1]
			}
		}
		lo, hi := box(g.mass(n), 0.5+2*g.float())
		q, _, err := Project(logS, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		numtest.NearSlice(t, "q", q, bisect(logS, lo, hi),
			numtest.Tol{Abs: 1e-13, Rel: 1e-13, Why: "bisection ends at the spacing of theta, up to 30 * 2^-53"})
	}
}

// TestKLFarApart: logS at both ends of the floats; theta is between breakpoints whose difference overflows (found by
// fuzzing).
func TestKLFarApart(t *testing.T) {
	logS := []float64{-math.MaxFloat64, 6, 6, math.MaxFloat64}
	q, theta, err := Project(logS, []float64{4e-78, 0, 0, 0.2}, []float64{2e-77, 0, 0, 1})
	if err != nil || math.IsNaN(theta) || math.IsInf(theta, 0) || q[3] != 1 {
		t.Errorf("q = %v, theta = %v, %v", q, theta, err)
	}
}

// TestProjectMemory: what the memory held before does not show, neither in columns that s does not reach nor in others.
func TestProjectMemory(t *testing.T) {
	g := generator{numtest.NewSplitMix64(91)}
	var w Workspace
	for range 200 {
		n := 2 + g.intn(12)
		logS := make([]float64, n)
		for j := range logS {
			if logS[j] = 20 * (g.float() - 0.5); g.intn(4) == 0 {
				logS[j] = math.Inf(-1)
			}
		}
		lo, hi := box(g.mass(n), 3)
		for j := range lo {
			if g.intn(2) == 0 {
				lo[j] = 0
			}
		}
		want, theta, err := Project(logS, lo, hi)
		if err != nil {
			continue // the columns that s reaches cannot hold the mass
		}
		q := make([]float64, n)
		for j := range q {
			q[j] = hi[j] / 2
		}
		if again, ok := w.Project(logS, lo, hi, q); !ok || again != theta || !slices.Equal(q, want) {
			t.Errorf("logS = %v, lo = %v, hi = %v: %v, %v in used memory, want %v, %v", logS, lo, hi, q, again, want, theta)
		}
	}
}

// KLProject satisfies the conditions of optimality, and its q is in the box.
func TestLawKLProject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{numtest.NewSplitMix64(rapid.Uint64().Draw(t, "seed"))}
		n := rapid.IntRange(1, 40).Draw(t, "n")
		size := math.Pow(10, rapid.Float64Range(-1, 5).Draw(t, "size"))
		logS := make([]float64, n)
		for j := range logS {
			logS[j] = size * (g.float() - 0.5)
		}
		lo, hi := box(g.mass(n), []float64{0, 0.1, 1, 3}[g.intn(4)])
		q, theta, err := Project(logS, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		checkKL(t, logS, lo, hi, q, theta)
	})
}

func checkKL(t interface{ Fatalf(string, ...any) }, logS, lo, hi, q []float64, theta float64) {
	var sum float64
	top := math.Abs(theta)
	for _, l := range logS {
		if !math.IsInf(l, -1) {
			top = math.Max(top, math.Abs(l))
		}
	}
	for j, x := range q {
		if hi[j] > 0 && !(lo[j]*(1-0x1p-50) <= x && x <= hi[j]*(1+0x1p-50)) {
			t.Fatalf("q[%d] = %v outside [%v, %v]", j, x, lo[j], hi[j])
		}
		sum += x
		want := math.Min(math.Max(math.Exp(theta+logS[j]), lo[j]), hi[j])
		// theta and logS carry rounding errors of their size, and the mass is repaired by rounding.
		if !(math.Abs(x-want) <= 0x1p-48*(1+top)*x+float64(len(q))*0x1p-50) {
			t.Fatalf("q[%d] = %v, want %v (theta %v, logS %v)", j, x, want, theta, logS[j])
		}
	}
	if !(math.Abs(sum-1) <= float64(2*len(q))*0x1p-52) {
		t.Fatalf("q sums to %v", sum)
	}
}

// TestPoint: upper bounds that sum to 1 are the answer, also in columns that s does not reach.
func TestPoint(t *testing.T) {
	hi := []float64{.25, .5, .25}
	q, theta, err := Project([]float64{-inf, 1, 0}, make([]float64, 3), hi)
	if err != nil || !slices.Equal(q, hi) || !(math.Abs(theta-math.Log(.25)) <= 1e-15) {
		t.Errorf("%v, %v, %v", q, theta, err)
	}
}

// TestMiddle: where every column is at a bound, the multiplier is one of those that leave it there: the finite end of
// them, if there is one, and 0 where the box is a point.
func TestMiddle(t *testing.T) {
	const same = 1e-12
	inf := math.Inf(1)
	for _, tt := range []struct {
		logS, lo, hi []float64
		want         float64
	}{
		{[]float64{0, 0}, []float64{0.2, 0.3}, []float64{0.7, 0.4}, math.NaN()},
		{[]float64{0, -5}, []float64{0.1, 0.25}, []float64{0.75, 0.9}, math.NaN()},
		{[]float64{0, -5}, []float64{0, 0}, []float64{1, 1}, math.NaN()},
		{[]float64{0, math.Inf(-1)}, []float64{0, 0.25}, []float64{0.75, 0.9}, math.Log(0.75)}, // no upper end
		{[]float64{0, 1, 2}, []float64{0.5, 0.25, 0.25}, []float64{0.5, 0.25, 0.25}, 0},        // every number is one
		// the lower bounds fill all
		{[]float64{0, 1, 2}, []float64{0.5, 0.25, 0.25}, []float64{0.6, 0.3, 0.5}, math.Log(0.25) - 2},
		{[]float64{0, 1, 2}, []float64{0, 0, 0}, []float64{0.5, 0.25, 0.25}, math.Log(0.5)}, // the upper ones do
		// one column, in the point of its box
		{[]float64{0, math.Inf(-1)}, []float64{1, 0}, []float64{1, 1}, 0},
		{[]float64{math.Inf(-1), math.Inf(-1)}, []float64{0.5, 0.5}, []float64{0.5, 0.5}, 0}, // none
		{[]float64{0, -40, -90}, []float64{0, 0.125, 0.125}, []float64{0.75, 1, 1}, math.NaN()},
	} {
		q, theta, err := Project(tt.logS, tt.lo, tt.hi)
		if err != nil {
			t.Fatal(err)
		}
		for j, s := range tt.logS {
			if want := min(max(math.Exp(theta+s), tt.lo[j]), tt.hi[j]); !(math.Abs(q[j]-want) <= same) && theta > -inf {
				t.Errorf("%+v: q = %v at %v", tt, q, theta)
			}
		}
		if !math.IsNaN(tt.want) && !(math.Abs(theta-tt.want) <= same) {
			t.Errorf("%+v: multiplier %v", tt, theta)
		}
	}
}

// TestProjectNearlyFull: the columns that s reaches hold all but a rounding of the mass, and take all they can; if more
// is missing, there is no answer.
func TestProjectNearlyFull(t *testing.T) {
	logS := []float64{0, math.Inf(-1), 1}
	lo := []float64{0.1, 0, 0.1}
	for _, tt := range []struct {
		missing float64
		ok      bool
	}{{0, true}, {1e-13, true}, {1e-11, false}} {
		hi := []float64{0.5, 0.5, 0.5 - tt.missing}
		q, theta, err := Project(logS, lo, hi)
		if !tt.ok {
			if !errors.Is(err, wpmerr.ErrInfeasible) {
				t.Errorf("%v is missing: %v, %v", tt.missing, q, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v is missing: %v", tt.missing, err)
			continue
		}
		sum := 0.0
		for j := range q {
			if !(lo[j] <= q[j] && q[j] <= hi[j]) {
				t.Errorf("%v is missing: q[%d] = %v is outside [%v, %v]", tt.missing, j, q[j], lo[j], hi[j])
			}
			sum += q[j]
		}
		if math.Abs(sum-1) > 3*0x1p-52 || math.IsNaN(theta) {
			t.Errorf("%v is missing: q = %v, theta = %v", tt.missing, q, theta)
		}
	}
}

func BenchmarkProject(b *testing.B) {
	g := generator{numtest.NewSplitMix64(1)}
	for _, n := range []int{250, 4000} {
		logS := make([]float64, n)
		for j := range logS {
			logS[j] = 20 * g.float()
		}
		lo, hi := box(g.mass(n), 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Project(logS, lo, hi); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestProjectNaN: what is no number has no projection, and no search for its multiplier goes on for ever.
func TestProjectNaN(t *testing.T) {
	lo, hi, q := []float64{0, 0, 0}, []float64{1, 0.5, 1}, make([]float64, 3)
	for j := range 3 {
		logS := []float64{0, -1, 2}
		logS[j] = math.NaN()
		if theta, ok := new(Workspace).Project(logS, lo, hi, q); ok {
			t.Errorf("column %d is NaN: theta %v", j, theta)
		}
	}
}
