package knapsack_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// TestSorter holds that one Sorter gives the order of a stable sort for rows of every length, one after the other.
func TestSorter(t *testing.T) {
	rng := numtest.NewSplitMix64(5)
	var s knapsack.Sorter
	for _, kv := range []int{300, 1, 0, 50, 193, 7, 1000} {
		row, want := make([]float64, kv), make([]int32, kv)
		for j := range row {
			row[j], want[j] = float64(rng.Uint64()%uint64(kv)), int32(j) // with ties
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(row[a], row[b]) })
		if got := s.Order(row); !slices.Equal(got, want) {
			t.Errorf("%d columns: %v, want %v", kv, got, want)
		}
	}
}

// TestFillUnits compares the fill with all points of small boxes.
func TestFillUnits(t *testing.T) {
	rng := numtest.NewSplitMix64(6)
	var s knapsack.Sorter
	for range 500 {
		row, lo, hi, n := make([]float64, 3), make([]uint64, 3), make([]uint64, 3), make([]uint64, 3)
		var least, most uint64
		for j := range row {
			row[j], lo[j] = float64(rng.Uint64()%4), rng.Uint64()%4
			hi[j] = lo[j] + rng.Uint64()%4
			least, most = least+lo[j], most+hi[j]
		}
		total := least + rng.Uint64()%(most-least+1)
		value := func(n []uint64) (v float64) {
			for j, x := range n {
				v += row[j] * float64(x)
			}
			return v
		}
		best := 1e9
		for a := lo[0]; a <= hi[0]; a++ {
			for b := lo[1]; b <= hi[1]; b++ {
				if c := total - a - b; a+b <= total && lo[2] <= c && c <= hi[2] {
					best = min(best, value([]uint64{a, b, c}))
				}
			}
		}
		knapsack.FillUnits(s.Order(row), lo, hi, total, n)
		if n[0]+n[1]+n[2] != total || value(n) != best {
			t.Errorf("costs %v, box %v %v, total %d: %v costs %v, best is %v", row, lo, hi, total, n, value(n), best)
		}
		for j := range n {
			if n[j] < lo[j] || n[j] > hi[j] {
				t.Errorf("%v is not in %v %v", n, lo, hi)
			}
		}
	}
}
