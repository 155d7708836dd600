package sinkhorn

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// tight is how close two runs of one well-conditioned instance come: residuals of 1e-12, enlarged by the
// conditioning of the instances used, at most 100.
var tight = numtest.Tol{Abs: 1e-10, Why: "two runs to a residual of 1e-12"}

// TestLookAlikes is the instance of the audit that tells Algorithm 1 from methods that look like it and
// converge to another q: alternating projections without the correction end in the second.
func TestLookAlikes(t *testing.T) {
	lo := []float64{.05, .10, .15}
	hi := []float64{.20, .40, .60}
	p := Problem{Problem: projection.Problem{Cost: dense(t, []float64{0, 3, 3}, []float64{3, 1, 3}, []float64{0, 3, 3}),
		Source: []float64{.4, .2, .4},
		Lo:     lo, Hi: hi}, Reg: 1}
	for _, m := range methods {
		r := mustProject(t, p, Settings{Method: m})
		numtest.NearSlice(t, m.String()+": Q", r.Q, []float64{0.2, 0.4, 0.4}, tight)
		numtest.Near(t, m.String()+": Objective", r.Objective, 0.06983, numtest.Tol{Abs: 5e-6, Why: "the printed digits"})
		wrong := []float64{0.2, 0.27422911, 0.52577089}
		if distance1(r.Q, wrong) < 0.1 {
			t.Errorf("%v: Q = %v is that of the projections without correction", m, r.Q)
		}
	}
}

// TestSpecialCases solves instances at the edges of what a problem may be, by both methods, and
// checks the answer where it is known, all promises of a Result, and that the methods agree.
func TestSpecialCases(t *testing.T) {
	third := 1.0 / 3
	ring, err := cost.NewRing(30, 2)
	if err != nil {
		t.Fatal(err)
	}
	dirac := make([]float64, 30)
	dirac[7] = 1
	flat := make([]float64, 30)
	for j := range flat {
		flat[j] = 1.0 / 30
	}
	ringLo, ringHi := box(flat, 2)
	subnormal := math.SmallestNonzeroFloat64
	for _, c := range []struct {
		name string
		p    projection.Problem
		reg  float64
		want []float64 // nil: only that the methods agree
	}{
		{"1 x 1", projection.Problem{Cost: dense(t, []float64{3}), Source: []float64{1}, Lo: []float64{0},
			Hi: []float64{1}}, 1,
			[]float64{1}},
		{"1 x 1, no cost", projection.Problem{Cost: dense(t, []float64{0}), Source: []float64{1}, Lo: []float64{1},
			Hi: []float64{2}},
			1e-300, []float64{1}},
		{"one row", projection.Problem{Cost: dense(t, []float64{0, 1, 2}), Source: []float64{1}, Lo: []float64{.1, .1, .1},
			Hi: []float64{.5, .5, .5}}, 0.001, []float64{.5, .4, .1}},
		{"one column", projection.Problem{Cost: dense(t, []float64{0}, []float64{1}), Source: []float64{.5, .5},
			Lo: []float64{0},
			Hi: []float64{5}}, 0.1, []float64{1}},
		{"constant cost", projection.Problem{Cost: dense(t, []float64{7, 7}, []float64{7, 7}), Source: []float64{.5, .5},
			Lo: []float64{0, 0}, Hi: []float64{1, 1}}, 0.1, []float64{.5, .5}},
		{"constant rows, tiny Reg",
			projection.Problem{Cost: dense(t, []float64{7, 7}, []float64{3, 3}), Source: []float64{.5, .5}, Lo: []float64{0, 0},
				Hi: []float64{1, .25}}, 1e-12, []float64{.75, .25}},
		{"lo = hi", projection.Problem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}), Source: []float64{.25, .75},
			Lo: []float64{.5, .5}, Hi: []float64{.5, .5}}, 0.1, []float64{.5, .5}},
		{"lo = hi, off by rounding",
			projection.Problem{Cost: dense(t, []float64{0, 1, 2}, []float64{1, 0, 3}), Source: []float64{.25, .75},
				Lo: []float64{third, third, third + 1e-13}, Hi: []float64{third, third, third + 1e-13}}, 0.1, nil},
		{"sum lo = 1, room above",
			projection.Problem{Cost: dense(t, []float64{0, 1, 2}, []float64{1, 0, 3}), Source: []float64{.25, .75},
				Lo: []float64{.5, .5, 0}, Hi: []float64{1, 1, 1}}, 0.1, []float64{.5, .5, 0}},
		{"sum hi = 1, room below",
			projection.Problem{Cost: dense(t, []float64{0, 1, 2}, []float64{1, 0, 3}), Source: []float64{.25, .75},
				Lo: []float64{0, 0, 0}, Hi: []float64{.5, .25, .25}}, 0.1, []float64{.5, .25, .25}},
		{"sum hi short by rounding",
			projection.Problem{Cost: dense(t, []float64{0, 1, 2}, []float64{1, 0, 3}), Source: []float64{.25, .75},
				Lo: []float64{0, 0, 0}, Hi: []float64{.5, .25, .25 - 1e-13}}, 0.1, nil},
		{"zero mass, dead column",
			projection.Problem{Cost: dense(t, []float64{0, 1, 9}, []float64{4, 4, 4}, []float64{2, 0, 9}),
				Source: []float64{.5, 0, .5},
				Lo:     []float64{0, 0, 0}, Hi: []float64{1, 1, 0}}, 0.5, nil},
		{"sparse source", projection.Problem{Cost: ring, Source: []float64{.5, 0, .5}, Support: []int{3, 4, 20}, Lo: ringLo,
			Hi: ringHi},
			5, nil},
		{"point mass", projection.Problem{Cost: ring, Source: dirac, Lo: ringLo, Hi: ringHi}, 0.3, nil},
		{"duplicate columns", projection.Problem{Cost: dense(t, []float64{0, 0, 1}, []float64{1, 1, 0}),
			Source: []float64{.5, .5},
			Lo:     []float64{.1, .1, .1}, Hi: []float64{.3, .3, .8}}, 0.2, nil},
		{"duplicate rows", projection.Problem{Cost: dense(t, []float64{0, 1}, []float64{0, 1}), Source: []float64{.5, .5},
			Lo: []float64{.1, .1}, Hi: []float64{.7, .7}}, 0.1, []float64{.7, .3}},
		{"huge costs", projection.Problem{Cost: dense(t, []float64{0, 1e308}, []float64{1.7e308, 0}),
			Source: []float64{.5, .5},
			Lo:     []float64{.1, .1}, Hi: []float64{.3, .9}}, 1e307, nil},
		{"the largest cost alone",
			projection.Problem{Cost: dense(t, []float64{math.MaxFloat64, math.MaxFloat64}, []float64{6, 0}),
				Source: []float64{1, 0},
				Lo:     []float64{0, 0}, Hi: []float64{1, 0}}, 6, []float64{1, 0}},
		{"a range far below the costs of other rows",
			projection.Problem{Cost: dense(t, []float64{6, 6}, []float64{1.262177448353619e-29, 0}), Source: []float64{.5, .5},
				Lo: []float64{.97, .03}, Hi: []float64{1.47, .53}}, 7.5e-35, []float64{.97, .03}},
		{"the same at the end of the range",
			projection.Problem{Cost: dense(t, []float64{math.MaxFloat64, math.MaxFloat64}, []float64{6, 0.1875}, []float64{6, 6}),
				Source: []float64{1. / 3, 1. / 3, 1. / 3},
				Lo:     []float64{.1, .1}, Hi: []float64{1, .1}}, 5.8125, []float64{.9, .1}},
		{"a bound below the smallest float",
			projection.Problem{Cost: dense(t, []float64{math.MaxFloat64, 6}), Source: []float64{1}, Lo: []float64{.1, .1},
				Hi: []float64{1, .1}}, math.MaxFloat64, []float64{.9, .1}},
		{"tiny costs", projection.Problem{Cost: dense(t, []float64{0, 1e-308}, []float64{1.7e-308, 0}),
			Source: []float64{.5, .5},
			Lo:     []float64{.1, .1}, Hi: []float64{.3, .9}}, 1e-309, nil},
		{"subnormal costs", projection.Problem{Cost: dense(t, []float64{0, 40 * subnormal}, []float64{60 * subnormal, 0}),
			Source: []float64{.5, .5}, Lo: []float64{.1, .1}, Hi: []float64{.3, .9}}, 5 * subnormal, nil},
		{"Reg far above the cost",
			projection.Problem{Cost: dense(t, []float64{0, 1, 5}, []float64{1, 0, 3}), Source: []float64{.5, .5},
				Lo: []float64{0, 0, 0},
				Hi: []float64{1, 1, 1}}, 1e300, []float64{third, third, third}},
		{"subnormal masses", projection.Problem{Cost: dense(t, []float64{0, 1, 5}, []float64{1, 0, 3}),
			Source: []float64{1, subnormal},
			Lo:     []float64{0, subnormal, 1e-310}, Hi: []float64{1, 1e-305, 1e-310}}, 0.1, []float64{1, 0, 0}},
		{"masses of all sizes", projection.Problem{Cost: dense(t, []float64{0, 1, 5, 2}, []float64{1, 0, 3, 1}, []float64{4, 4, 0, 1}),
			Source: []float64{1 - 1e-8, 1e-8, 1e-150},
			Lo:     []float64{0, 1e-20, 1e-100, 1e-180}, Hi: []float64{1, 1e-19, 1e-99, 1e-179}}, 0.01, nil},
		{"far columns must hold mass",
			projection.Problem{Cost: dense(t, []float64{0, 1e3, 1e6}), Source: []float64{1}, Lo: []float64{0, 1e-3, 1e-3},
				Hi: []float64{1, 1, 1}}, 1, []float64{.998, 1e-3, 1e-3}},
		{"offset", projection.Problem{Cost: dense(t, []float64{1e6, 1e6 + 1}, []float64{1e6 + 1, 1e6}),
			Source: []float64{.5, .5},
			Lo:     []float64{.1, .1}, Hi: []float64{.3, .9}}, 0.1, nil},
		{"minus zero", projection.Problem{Cost: dense(t, []float64{math.Copysign(0, -1), 1}, []float64{1, 0}),
			Source: []float64{1, math.Copysign(0, -1)}, Lo: []float64{0, 0}, Hi: []float64{1, 1}}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var qs [][]float64
			for _, m := range methods {
				r := mustProject(t, Problem{c.p, c.reg}, Settings{Method: m})
				if c.want != nil {
					numtest.NearSlice(t, m.String()+": Q", r.Q, c.want, tight)
				}
				qs = append(qs, r.Q)
			}
			if d := distance1(qs[0], qs[1]); !(d <= tight.Abs) {
				t.Errorf("methods differ by %g: %v and %v", d, qs[0], qs[1])
			}
		})
	}
}

// TestErrors lists what is refused, and by which error.
func TestErrors(t *testing.T) {
	good := func() Problem {
		return Problem{Problem: projection.Problem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}),
			Source: []float64{.5, .5}, Lo: []float64{.1, .1},
			Hi: []float64{.9, .9}}, Reg: 1}
	}
	raw := func(data ...float64) cost.Matrix { return &cost.Dense{K: 2, Kv: 2, Data: data} }
	for _, c := range []struct {
		name   string
		change func(*Problem, *Settings)
		want   error
	}{
		{"nil cost", func(p *Problem, _ *Settings) { p.Cost = nil }, wpmerr.ErrShape},
		{"nil dense", func(p *Problem, _ *Settings) { p.Cost = (*cost.Dense)(nil) }, wpmerr.ErrShape},
		{"nil ring", func(p *Problem, _ *Settings) { p.Cost = (*cost.Ring)(nil) }, wpmerr.ErrShape},
		{"empty cost", func(p *Problem, _ *Settings) { p.Cost = &cost.Dense{} }, wpmerr.ErrShape},
		{"short cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, 1, 1) }, wpmerr.ErrShape},
		{"NaN cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, nan, 1, 0) }, wpmerr.ErrNotFinite},
		{"infinite cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, 1, 1, inf) }, wpmerr.ErrNotFinite},
		{"negative cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, -1, 1, 0) }, wpmerr.ErrNegative},
		{"NaN cost in a row without mass",
			func(p *Problem, _ *Settings) { p.Cost, p.Source = raw(0, 1, nan, 0), []float64{1, 0} }, wpmerr.ErrNotFinite},
		{"short source", func(p *Problem, _ *Settings) { p.Source = []float64{1} }, wpmerr.ErrShape},
		{"NaN source", func(p *Problem, _ *Settings) { p.Source = []float64{nan, 1} }, wpmerr.ErrNotFinite},
		{"negative source", func(p *Problem, _ *Settings) { p.Source = []float64{-.5, 1.5} }, wpmerr.ErrNegative},
		{"no mass", func(p *Problem, _ *Settings) { p.Source = []float64{0, 0} }, wpmerr.ErrMass},
		{"nobody", func(p *Problem, _ *Settings) { p.Source, p.Support = nil, []int{} }, wpmerr.ErrMass},
		{"support twice", func(p *Problem, _ *Settings) { p.Support = []int{0, 0} }, wpmerr.ErrSupport},
		{"support beyond", func(p *Problem, _ *Settings) { p.Support = []int{0, 2} }, wpmerr.ErrSupport},
		{"support negative", func(p *Problem, _ *Settings) { p.Support = []int{-1, 1} }, wpmerr.ErrSupport},
		{"support length", func(p *Problem, _ *Settings) { p.Support = []int{0} }, wpmerr.ErrShape},
		{"short lo", func(p *Problem, _ *Settings) { p.Lo = []float64{0} }, wpmerr.ErrShape},
		{"short hi", func(p *Problem, _ *Settings) { p.Hi = []float64{1} }, wpmerr.ErrShape},
		{"NaN lo", func(p *Problem, _ *Settings) { p.Lo = []float64{nan, 0} }, wpmerr.ErrNotFinite},
		{"infinite hi", func(p *Problem, _ *Settings) { p.Hi = []float64{inf, 1} }, wpmerr.ErrNotFinite},
		{"negative lo", func(p *Problem, _ *Settings) { p.Lo = []float64{-.1, 0} }, wpmerr.ErrNegative},
		{"lo above hi", func(p *Problem, _ *Settings) { p.Lo = []float64{.95, 0} }, wpmerr.ErrBox},
		{"too much", func(p *Problem, _ *Settings) { p.Lo = []float64{.6, .6} }, wpmerr.ErrInfeasible},
		{"too little", func(p *Problem, _ *Settings) { p.Hi = []float64{.4, .4} }, wpmerr.ErrInfeasible},
		{"no reg", func(p *Problem, _ *Settings) { p.Reg = 0 }, wpmerr.ErrReg},
		{"negative reg", func(p *Problem, _ *Settings) { p.Reg = -1 }, wpmerr.ErrReg},
		{"NaN reg", func(p *Problem, _ *Settings) { p.Reg = nan }, wpmerr.ErrReg},
		{"infinite reg", func(p *Problem, _ *Settings) { p.Reg = inf }, wpmerr.ErrReg},
		{"small reg", func(p *Problem, _ *Settings) { p.Reg = 0.99e-9 }, wpmerr.ErrReg},
		{"method", func(_ *Problem, s *Settings) { s.Method = 3 }, wpmerr.ErrSettings},
		{"tolerance", func(_ *Problem, s *Settings) { s.Tolerance = -1 }, wpmerr.ErrSettings},
		{"NaN tolerance", func(_ *Problem, s *Settings) { s.Tolerance = nan }, wpmerr.ErrSettings},
		{"gap", func(_ *Problem, s *Settings) { s.Gap = nan }, wpmerr.ErrSettings},
		{"iterations", func(_ *Problem, s *Settings) { s.MaxIterations = -1 }, wpmerr.ErrSettings},
		{"start length", func(_ *Problem, s *Settings) { s.Initial = []float64{0} }, wpmerr.ErrShape},
		{"NaN start", func(_ *Problem, s *Settings) { s.Initial = []float64{0, nan} }, wpmerr.ErrNotFinite},
		{"history of Fast", func(_ *Problem, s *Settings) { s.Method, s.History = Fast, true }, wpmerr.ErrSettings},
		{"infinite start", func(_ *Problem, s *Settings) { s.Initial = []float64{0, -inf} }, wpmerr.ErrNotFinite},
	} {
		for _, m := range methods {
			p, s := good(), Settings{Method: m, AllRows: true}
			c.change(&p, &s)
			r, err := Project(context.Background(), p, s)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.want)
			}
			if r.Q != nil || r.Status != Unknown {
				t.Errorf("%s: a Result beside %v", c.name, err)
			}
		}
	}
	if _, err := Project(context.Background(), good(), Settings{}); err != nil {
		t.Errorf("the unchanged problem: %v", err)
	}
	p := good()
	p.Reg = 1e-9
	if _, err := Project(context.Background(), p, Settings{}); err != nil {
		t.Errorf("Reg = 1e-9 of the range: %v", err)
	}
}

// TestCancelled ends the context at every point where a solver looks at it: the answer is feasible, its bounds
// hold, and the error says so.
func TestCancelled(t *testing.T) {
	for _, m := range methods {
		for _, rel := range []float64{0.1, 0.003} {
			p := newGenerator(3).problem(12, 15, rel)
			ends := 0
			for n := 0; ; n++ {
				r, err := Project(&numtest.Asked{Context: context.Background(), Most: n}, p, Settings{Method: m, Tolerance: 1e-9})
				checkResult(t, p, r)
				if err == nil {
					break
				}
				if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || r.Status != Cancelled {
					t.Fatalf("%v, asked %d times: status %v, error %v", m, n, r.Status, err)
				}
				ends++
				if n > numtest.Cases(60, 300) {
					n += n / 3
				}
			}
			if ends < 3 {
				t.Errorf("%v: only %d early ends", m, ends)
			}
		}
	}
}

// TestIterationLimit does the same with MaxIterations.
func TestIterationLimit(t *testing.T) {
	p := newGenerator(4).problem(10, 8, 0.01)
	for _, m := range methods {
		for n := 1; n < 12; n++ {
			r, err := Project(context.Background(), p, Settings{Method: m, MaxIterations: n, Tolerance: 1e-14})
			checkResult(t, p, r)
			if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != IterationLimit {
				t.Fatalf("%v, %d iterations: status %v, error %v", m, n, r.Status, err)
			}
			if m == Paper && r.Iterations != n {
				t.Errorf("%d iterations, want %d", r.Iterations, n)
			}
		}
	}
}

// TestGap stops on the certified gap: when Reg allows it, before the residual is small; when not, with an error and
// the best there is.
func TestGap(t *testing.T) {
	p := newGenerator(9).problem(20, 20, 1e-3)
	for _, m := range methods {
		r := mustProject(t, p, Settings{Method: m, Gap: 0.1})
		if !(r.Gap() <= 0.1*r.Upper) {
			t.Errorf("%v: gap %v of %v", m, r.Gap(), r.Upper)
		}
		if r.Reg < p.Reg {
			t.Errorf("%v: Reg = %v below the problem's %v", m, r.Reg, p.Reg)
		}
		r, err := Project(context.Background(), p, Settings{Method: m, Gap: 1e-9})
		checkResult(t, p, r)
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != RegLimit {
			t.Errorf("%v: an impossible gap: status %v, error %v", m, r.Status, err)
		}
		// Fast may end as soon as Reg is most of the gap: the residual moves either bound by the range of the cost at most
		// for every unit of mass, and so half of the gap by a quarter of it.
		rng, err := RelativeReg(context.Background(), p.Cost, 1)
		if err != nil {
			t.Fatal(err)
		}
		if most := map[Method]float64{Paper: 1e-11, Fast: r.Gap() / (4 * rng)}[m]; !(r.Residual <= most) {
			t.Errorf("%v: an impossible gap ends at residual %v", m, r.Residual)
		}
	}
}

// TestFirstPass: the certificate of a first iterate, from what the pass collects on the way, says what a sweep of its
// own says.
func TestFirstPass(t *testing.T) {
	tol := numtest.Tol{Abs: 1e-13, Why: "sums of 300 terms in another order"}
	for _, rel := range []float64{1, 10} {
		p := square(300, rel)
		for n := range p.Cost.(*cost.Dense).Data {
			p.Cost.(*cost.Dense).Data[n] += 0.5 // the least cost of a row is not 0
		}
		p.Lo, p.Hi = make([]float64, 300), make([]float64, 300)
		for j := range p.Hi {
			p.Hi[j] = 1 // no bound is active, and the first step is the last
		}
		s := prepare(t, p)
		if !s.probe() || s.stats.Passes != 1 || s.opened == nil {
			t.Fatalf("Reg %v: %d passes", rel, s.stats.Passes)
		}
		fused := s.c.certify(s.iterate())
		s.opened = nil
		swept := s.c.certify(s.iterate())
		numtest.Near(t, "upper", fused.upper, swept.upper, tol)
		numtest.Near(t, "lower", fused.lower, swept.lower, tol)
		numtest.Near(t, "transport", fused.transport, swept.transport, tol)
		numtest.Near(t, "posterior", fused.posterior, swept.posterior, tol)
		s.k.free()
		mustProject(t, p, Settings{})
	}
}

// TestExtrapolation: where bounds are active and Reg is moderate, extrapolated steps from the start arrive, in fewer
// passes than plain ones.
func TestExtrapolation(t *testing.T) {
	p := square(200, 0.01)
	p.Lo, p.Hi = box(newGenerator(5).mass(200), 3)
	r := mustProject(t, p, Settings{Tolerance: 1e-10})
	plain := mustProject(t, p, Settings{Method: Paper, Tolerance: 1e-10})
	t.Logf("%+v, Algorithm 1 %d", r.Stats, plain.Iterations)
	if r.Stats.Rebuilds != 1 || 3*r.Iterations > 2*plain.Iterations {
		t.Errorf("%+v, Algorithm 1 %d iterations", r.Stats, plain.Iterations)
	}
}

// TestHistory checks the record of Algorithm 1 against what the theorem says of every iterate.
func TestHistory(t *testing.T) {
	for seed := range uint64(40) {
		g := newGenerator(seed)
		p := g.problem(2+g.intn(8), 2+g.intn(8), 0.2+g.float())
		r := mustProject(t, p, Settings{Method: Paper, History: true, Tolerance: 1e-13})
		if len(r.History) != r.Iterations {
			t.Fatalf("%d entries for %d iterations", len(r.History), r.Iterations)
		}
		checkRates(t, p, r)
	}
}

// checkRates compares every iterate of Algorithm 1, run again one step longer each time, with the fixed point.
func checkRates(t *testing.T, p Problem, r Result) {
	t.Helper()
	// The fixed point, up to rounding.
	const noise = 1e-11 // fixed point and iterate are known up to residuals of 1e-13 and the conditioning
	var qs, vs [][]float64
	for n := 1; n <= min(r.Iterations, 12); n++ {
		s, err := Project(context.Background(), p, Settings{Method: Paper, MaxIterations: n, Tolerance: 1e-13})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		qs, vs = append(qs, s.Q), append(vs, s.LogV)
	}
	// The theorem with the true distance of the start, and the same with the bound that the record uses for it.
	d0 := spreadOf(vs[0], r.LogV)
	rate, rest := rateOf(t, p)
	start := 0.0
	if step := r.History[0].Step; step > 0 {
		start = step / rest
	}
	if !(d0 <= start*(1+noise)+noise) {
		t.Errorf("%v: the start is %g from the fixed point, bound %g", describe(p), d0, start)
	}
	for n, q := range qs {
		h := r.History[n]
		now, then := math.Pow(rate, float64(n)), math.Pow(rate, float64(n+1))
		if kl := divergence(q, r.Q); !(kl <= min(2*then*d0, then*d0, then*d0*then*d0/8)+noise) {
			t.Errorf("%v: iterate %d: KL %g, rate %g, distance of the start %g", describe(p), n, kl, rate, d0)
		}
		d := spreadOf(vs[n], r.LogV)
		if !(d <= now*start*(1+noise)+noise) {
			t.Errorf("%v: iterate %d: d_H to the fixed point %g above its bound %g", describe(p), n, d, now*start)
		}
		kl := divergence(q, r.Q)
		if !(kl <= 2*then*start+noise) {
			t.Errorf("%v: iterate %d: KL %g, bound %g", describe(p), n, kl, 2*then*start)
		}
		if n > 0 {
			// Contraction from step to step, with the exact rate.
			if last := r.History[n-1].Step; !(h.Step <= rate*last+noise) {
				t.Errorf("%v: step %d is %g after %g, rate %g", describe(p), n, h.Step, last, rate)
			}
		}
		if !(h.Lower <= h.Upper) || h.Lower > r.Upper || h.Upper < r.Lower {
			t.Errorf("iterate %d: bounds [%v, %v], final [%v, %v]", n, h.Lower, h.Upper, r.Lower, r.Upper)
		}
	}
}

// rateOf returns the rate of the theorem, of the rows with mass and the columns with room, and what it lacks to 1.
func rateOf(t *testing.T, p Problem) (rate, rest float64) {
	t.Helper()
	_, c := loaded(t, p)
	d := &cost.Dense{K: c.k, Kv: c.n}
	for _, row := range c.row {
		d.Data = append(d.Data, row...)
	}
	diameter, err := hilbert.GibbsDiameter(context.Background(), d, c.reg)
	if err != nil {
		t.Fatal(err)
	}
	return hilbert.Rate(diameter)
}

// spreadOf is Hilbert's distance of e^x and e^y on the finite entries.
func spreadOf(x, y []float64) float64 {
	lo, hi := inf, -inf
	for j := range x {
		if !math.IsInf(x[j], -1) {
			lo, hi = math.Min(lo, x[j]-y[j]), math.Max(hi, x[j]-y[j])
		}
	}
	return hi - lo
}

// TestBits holds that neither the number of threads nor what an earlier call left in its buffers changes a bit,
// and that inputs stay as they are.
func TestBits(t *testing.T) {
	k, kv := 700, 900 // three chunks
	if !numtest.Full() {
		k, kv = 520, 530
	}
	g := newGenerator(5)
	p := g.problem(k, kv, 0.02)
	s := Settings{Tolerance: 1e-8}
	source, lo, hi := slices.Clone(p.Source), slices.Clone(p.Lo), slices.Clone(p.Hi)
	data := slices.Clone(p.Cost.(*cost.Dense).Data)
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	for _, m := range methods {
		s.Method = m
		if m == Paper {
			s.MaxIterations = 5
		}
		runtime.GOMAXPROCS(1)
		one, _ := Project(context.Background(), p, s)
		runtime.GOMAXPROCS(4)
		four, _ := Project(context.Background(), p, s)
		numtest.SameBits(t, "Q", four.Q, one.Q)
		numtest.SameBits(t, "LogV", four.LogV, one.LogV)
		numtest.SameBits(t, "F", four.Potentials.F, one.Potentials.F)
		numtest.SameBits(t, "G", four.Potentials.G, one.Potentials.G)
		numtest.SameBits(t, "numbers",
			[]float64{four.Upper, four.Lower, four.Transport, four.Objective, four.Residual, four.Posterior},
			[]float64{one.Upper, one.Lower, one.Transport, one.Objective, one.Residual, one.Posterior})
		if four.Stats != one.Stats {
			t.Errorf("work %+v and %+v", four.Stats, one.Stats)
		}
	}
	numtest.SameBits(t, "Source", p.Source, source)
	numtest.SameBits(t, "Lo", p.Lo, lo)
	numtest.SameBits(t, "Hi", p.Hi, hi)
	numtest.SameBits(t, "Cost", p.Cost.(*cost.Dense).Data, data)
}

// TestWork holds the number of passes of the fast method, which is what it is for: a quarter more than it takes,
// against thousands for Algorithm 1. (Counts do not depend on the machine but for the last bits of sums.)
func TestWork(t *testing.T) {
	p := square(60, 0.001)
	r := mustProject(t, p, Settings{Tolerance: 1e-9})
	t.Logf("%+v", r.Stats)
	if work := r.Stats.Passes + r.Stats.CG; work > 190 || r.Stats.Rebuilds > 8 {
		t.Errorf("%d passes: %+v", work, r.Stats)
	}
}

// TestRandom runs thousands of small instances of all kinds with Reg from 1 to 1e-6 of the range of the cost. Every one
// must converge to the default tolerance and pass Verify, and a restart from its answer must give
// it again.
func TestRandom(t *testing.T) {
	g := newGenerator(7)
	for i := range numtest.Cases(200, 3000) {
		most := 14
		if i%20 == 0 {
			most = 60
		}
		p := g.problem(1+g.intn(most), 1+g.intn(most), math.Pow(10, -6*g.float()))
		r := mustProject(t, p, Settings{})
		again := mustProject(t, p, Settings{Initial: r.LogV, Tolerance: 1e-14})
		if d := distance1(r.Q, again.Q); !(d <= 1e-9) { // the promise on the accuracy of q
			t.Errorf("%d: %v: q moves by %g", i, describe(p), d)
		}
	}
}

// TestTinyReg goes where only bounds are promised: Reg from 1e-6 to 1e-9 of the range.
func TestTinyReg(t *testing.T) {
	g := newGenerator(8)
	for range numtest.Cases(20, 300) {
		p := g.problem(1+g.intn(10), 1+g.intn(10), math.Pow(10, -6-2.999*g.float()))
		for _, m := range methods {
			r, err := Project(context.Background(), p, Settings{Method: m, MaxIterations: 3000})
			if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
				t.Fatalf("%v: %v", describe(p), err)
			}
			checkResult(t, p, r)
		}
	}
}

// TestPaperTinyReg: Algorithm 1 itself survives Reg = 1e-6 of the range, where the kernel is zero nearly everywhere.
func TestPaperTinyReg(t *testing.T) {
	g := newGenerator(10)
	for range numtest.Cases(5, 30) {
		p := g.problem(1+g.intn(8), 1+g.intn(8), 1e-6)
		r, err := Project(context.Background(), p, Settings{Method: Paper, MaxIterations: 20_000})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, r)
		fast := mustProject(t, p, Settings{})
		if err == nil {
			if d := distance1(r.Q, fast.Q); !(d <= 1e-6) { // residual 1e-9 (its noise at this Reg) and slow rates
				t.Errorf("%v: methods differ by %g", describe(p), d)
			}
		}
	}
}

// TestMassesBelowEverything: a row whose mass, or whose scaling, is below the floats adds nothing to the objective.
func TestMassesBelowEverything(t *testing.T) {
	const want, tol = 0.136208201692470, 1e-12 // of the row with the mass alone
	for _, tiny := range []float64{math.SmallestNonzeroFloat64, 1e-320, 1e-310, 1e-300} {
		for _, method := range []Method{Paper, Fast} {
			for _, source := range [][]float64{{tiny, 1}, {tiny, 1 + 5e-10}} {
				a, b := math.Exp(-1)/2, math.Exp(1)/2
				p := Problem{Problem: projection.Problem{Cost: &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}},
					Source: source, Lo: []float64{a, a},
					Hi: []float64{b, b}}, Reg: 0.1}
				r, err := Project(context.Background(), p, Settings{Method: method})
				if err != nil || !(math.Abs(r.Objective-want) <= tol) {
					t.Errorf("%v, masses %v: objective %v, %v; want %v", method, source, r.Objective, err, want)
				}
				if _, _, err := Verify(context.Background(), p, r); err != nil {
					t.Errorf("%v, masses %v: %v", method, source, err)
				}
			}
		}
	}
}

// TestScalingBelowEverything: the scaling mass/(K v) of a row is below the floats, its mass is not.
func TestScalingBelowEverything(t *testing.T) {
	const tol = 1e-12
	for _, method := range []Method{Paper, Fast} {
		p := Problem{Problem: projection.Problem{Cost: &cost.Dense{K: 2, Kv: 3, Data: []float64{2, 2, 2, 1, 5, 5}},
			Source: []float64{0, 1},
			Lo:     []float64{0.3, 0.3, 0.3}, Hi: []float64{1.3, 1.3, 1.3}}, Reg: 0.5}
		want, err := Project(context.Background(), p, Settings{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		p.Source = []float64{math.SmallestNonzeroFloat64, 1}
		r, err := Project(context.Background(), p, Settings{Method: method})
		if err != nil || !(math.Abs(r.Objective-want.Objective) <= tol) {
			t.Errorf("%v: objective %v, %v; without the row %v", method, r.Objective, err, want.Objective)
		}
	}
}

// TestTinyColumn: what a mass or a cost of the least floats costs must not be lost from Upper (found by fuzzing).
func TestTinyColumn(t *testing.T) {
	for _, method := range []Method{Paper, Fast} {
		for _, box := range [][2][]float64{
			{{0.2, 1e-323, 0}, {1.2, 1e-323, 0}},
			{{0.2, 0.0057, 1e-323}, {1.2, 0.0057, 1e-323}}, // the dearest column by far
		} {
			p := Problem{Problem: projection.Problem{Cost: &cost.Dense{K: 1, Kv: 3, Data: []float64{0, 5e-324, 6}},
				Source: []float64{1}, Lo: box[0],
				Hi: box[1]}, Reg: 6}
			r, err := Project(context.Background(), p, Settings{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Verify(context.Background(), p, r); err != nil || r.Upper == 0 {
				t.Errorf("%v, %v: upper bound %v, %v", method, box, r.Upper, err)
			}
		}
	}
}

// TestFarStart: beside costs that are scaled up as far as can be, a start as far away as can be made the posterior
// bound NaN (found by fuzzing).
func TestFarStart(t *testing.T) {
	p := Problem{
		Problem: projection.Problem{Cost: &cost.Dense{K: 1, Kv: 4, Data: []float64{6, 0, 5e-324, 0}}, Source: []float64{1},
			Lo: []float64{0, 0.0625, 0.0625, 0.0625}, Hi: []float64{0, 0.4, 0.4, 0.4}}, Reg: 0.375,
	}
	for _, method := range []Method{Paper, Fast} {
		r, err := Project(context.Background(), p,
			Settings{Method: method, Gap: 0.1, MaxIterations: 1, Initial: []float64{6, math.MaxFloat64, 0, 0}})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			t.Errorf("%v: %v", method, err)
		}
	}
}
