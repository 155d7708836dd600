package device

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestCheckRowsCountsAxes: what bounds the work of verify unasked is pairs times axes, in steps of 8 axes.
func TestCheckRowsCountsAxes(t *testing.T) {
	const places = 20
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, slices.Repeat([]float64{0.04}, places), 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		axes    int
		pairs   int64
		checked bool
	}{
		{0, places * places, true}, {0, places*places - 1, false},
		{8, places * places, true}, {8, places*places - 1, false},
		{9, places * places, false}, {9, 2 * places * places, true},
		{1000, 124 * places * places, false}, {1000, 125 * places * places, true},
		{1000, math.MaxInt64, true}, {1, 0, false},
	} {
		cfg := policy.Config{Polytope: box, Geometry: &policy.Geometry{Kind: policy.Ring},
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}}
		if tt.axes > 0 {
			cfg.Geometry = &policy.Geometry{Kind: policy.Points, Axes: tt.axes, OutputPoints: make([]int32, places*tt.axes)}
		}
		cfg.Thresholds = make([]int32, places)
		p, err := policy.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		m := Points{Policy: p, VerifyRows: func(context.Context, policy.Policy) error { calls++; return nil }}
		text, err := m.CheckRows(t.Context(), tt.pairs)
		if err != nil || (calls == 1) != tt.checked || (text == rowsNotChecked) == tt.checked {
			t.Errorf("%d axes, %d pairs: %q, %v, %d checks, want one: %v", tt.axes, tt.pairs, text, err, calls, tt.checked)
		}
	}
}
