package basemeasure_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// A row at the scale of Favour has exactly the outputs of its share at their upper bound and the others at their lower
// one, and the costs are those of these rows.
func TestFavour(t *testing.T) {
	const k, eps = 12, 1.5
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), ring)
	if err != nil {
		t.Fatal(err)
	}
	even, err := basemeasure.Uniform(t.Context(), table, eps, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		share  float64
		raised int
	}{{1e-9, 1}, {1. / 12, 1}, {0.124, 1}, {0.126, 2}, {0.25, 3}, {1, 12}} {
		r, err := basemeasure.Favour(table, eps, tc.share, even)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := math.Exp(-eps/2)*r.M[0], math.Exp(eps/2)*r.M[0]
		if sum := float64(tc.raised)*hi + float64(k-tc.raised)*lo; math.Abs(sum-1) > 1e-12 { // a few roundings
			t.Errorf("share %v: %d outputs raised sum to %v", tc.share, tc.raised, sum)
		}
		// The nearest outputs of a point of a ring are at 0, 1, 1, 2, 2, ...
		want := 0.0
		for j := range k {
			if j < tc.raised {
				want += float64((j+1)/2) * hi
			} else {
				want += float64((j+1)/2) * lo
			}
		}
		if math.Abs(r.WorstCase-want) > 1e-12*k || math.Abs(r.Mean-want) > 1e-12*k || r.F != r.WorstCase || r.Upper != r.F {
			t.Errorf("share %v: worst %v, mean %v, F %v, want %v", tc.share, r.WorstCase, r.Mean, r.F, want)
		}
		if r.Lower != even.Lower || !(r.WorstCase >= even.Lower) || r.Mass != k*r.M[0] {
			t.Errorf("share %v: lower %v of %v, mass %v", tc.share, r.Lower, even.Lower, r.Mass)
		}
		without, err := basemeasure.Favour(nil, eps, tc.share, even)
		if err != nil || without.M[0] != r.M[0] || without.F != 0 {
			t.Errorf("share %v without a table: %v, F %v, %v", tc.share, without.M[0], without.F, err)
		}
	}
	one := basemeasure.Result{M: []float64{1}, F: 3}
	if r, err := basemeasure.Favour(nil, eps, 0.5, one); err != nil || r.F != 3 {
		t.Errorf("one output: %v, %v", r, err)
	}
	for _, tc := range []struct {
		eps, share float64
		even       basemeasure.Result
		want       error
	}{
		{-1, 0.5, even, wpmerr.ErrEpsilon},
		{math.NaN(), 0.5, even, wpmerr.ErrEpsilon},
		{eps, 0, even, wpmerr.ErrSettings},
		{eps, 1.01, even, wpmerr.ErrSettings},
		{eps, math.NaN(), even, wpmerr.ErrSettings},
		{eps, 0.5, basemeasure.Result{}, wpmerr.ErrShape},
		{eps, 0.5, basemeasure.Result{M: make([]float64, k+1)}, wpmerr.ErrShape},
	} {
		if _, err := basemeasure.Favour(table, tc.eps, tc.share, tc.even); !errors.Is(err, tc.want) {
			t.Errorf("eps %v, share %v: %v, want %v", tc.eps, tc.share, err, tc.want)
		}
	}
}
