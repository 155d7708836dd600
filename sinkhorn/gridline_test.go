package sinkhorn

import (
	"fmt"
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestLines compares the transforms of a line with sums over all sources, with weights and sharpnesses for which blocks share
// exponentials and for which they cannot.
func TestLines(t *testing.T) {
	const (
		n     = 40
		scale = 0.25
		tol   = 1e-11 // terms below e^-36 of the largest, and exponentials of sums with errors of 1e-13
	)
	shared, single := 0, 0
	for _, kappa := range []float64{1e-3, 0.5, 5, 60, 400} {
		for _, spread := range []float64{1, 100, 1e5} {
			r := numtest.NewSplitMix64(uint64(spread))
			in := moments{log: make([]float64, n), across: make([]float64, n), square: make([]float64, n)}
			for j := range in.log {
				in.log[j], in.across[j], in.square[j] = spread*r.Float64(), r.Float64(), r.Float64()
				if j%7 == 3 {
					in.log[j] = math.Inf(-1)
				}
			}
			line := newLineTable(n, kappa)
			var s lineScratch
			sums := make([]float64, n)
			out := moments{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
			line.sum(sums, in.log, &s)
			line.means(out, in, scale, &s)
			for c0 := 0; c0 < n; c0 += lineBlock {
				if _, _, _, _, _, ok := line.block(in.log, c0, min(c0+lineBlock, n), &s); ok {
					shared++
				} else {
					single++
				}
			}
			for c := range n {
				top := math.Inf(-1)
				for j, w := range in.log {
					top = max(top, w-kappa*float64((c-j)*(c-j)))
				}
				var total, here, across, square float64
				for j, w := range in.log {
					d := float64(j - c)
					p := math.Exp(w - kappa*d*d - top)
					total += p
					here += p * d
					across += p * in.across[j]
					square += p * (in.square[j] + scale*d*d)
				}
				what := fmt.Sprintf("kappa %v, spread %v, target %d", kappa, spread, c)
				want := top + math.Log(total)
				near := numtest.Tol{Abs: tol * (1 + math.Abs(want)), Why: "a part of the exponents"}
				numtest.Near(t, what+": sum", sums[c], want, near)
				numtest.Near(t, what+": log", out.log[c], want, near)
				mean := numtest.Tol{Abs: 1e-9 * n * n, Why: "exponents up to 1e6 with a rounding error, times distances up to n"}
				numtest.Near(t, what+": here", out.here[c], here/total, mean)
				numtest.Near(t, what+": across", out.across[c], across/total, mean)
				numtest.Near(t, what+": square", out.square[c], square/total, mean)
			}
		}
	}
	if shared == 0 || single == 0 {
		t.Errorf("%d blocks share exponentials, %d do not: both are to be tested", shared, single)
	}
}
