package sinkhorn_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn"
)

// line is a Projector on the points 0 to n-1 of a line with squared distances, with a box around the uniform measure.
func line(t *testing.T, n int, lo, hi float64) (*sinkhorn.Projector, sinkhorn.Problem) {
	t.Helper()
	x := make([][]float64, n)
	p := sinkhorn.Problem{Lo: make([]float64, n), Hi: make([]float64, n), Reg: 1}
	for j := range x {
		x[j] = []float64{float64(j)}
		p.Lo[j], p.Hi[j] = lo/float64(n), hi/float64(n)
	}
	points, err := cost.NewPoints(x, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.Cost, err = cost.Materialize(context.Background(), points); err != nil {
		t.Fatal(err)
	}
	b, err := sinkhorn.NewProjector(p.Cost, p.Lo, p.Hi, p.Reg, sinkhorn.Settings{Gap: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// TestVerifyRefusesPlans spoils every part of a good plan in turn: no plan that is not one, or not of this problem, proves a bound.
func TestVerifyRefusesPlans(t *testing.T) {
	b, p := line(t, 10, 0.5, 2)
	p.Source, p.Support = []float64{0.5, 0.3, 0.2}, []int{0, 1, 9}
	var good sinkhorn.Result
	if err := b.Project(context.Background(), p.Source, p.Support, &good); err != nil {
		t.Fatal(err)
	}
	if _, _, err := sinkhorn.Verify(p, good); err != nil || len(good.Plan) < 4 {
		t.Fatalf("plan of %d entries, %v", len(good.Plan), err)
	}
	last := len(good.Plan) - 1
	for _, tt := range []struct {
		name  string
		spoil func(r *sinkhorn.Result)
	}{
		{"row -1", func(r *sinkhorn.Result) { r.Plan[0].I = -1 }},
		{"row 10", func(r *sinkhorn.Result) { r.Plan[last].I = 10 }},
		{"column -1", func(r *sinkhorn.Result) { r.Plan[0].J = -1 }},
		{"column 10", func(r *sinkhorn.Result) { r.Plan[last].J = 10 }},
		{"rows out of order", func(r *sinkhorn.Result) { slices.Reverse(r.Plan) }},
		{"columns out of order", func(r *sinkhorn.Result) { r.Plan[0], r.Plan[1] = r.Plan[1], r.Plan[0] }},
		{"an entry twice", func(r *sinkhorn.Result) { r.Plan = slices.Insert(r.Plan, 1, r.Plan[0]) }},
		{"an entry in halves", func(r *sinkhorn.Result) {
			r.Plan[0].Mass /= 2
			r.Plan = slices.Insert(r.Plan, 1, r.Plan[0])
		}},
		{"mass NaN", func(r *sinkhorn.Result) { r.Plan[0].Mass = math.NaN() }},
		{"mass below 0", func(r *sinkhorn.Result) { r.Plan[0].Mass = -r.Plan[0].Mass }},
		{"mass above 2", func(r *sinkhorn.Result) { r.Plan[0].Mass = 3 }},
		{"an entry missing", func(r *sinkhorn.Result) { r.Plan = r.Plan[1:] }},
		{"no entries", func(r *sinkhorn.Result) { r.Plan = r.Plan[:0] }},
		{"too much from one row, too little from another", func(r *sinkhorn.Result) { r.Plan[0].Mass += 0.01; r.Plan[last].Mass -= 0.01 }},
		{"all on the spot: the columns take more than Q", func(r *sinkhorn.Result) {
			r.Plan = nil
			for n, i := range p.Support {
				r.Plan = append(r.Plan, sinkhorn.Entry{I: i, J: i, Mass: p.Source[n]})
			}
		}},
		{"rows without mass: they send more than the source", func(r *sinkhorn.Result) {
			r.Plan = nil
			for j, q := range r.Q {
				r.Plan = append(r.Plan, sinkhorn.Entry{I: j, J: j, Mass: q})
			}
		}},
		{"Upper too low", func(r *sinkhorn.Result) { r.Upper *= 1 - 1e-9 }},
	} {
		r := good
		r.Plan = slices.Clone(r.Plan)
		tt.spoil(&r)
		if _, _, err := sinkhorn.Verify(p, r); !errors.Is(err, sinkhorn.ErrCertificate) {
			t.Errorf("%s: %v, want ErrCertificate", tt.name, err)
		}
	}
}

// TestVerifyPlanOfPoint: where the box is a point only up to rounding, the columns are held to that point as well as to Q.
func TestVerifyPlanOfPoint(t *testing.T) {
	b, p := line(t, 10, 1+5e-13, 1+5e-13)
	p.Source, p.Support = []float64{0.5, 0.5}, []int{0, 9}
	var r sinkhorn.Result
	if err := b.Project(context.Background(), p.Source, p.Support, &r); err != nil {
		t.Fatal(err)
	}
	for j, q := range r.Q { // the left half of the line from its left end, the right half from its right end: nothing is cheaper
		r.Plan = append(r.Plan, sinkhorn.Entry{I: j / 5 * 9, J: j, Mass: q})
	}
	upper, lower, err := sinkhorn.Verify(p, r)
	if err != nil || upper.Cmp(lower) < 0 {
		t.Fatalf("%v, %v, %v", upper, lower, err)
	}
	// The point is 1/10 in exact numbers, and Q a float: what the columns take beyond the point is charged.
	over := new(big.Rat).Sub(new(big.Rat).SetFloat64(r.Q[0]), big.NewRat(1, 10))
	if over.Sign() <= 0 {
		t.Fatalf("Q[0] = %v is not above 1/10", r.Q[0])
	}
	paid := new(big.Rat)
	for _, e := range r.Plan {
		row := p.Cost.Row(e.I, nil)
		paid.Add(paid, new(big.Rat).Mul(new(big.Rat).SetFloat64(row[e.J]), new(big.Rat).SetFloat64(e.Mass)))
	}
	spoilt := r
	spoilt.Q = slices.Clone(r.Q)
	spoilt.Q[0], spoilt.Q[1] = r.Q[0]+1e-15, r.Q[1]-1e-15 // the same sum, but not the point
	if _, _, err := sinkhorn.Verify(p, spoilt); !errors.Is(err, sinkhorn.ErrCertificate) {
		t.Errorf("another Q: %v, want ErrCertificate", err)
	}
	if upper.Cmp(paid) <= 0 {
		t.Errorf("upper bound %v, the plan alone costs %v", upper.FloatString(20), paid.FloatString(20))
	}
}

// TestVectorBesidePlan: what a Projector says of the entropic plan, its cost and its residual, is true of LogV. Verify looks at that if there is no
// other plan.
func TestVectorBesidePlan(t *testing.T) {
	b, p := line(t, 10, 0.5, 2)
	for _, mass := range [][]float64{{0.5, 0.3, 0.2}, {0.98, 0.01, 0.01}} {
		p.Source, p.Support = mass, []int{0, 1, 9}
		var r sinkhorn.Result
		if err := b.Project(context.Background(), p.Source, p.Support, &r); err != nil {
			t.Fatal(err)
		}
		if r.Plan == nil || !(r.Residual > 1e-3) {
			t.Fatalf("a plan of %d entries, a residual of %v", len(r.Plan), r.Residual)
		}
		r.Plan, r.Upper = nil, cost.Max(p.Cost)
		if _, _, err := sinkhorn.Verify(p, r); err != nil {
			t.Error(err)
		}
		r.Residual *= 1 + 1e-3
		if _, _, err := sinkhorn.Verify(p, r); !errors.Is(err, sinkhorn.ErrCertificate) {
			t.Errorf("%v, want ErrCertificate", err)
		}
	}
}

// TestProjectorAnswers: what a Projector says about itself; a nil context never ends; nothing to do is no error.
func TestProjectorAnswers(t *testing.T) {
	b, p := line(t, 6, 0.5, 2)
	if got := b.Settings(); got.Gap != 0.5 || got.Method == sinkhorn.Auto {
		t.Errorf("settings %+v", got)
	}
	if got := b.Reg(); got != p.Reg {
		t.Errorf("Reg is %v, want %v", got, p.Reg)
	}
	source := []float64{0, 0, 1, 0, 0, 0}
	var with, without sinkhorn.Result
	if err := b.Project(context.Background(), source, nil, &with); err != nil {
		t.Fatal(err)
	}
	if err := b.Project(nil, source, nil, &without); err != nil || !reflect.DeepEqual(with, without) { //nolint:staticcheck // nil on purpose
		t.Errorf("without a context %+v, %v; want %+v", without, err, with)
	}
	get := func(int) ([]float64, []int) { return source, nil }
	calls := 0
	emit := func(i int, r *sinkhorn.Result, err error) error {
		calls++
		if !reflect.DeepEqual(*r, with) {
			t.Errorf("%d: %+v, want %+v", i, *r, with)
		}
		return err
	}
	for _, n := range []int{0, 1} {
		if err := b.All(nil, n, get, emit); err != nil || calls != n { //nolint:staticcheck // nil on purpose
			t.Errorf("All of %d: %v, %d calls", n, err, calls)
		}
	}
}

// TestNames: what statuses and methods are called.
func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"converged":  sinkhorn.Converged.String(),
		"iterations": sinkhorn.IterationLimit.String(),
		"cancelled":  sinkhorn.Cancelled.String(),
		"stalled":    sinkhorn.Stalled.String(),
		"auto":       sinkhorn.Auto.String(),
		"paper":      sinkhorn.Paper.String(),
		"fast":       sinkhorn.Fast.String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s, m := sinkhorn.Status(9).String(), sinkhorn.Method(9).String(); s != "unknown" || m != "unknown" {
		t.Errorf("%q, %q", s, m)
	}
}
