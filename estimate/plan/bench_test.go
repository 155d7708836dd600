package plan_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/plan"
)

// BenchmarkPredict has the eigenvectors at hand.
func BenchmarkPredict(b *testing.B) {
	for _, c := range []struct {
		eps     string
		devices int
	}{{"1", 500}, {"1", 5000}, {"4", 200_000}} {
		b.Run(fmt.Sprintf("k=400/eps=%s/n=%d", c.eps, c.devices), func(b *testing.B) {
			g := grid(b, 20, 20, 1)
			l := planner(b, plan.Problem{Cost: g})
			m, err := l.Mechanism(rowsOf(b, g, c.eps))
			if err != nil {
				b.Fatal(err)
			}
			p := plan.Prediction{}
			for b.Loop() {
				if p, err = m.Predict(context.Background(), c.devices, estimate.Settings{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(p.Map.Mean/p.Guess.Mean, "map/guess")
		})
	}
}
