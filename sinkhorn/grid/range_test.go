package grid

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
		with := func(cells ...int) []float64 { // masses in those
			mu := make([]float64, n)
			for _, i := range cells {
				mu[i] = 1
			}
			return mu
		}
		all := 0.0
		for i := range n {
			want := slices.Max(c.Row(i, nil))
			all = math.Max(all, want)
			if got := Range(c, with(i)); !(math.Abs(got-want) <= ulps*want) {
				t.Errorf("%d x %d, row %d: %v, want %v", rows, cols, i, got, want)
			}
		}
		some := []int{0, n / 2, n - 1}
		if got := Range(c, with(some...)); !(math.Abs(got-all) <= ulps*all) {
			t.Errorf("%d x %d, rows %v: %v, want %v", rows, cols, some, got, all)
		}
	}
}
