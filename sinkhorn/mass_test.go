package sinkhorn

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestSourceScale: any masses with a positive sum are a distribution. A power of two times them changes no bit, another
// factor no more than the rounding of the masses does, and Verify takes every one.
func TestSourceScale(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(rt, "seed"))
		p := g.problem(1+g.intn(8), 1+g.intn(8), 0.05+g.float())
		for i := range p.Source { // counts
			p.Source[i] = float64(g.intn(1000))
		}
		p.Source[0]++
		set := Settings{Method: rapid.SampledFrom(methods).Draw(rt, "method"), Tolerance: 1e-10, MaxIterations: 20000}
		solve := func(f func(x float64) float64) Result {
			q := p
			q.Source = slices.Clone(p.Source)
			for i, x := range q.Source {
				q.Source[i] = f(x)
			}
			kept := slices.Clone(q.Source)
			r, err := Project(context.Background(), q, set)
			if err != nil && !is(err, wpmerr.ErrNotConverged) {
				rt.Fatalf("Project: %v", err)
			}
			if _, _, err := Verify(context.Background(), q, r); err != nil {
				rt.Fatalf("Verify: %v", err)
			}
			if !slices.Equal(kept, q.Source) {
				rt.Fatal("the source has changed")
			}
			return r
		}
		want := solve(func(x float64) float64 { return x })
		e := rapid.IntRange(-1060, 1013).Draw(rt, "exponent") // 1 to 1000 stay exact
		if r := solve(func(x float64) float64 { return math.Ldexp(x, e) }); !reflect.DeepEqual(r, want) {
			rt.Fatalf("times 2^%d: %+v\nwant %+v", e, r, want)
		}
		factor := rapid.SampledFrom([]float64{1. / 3, 7, 0.1, 1e300}).Draw(rt, "factor")
		for name, f := range map[string]func(float64) float64{
			"a factor": func(x float64) float64 { return x * factor },
			"float32":  func(x float64) float64 { return float64(float32(x / 3)) },
		} {
			r := solve(f)
			if r.Status != Converged || want.Status != Converged {
				continue
			}
			// Masses are off by 2^-24 of themselves in float32, and the cost of what is moved likewise; goals leave 1e-10.
			if size := given.Max(p.Cost); !(math.Abs(r.Transport-want.Transport) <= 1e-6*size) {
				rt.Fatalf("%s: the plan costs %v, want %v", name, r.Transport, want.Transport)
			}
		}
	})
}

// TestSourceExtremes: masses at both ends of float64, whose sum overflows or is next to nothing.
func TestSourceExtremes(t *testing.T) {
	p := Problem{
		Problem: projection.Problem{Cost: dense(t, []float64{0, 1, 2}, []float64{1, 0, 1}), Lo: []float64{.1, .1, .1},
			Hi: []float64{.5, .5, .9}}, Reg: 0.3,
	}
	same := func(source, as []float64) {
		t.Helper()
		for _, m := range methods {
			p.Source = as
			want := mustProject(t, p, Settings{Method: m})
			p.Source = source
			got := mustProject(t, p, Settings{Method: m})
			if as[0] == 0 { // the row that is lost is twice as dear, and what the plan lacks by rounding is charged at its cost
				if !(got.Upper > want.Upper && got.Upper < want.Upper+1e-13) {
					t.Errorf("%v, %v: Upper %v, %v without the row", m, source, got.Upper, want.Upper)
				}
				few := numtest.Tol{Abs: 8 * 0x1p-53, Why: "numbers of size 1, of a kernel of one row or of two"}
				for _, x := range [][2][]float64{{got.Q, want.Q}, {got.LogV, want.LogV}, {got.Potentials.F, want.Potentials.F},
					{got.Potentials.G, want.Potentials.G}, {{got.Transport, got.Objective, got.Lower, got.Residual},
						{want.Transport, want.Objective, want.Lower, want.Residual}}} {
					numtest.NearSlice(t, m.String()+": without the row", x[0], x[1], few)
				}
				continue
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v: %+v, want %+v", m, source, got, want)
			}
		}
	}
	same([]float64{math.MaxFloat64, math.MaxFloat64}, []float64{1, 1})
	same([]float64{math.SmallestNonzeroFloat64, 3 * math.SmallestNonzeroFloat64}, []float64{1, 3})
	same([]float64{math.SmallestNonzeroFloat64, math.MaxFloat64}, []float64{0, 1})
	same([]float64{float64(float32(0.5)), float64(float32(0.25))}, []float64{2, 1})
}

// TestLostRows: rows whose mass is below the least float have none, but their cost belongs to the upper bound,
// whatever it is beside the others, and Verify charges what a plan lacks at it.
func TestLostRows(t *testing.T) {
	for name, p := range map[string]Problem{
		"the dearest": {projection.Problem{Cost: dense(t, []float64{1}, []float64{2}), Lo: []float64{1}, Hi: []float64{1},
			Source: []float64{1e300, 1e-30}}, 1},
		"a scale apart": {projection.Problem{Cost: dense(t, []float64{1e-300}, []float64{1e308}), Lo: []float64{1},
			Hi:     []float64{1},
			Source: []float64{0x1p1000, 0x1p-75}}, 1e-302},
		"far apart": {projection.Problem{Cost: dense(t, []float64{1e-100}, []float64{1e308}), Lo: []float64{1},
			Hi:     []float64{1},
			Source: []float64{0x1p1000, 0x1p-75}}, 1e-102},
		"above one": {projection.Problem{Cost: dense(t, []float64{1}, []float64{1e308}), Lo: []float64{1}, Hi: []float64{1},
			Source: []float64{0x1p1000, 0x1p-75}}, 1},
		"charged": {projection.Problem{Cost: dense(t, []float64{0, 1}, []float64{1000, 1000}), Lo: []float64{.5, .5},
			Hi:     []float64{.5, .5},
			Source: []float64{1e300, 1e-300}}, 0.01},
		"reduced": {projection.Problem{Cost: dense(t, []float64{1e6, 1e6 + 1}, []float64{2e6, 3e6}), Lo: []float64{.2, .5},
			Hi:     []float64{.6, .9},
			Source: []float64{1e300, 1e-300}}, 0.01},
	} {
		for _, m := range methods {
			for _, s := range []Settings{{Method: m}, {Method: m, Gap: 1e-3}} {
				r, err := Project(context.Background(), p, s)
				if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				upper, lower, err := Verify(context.Background(), p, r)
				if err != nil {
					t.Errorf("%s, %v: %v", name, m, err)
					continue
				}
				if upper.Cmp(num.Rat(r.Upper)) > 0 || lower.Cmp(num.Rat(r.Lower)) < 0 {
					t.Errorf("%s, %v: [%v, %v], proved [%v, %v]", name, m, r.Lower, r.Upper, lower, upper)
				}
			}
		}
	}
}

// TestLostRowsAreReadOnce: rows without a part are read with the others, and not after the context has ended.
func TestLostRowsAreReadOnce(t *testing.T) {
	const k = 1500
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = []float64{0, 1, float64(i)}
	}
	c := &counting{Matrix: dense(t, rows...)}
	mu := slices.Repeat([]float64{1e-300}, k)
	mu[0] = 1e300
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: []float64{.1, .1, .1}, Hi: []float64{1, 1, 1}},
		Reg: 1}
	if _, err := Project(ctx, p, Settings{}); !errors.Is(err, wpmerr.ErrNotConverged) || c.rows.Load() > 0 {
		t.Errorf("%v after %d rows", err, c.rows.Load())
	}
}
