package sinkhorn

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// stopwatch is a context that ends when it has been looked at so many times, and remembers when.
type stopwatch struct {
	context.Context
	looks *atomic.Int64
	at    int64
	ended *atomic.Int64 // UnixNano
}

func (s stopwatch) Err() error {
	if s.looks.Add(1) <= s.at {
		return nil
	}
	s.ended.CompareAndSwap(0, time.Now().UnixNano())
	return context.Canceled
}

// cloud is n random points of the unit square, as a structured cost and on the sphere.
func cloud(b *testing.B, n int) (points, cosine, circle cost.Matrix, lo, hi, mu []float64) {
	b.Helper()
	g := newGenerator(5)
	x, y := make([][]float64, n), make([][2]float64, n)
	for i := range x {
		x[i] = []float64{g.float(), g.float()}
		y[i] = [2]float64{160*g.float() - 80, 340*g.float() - 170}
	}
	var errs [3]error
	points, errs[0] = cost.NewPoints(x, nil, 1)
	cosine, errs[1] = cost.NewCosine(x, nil)
	circle, errs[2] = cost.NewGreatCircle(y, nil, 1)
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	lo, hi = box(g.mass(n), 1)
	return points, cosine, circle, lo, hi, g.mass(n)
}

// BenchmarkCancel is how long a call goes on once its context has ended: before it, in loading, and at parts of the
// whole. The target is 50 ms at 6000 x 6000.
func BenchmarkCancel(b *testing.B) {
	n := 6000
	if testing.Short() {
		n = 600
	}
	points, _, _, lo, hi, mu := cloud(b, n)
	for _, m := range []Method{Fast, Paper} {
		p := Problem{Problem: projection.Problem{Cost: points, Source: mu, Lo: lo, Hi: hi}, Reg: 0.02}
		set := Settings{Method: m, Tolerance: 1e-6, MaxIterations: 5}
		run := func(at int64) (looks, after int64) {
			s := stopwatch{context.Background(), new(atomic.Int64), at, new(atomic.Int64)}
			_, err := Project(s, p, set)
			if err != nil && !is(err, wpmerr.ErrNotConverged) {
				b.Fatal(err)
			}
			if t := s.ended.Load(); t != 0 {
				after = time.Now().UnixNano() - t
			}
			return s.looks.Load(), after
		}
		whole, _ := run(1 << 60)
		for _, part := range []int64{0, 1, 10, 30, 50, 70, 90, 99} {
			b.Run(fmt.Sprintf("%v/%d/at=%d%%", m, n, part), func(b *testing.B) {
				var worst int64
				for b.Loop() {
					_, after := run(whole * part / 100)
					worst = max(worst, after)
				}
				b.ReportMetric(float64(worst)/1e6, "ms-after-end")
			})
		}
	}
}

// BenchmarkStructured is a structured cost, beside its matrix in memory and what it takes to make that.
func BenchmarkStructured(b *testing.B) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	points, cosine, circle, lo, hi, mu := cloud(b, n)
	for _, c := range []struct {
		name string
		cost cost.Matrix
	}{{"points", points}, {"cosine", cosine}, {"great circle", circle}} {
		reg, err := RelativeReg(context.Background(), c.cost, 0.02)
		if err != nil {
			b.Fatal(err)
		}
		for _, atoms := range []int{n, n / 10} {
			source, support := mu, []int(nil)
			if atoms < n {
				source = mu[:atoms]
				for i := range atoms {
					support = append(support, i*(n/atoms))
				}
			}
			solve := func(b *testing.B, m cost.Matrix) {
				_, err := Project(context.Background(),
					Problem{Problem: projection.Problem{Cost: m, Source: source, Support: support, Lo: lo, Hi: hi},
						Reg: reg}, Settings{Tolerance: 1e-6})
				if err != nil {
					b.Fatal(err)
				}
			}
			name := fmt.Sprintf("%s/%d/atoms=%d", c.name, n, atoms)
			b.Run(name+"/structured", func(b *testing.B) {
				for b.Loop() {
					solve(b, c.cost)
				}
			})
			b.Run(name+"/materialised", func(b *testing.B) {
				for b.Loop() {
					d, err := cost.Materialize(context.Background(), c.cost)
					if err != nil {
						b.Fatal(err)
					}
					solve(b, d)
				}
			})
		}
	}
}
