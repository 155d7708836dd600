package mincostflow

import (
	"context"
	"testing"
)

// BenchmarkNetwork: 10^4 nodes and 10^5 arcs of each family.
func BenchmarkNetwork(b *testing.B) {
	for _, f := range families {
		b.Run(f.name, func(b *testing.B) {
			g := f.make(1, 10_000, 100_000)
			var r FlowResult
			var err error
			for b.Loop() {
				if r, err = g.Solve(context.Background(), NetworkSettings{}); err != nil || r.Status != Optimal {
					b.Fatal(r.Status, err)
				}
			}
			b.ReportMetric(float64(r.Stats.Pivots), "pivots")
		})
	}
}
