package sinkhorn

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/projection"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestVerifyRefuses spoils every part of a good result in turn.
func TestVerifyRefuses(t *testing.T) {
	p := Problem{
		Problem: projection.Problem{Cost: dense(t, []float64{0, 1, 4}, []float64{1, 0, 2}), Source: []float64{.8, .2},
			Lo: []float64{.1, .1, 0.05}, Hi: []float64{.5, .6, .3}}, Reg: 0.05,
	}
	good := mustProject(t, p, Settings{})
	for _, c := range []struct {
		name  string
		spoil func(*Result)
	}{
		{"Q out of the box", func(r *Result) { r.Q[0], r.Q[1] = 0.6, r.Q[1]+r.Q[0]-0.6 }},
		{"Q below", func(r *Result) { r.Q[0] = math.Nextafter(0.1, 0) }},
		{"Q without mass 1", func(r *Result) { r.Q[1] += 1e-9 }},
		{"Q NaN", func(r *Result) { r.Q[1] = nan }},
		{"Q short", func(r *Result) { r.Q = r.Q[:2] }},
		{"F too high", func(r *Result) { r.Potentials.F[0] += 0.1 }},
		{"F too high by little", func(r *Result) { r.Potentials.F[1] += 1e-13 }},
		{"F low: Lower is not proved", func(r *Result) { r.Potentials.F[0] -= 0.1 }},
		{"F NaN", func(r *Result) { r.Potentials.F[0] = nan }},
		{"G infinite", func(r *Result) { r.Potentials.G[0] = -inf }},
		{"G short", func(r *Result) { r.Potentials.G = r.Potentials.G[:1] }},
		{"LogV NaN", func(r *Result) { r.LogV[0] = nan }},
		{"LogV wrong", func(r *Result) { r.LogV[0] += 1 }},
		{"LogV short", func(r *Result) { r.LogV = r.LogV[:1] }},
		{"Reg wrong", func(r *Result) { r.Reg *= 2 }},
		{"Reg 0", func(r *Result) { r.Reg = 0 }},
		{"Lower too high", func(r *Result) { r.Lower += 1e-9 }},
		{"Lower NaN", func(r *Result) { r.Lower = nan }},
		{"Upper too low", func(r *Result) { r.Upper -= 1e-9 }},
		{"Upper infinite", func(r *Result) { r.Upper = inf }},
		{"Transport wrong", func(r *Result) { r.Transport += 1e-4 }},
		{"Residual wrong", func(r *Result) { r.Residual += 1e-4 }},
		{"Objective NaN", func(r *Result) { r.Objective = nan }},
	} {
		r := good
		r.Q, r.LogV = slices.Clone(r.Q), slices.Clone(r.LogV)
		r.Potentials = projection.Potentials{F: slices.Clone(r.Potentials.F), G: slices.Clone(r.Potentials.G)}
		c.spoil(&r)
		if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("%s: error %v, want ErrCertificate", c.name, err)
		}
	}
	if _, _, err := Verify(context.Background(), p, Result{}); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("an empty result: %v", err)
	}
}

// TestVerifyProblem: a problem that is invalid gives the errors of Project.
func TestVerifyProblem(t *testing.T) {
	good := Problem{Problem: projection.Problem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}),
		Source: []float64{.5, .5}, Lo: []float64{.1, .1},
		Hi: []float64{.9, .9}}, Reg: 1}
	r := mustProject(t, good, Settings{})
	for _, c := range []struct {
		change func(*Problem)
		want   error
	}{
		{func(p *Problem) { p.Cost = nil }, wpmerr.ErrShape},
		{func(p *Problem) { p.Cost = (*cost.Dense)(nil) }, wpmerr.ErrShape},
		{func(p *Problem) { p.Cost = (*cost.Grid)(nil) }, wpmerr.ErrShape},
		{func(p *Problem) { p.Cost = &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, -1, 0}} }, wpmerr.ErrNegative},
		{func(p *Problem) { p.Cost = &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, nan}} }, wpmerr.ErrNotFinite},
		{func(p *Problem) { p.Cost = &cost.Dense{K: 2, Kv: 2, Data: []float64{0}} }, wpmerr.ErrShape},
		{func(p *Problem) { p.Source = []float64{1} }, wpmerr.ErrShape},
		{func(p *Problem) { p.Source = []float64{0, 0} }, wpmerr.ErrMass},
		{func(p *Problem) { p.Source = []float64{nan, 1} }, wpmerr.ErrNotFinite},
		{func(p *Problem) { p.Support = []int{1, 0} }, wpmerr.ErrSupport},
		{func(p *Problem) { p.Lo = nil }, wpmerr.ErrShape},
		{func(p *Problem) { p.Lo = []float64{-1, 0} }, wpmerr.ErrNegative},
		{func(p *Problem) { p.Lo = []float64{.95, 0} }, wpmerr.ErrBox},
		{func(p *Problem) { p.Lo = []float64{.9, .9} }, wpmerr.ErrInfeasible},
		{func(p *Problem) { p.Hi = []float64{.2, .2} }, wpmerr.ErrInfeasible},
		{func(p *Problem) { p.Reg = 0 }, wpmerr.ErrReg},
	} {
		p := good
		c.change(&p)
		_, _, err := Verify(context.Background(), p, r)
		if !errors.Is(err, c.want) {
			t.Errorf("error %v, want %v", err, c.want)
		}
		if _, perr := Project(context.Background(), p, Settings{}); !errors.Is(perr, c.want) {
			t.Errorf("Project says %v, Verify %v", perr, err)
		}
	}
}

// TestVerifyTight: for a converged result the rational bounds are those of the result up to the margin that
// rounding needs.
func TestVerifyTight(t *testing.T) {
	g := newGenerator(13)
	for range numtest.Cases(60, 200) {
		p := g.problem(1+g.intn(10), 1+g.intn(10), math.Pow(10, -3*g.float()))
		for _, m := range methods {
			r := mustProject(t, p, Settings{Method: m, Tolerance: 1e-11})
			upper, lower := checkResult(t, p, r)
			u, _ := upper.Float64()
			l, _ := lower.Float64()
			const margin = 1e-10 // the residual, and rounding of exponents up to 1e3
			if top := given.Max(p.Cost); !(r.Upper-u <= margin*top) || !(l-r.Lower <= margin*top) {
				t.Errorf("%v: [%v, %v], proved [%v, %v]", describe(p), r.Lower, r.Upper, l, u)
			}
		}
	}
}

// TestVerifyScales: answers of costs of every size from the documented one up to the largest floats verify, converged
// or stopped early.
func TestVerifyScales(t *testing.T) {
	g := newGenerator(5)
	for n := range numtest.Cases(300, 1500) {
		p := g.problem(2+g.intn(6), 2+g.intn(6), []float64{3, 0.3, 0.1, 0.01}[g.intn(4)])
		e := g.intn(1970) - 947
		if n%3 == 0 {
			e = 1000 + g.intn(24)
		}
		d := p.Cost.(*cost.Dense)
		for i, x := range d.Data {
			d.Data[i] = math.Min(math.Ldexp(x, e), math.MaxFloat64)
		}
		p.Reg = math.Min(math.Ldexp(p.Reg, e), math.MaxFloat64)
		if p.Reg < 1e-290 || given.Max(d) < 1e-290 {
			continue
		}
		r, err := Project(context.Background(), p,
			Settings{AllRows: n%2 == 0, Gap: []float64{0, 0.1}[g.intn(2)], MaxIterations: 1 + g.intn(300)})
		if err != nil && !is(err, wpmerr.ErrNotConverged) {
			t.Fatalf("number %d, costs times 2^%d: %v", n, e, err)
		}
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			t.Errorf("number %d, costs times 2^%d: %v", n, e, err)
		}
	}
}
