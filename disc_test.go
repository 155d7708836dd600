package wpm_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
)

// TestDesignMap: a policy for a map favours fewer places the more devices there are, verifies, and states the worst
// case that this costs, beside that of the uniform measure.
func TestDesignMap(t *testing.T) {
	ctx, two := context.Background(), given.Epsilon(t, "2")
	grid, err := cost.NewGrid(8, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	uniform, err := wpm.NewDesign(ctx, grid, two, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	if uniform.Even() != 0 {
		t.Errorf("uniform: Even() = %v", uniform.Even())
	}
	last := 1.0
	for _, devices := range []int{300, 30_000, 3_000_000} {
		d, err := wpm.NewDesign(ctx, grid, two, wpm.Objective{Kind: wpm.Map, Devices: devices})
		if err != nil {
			t.Fatal(err)
		}
		high := 0
		for j, row := 0, d.Channel().Row(0); j < row.Len(); j++ {
			if row.At(j) > 1<<62/72 {
				high++
			}
		}
		if want := float64(high) / 72; math.Abs(d.Disc()-want) > 1e-9 || !(d.Disc() <= last) {
			t.Errorf("%d devices: a disc of %v, %v of the outputs are high; it was %v for fewer", devices, d.Disc(), want, last)
		}
		last = d.Disc()
		// What the uniform measure has is the least of all scales.
		even, _ := uniform.WorstCase()
		worst, input := d.WorstCase()
		if d.Lower() != uniform.Lower() || math.Abs(d.Even()-even) > 1e-9*even || !(worst >= even*(1-1e-9)) {
			t.Errorf("%d devices: worst %v, lower %v, even %v; uniform has %v and %v", devices, worst, d.Lower(), d.Even(), even,
				uniform.Lower())
		}
		if base := d.Base(); math.Abs(base.WorstCase-worst) > 1e-9*worst || base.Worst != input || base.F != base.WorstCase {
			t.Errorf("%d devices: base %v at %d, as published %v at %d", devices, base.WorstCase, base.Worst, worst, input)
		}
		p, err := d.Publish(policy.Config{Provenance: policy.Provenance{Geometry: policy.Unstated,
			BaseMeasure: policy.Unstated}})
		if err != nil {
			t.Fatal(err)
		}
		if err := policy.Verify(p); err != nil {
			t.Error(err)
		}
		if _, bounds, err := certificate.CheckPolicy(ctx, p); err != nil || bounds.Worst.Cmp(bounds.Lower) < 0 {
			t.Errorf("%d devices: certificate: %v, %v", devices, bounds, err)
		}
	}
	if !(last < uniform.Disc()/2) {
		t.Errorf("3,000,000 devices: a disc of %v, uniform has %v", last, uniform.Disc())
	}
}

// TestDesignMapKinds: every cost with distances has a map, those of more than a table holds too; a cost without them
// has none.
func TestDesignMapKinds(t *testing.T) {
	ctx, one := context.Background(), given.Epsilon(t, "1")
	ring, err := cost.NewRing(numtest.Cases(150, 1100), 2)
	if err != nil {
		t.Fatal(err)
	}
	lonely, err := cost.NewRing(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := cost.NewPoints([][]float64{{0}, {1}, {3}, {4}}, [][]float64{{0}, {2}, {5}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	matrix := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
	for name, c := range map[string]cost.Matrix{"ring": ring, "one point": lonely, "outputs": outputs, "matrix": matrix} {
		t.Run(name, func(t *testing.T) {
			d, err := wpm.NewDesign(ctx, c, one, wpm.Objective{Kind: wpm.Map, Devices: 1000})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			worst, _ := d.WorstCase()
			if !(worst >= d.Even()*(1-1e-9)) || !(d.Base().WorstCase <= worst*(1+1e-9)) {
				t.Errorf("%s: worst %v, base %v, even %v", name, worst, d.Base().WorstCase, d.Even())
			}
		})
	}
	lopsided := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 2, 0}}
	if _, err := wpm.NewDesign(ctx, lopsided, one, wpm.Objective{Kind: wpm.Map, Devices: 1}); !errors.Is(err,
		estimate.ErrNoGeometry) {
		t.Errorf("no distances: %v", err)
	}
	if _, err := wpm.Compare(ctx, matrix, one, wpm.Objective{Kind: wpm.Map, Devices: 1}); !errors.Is(err, wpm.ErrOption) {
		t.Errorf("compare: %v", err)
	}
}
