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
				pr, err := NewProjector(c, lo, hi, 0.01, Settings{Tolerance: 1e-6})
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

// BenchmarkProjectorAll is a stream on all processors.
func BenchmarkProjectorAll(b *testing.B) {
	g := newGenerator(1)
	c, lo, hi := unitSquare(b, g, 250, 1, 1)
	pr, err := NewProjector(c, lo, hi, 0.01, Settings{Tolerance: 1e-6})
	if err != nil {
		b.Fatal(err)
	}
	u := newUsers(g, 1000, 20, 250)
	n := 0
	for b.Loop() {
		if err := pr.All(context.Background(), 1000, u.get,
			func(_ int, r *Result, err error) error { return err }); err != nil {
			b.Fatal(err)
		}
		n += 1000
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "users/s")
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

// BenchmarkProjectorDense is a user a time with mass on all points, to a residual of 1e-9: alone by Project, with the
// shared kernel, and in stacks of several.
func BenchmarkProjectorDense(b *testing.B) {
	const n = 16
	for _, k := range []int{250, 1000, 4000} {
		if k == 4000 && testing.Short() {
			continue // 256 MB
		}
		p := square(k, 0.01)
		pr := projector(b, p, Settings{Tolerance: 1e-9}, 1)
		g := newGenerator(1)
		var u users
		for range n {
			u.source, u.support = append(u.source, skewed(g, k)), append(u.support, nil)
		}
		var r Result
		if err := pr.Project(context.Background(), u.source[0], nil, &r); err != nil { // makes the kernel
			b.Fatal(err)
		}
		for _, size := range []int{1, stackSize} {
			b.Run(fmt.Sprintf("%d/stack=%d", k, size), func(b *testing.B) {
				pr.stacked = size
				all, passes := 0, 0
				for b.Loop() {
					if err := pr.All(context.Background(), n, u.get, func(_ int, r *Result, err error) error {
						passes += r.Stats.Passes
						return err
					}); err != nil {
						b.Fatal(err)
					}
					all += n
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(all), "ns/user")
				b.ReportMetric(float64(passes)/float64(all), "passes")
			})
		}
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

// BenchmarkStack is the products of one iteration of Algorithm 1 and, apart, one certificate, for each member of a
// stack.
func BenchmarkStack(b *testing.B) {
	for _, k := range []int{1000, 4000} {
		if k == 4000 && testing.Short() {
			continue // 256 MB
		}
		pr := projector(b, square(k, 0.01), Settings{Tolerance: 1e-9}, 1)
		g := newGenerator(1)
		for _, size := range []int{1, 4, stackSize, 2 * stackSize} {
			if !pr.common.prepare(context.Background(), pr) {
				b.Fatal("no kernel")
			}
			t := pr.newStack(size)
			s := pr.take()
			for range size {
				if err := s.in.setSource(skewed(g, k), nil); err != nil {
					b.Fatal(err)
				}
				m := new(member)
				m.load(context.Background(), pr, &s.in)
				m.n = 1 // row sums are not known
				m.k.part = t.part[len(t.work)]
				t.work = append(t.work, m)
			}
			each := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)/float64(k*k), "ns/cell")
			}
			b.Run(fmt.Sprintf("%d/products/%d", k, size), func(b *testing.B) {
				for b.Loop() {
					t.loop(pr.common.k.ch, t.product)
				}
				each(b)
			})
			for _, m := range t.work {
				m.it = *m.s.iterate(&m.it)
				m.proof.it = &m.it
				t.proofs = append(t.proofs, &m.proof)
			}
			b.Run(fmt.Sprintf("%d/certificate/%d", k, size), func(b *testing.B) {
				for b.Loop() {
					certify(&t.watch, pr.common.k.c, t.proofs)
				}
				each(b)
			})
		}
	}
}
