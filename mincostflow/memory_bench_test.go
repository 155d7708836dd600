package mincostflow

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// structured are costs that compute their rows, between k random points.
func structured(b *testing.B, k int) map[string]cost.Matrix {
	g := numtest.NewSplitMix64(3)
	points := func(dim int) [][]float64 {
		x := make([][]float64, k)
		for i := range x {
			x[i] = make([]float64, dim)
			for t := range x[i] {
				x[i][t] = g.Float64() - 0.5
			}
		}
		return x
	}
	places := make([][2]float64, k)
	for i := range places {
		places[i] = [2]float64{120*g.Float64() - 60, 360*g.Float64() - 180}
	}
	must := func(c cost.Matrix, err error) cost.Matrix {
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	plane, err := cost.NewPoints(points(2), nil, 1)
	out := map[string]cost.Matrix{"plane": must(plane, err)}
	space, err := cost.NewPoints(points(50), nil, 1)
	out["50-d"] = must(space, err)
	cosine, err := cost.NewCosine(points(50), nil)
	out["cosine"] = must(cosine, err)
	circle, err := cost.NewGreatCircle(places, nil, 1)
	out["circle"] = must(circle, err)
	return out
}

// BenchmarkStructured times Project with a computed cost against cost.Materialize and Project with the matrix. Run it
// with GOMAXPROCS=1, so that times are those of the processor: "ratio" should stay below 1.2.
func BenchmarkStructured(b *testing.B) {
	for _, k := range []int{1000, 3000} {
		for name, c := range structured(b, k) {
			b.Run(fmt.Sprintf("%s/k=%d", name, k), func(b *testing.B) {
				d := newDraw(7)
				lo, hi := box(uniform(k), 2)
				p := Problem{Cost: c, Source: d.masses(k), Lo: lo, Hi: hi}
				var computed, held time.Duration
				for b.Loop() {
					start := time.Now()
					p.Cost = c
					r, err := Project(context.Background(), p, Settings{})
					if err != nil {
						b.Fatal(err)
					}
					computed += time.Since(start)
					start = time.Now()
					dense, err := cost.Materialize(context.Background(), c)
					if err != nil {
						b.Fatal(err)
					}
					p.Cost = dense
					s, err := Project(context.Background(), p, Settings{})
					if err != nil || s.Objective != r.Objective {
						b.Fatal(err, s.Objective, r.Objective)
					}
					held += time.Since(start)
				}
				b.ReportMetric(computed.Seconds()/held.Seconds(), "ratio")
			})
		}
	}
}

// BenchmarkCancel times how long Project takes to come back once the context has ended: at the start, after a
// twentieth of a whole run, while the costs are read, and after half of one, in a sweep. "ms" is the worst of all runs.
func BenchmarkCancel(b *testing.B) {
	const k = 6000
	plane := structured(b, k)["plane"]
	lo, hi := box(uniform(k), 2)
	for _, name := range []string{"points", "dense"} {
		c := plane
		if name == "dense" {
			d, err := cost.Materialize(context.Background(), c)
			if err != nil {
				b.Fatal(err)
			}
			c = d
		}
		p := Problem{Cost: c, Source: newDraw(7).masses(k), Lo: lo, Hi: hi}
		begin := time.Now()
		if _, err := Project(context.Background(), p, Settings{}); err != nil {
			b.Fatal(err)
		}
		whole := time.Since(begin)
		for what, after := range map[string]time.Duration{"start": 0, "early": whole / 20, "late": whole / 2} {
			b.Run(name+"/"+what, func(b *testing.B) {
				worst := time.Duration(0)
				for b.Loop() {
					ctx, cancel := context.WithCancel(context.Background())
					var ended atomic.Int64
					begin := time.Now()
					stop := func() { ended.Store(int64(time.Since(begin))); cancel() }
					if after == 0 {
						stop()
					} else {
						time.AfterFunc(after, stop)
					}
					_, err := Project(ctx, p, Settings{})
					if err == nil {
						continue // this run took less than half of the whole one: nothing to time
					}
					worst = max(worst, time.Since(begin)-time.Duration(ended.Load()))
				}
				b.ReportMetric(float64(worst)/1e6, "ms")
			})
		}
	}
}
