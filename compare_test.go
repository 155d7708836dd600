package wpm_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// levels are three eps, the smallest last.
func levels(t *testing.T) (l wpm.Levels) {
	for _, s := range []string{"1", "2", "1/3"} {
		eps, err := ldp.ParseEpsilon(s)
		if err != nil {
			t.Fatal(err)
		}
		l.Epsilons = append(l.Epsilons, eps)
	}
	return l
}

// TestCompareDesigns: at every eps the outcomes are those of Compare, and of Evaluate for KPM's base measure.
func TestCompareDesigns(t *testing.T) {
	ctx, l := context.Background(), levels(t)
	c, weights := points(t, 1, 7, 0), []float64{1, 2, 3, 4, 5, 6, 7}
	goals := []wpm.Objective{{Kind: wpm.Uniform, Weights: weights}, {Kind: wpm.Average, Weights: weights}}
	steps := 0
	l.Step = func(done, total int, what string) {
		if steps++; total != 3 || done > total || what == "" {
			t.Errorf("step %d of %d, %q", done, total, what)
		}
	}
	got, err := wpm.CompareDesigns(ctx, c, l, weights, goals...)
	if err != nil || len(got) != 3 || steps != 6 {
		t.Fatalf("%d levels, %d steps, %v", len(got), steps, err)
	}
	for n, d := range got {
		m, err := baseline.KPMMeasure(7, d.Epsilon.Float64())
		if err != nil {
			t.Fatal(err)
		}
		kpm, err := wpm.Evaluate(ctx, c, d.Epsilon, m, weights)
		if err != nil {
			t.Fatal(err)
		}
		want, err := wpm.Compare(ctx, c, l.Epsilons[n], goals...)
		if err != nil || d.Epsilon.Cmp(l.Epsilons[n]) != 0 || !reflect.DeepEqual(d.Outcomes, want) || d.KPM != kpm {
			t.Errorf("%v: %+v, %v, want %+v and %+v", d.Epsilon, d, err, kpm, want)
		}
	}
}

// TestCompareRivals: no worst case is below the lower bound, which falls as eps grows, nor uniform's above KPM's, whose
// base measure is uniform at another scale; and rivals need outputs that are inputs.
func TestCompareRivals(t *testing.T) {
	ctx, l := context.Background(), levels(t)
	c := points(t, 1, 7, 0)
	got, err := wpm.CompareRivals(ctx, c, l, true)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	for _, w := range got {
		if !(w.Lower <= w.Uniform && w.Uniform <= *w.KPM && w.Lower <= *w.Exponential) || *w.Response != *w.KPM {
			t.Errorf("%+v", w)
		}
	}
	if !(got[1].Lower <= got[0].Lower && got[0].Lower <= got[2].Lower) {
		t.Errorf("lower bounds %v, %v, %v at 1, 2, 1/3", got[0].Lower, got[1].Lower, got[2].Lower)
	}
	alone, err := wpm.CompareRivals(ctx, c, l, false)
	if err != nil || alone[0].KPM != nil || alone[0].Exponential != nil || alone[0].Response != nil ||
		alone[0].Uniform != got[0].Uniform {
		t.Errorf("%+v, %v", alone, err)
	}
}

// TestCompareErrors: bad input has the errors of NewDesign.
func TestCompareErrors(t *testing.T) {
	ctx, l := context.Background(), levels(t)
	c := points(t, 1, 7, 0)
	ended, end := context.WithCancel(ctx)
	end()
	for name, test := range map[string]struct {
		ctx     context.Context
		c       cost.Matrix
		weights []float64
		want    error
	}{
		"no cost": {ctx, nil, nil, wpmerr.ErrShape},
		"weights": {ctx, c, []float64{1}, wpmerr.ErrShape},
		"ended":   {ended, c, nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := wpm.CompareDesigns(test.ctx, test.c, l, test.weights, wpm.Objective{}); !errors.Is(err, test.want) {
				t.Errorf("CompareDesigns: %v", err)
			}
			if test.weights != nil {
				return
			}
			if _, err := wpm.CompareRivals(test.ctx, test.c, l, true); !errors.Is(err, test.want) {
				t.Errorf("CompareRivals: %v", err)
			}
		})
	}
}
