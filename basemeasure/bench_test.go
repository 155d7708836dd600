package basemeasure_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// square is the distance between random points of the unit square.
func square(k int) *cost.Dense {
	rnd := numtest.NewSplitMix64(uint64(k))
	x, y := make([]float64, k), make([]float64, k)
	for i := range x {
		x[i], y[i] = rnd.Float64(), rnd.Float64()
	}
	return matrix(k, k, func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) })
}

func BenchmarkUniform(b *testing.B) {
	for _, k := range []int{100, 400, 1000} {
		for _, space := range []struct {
			name string
			c    cost.Matrix
		}{{"square", square(k)}, {"ring", ring(b, k, 2)}} {
			table, err := knapsack.New(context.Background(), space.c)
			if err != nil {
				b.Fatal(err)
			}
			for _, eps := range []float64{0.5, 5} {
				b.Run(fmt.Sprintf("%s/k=%d/eps=%v", space.name, k, eps), func(b *testing.B) {
					var r basemeasure.Result
					for b.Loop() {
						if r, err = basemeasure.Uniform(background, table, eps, basemeasure.Settings{}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(r.Stats.Evaluations), "evals")
					b.ReportMetric(r.Gap()/r.Upper, "gap")
				})
			}
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, k := range []int{100, 400, 1000} {
		c := square(k)
		r := solve(b, c, 2)
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := basemeasure.Verify(context.Background(), c, 2, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSolve(b *testing.B) {
	line := func(k int) cost.Matrix {
		return matrix(k, k, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	}
	for _, run := range []struct {
		name string
		c    cost.Matrix
		eps  float64
		s    basemeasure.Settings
	}{
		{"square/k=100/eps=5", square(100), 5, basemeasure.Settings{}},
		{"square/k=300/eps=5", square(300), 5, basemeasure.Settings{}},
		{"square/k=300/eps=0.5", square(300), 0.5, basemeasure.Settings{}},
		{"path/k=300/eps=5", line(300), 5, basemeasure.Settings{}},
		{"square/k=300/eps=5/average", square(300), 5, basemeasure.Settings{Objective: basemeasure.Average}},
		{"square/k=300/eps=5/mixed", square(300), 5, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: 0.5}},
	} {
		table, err := knapsack.New(context.Background(), run.c)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(run.name, func(b *testing.B) {
			var r basemeasure.Result
			for b.Loop() {
				if r, err = basemeasure.Solve(background, table, run.eps, run.s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Stats.Evaluations), "evals")
			b.ReportMetric(float64(r.Stats.Pivots), "pivots")
			b.ReportMetric(r.Gap()/r.Upper, "gap")
		})
	}
}
