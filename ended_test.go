package wpm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEndedContext: whichever solver a context ends, the error is ErrNotConverged, the error of the context and its
// cause.
func TestEndedContext(t *testing.T) {
	const k = 100
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := cost.NewGrid(60, 60, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), ring)
	if err != nil {
		t.Fatal(err)
	}
	box := func(n int) (mu, lo, hi []float64) {
		x := 1 / float64(n)
		return slices.Repeat([]float64{x}, n), slices.Repeat([]float64{x / 2}, n), slices.Repeat([]float64{2 * x}, n)
	}
	mu, lo, hi := box(k)
	mu2, lo2, hi2 := box(3600)
	g := &network.Problem{}
	a, b := g.AddNode(1), g.AddNode(-1)
	g.AddArc(a, b, 0, 1, 1)
	entropic := func(c cost.Matrix, mu, lo, hi []float64, s sinkhorn.Settings) error {
		_, err := sinkhorn.Project(ctx, sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi},
			Reg: 0.1}, s)
		return err
	}
	many, err := sinkhorn.NewProjector(context.Background(), ring, lo, hi, 0.1, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	problem := sinkhorn.Problem{Problem: projection.Problem{Cost: ring, Source: mu, Lo: lo, Hi: hi}, Reg: 0.1}
	answer, err := sinkhorn.Project(context.Background(), problem, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	base, err := basemeasure.Uniform(context.Background(), table, 1, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	kernel := &cost.Dense{K: 2, Kv: 2, Data: []float64{1, 2, 3, 4}}
	for name, run := range map[string]func() error{
		"mincostflow": func() error {
			_, err := mincostflow.Project(ctx, projection.Problem{Cost: ring, Source: mu, Lo: lo, Hi: hi},
				mincostflow.Settings{})
			return err
		},
		"mincostflow, a stream": func() error {
			_, err := mincostflow.NewProjector(ctx, ring, lo, hi, mincostflow.Settings{})
			return err
		},
		"network":            func() error { _, err := network.Solve(ctx, g, network.Settings{}); return err },
		"sinkhorn":           func() error { return entropic(ring, mu, lo, hi, sinkhorn.Settings{}) },
		"sinkhorn, paper":    func() error { return entropic(ring, mu, lo, hi, sinkhorn.Settings{Method: sinkhorn.Paper}) },
		"sinkhorn, grid":     func() error { return entropic(grid, mu2, lo2, hi2, sinkhorn.Settings{}) },
		"sinkhorn, a stream": func() error { return many.Project(ctx, mu, nil, new(sinkhorn.Result)) },
		"base measure": func() error {
			_, err := basemeasure.Solve(ctx, table, 1, basemeasure.Settings{})
			return err
		},
		"base measure, unsorted": func() error {
			_, err := basemeasure.Solve(ctx, ring, 1, basemeasure.Settings{})
			return err
		},
		"uniform": func() error {
			_, err := basemeasure.Uniform(ctx, table, 1, basemeasure.Settings{})
			return err
		},
		"uniform in one pass": func() error {
			points, err := cost.NewGrid(10, 10, 1)
			if err != nil {
				return err
			}
			_, err = basemeasure.UniformOnePass(ctx, points, 1)
			return err
		},
		"mirror": func() error { _, err := mirror.Descend(ctx, table, 1, mirror.Settings{}); return err },
		"table":  func() error { _, err := knapsack.New(ctx, ring); return err },
		"cost":   func() error { _, err := cost.Materialize(ctx, ring); return err },
		"extent": func() error { _, _, err := cost.Extent(ctx, &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}); return err },
		"sinkhorn, a stream to be": func() error {
			_, err := sinkhorn.NewProjector(ctx, ring, lo, hi, 0.1, sinkhorn.Settings{})
			return err
		},
		"relative Reg": func() error {
			_, err := sinkhorn.RelativeReg(ctx, &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}, 1)
			return err
		},
		"entropic verifier": func() error {
			_, _, err := sinkhorn.Verify(ctx, problem, answer)
			return err
		},
		"base measure's verifier": func() error { _, _, err := basemeasure.Verify(ctx, table, 1, base); return err },
		"hilbert":                 func() error { _, err := hilbert.GibbsDiameter(ctx, table, 1); return err },
		"hilbert, of a kernel":    func() error { _, err := hilbert.Diameter(ctx, kernel); return err },
		"hilbert, a bound":        func() error { _, err := hilbert.GibbsBound(ctx, ring, 1); return err },
	} {
		err := run()
		for _, want := range []error{wpmerr.ErrNotConverged, context.Canceled, why} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v does not wrap %v", name, err, want)
			}
		}
	}
}
