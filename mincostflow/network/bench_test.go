package network

import (
	"context"
	"testing"
)

// BenchmarkSolve: 10^4 nodes and 10^5 arcs of each family.
func BenchmarkSolve(b *testing.B) {
	for _, f := range families {
		b.Run(f.name, func(b *testing.B) {
			g := f.make(1, 10_000, 100_000)
			var r Result
			var err error
			for b.Loop() {
				if r, err = Solve(context.Background(), g, Settings{}); err != nil || r.Status != Optimal {
					b.Fatal(r.Status, err)
				}
			}
			b.ReportMetric(float64(r.Stats.Pivots), "pivots")
		})
	}
}
