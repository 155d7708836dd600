package sinkhorn

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// draw returns a random instance; rapid shrinks its seed and sizes.
func draw(t *rapid.T, least float64) (Problem, *generator) {
	g := newGenerator(rapid.Uint64().Draw(t, "seed"))
	k, kv := rapid.IntRange(1, 12).Draw(t, "k"), rapid.IntRange(1, 12).Draw(t, "kv")
	rel := math.Pow(least, rapid.Float64Range(0, 1).Draw(t, "log reg"))
	return g.problem(k, kv, rel), g
}

func solve(t *rapid.T, p Problem, s Settings) Result {
	r, err := Project(context.Background(), p, s)
	if err != nil {
		t.Fatalf("Project(%v, %v) = %v", describe(p), s.Method, err)
	}
	return r
}

// close compares distributions of two runs of the same problem: the promise on q, 1e-9, for each.
func closeQ(t *rapid.T, what string, got, want []float64) {
	if d := distance1(got, want); !(d <= 2e-9) {
		t.Fatalf("%s: %v, want %v, distance %g", what, got, want, d)
	}
}

// Algorithm 1 and the fast method have one answer.
func TestLawMethods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := draw(t, 0.03)
		a, b := solve(t, p, Settings{Method: Paper, Tolerance: 1e-13}), solve(t, p, Settings{})
		closeQ(t, "Fast", b.Q, a.Q)
		size := math.Abs(a.Objective) + given.Max(p.Cost) + p.Reg
		if d := math.Abs(a.Objective - b.Objective); !(d <= 1e-8*size) { // residual times potentials of a few ranges
			t.Fatalf("%v: Objective %v and %v", describe(p), a.Objective, b.Objective)
		}
	})
}

// The bounds enclose the exact optimum, computed by another solver, and the excess of q over it
// is inside the sharp entropic bound, for every Reg: so it goes to 0 with Reg.
func TestLawExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := draw(t, 1e-5)
		e, err := mincostflow.Project(context.Background(),
			projection.Problem{Cost: p.Cost, Source: p.Source, Lo: p.Lo, Hi: p.Hi}, mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, p, Settings{})
		top := given.Max(p.Cost)
		if r.Lower > e.Upper || r.Upper < e.Lower {
			t.Fatalf("%v: [%v, %v] does not meet the optimum [%v, %v]", describe(p), r.Lower, r.Upper, e.Lower, e.Upper)
		}
		w, err := mincostflow.Transport(context.Background(), p.Cost, p.Source, r.Q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Upper < w.Lower {
			t.Fatalf("%v: Upper = %v, but Q costs %v", describe(p), r.Upper, w.Lower)
		}
		const slack = 1e-9 // the accuracy of q, times the largest cost
		if excess := w.Objective - e.Objective; !(excess <= r.Posterior+slack*top) {
			t.Fatalf("%v: q costs %g more than the optimum, bound %g", describe(p), excess, r.Posterior)
		}
		if sharp := p.Reg * w0(float64(len(p.Lo)-1)/math.E); !(r.Posterior <= sharp*(1+1e-9)+slack*top) {
			t.Fatalf("%v: Posterior = %v above the sharp bound %v", describe(p), r.Posterior, sharp)
		}
	})
}

// A start from anywhere gives the same answer.
func TestLawStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, g := draw(t, 1e-3)
		want := solve(t, p, Settings{})
		_, kv := p.Cost.Dims()
		size := math.Pow(10, rapid.Float64Range(-2, 300).Draw(t, "size"))
		start := make([]float64, kv)
		for j := range start {
			start[j] = size * (g.float() - 0.5)
		}
		closeQ(t, "another start", solve(t, p, Settings{Initial: start}).Q, want.Q)
		if p.Reg > 0.05*given.Range(p.Cost) {
			closeQ(t, "another start, Algorithm 1", solve(t, p, Settings{Method: Paper, Initial: start, Tolerance: 1e-13}).Q,
				want.Q)
		}
	})
}

// Renaming rows and columns renames the answer.
func TestLawPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := draw(t, 1e-4)
		k, kv := p.Cost.Dims()
		rows := rapid.Permutation(indices(k)).Draw(t, "rows")
		cols := rapid.Permutation(indices(kv)).Draw(t, "columns")
		d := p.Cost.(*cost.Dense)
		e := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		q := Problem{Problem: projection.Problem{Cost: e, Source: make([]float64, k), Lo: make([]float64, kv),
			Hi: make([]float64, kv)}, Reg: p.Reg}
		for i, r := range rows {
			q.Source[i] = p.Source[r]
			for j, c := range cols {
				e.Data[i*kv+j] = d.Data[r*kv+c]
			}
		}
		for j, c := range cols {
			q.Lo[j], q.Hi[j] = p.Lo[c], p.Hi[c]
		}
		want := make([]float64, kv)
		a := solve(t, p, Settings{})
		for j, c := range cols {
			want[j] = a.Q[c]
		}
		closeQ(t, "permuted", solve(t, q, Settings{}).Q, want)
	})
}

func indices(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// Adding f_i to row i of the cost adds sum mu_i f_i to both objectives and leaves q; multiplying cost and Reg
// by a power of two multiplies the objectives, to the last bit.
func TestLawCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, g := draw(t, 1e-3)
		a := solve(t, p, Settings{})
		d := p.Cost.(*cost.Dense)
		e := &cost.Dense{K: d.K, Kv: d.Kv, Data: append([]float64(nil), d.Data...)}
		var extra float64
		for i := range d.K {
			f := 3 * g.float()
			extra += p.Source[i] * f
			for j := range d.Kv {
				e.Data[i*d.Kv+j] += f
			}
		}
		q := p
		q.Cost = e
		b := solve(t, q, Settings{})
		closeQ(t, "shifted", b.Q, a.Q)
		top := given.Max(e)
		if diff := b.Transport - a.Transport - extra; !(math.Abs(diff) <= 1e-8*top) { // accuracy of q and plan
			t.Fatalf("%v: Transport changes by %v, want %v", describe(p), b.Transport-a.Transport, extra)
		}

		n := rapid.SampledFrom([]int{-1000, -900, -30, 1, 30, 900, 1000}).Draw(t, "exponent")
		for j, x := range d.Data {
			e.Data[j] = math.Ldexp(x, n)
			if math.Ldexp(e.Data[j], -n) != x {
				t.Skip("a cost below the smallest float")
			}
		}
		q.Reg = math.Ldexp(p.Reg, n)
		b = solve(t, q, Settings{})
		closeQ(t, "scaled", b.Q, a.Q)
		if -100 < n && n < 100 && math.Ldexp(b.Transport, -n) != a.Transport {
			t.Fatalf("%v: Transport %v times 2^%d is %v", describe(p), a.Transport, n, b.Transport)
		}
	})
}

// A gap that is asked for is proved, or refused with the best there is.
func TestLawGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := draw(t, 1e-5)
		gap := math.Pow(10, -4*rapid.Float64Range(0, 1).Draw(t, "log gap"))
		r, err := Project(context.Background(), p, Settings{Gap: gap})
		upper, lower, verr := Verify(context.Background(), p, r)
		if verr != nil {
			t.Fatalf("%v: %v", describe(p), verr)
		}
		u, _ := upper.Float64()
		l, _ := lower.Float64()
		if err == nil && !(u-l <= gap*u*(1+1e-9)+2e-15*given.Max(p.Cost)) {
			t.Fatalf("%v: gap %v of %v, wanted %v", describe(p), u-l, u, gap)
		}
	})
}
