package wpm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestLatticeWorstCase holds what a design of a large ring or grid states of its rows against all of them; by itself
// against every fifth, or every seventh if they are alike. With few bits, rounding makes some outputs differ from the
// others, and then inputs differ that are alike otherwise.
func TestLatticeWorstCase(t *testing.T) {
	for _, test := range []struct {
		rows, cols int
		p          float64
		eps        string
		bits       int
	}{
		{1, 1100, 1, "2", 62},
		{1, 1100, 2, "1/10", 11},
		{1, 1100, 3, "1/1000000000000000000", 62},
		{1, 1101, 0.5, "1", 12},
		{25, 44, 1, "2", 62},
		{25, 44, 3, "1/10", 11},
		{33, 33, 0.5, "1", 62},
		{33, 33, 2, "1/1000000000000000000", 62},
		{33, 33, 40, "5", 62},
		{33, 33, 1, "1", 12},
		{530, 2, 2, "3", 62},
	} {
		if !numtest.Full() && test.p != 1 && test.bits == 62 {
			continue // certificates take half a second each
		}
		for name, c := range given.Lattices(t, test.rows, test.cols, test.p) {
			d, err := wpm.NewDesign(t.Context(), c, given.Epsilon(t, test.eps), wpm.Objective{Options: wpm.Options{Bits: test.bits}})
			if err != nil {
				t.Fatal(name, err)
			}
			upper, input := d.WorstCase()
			worst, step := d.Channel().Cost(input), numtest.Cases(5, 1)
			if test.bits == 62 {
				step = numtest.Cases(7, 1)
			}
			for i := 0; i < test.rows*test.cols; i += step {
				worst = max(worst, d.Channel().Cost(i))
			}
			const open = 1e-11 // roundings of the costs, see package internal/worst
			if !(upper >= worst && upper <= given.Max(c)*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s, %d bits: a row costs %v, stated is at most %v", name, test.p, test.eps, test.bits,
					worst, upper)
			}
			if got := d.Channel().Cost(input); test.bits == 62 && (got < worst*(1-open) || upper > worst*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s: the worst row costs %v, input %d %v, stated is at most %v", name, test.p, test.eps,
					worst, input, got, upper)
			}
			base := d.Base()
			if !(base.Lower <= base.F && base.F <= base.Upper && base.Upper <= base.F*(1+open)) {
				t.Errorf("%s, p = %v, eps = %s: lower bound %v, worst case %v, at most %v", name, test.p, test.eps, base.Lower,
					base.F, base.Upper)
			}
		}
	}
}

// TestZeroMechanism: nil and the zero value give ErrShape, and nothing panics.
func TestZeroMechanism(t *testing.T) {
	ctx := context.Background()
	for name, m := range map[string]*wpm.Mechanism{"nil": nil, "zero": {}} {
		for what, do := range map[string]func() error{
			"Channel":       func() error { _, err := m.Channel(ctx); return err },
			"RoundingCost":  func() error { _, err := m.RoundingCost(ctx); return err },
			"Project":       func() error { _, err := m.Project(ctx, nil); return err },
			"ProjectSparse": func() error { _, err := m.ProjectSparse(ctx, nil, nil); return err },
			"Projector":     func() error { _, err := m.Projector()(ctx, nil); return err },
			"Publish":       func() error { _, err := m.Publish(ctx, policy.Config{}); return err },
		} {
			if err := do(); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%s of the %s mechanism: %v", what, name, err)
			}
		}
	}
	if _, err := new(wpm.Design).Publish(policy.Config{}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("the zero design: %v", err)
	}
}

// TestChannelEnded: a context that ends the rows is named with its cause.
func TestChannelEnded(t *testing.T) {
	ring, err := cost.NewRing(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), ring, given.Epsilon(t, "1"), wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err = d.Mechanism().Channel(ctx)
	for _, want := range []error{wpmerr.ErrNotConverged, context.Canceled, why} {
		if !errors.Is(err, want) {
			t.Errorf("%v does not wrap %v", err, want)
		}
	}
}
