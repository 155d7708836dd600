package sinkhorn

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkProjector is a user a time: 20 atoms on 250 points of the unit square, to a relative gap of 1 % at
// most, on one thread. users/s is its inverse.
func BenchmarkProjector(b *testing.B) {
	for _, p := range []float64{1, 2} {
		for _, eps := range []float64{0.5, 1, 2, 5} {
			b.Run(fmt.Sprintf("p=%v/eps=%v", p, eps), func(b *testing.B) {
				g := newGenerator(1)
				c, lo, hi := unitSquare(b, g, 250, p, eps)
				pr, err := NewProjector(c, lo, hi, 0.01, Settings{Gap: 0.01, SupportOnly: true})
				if err != nil {
					b.Fatal(err)
				}
				u := newUsers(g, 100, 20, 250)
				var r Result
				i, steps := 0, 0
				for b.Loop() {
					if err := pr.Project(context.Background(), u.source[i%100], u.support[i%100], &r); err != nil {
						b.Fatal(err)
					}
					i++
					steps += r.Iterations
				}
				b.ReportMetric(float64(steps)/float64(i), "paths")
				b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "users/s")
			})
		}
	}
}

// BenchmarkProjectorAll is a stream on all processors.
func BenchmarkProjectorAll(b *testing.B) {
	g := newGenerator(1)
	c, lo, hi := unitSquare(b, g, 250, 1, 1)
	pr, err := NewProjector(c, lo, hi, 0.01, Settings{Gap: 0.01, SupportOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	u := newUsers(g, 1000, 20, 250)
	n := 0
	for b.Loop() {
		if err := pr.All(context.Background(), 1000, u.get, func(_ int, r *Result, err error) error { return err }); err != nil {
			b.Fatal(err)
		}
		n += 1000
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "users/s")
}

// BenchmarkProjectorDense is a user a time with mass on all points, to a residual of 1e-9, with the shared kernel and without.
func BenchmarkProjectorDense(b *testing.B) {
	for _, k := range []int{250, 1000} {
		p := square(k, 0.01)
		pr, err := NewProjector(p.Cost, p.Lo, p.Hi, p.Reg, Settings{Tolerance: 1e-9})
		if err != nil {
			b.Fatal(err)
		}
		g := newGenerator(1)
		u := newUsers(g, 64, k, k)
		b.Run(fmt.Sprintf("%d/shared", k), func(b *testing.B) {
			var r Result
			i := 0
			for b.Loop() {
				if err := pr.Project(context.Background(), u.source[i%64], u.support[i%64], &r); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
		b.Run(fmt.Sprintf("%d/alone", k), func(b *testing.B) {
			i := 0
			for b.Loop() {
				p.Source = u.source[i%64]
				if _, err := Project(context.Background(), p, Settings{Tolerance: 1e-9}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
