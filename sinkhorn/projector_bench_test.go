package sinkhorn

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// BenchmarkProjector is a user a time: 20 atoms on 250 points of the unit square, to a residual of 1e-6,
// on one thread. users/s is its inverse.
func BenchmarkProjector(b *testing.B) {
	for _, p := range []float64{1, 2} {
		for _, eps := range []float64{0.5, 1, 2, 5} {
			b.Run(fmt.Sprintf("p=%v/eps=%v", p, eps), func(b *testing.B) {
				g := newGenerator(1)
				c, lo, hi := unitSquare(b, g, 250, p, eps)
				pr, err := NewProjector(context.Background(), c, lo, hi, 0.01, Settings{Tolerance: 1e-6})
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
				b.ReportMetric(float64(steps)/float64(i), "passes")
				b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "users/s")
			})
		}
	}
}

// skewed returns a distribution on all of n points that is far from uniform: half of it lies on a twentieth of them.
func skewed(g *generator, n int) []float64 {
	m := make([]float64, n)
	var sum float64
	for i := range m {
		m[i] = math.Pow(g.float(), 4) + 1e-6
		if i%20 == 0 {
			m[i] *= 20
		}
		sum += m[i]
	}
	for i := range m {
		m[i] /= sum
	}
	return m
}

// BenchmarkProjectorDense is a user a time with mass on all points, to a residual of 1e-9: alone by Project, and
// with the shared kernel.
func BenchmarkProjectorDense(b *testing.B) {
	const n = 16
	for _, k := range []int{250, 1000, 4000} {
		if k == 4000 && testing.Short() {
			continue // 256 MB
		}
		p := square(k, 0.01)
		pr := projector(b, p, Settings{Tolerance: 1e-9})
		g := newGenerator(1)
		var u users
		for range n {
			u.source, u.support = append(u.source, skewed(g, k)), append(u.support, nil)
		}
		var r Result
		if err := pr.Project(context.Background(), u.source[0], nil, &r); err != nil { // makes the kernel
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d/shared", k), func(b *testing.B) {
			i, passes := 0, 0
			for b.Loop() {
				if err := pr.Project(context.Background(), u.source[i%n], nil, &r); err != nil {
					b.Fatal(err)
				}
				i++
				passes += r.Stats.Passes
			}
			b.ReportMetric(float64(passes)/float64(i), "passes")
		})
		b.Run(fmt.Sprintf("%d/alone", k), func(b *testing.B) {
			i := 0
			for b.Loop() {
				p.Source = u.source[i%n]
				if _, err := Project(context.Background(), p, Settings{Tolerance: 1e-9}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
