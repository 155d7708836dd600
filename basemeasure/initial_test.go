package basemeasure_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// initialTol is what a certificate loses on the way through a Result and back: roundings of the thresholds, the weights
// and their sums.
const initialTol = 1e-12

// TestInitialScales: a certificate that is handed back is as good as it was, also where the costs are so large or small
// that they are scaled inside.
func TestInitialScales(t *testing.T) {
	for _, exponent := range []int{0, 900, -1000} {
		c, err := cost.FromRows([][]float64{{0, 3, 3, 1}, {3, 1, 3, 2}, {0, 3, 3, 5}, {7, 1, 0, 3}})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range c.Data {
			c.Data[i] = math.Ldexp(x, exponent)
		}
		good, err := basemeasure.Solve(context.Background(), c, 1, basemeasure.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := basemeasure.Solve(context.Background(), c, 1, basemeasure.Settings{MaxEvaluations: 1})
		if !errors.Is(err, wpmerr.ErrNotConverged) || !(without.Lower < good.Lower*(1-initialTol)) {
			t.Fatalf("2^%d: the opening has the bound %v, %v; that of the optimum is %v", exponent, without.Lower, err,
				good.Lower)
		}
		again, err := basemeasure.Solve(context.Background(), c, 1, basemeasure.Settings{MaxEvaluations: 1, Initial: &good})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if !(again.Lower >= good.Lower*(1-initialTol)) {
			t.Errorf("2^%d: a lower bound of %v, want %v", exponent, again.Lower, good.Lower)
		}
	}
}
