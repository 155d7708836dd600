package basemeasure

import (
	"math"
	"math/big"
	"testing"
)

// TestGrid checks that writing a float as an integer is exact.
func TestGrid(t *testing.T) {
	list := []float64{1, 0.1, -3, 5e-324, math.MaxFloat64, 0, -0.75, 1 << 60}
	for n := range list {
		var g gridFinder
		g.see(list[:n+1])
		for _, x := range list[:n+1] {
			if got := scaled(g.grid().set(new(big.Int), x), g.exp); got.Cmp(new(big.Rat).SetFloat64(x)) != 0 {
				t.Errorf("grid %d: %v became %v", g.exp, x, got)
			}
		}
	}
}
