package estimate

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestNewGeometry holds the distances against formulas of their own.
func TestNewGeometry(t *testing.T) {
	build := func(s cost.Spec) cost.Matrix {
		m, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	x := [][]float64{{0, 0}, {3, 4}, {0, 1}}
	turned := [][]float64{{2, 0}, {0, 5}, {-1, 0}, {0, 0}}
	for _, c := range []struct {
		name string
		cost cost.Matrix
		p    float64
		want [][]float64 // some rows
		unit float64
	}{
		{"points, p = 2", build(cost.Spec{Kind: "points", X: x, P: 2}), 1, [][]float64{{0, 5, 1}}, 1},
		{"points, p = 400", build(cost.Spec{Kind: "points", X: x, P: 400}), 1, [][]float64{{0, 5, 1}}, 1},
		{"other outputs", build(cost.Spec{Kind: "points", X: x, V: [][]float64{{9, 9}, {8, 8}}, P: 1}), 1,
			[][]float64{{0, 5, 1}}, 1},
		{"ring", build(cost.Spec{Kind: "ring", N: 4, P: 2}), 1, [][]float64{{0, 1, 2, 1}}, 1},
		{"grid", build(cost.Spec{Kind: "grid", Rows: 1, Cols: 3, P: 3}), 1, [][]float64{{0, 1. / 3, 2. / 3}}, 1. / 3},
		{"cosine", build(cost.Spec{Kind: "cosine", X: turned}), 7,
			[][]float64{{0, math.Sqrt2, 2, math.Sqrt2}, {math.Sqrt2, 0, math.Sqrt2, math.Sqrt2}}, math.Sqrt2},
		{"great circle", build(cost.Spec{Kind: "greatcircle", X: [][]float64{{0, 0}, {0, 90}, {90, 0}}, P: 2}), 1,
			[][]float64{{0, 10007.557, 10007.557}}, 10007.557},
		{"explicit", &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 9, 9, 0}}, 2, [][]float64{{0, 3}, {3, 0}}, 3},
		{"explicit, of a file", &cost.Dense{K: 2, Kv: 2, Data: []float64{1e-7, 9.00001, 9.00002, 0}}, 2,
			[][]float64{{0, 3.0000025}, {3.0000025, 0}}, 3.0000025},
		{"places at one point", build(cost.Spec{Kind: "points", X: [][]float64{{1}, {1}, {1}}}), 1, [][]float64{{0, 0, 0}},
			1},
		{"pairs at one point", build(cost.Spec{Kind: "points", X: [][]float64{{1}, {1}, {3}, {3}}}), 1,
			[][]float64{{0, 0, 2, 2}}, 2},
		{"one place", build(cost.Spec{Kind: "points", X: [][]float64{{1}}}), 1, [][]float64{{0}}, 1},
	} {
		g, err := NewGeometry(context.Background(), c.cost, c.p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*b } // digits of the table
		for i, want := range c.want {
			row := g.dist.Row(i, make([]float64, g.K()))
			for j := range want {
				if len(row) != len(want) || !near(row[j], want[j]) {
					t.Errorf("%s: row %d is %v, want %v", c.name, i, row, want)
					break
				}
			}
		}
		if !near(g.unit, c.unit) {
			t.Errorf("%s: unit %v, want %v", c.name, g.unit, c.unit)
		}
	}
}

func TestNewGeometryErrors(t *testing.T) {
	square := func(v ...float64) cost.Matrix { return &cost.Dense{K: 2, Kv: 2, Data: v} }
	for name, c := range map[string]struct {
		cost cost.Matrix
		p    float64
		want error
	}{
		"not square":     {&cost.Dense{K: 1, Kv: 2, Data: []float64{0, 1}}, 1, ErrNoGeometry},
		"too far":        {square(0, 1e200, 1e200, 0), 0.5, ErrNoGeometry},
		"not symmetric":  {square(0, 1, 1.001, 0), 1, ErrNoGeometry},
		"one way":        {square(0, 1, 0, 0), 1, ErrNoGeometry},
		"diagonal":       {square(.1, 1, 1, 0), 1, ErrNoGeometry},
		"power 0":        {square(0, 1, 1, 0), 0, cost.ErrExponent},
		"power -1":       {square(0, 1, 1, 0), -1, cost.ErrExponent},
		"power NaN":      {square(0, 1, 1, 0), math.NaN(), cost.ErrExponent},
		"power infinite": {square(0, 1, 1, 0), math.Inf(1), cost.ErrExponent},
		"negative":       {square(0, -1, -1, 0), 1, wpmerr.ErrNegative},
		"NaN":            {square(0, math.NaN(), 1, 0), 1, wpmerr.ErrNotFinite},
	} {
		if _, err := NewGeometry(context.Background(), c.cost, c.p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestGeometryEnds: a geometry and a disc read at most 16 more rows of a cost when the context has ended.
func TestGeometryEnds(t *testing.T) {
	ring, err := cost.NewRing(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "NewGeometry", ring, looks, func(ctx context.Context, c cost.Matrix) error {
		_, err := NewGeometry(ctx, c, 1)
		return err
	})
	given.Ends(t, "Disc", ring, looks, func(ctx context.Context, c cost.Matrix) error {
		_, err := Disc(ctx, c, 1, 1, 100)
		return err
	})
	given.Ends(t, "a metric of another package", ring, looks, func(ctx context.Context, c cost.Matrix) error {
		_, err := NewGeometry(ctx, foreign{c, ring}, 1)
		return err
	})
}

// foreign is a metric of which package cost knows nothing.
type foreign struct {
	cost.Matrix
	cost.Metric
}

func (f foreign) Dims() (int, int)                   { return f.Matrix.Dims() }
func (f foreign) Row(i int, buf []float64) []float64 { return f.Matrix.Row(i, buf) }
func (f foreign) Distances() (cost.Matrix, error)    { return f.Matrix, nil }
