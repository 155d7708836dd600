package mincostflow

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/projection"
)

// Problem is what these tests solve.
type Problem = projection.Problem

const (
	// gapTol is the promise on Upper - Lower, relative to the largest cost.
	gapTol = 1e-13
	// quantum allows bounds to be rounded outward where floats are no denser than this.
	quantum = 4 * math.SmallestNonzeroFloat64
)

// mustProject solves p and checks everything that every optimal result promises.
func mustProject(t testing.TB, p Problem, s Settings) Result {
	t.Helper()
	r, err := Project(context.Background(), p, s)
	mustBeOptimal(t, p, r, err)
	return r
}

// mustSimplex is mustProject by the simplex, also for a single row with mass.
func mustSimplex(t testing.TB, p Problem) Result {
	t.Helper()
	r, err := bySimplex(p, math.MaxInt)
	mustBeOptimal(t, p, r, err)
	return r
}

// mustBoth is mustProject by either method.
func mustBoth(t testing.TB, p Problem) [2]Result {
	t.Helper()
	return [2]Result{mustProject(t, p, Settings{}), mustSimplex(t, p)}
}

// bySimplex is Project by the simplex, also for a single row with mass, as if the context ended after so many pivots.
func bySimplex(p Problem, pivots int) (r Result, err error) {
	s := new(solver)
	ctx := numtest.Until{Context: context.Background(), Over: func() bool { return s.sx.Stats().Pivots >= pivots }}
	if err = s.in.set(p); err == nil {
		err = s.load(ctx, nil, 0)
	}
	if err == nil {
		err = s.finish(ctx, s.simplex(ctx), Settings{}, &r)
	}
	return r, err
}

// mustBeOptimal checks everything that every optimal result promises.
func mustBeOptimal(t testing.TB, p Problem, r Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("Project(%v) = %v", describe(p), err)
	}
	if r.Status != Optimal {
		t.Fatalf("Project(%v): status %v without an error", describe(p), r.Status)
	}
	checkResult(t, p, r)
	checkGap(t, p, r)
	checkSlackness(t, p, r)
}

// checkSlackness checks the signs of an optimum: a column whose price is positive is at its lower
// bound, one whose price is negative at its upper bound. And every row with mass, however little,
// sends it somewhere.
func checkSlackness(t testing.TB, p Problem, r Result) {
	t.Helper()
	one := big.NewRat(1, 1)
	if ratSum(p.Lo).Cmp(one) <= 0 && ratSum(p.Hi).Cmp(one) >= 0 {
		for j, g := range r.Potentials.G {
			if g > 0 && r.Q[j] != p.Lo[j] || g < 0 && r.Q[j] != p.Hi[j] {
				t.Fatalf("%v: G[%d] = %v, Q[%d] = %v", describe(p), j, g, j, r.Q[j])
			}
		}
	}
	rows := map[int]bool{}
	for _, e := range r.Plan {
		rows[e.I] = true
	}
	for n, m := range p.Source {
		i := n
		if p.Support != nil {
			i = p.Support[n]
		}
		if m > 0 && !rows[i] {
			t.Fatalf("%v: row %d has mass %v and no entry in the plan", describe(p), i, m)
		}
	}
}

// checkGap checks the gap of an optimal result, claimed and proved.
func checkGap(t testing.TB, p Problem, r Result) {
	t.Helper()
	top := given.Max(p.Cost)
	if !(r.Gap() <= gapTol*top+quantum) {
		t.Fatalf("%v: gap %g = %g max C (lower %v, upper %v, stats %+v)", describe(p), r.Gap(), r.Gap()/top, r.Lower, r.Upper,
			r.Stats)
	}
}

// checkResult checks what every result promises, optimal or not, with Verify and without.
func checkResult(t testing.TB, p Problem, r Result) (upper, lower *big.Rat) {
	t.Helper()
	upper, lower, err := Verify(context.Background(), p, r)
	if err != nil {
		t.Fatalf("Verify(%v) = %v", describe(p), err)
	}
	if upper.Cmp(lower) < 0 {
		t.Fatalf("%v: proved upper %v below lower %v", describe(p), upper, lower)
	}
	if !(r.Lower >= 0 && r.Lower <= r.Upper) {
		t.Fatalf("%v: Lower = %v, Upper = %v", describe(p), r.Lower, r.Upper)
	}
	k, kv := p.Cost.Dims()
	if len(r.Potentials.F) != k || len(r.Potentials.G) != kv || len(r.Q) != kv {
		t.Fatalf("%v: %d F, %d G, %d Q", describe(p), len(r.Potentials.F), len(r.Potentials.G), len(r.Q))
	}
	for n, e := range r.Plan {
		if !(e.Mass > 0) {
			t.Fatalf("%v: Plan[%d] = %+v", describe(p), n, e)
		}
	}
	return upper, lower
}

// describe prints a problem so that it can be pasted into a test.
func describe(p Problem) any {
	if d, ok := p.Cost.(*cost.Dense); ok && len(d.Data) <= 400 {
		return struct {
			K, Kv         int
			C, Mu, Lo, Hi []float64
			Support       []int
		}{d.K, d.Kv, d.Data, p.Source, p.Lo, p.Hi, p.Support}
	}
	k, kv := p.Cost.Dims()
	return []int{k, kv}
}

func dense(t testing.TB, rows ...[]float64) *cost.Dense {
	t.Helper()
	d, err := cost.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// uniform returns n times 1/n.
func uniform(n int) []float64 { return repeat(1/float64(n), n) }

func repeat(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

func scaled(xs []float64, by float64) []float64 {
	ys := slices.Clone(xs)
	for i := range ys {
		ys[i] *= by
	}
	return ys
}

// box returns the bounds exp(-eps/2) m and exp(eps/2) m.
func box(m []float64, eps float64) (lo, hi []float64) {
	return scaled(m, math.Exp(-eps/2)), scaled(m, math.Exp(eps/2))
}

// draw is a seeded generator of small problems that lean to trouble.
type draw struct{ given.Hard }

func newDraw(seed uint64) draw { return draw{given.NewHard(seed)} }

// masses draws a distribution of one of several kinds.
func (d draw) masses(n int) []float64 {
	x := make([]float64, n)
	kind := d.Intn(7)
	for i := range x {
		switch kind {
		case 0:
			x[i] = 1
		case 1:
			x[i] = d.Float64()
		case 2:
			x[i] = math.Exp(60 * (d.Float64() - 1))
		case 3:
			x[i] = float64(d.Intn(3))
		case 4:
			x[i] = math.Exp(700 * (d.Float64() - 1))
		case 5:
			x[i] = float64(1 + d.Intn(4))
		case 6: // a point mass
		}
	}
	x[d.Intn(n)]++
	normalise(x)
	return x
}

// problem draws a projection problem with at most most rows and columns.
func (d draw) problem(most int) Problem {
	k, kv := 1+d.Intn(most), 1+d.Intn(most)
	p := Problem{Cost: d.Costs(k, kv), Source: d.masses(k)}
	m := d.masses(kv)
	eps := []float64{0, 0, 0.1, 1, 2, 5, 50}[d.Intn(7)]
	// The mass of m: in the middle, in the middle, or tight at either end.
	s := []float64{1, 1, math.Exp(eps / 2), math.Exp(-eps / 2)}[d.Intn(4)]
	p.Lo, p.Hi = box(scaled(m, s), eps)
	if d.Intn(3) == 0 { // dyadic factors, for exact ties
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	switch d.Intn(10) {
	case 0: // one column that takes anything
		j := d.Intn(kv)
		p.Lo[j], p.Hi[j] = 0, 1e12
	case 1: // all of them do
		p.Lo, p.Hi = scaled(m, 0.5), repeat(1e12, kv)
	}
	return p
}

func maxCost(p Problem) float64 { return given.Max(p.Cost) }
