package mincostflow

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/projection"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestVerifyRefuses changes one thing at a time in a good result.
func TestVerifyRefuses(t *testing.T) {
	p := Problem{
		Cost:   dense(t, []float64{0, 1, 4, 9}, []float64{1, 0, 1, 4}, []float64{4, 1, 0, 1}),
		Source: []float64{0.625, 0.125, 0.25},
		Lo:     []float64{0.125, 0.125, 0.125, 0.0625},
		Hi:     []float64{0.375, 0.375, 0.375, 0.375},
	}
	nan := math.NaN()
	for _, c := range []struct {
		name, says string
		edit       func(r *Result)
	}{
		{"Q too short", "Q has", func(r *Result) { r.Q = r.Q[:3] }},
		{"NaN in Q", "Q[1]", func(r *Result) { r.Q[1] = nan }},
		{"Q below", "outside", func(r *Result) { r.Q[0], r.Q[3] = 0.5, 0 }},
		{"Q above by an ulp", "outside", func(r *Result) { r.Q[0] = math.Nextafter(p.Hi[0], 1) }},
		{"Q does not sum to one", "sums to", func(r *Result) { r.Q[2] += 0x1p-40 }},
		{"F too short", "potentials", func(r *Result) { r.Potentials.F = r.Potentials.F[:2] }},
		{"no G", "potentials", func(r *Result) { r.Potentials.G = nil }},
		{"NaN in F", "F[0]", func(r *Result) { r.Potentials.F[0] = nan }},
		{"infinite G", "G[3]", func(r *Result) { r.Potentials.G[3] = math.Inf(-1) }},
		{"F too large by an ulp", "is above", func(r *Result) { r.Potentials.F[1] = math.Nextafter(r.Potentials.F[1], 9) }},
		{"G too large", "is above", func(r *Result) { r.Potentials.G[1] += 0x1p-40 }},
		{"G too large for floats", "is above", func(r *Result) { r.Potentials.G[1] = math.MaxFloat64 }},
		{"worse G, same claim", "Lower", func(r *Result) { r.Potentials.G[0] -= 0.25 }},
		{"Lower too large", "Lower", func(r *Result) { r.Lower = math.Nextafter(r.Objective, 9) * (1 + 1e-12) }},
		{"Upper too small", "Upper", func(r *Result) { r.Upper = r.Objective * (1 - 1e-12) }},
		{"NaN Upper", "Upper", func(r *Result) { r.Upper = nan }},
		{"Objective wrong", "Objective", func(r *Result) { r.Objective *= 1 + 1e-9 }},
		{"NaN Objective", "Objective", func(r *Result) { r.Objective = nan }},
		{"row out of range", "outside", func(r *Result) { r.Plan[0].I = -1 }},
		{"column out of range", "outside", func(r *Result) { r.Plan[len(r.Plan)-1].J = 4 }},
		{"plan unsorted", "after", func(r *Result) { slices.Reverse(r.Plan) }},
		{"plan with a duplicate", "after", func(r *Result) { r.Plan = append(r.Plan[:1:1], r.Plan...) }},
		{"negative mass", "mass", func(r *Result) { r.Plan[0].Mass = -r.Plan[0].Mass }},
		{"NaN mass", "mass", func(r *Result) { r.Plan[0].Mass = nan }},
		{"infinite mass", "mass", func(r *Result) { r.Plan[0].Mass = math.Inf(1) }},
		{"no plan", "row sums", func(r *Result) { r.Plan, r.Objective, r.Upper = nil, 0, 9 }},
		{"plan from another source", "row sums",
			func(r *Result) { r.Plan = []projection.Entry{{I: 0, J: 0, Mass: 1}}; r.Objective, r.Upper = 0, 9 }},
		{"plan to another Q", "column sums", func(r *Result) {
			r.Plan = []projection.Entry{{I: 0, J: 0, Mass: 0.625}, {I: 1, J: 0, Mass: 0.125}, {I: 2, J: 0, Mass: 0.25}}
			r.Objective, r.Upper = 1.125, 9
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustProject(t, p, Settings{})
			c.edit(&r)
			_, _, err := Verify(context.Background(), p, r)
			if !errors.Is(err, wpmerr.ErrCertificate) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Verify: %v, want ErrCertificate with %q", err, c.says)
			}
		})
	}
}

// TestVerifyIsExact: 1 is the float nearest to 1 - 2^-60, and still too large for it.
func TestVerifyIsExact(t *testing.T) {
	p := Problem{Cost: dense(t, []float64{1}), Source: []float64{1}, Lo: []float64{0.5}, Hi: []float64{2}}
	r := mustProject(t, p, Settings{})
	r.Potentials = projection.Potentials{F: []float64{1}, G: []float64{0x1p-60}}
	if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("Verify: %v, want ErrCertificate", err)
	}
	r.Potentials = projection.Potentials{F: []float64{math.Nextafter(1, 0)}, G: []float64{0x1p-60}}
	r.Lower = 0.5
	if _, _, err := Verify(context.Background(), p, r); err != nil {
		t.Error(err)
	}
}

// TestVerifyProvesByItself: bounds proved from a damaged result are weaker, never wrong.
func TestVerifyProvesByItself(t *testing.T) {
	for seed := range numtest.Cases(80, 200) {
		d := newDraw(uint64(seed) + 30e6)
		p := d.problem(4)
		one := big.NewRat(1, 1)
		if ratSum(p.Lo).Cmp(one) > 0 || ratSum(p.Hi).Cmp(one) < 0 {
			continue
		}
		r := mustProject(t, p, Settings{})
		top := maxCost(p)
		for j := range r.Potentials.G { // worse prices, still feasible
			r.Potentials.G[j] -= d.Float64() * min(top, 1e290)
		}
		for n := range r.Plan { // a little mass lost
			r.Plan[n].Mass *= 1 - 1e-10
		}
		r.Lower, r.Upper = 0, math.MaxFloat64
		r.Objective *= 1 - 1e-10
		upper, lower, err := Verify(context.Background(), p, r)
		if err != nil {
			t.Fatalf("%v: %v", describe(p), err)
		}
		if want := exactOptimum(p); lower.Cmp(want) > 0 || upper.Cmp(want) < 0 {
			t.Fatalf("%v: proved [%v, %v], optimum %v", describe(p), lower, upper, want)
		}
	}
}

// TestVerifyAgreesWithClaims: the float bounds of a result are outside the proved ones, and close.
func TestVerifyAgreesWithClaims(t *testing.T) {
	const close = 0x1p-50 // an ulp, and what the solver adds for its own rounding
	for seed := range numtest.Cases(200, 500) {
		p := newDraw(uint64(seed) + 31e6).problem(8)
		r := mustProject(t, p, Settings{})
		upper, lower, err := Verify(context.Background(), p, r)
		if err != nil {
			t.Fatal(err)
		}
		u, _ := upper.Float64()
		l, _ := lower.Float64()
		if top := maxCost(p); r.Upper-u > close*top+quantum || l-r.Lower > close*top+quantum {
			t.Errorf("%v: claimed [%v, %v], proved [%v, %v]", describe(p), r.Lower, r.Upper, l, u)
		}
	}
}

// TestVerifyOddities holds what a review found: huge dimensions without the slices to go with them, mass in a
// column that takes nothing, and differences beyond the floats.
func TestVerifyOddities(t *testing.T) {
	for _, dims := range [][2]int{{math.MaxInt, 1}, {1, math.MaxInt}, {math.MaxInt, math.MaxInt}} {
		p := Problem{Cost: vast(dims), Source: []float64{1}, Support: []int{0}, Lo: []float64{1}, Hi: []float64{1}}
		if _, _, err := Verify(context.Background(), p, Result{}); err == nil {
			t.Errorf("dims %v accepted", dims)
		}
	}

	p := Problem{Cost: dense(t, []float64{0, 1e308}), Source: []float64{1}, Lo: []float64{1 + 0x1p-52, 0},
		Hi: []float64{1 + 0x1p-52, 0}}
	r := Result{Q: []float64{1 - 0x1p-53, 5e-324}, Plan: []projection.Entry{{I: 0, J: 0, Mass: 1}},
		Potentials: projection.Potentials{F: []float64{0}, G: []float64{0, 0}}}
	if upper, _, err := Verify(context.Background(), p, r); err == nil {
		t.Errorf("mass in a column that takes nothing: accepted with upper bound %v", upper)
	}

	const most = math.MaxFloat64
	p = Problem{Cost: dense(t, []float64{most}), Source: []float64{1}, Lo: []float64{1}, Hi: []float64{1}}
	r = Result{
		Q: []float64{1}, Plan: []projection.Entry{{I: 0, J: 0, Mass: 1}},
		Potentials: projection.Potentials{F: []float64{most}, G: []float64{-most / 8}},
		Objective:  most, Upper: most, Lower: most / 2,
	}
	_, lower, err := Verify(context.Background(), p, r)
	// min_j C - G = most + most/8, less the column's most/8: the whole of it.
	if err != nil || lower.Cmp(new(big.Rat).SetFloat64(most)) != 0 {
		t.Errorf("differences beyond the floats: %v, %v", lower, err)
	}
}

// TestVerifyRoundingMass: the source has a rounding more than mass 1. The plan leaves it where the box takes none, at a
// cost far above those of the box.
func TestVerifyRoundingMass(t *testing.T) {
	p := Problem{
		Cost:   dense(t, []float64{0.625, 8.352389719038111e-53}, []float64{1, 0}),
		Source: []float64{3.614007241618348e-20, 1}, Lo: []float64{0, 1}, Hi: []float64{1, 1},
	}
	r := mustProject(t, p, Settings{})
	if _, _, err := Verify(context.Background(), p, r); err != nil {
		t.Error(err)
	}
	r.Objective *= 1 + 0x1p-49
	if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("Objective 8 ulps off: %v", err)
	}
}

// vast claims dimensions and has no rows.
type vast [2]int

func (v vast) Dims() (k, kv int)            { return v[0], v[1] }
func (v vast) Row(int, []float64) []float64 { return nil }
