package sinkhorn

import (
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

func TestKLProject(t *testing.T) {
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
		{"one at each bound", []float64{0, l3, l2}, []float64{.4, 0, 0}, []float64{1, .35, 1}, []float64{.4, .35, .25}, math.Log(.125)},
		{"free mass is what is left", []float64{0, 0, 0}, []float64{.5, .1, .1}, []float64{.6, .4, .4}, []float64{.5, .25, .25}, math.Log(.25)},
		{"lo = hi", []float64{0, 3}, []float64{.25, .75}, []float64{.25, .75}, []float64{.25, .75}, math.Log(.75) - 3},
		{"sum lo = 1", []float64{0, 3}, []float64{.25, .75}, []float64{1, 1}, []float64{.25, .75}, math.Log(.75) - 3},
		{"sum hi = 1", []float64{0, 3}, []float64{0, 0}, []float64{.25, .75}, []float64{.25, .75}, math.Log(.25)},
		// Every column at a bound: theta in [log .25, log .5].
		{"flat", []float64{0, math.Log(1.5)}, []float64{0, .75}, []float64{.25, 1}, []float64{.25, .75}, math.Log(.25)},
		{"zero s", []float64{-inf, 0}, []float64{.25, 0}, []float64{1, 1}, []float64{.25, .75}, math.Log(.75)},
		{"zero s everywhere needed", []float64{-inf, -inf}, []float64{.25, .75}, []float64{.25, .75}, []float64{.25, .75}, 0},
		{"logs far out of the range of exp", []float64{-5e4, l2 - 5e4, 9e5}, []float64{0, 0, .1}, []float64{1, 1, .4}, []float64{.2, .4, .4}, math.Log(.2) + 5e4},
		{"one column is a point between the breaks", []float64{0, 0}, []float64{0, .1875}, []float64{1, .1875}, []float64{.8125, .1875}, math.Log(.8125)},
		{"nothing left for a column", []float64{0, 0}, []float64{1, 0}, []float64{1, 1}, []float64{1, 0}, -inf},
		{"dead column", []float64{7, 0}, []float64{0, 0}, []float64{0, 1}, []float64{0, 1}, 0},
	} {
		q, theta, err := KLProject(c.logS, c.lo, c.hi)
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

func TestKLProjectErrors(t *testing.T) {
	two := []float64{0, 0}
	for _, c := range []struct {
		name         string
		logS, lo, hi []float64
		want         error
	}{
		{"nothing", nil, nil, nil, ErrInfeasible},
		{"lengths", two, []float64{0}, two, ErrShape},
		{"NaN", []float64{nan, 0}, two, []float64{1, 1}, ErrNotFinite},
		{"+Inf", []float64{inf, 0}, two, []float64{1, 1}, ErrNotFinite},
		{"NaN bound", two, []float64{nan, 0}, []float64{1, 1}, ErrNotFinite},
		{"negative", two, []float64{-1, 0}, []float64{1, 1}, ErrNegative},
		{"box", two, []float64{.6, 0}, []float64{.5, 1}, ErrBox},
		{"little", two, two, []float64{.5, .4}, ErrInfeasible},
		{"much", two, []float64{.6, .6}, []float64{1, 1}, ErrInfeasible},
		{"no finite divergence", []float64{-inf, 0}, two, []float64{1, .5}, ErrInfeasible},
	} {
		if _, _, err := KLProject(c.logS, c.lo, c.hi); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestKLProjectSpread is the case that defeats prefix sums: s over 300 decades, with most of the mass in
// few columns.
func TestKLProjectSpread(t *testing.T) {
	n := 601
	logS, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range logS {
		logS[j] = float64(j-300) * math.Ln10
		lo[j], hi[j] = 0.1/float64(n), 10/float64(n)
	}
	q, theta, err := KLProject(logS, lo, hi)
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

func TestKLProjectBisection(t *testing.T) {
	g := newGenerator(11)
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
		q, _, err := KLProject(logS, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		numtest.NearSlice(t, "q", q, bisect(logS, lo, hi), numtest.Tol{Abs: 1e-13, Rel: 1e-13, Why: "bisection ends at the spacing of theta, up to 30 * 2^-53"})
	}
}

// TestKLFarApart: logS at both ends of the floats; theta is between breakpoints whose difference overflows (found by fuzzing).
func TestKLFarApart(t *testing.T) {
	logS := []float64{-math.MaxFloat64, 6, 6, math.MaxFloat64}
	q, theta, err := KLProject(logS, []float64{4e-78, 0, 0, 0.2}, []float64{2e-77, 0, 0, 1})
	if err != nil || math.IsNaN(theta) || math.IsInf(theta, 0) || q[3] != 1 {
		t.Errorf("q = %v, theta = %v, %v", q, theta, err)
	}
}
