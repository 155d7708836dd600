package sinkhorn

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestGridRange: the range that grids are measured by is the largest cost of the rows that take part.
func TestGridRange(t *testing.T) {
	const ulps = 0x1p-50 // two squares and a sum
	for _, size := range [][2]int{{1, 1}, {1, 7}, {6, 1}, {5, 8}} {
		rows, cols := size[0], size[1]
		c, err := cost.NewGrid(rows, cols, 2)
		if err != nil {
			t.Fatal(err)
		}
		n := rows * cols
		mu, lo, hi := make([]float64, n), make([]float64, n), slices.Repeat([]float64{1}, n)
		mu[0] = 1
		level := newGridLevel(rows, cols, mu, lo, hi, 0)
		all := 0.0
		for i := range n {
			want := slices.Max(c.Row(i, nil))
			all = math.Max(all, want)
			if got := level.rangeOf([]int{i}); !(math.Abs(got-want) <= ulps*want) {
				t.Errorf("%d x %d, row %d: %v, want %v", rows, cols, i, got, want)
			}
		}
		some := []int{0, n / 2, n - 1}
		if got := level.rangeOf(some); !(math.Abs(got-all) <= ulps*all) {
			t.Errorf("%d x %d, rows %v: %v, want %v", rows, cols, some, got, all)
		}
	}
}
