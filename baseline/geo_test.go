package baseline_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestExponentialLoss: on a grid the exponential mechanism has half of its eps. By symmetry the rows of opposite corners
// have one normalisation, and their costs in a corner differ by the whole range.
func TestExponentialLoss(t *testing.T) {
	g, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := baseline.NewExponential(context.Background(), g, 4)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := e.Channel(context.Background())
	const tol = 1e-12 // two sums of 400 exponentials, their logarithm
	if loss := baseline.Loss(rows); err != nil || !(math.Abs(loss-2) <= tol) {
		t.Errorf("loss %v (%v), want 2", loss, err)
	}
}

// TestGeoIndistinguishable: on two places at distance d the law is e^(t d) to 1, so that t = eps/d; and everywhere the
// rows have the form exp(-t d(x, y)) with one t, use up eps, and keep to it.
func TestGeoIndistinguishable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 6).Draw(t, "k")
		eps := rapid.Float64Range(0.01, 20).Draw(t, "eps")
		d := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
		for i := range k {
			for j := range i {
				x := rapid.Float64Range(0.1, 10).Draw(t, "d")
				d.Data[i*k+j], d.Data[j*k+i] = x, x
			}
		}
		g, err := baseline.NewGeoIndistinguishable(context.Background(), d, eps)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]float64, k)
		for i := range rows {
			mu := make([]float64, k)
			mu[i], rows[i] = 1, make([]float64, k)
			if err := g.Law(rows[i], mu); err != nil {
				t.Fatal(err)
			}
		}
		strength := math.Log(rows[0][0]/rows[0][1]) / d.Data[1]
		const tol = 1e-9 // logarithms of ratios up to e^60, divided by distances down to 0.1
		for i := range k {
			for j := range k {
				if got := math.Log(rows[i][i] / rows[i][j]); !(math.Abs(got-strength*d.Data[i*k+j]) <= tol*(1+got)) {
					t.Errorf("log ratio (%d, %d) = %v, want %v times the distance %v", i, j, got, strength, d.Data[i*k+j])
				}
			}
		}
		loss := baseline.Loss(rows)
		if !(loss <= eps*(1+1e-12)) || !(loss >= eps*(1-1e-4)) {
			t.Errorf("loss %v at eps %v: t = %v", loss, eps, strength)
		}
		if k == 2 && !(math.Abs(strength*d.Data[1]/eps-1) <= 1e-4) {
			t.Errorf("two places: t = %v, want %v", strength, eps/d.Data[1])
		}
	})
}

// TestGeoCertified: package ldp makes a box of the measure that holds the rows, up to the rounding of both.
func TestGeoCertified(t *testing.T) {
	grid, err := cost.NewGrid(5, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	g, err := baseline.NewGeoIndistinguishable(context.Background(), grid, 1)
	if err != nil {
		t.Fatal(err)
	}
	const bits = 40
	box, err := ldp.NewPolytope(eps, g.Measure(), bits)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Verify(); err != nil {
		t.Fatal(err)
	}
	row, mu := make([]float64, 25), make([]float64, 25)
	mu[7] = 1
	if err := g.Law(row, mu); err != nil {
		t.Fatal(err)
	}
	w := box.Round(row)
	for j, q := range row {
		// The box moves entries by the rounding of 25 masses, and by the 1e-6 that the bisection leaves.
		if got := float64(w.At(j)) / (1 << bits); !(math.Abs(got-q) <= 1e-5) {
			t.Errorf("output %d: %v in the box, %v by the rule", j, got, q)
		}
	}
}

func TestGeoErrors(t *testing.T) {
	one := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	for name, c := range map[string]struct {
		d    *cost.Dense
		eps  float64
		want error
	}{
		"NaN":      {&cost.Dense{K: 1, Kv: 1, Data: []float64{math.NaN()}}, 1, wpmerr.ErrNotFinite},
		"negative": {&cost.Dense{K: 1, Kv: 1, Data: []float64{-1}}, 1, wpmerr.ErrNegative},
		"eps":      {one, -1, wpmerr.ErrEpsilon},
		"large":    {one, 701, wpmerr.ErrEpsilon},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := baseline.NewGeoIndistinguishable(context.Background(), c.d, c.eps); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	for _, eps := range []float64{0, 700} { // the ends answer
		g, err := baseline.NewGeoIndistinguishable(context.Background(), one, eps)
		if err != nil {
			t.Fatal(err)
		}
		q := make([]float64, 2)
		if err := g.Law(q, []float64{1, 0}); err != nil || !(math.Abs(q[0]+q[1]-1) <= 1e-15) {
			t.Errorf("eps %v: %v, %v", eps, q, err)
		}
	}
	same, err := baseline.NewGeoIndistinguishable(context.Background(), &cost.Dense{K: 2, Kv: 2, Data: make([]float64, 4)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, 2)
	if err := same.Law(q, []float64{1, 0}); err != nil || q[0] != 0.5 {
		t.Errorf("places that are all equal: %v, %v", q, err)
	}
	if baseline.Loss(nil) != 0 || !math.IsInf(baseline.Loss([][]float64{{1, 0}, {0, 1}}), 1) {
		t.Error("Loss of no rows, or of rows that differ in support")
	}
}
