package mirror_test

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mirror"
)

var (
	background = context.Background()
	allRules   = []mirror.Rule{mirror.Paper, mirror.Repaired, mirror.Sharp, mirror.Adaptive}
)

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func matrix(k, kv int, entry func(i, j int) float64) *cost.Dense {
	c := &cost.Dense{K: k, Kv: kv}
	for i := range k {
		for j := range kv {
			c.Data = append(c.Data, entry(i, j))
		}
	}
	return c
}

func ring(n int) *cost.Dense {
	return matrix(n, n, func(i, j int) float64 {
		d := max(i-j, j-i)
		d = min(d, n-d)
		return float64(d * d)
	})
}

func path(n int) *cost.Dense {
	return matrix(n, n, func(i, j int) float64 { return float64(max(i-j, j-i)) })
}

// square is the distance between random points of the unit square, the same for every n.
func square(n int) *cost.Dense {
	rnd := numtest.NewSplitMix64(1)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rnd.Float64(), rnd.Float64()
	}
	return matrix(n, n, func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) })
}

func random(k, kv int, seed uint64) *cost.Dense {
	rnd := numtest.NewSplitMix64(seed)
	return matrix(k, kv, func(int, int) float64 { return rnd.Float64() })
}

func newTable(t tb, c cost.Matrix) *knapsack.Table {
	t.Helper()
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// certificate is the same evidence in the type that package basemeasure verifies.
func certificate(r mirror.Result) basemeasure.Result {
	return basemeasure.Result{
		M: r.M, F: r.F, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights, Thresholds: r.Thresholds,
	}
}

// descend runs a descent and checks everything that must hold of any Result.
func descend(t tb, c cost.Matrix, eps float64, s mirror.Settings) mirror.Result {
	t.Helper()
	table := newTable(t, c)
	r, err := mirror.Descend(background, table, eps, s)
	if err != nil {
		t.Fatalf("Descend: %v", err)
	}
	check(t, c, eps, r)
	if r.Steps != r.Settings.Steps {
		t.Fatalf("%d steps, want %d", r.Steps, r.Settings.Steps)
	}
	return r
}

// valueTol is the relative difference between f of a float box and f of the real one: a dozen roundings of the
// bounds, each of which costs at most itself times e^eps near a steep end, so it is in units of the largest cost.
const valueTol = 1e-12

func check(t tb, c cost.Matrix, eps float64, r mirror.Result) {
	t.Helper()
	upper, lower, err := basemeasure.Verify(context.Background(), c, eps, certificate(r))
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	scale := given.Max(c)
	if d := new(big.Rat).Sub(upper,
		new(big.Rat).SetFloat64(r.F)); d.Abs(d).Cmp(new(big.Rat).SetFloat64(valueTol*scale+0x1p-1060)) > 0 {
		t.Fatalf("F = %v, proved %v", r.F, upper.FloatString(20))
	}
	if lower.Cmp(upper) > 0 || r.Gap() < 0 {
		t.Fatalf("lower %v, upper %v", lower, upper)
	}
	if !(r.F == min(r.FAverage, r.FBest) && r.Lower <= r.F && r.F <= r.Upper) {
		t.Fatalf("F = %v, of the average %v, of the best %v; bounds %v, %v", r.F, r.FAverage, r.FBest, r.Lower, r.Upper)
	}
	if !(r.Bound >= 0 && r.PaperBound >= 0) {
		t.Fatalf("bounds %v, %v", r.Bound, r.PaperBound)
	}
	if r.BestStep < 1 || r.BestStep > r.Steps {
		t.Fatalf("best step %d of %d", r.BestStep, r.Steps)
	}
	// Any m has f(m) >= f*, so the bound must reach below the certified lower bound's upper neighbours.
	if !(r.FAverage-r.Bound <= r.FBest+valueTol*scale) {
		t.Fatalf("average %v less bound %v is above the best iterate %v", r.FAverage, r.Bound, r.FBest)
	}
	// The regret bound of the constant rules is about every measure, so it bounds the certificate too. At larger
	// eps a rounding of the certificate counts e^eps times.
	if r.Settings.Rule != mirror.Adaptive && eps <= 5 && !(r.FAverage-r.Lower <= r.Bound+valueTol*scale) {
		t.Fatalf("average %v less bound %v is above the certificate %v", r.FAverage, r.Bound, r.Lower)
	}
	last := mirror.Report{Best: math.Inf(1)}
	for n, h := range r.History {
		switch {
		case h.Step <= last.Step:
			t.Fatalf("report %d is about step %d after %d", n, h.Step, last.Step)
		case h.Lower < last.Lower || h.Best > last.Best:
			t.Fatalf("report %d: lower bound %v after %v, best %v after %v", n, h.Lower, last.Lower, h.Best, last.Best)
		case !(h.Lower <= min(h.Best, h.Average)+valueTol*scale && h.Best <= h.F):
			t.Fatalf("report %d out of order: %+v", n, h)
		case !(h.Average-h.Bound <= r.F+valueTol*scale):
			t.Fatalf("report %d: bound violated by %v: %+v", n, r.F, h)
		}
		last = h
	}
	if last.Step != r.Steps || last.Average != r.FAverage || last.Best != r.FBest || last.Bound != r.Bound ||
		last.Lower < r.Lower {
		t.Fatalf("last report %+v, result %v %v %v %v", last, r.FAverage, r.FBest, r.Bound, r.Lower)
	}
}
