package sinkhorn

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkGrid projects a smooth density on a square grid to a certified relative gap of 1e-2, with a Reg that
// would serve 1e-3.
func BenchmarkGrid(b *testing.B) {
	for _, side := range []int{64, 128, 256, 512} {
		b.Run(fmt.Sprint(side), func(b *testing.B) {
			p := gridProblem(b, side, side, 1, 0.3/float64(side*side))
			var r Result
			var err error
			for b.Loop() {
				if r, err = onGrid(b, context.Background(), p, Settings{Gap: 1e-2}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(r.Gap()/r.Upper, "gap")
			b.ReportMetric(float64(r.Iterations), "iterations")
		})
	}
}
