// Package given holds what tests of several packages begin with: privacy levels, lattices, hard transport problems. It
// stands apart from package numtest because it imports packages whose own tests use that one.
package given

import (
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// Epsilon is a privacy level from its text.
func Epsilon(t testing.TB, s string) ldp.Epsilon {
	t.Helper()
	eps, err := ldp.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

// Lattices are a grid of so many cells and, if it has one row, the ring of as many, by name.
func Lattices(t testing.TB, rows, cols int, p float64) map[string]cost.Matrix {
	t.Helper()
	grid, err := cost.NewGrid(rows, cols, p)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]cost.Matrix{fmt.Sprintf("grid %dx%d", rows, cols): grid}
	if rows == 1 {
		if list[fmt.Sprintf("ring %d", cols)], err = cost.NewRing(cols, p); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
