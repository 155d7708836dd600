package basemeasure

import (
	"context"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestFewerOutputs: of two measures of the same value the one with fewer outputs is kept, in whichever order they come.
func TestFewerOutputs(t *testing.T) {
	c, err := cost.FromRows([][]float64{{0, 0, 1, 1}, {1, 1, 0, 0}}) // outputs are there twice
	if err != nil {
		t.Fatal(err)
	}
	p, s, err := newProblem(context.Background(), c, 1, Settings{}, true)
	if err != nil {
		t.Fatal(err)
	}
	v := newSolver(context.Background(), p, s)
	if _, err := v.open(); err != nil {
		t.Fatal(err)
	}
	if n := nonzeros(v.m); n != 4 {
		t.Fatalf("%d outputs at first", n)
	}
	x := v.m[0]
	for _, m := range [][]float64{{2 * x, 0, 2 * x, 0}, {x, x, x, x}, {2 * x, 0, x, x}} {
		v.evaluate(slices.Clone(m))
		used := 0
		for _, x := range v.m {
			if x > 0 {
				used++
			}
		}
		if used != 2 {
			t.Errorf("after %v: %v is kept", m, v.m)
		}
	}
}

// TestGapOfOne: the largest gap that may be asked for is one, which any bounds prove.
func TestGapOfOne(t *testing.T) {
	c, err := cost.FromRows([][]float64{{0, 3, 1}, {2, 0, 4}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), c, 1, Settings{Gap: 1})
	if err != nil || r.Stats.Pivots > 0 {
		t.Errorf("%v after %d pivots", err, r.Stats.Pivots)
	}
}
