package sinkhorn

import (
	"context"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// square is k random points in the unit square, squared distances, mu skewed, m uniform, eps 2.
func square(k int, rel float64) Problem {
	g := newGenerator(uint64(k))
	x := make([][]float64, k)
	for i := range x {
		x[i] = []float64{g.float(), g.float()}
	}
	points, err := cost.NewPoints(x, nil, 2)
	if err != nil {
		panic(err)
	}
	d, err := cost.Materialize(context.Background(), points)
	if err != nil {
		panic(err)
	}
	m := make([]float64, k)
	for j := range m {
		m[j] = 1 / float64(k)
	}
	lo, hi := box(m, 2)
	return Problem{Problem: projection.Problem{Cost: d, Source: g.mass(k), Lo: lo, Hi: hi}, Reg: rel * given.Max(d)}
}

// BenchmarkIteration is one iteration of Algorithm 1, the kernel in memory: products, projection, residual. safe is
// that of the fast method, on absorbed potentials and with its checks; plain is the loop without them, on exp(-C/Reg),
// for what safety costs. lab/bench/run compares the processor time, which other work on the machine changes least.
func BenchmarkIteration(b *testing.B) {
	for _, k := range []int{250, 1000, 4000} {
		if k == 4000 && testing.Short() {
			continue // 128 MB
		}
		p := square(k, 0.1)
		b.Run(fmt.Sprintf("%d/safe", k), func(b *testing.B) {
			s := prepare(b, p)
			report := numtest.ProcessorTime(b)
			for b.Loop() {
				if !s.pass() {
					b.Fatal("out of range")
				}
				s.v, s.next = s.next, s.v
			}
			report()
			b.SetBytes(int64(8 * k * k))
		})
		b.Run(fmt.Sprintf("%d/plain", k), func(b *testing.B) {
			s := prepare(b, p)
			clear(s.k.f)
			s.build(s.c.reg)
			for b.Loop() {
				if !plain(s) {
					b.Fatal("no free column")
				}
				s.v, s.next = s.next, s.v
			}
			b.SetBytes(int64(8 * k * k))
		})
	}
}

// plain is pass without absorbed potentials and without checks.
func plain(s *fast) bool {
	s.k.normalise(nil, s.c.mass, s.v, s.a, s.u, s.s)
	x, ok := kl.Scale(s.s, s.lo, s.hi, s.x)
	if !ok {
		return false
	}
	s.x = x
	s.res = 0
	for j, y := range s.s {
		q := math.Min(math.Max(x*y, s.lo[j]), s.hi[j])
		s.q[j], s.next[j] = q, q/y
		s.res += math.Abs(q - s.v[j]*s.s[j])
	}
	return true
}

// prepare returns the workspace of the fast method with the kernel of p.
func prepare(t testing.TB, p Problem) *fast {
	_, c := loaded(t, p)
	s := newFast(c, Settings{Method: Fast, Tolerance: 1e-12, MaxIterations: math.MaxInt32},
		newKernel(c))
	copy(s.k.f, c.min)
	s.build(c.reg)
	return s
}

// BenchmarkProject goes from the cost in memory to a residual of 1e-9.
func BenchmarkProject(b *testing.B) {
	for _, k := range []int{250, 1000} {
		for _, rel := range []float64{0.1, 0.01, 0.001} {
			b.Run(fmt.Sprintf("%d/%v", k, rel), func(b *testing.B) {
				p := square(k, rel)
				var r Result
				for b.Loop() {
					var err error
					if r, err = Project(context.Background(), p, Settings{Tolerance: 1e-9}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(r.Stats.Passes), "passes")
				b.ReportMetric(float64(r.Stats.CG), "cg")
				b.ReportMetric(r.Gap()/r.Upper, "gap")
			})
		}
	}
}

// BenchmarkVerify reports the time of a pair as well.
func BenchmarkVerify(b *testing.B) {
	p := square(250, 0.01)
	r := mustProject(b, p, Settings{})
	for b.Loop() {
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(250*250), "ns/pair")
}

// BenchmarkSparse is Newton's method where few entries of the kernel count.
func BenchmarkSparse(b *testing.B) {
	p := scattered(b, 1000, 0.001)
	var s *fast
	for b.Loop() {
		s, _ = run(b, p)
		s.k.free()
	}
	b.ReportMetric(float64(s.stats.Passes), "passes")
	b.ReportMetric(float64(s.stats.CG), "cg")
}
