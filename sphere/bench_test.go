package sphere

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// BenchmarkSolve reports the median over problems from the whole domain; ns/op is for 20 solves of one problem.
func BenchmarkSolve(b *testing.B) {
	type input struct {
		d      int
		p, eps float64
	}
	for _, c := range []struct {
		name string
		p    func(g *numtest.SplitMix64) float64
	}{
		{"whole-p", func(g *numtest.SplitMix64) float64 { return float64(1 + g.Intn(4)) }},
		{"real-p", func(g *numtest.SplitMix64) float64 { return MinExponent + (MaxExponent-MinExponent)*g.Float64() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := numtest.NewSplitMix64(1)
			in := make([]input, 201)
			for i := range in {
				in[i] = input{int(math.Pow(10, 7*g.Float64())), c.p(g), math.Pow(10, -3+5*g.Float64())}
			}
			const solves = 20 // of one problem for each time taken
			sum := 0.0
			var each []float64
			last := b.Elapsed()
			for b.Loop() {
				x := in[len(each)%len(in)]
				for range solves {
					m, err := Solve(x.d, x.p, x.eps)
					if err != nil {
						b.Fatal(err)
					}
					sum += m.W
				}
				now := b.Elapsed()
				each = append(each, float64((now-last).Nanoseconds())/solves)
				last = now
			}
			if !(sum > 0) {
				b.Fatal("no result")
			}
			slices.Sort(each)
			b.ReportMetric(each[len(each)/2], "median-ns/solve")
			b.ReportMetric(each[len(each)*95/100], "p95-ns/solve")
		})
	}
}

func BenchmarkPaper(b *testing.B) {
	for b.Loop() {
		if _, err := Paper(63, 2, 4); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEnclose(b *testing.B) {
	for _, c := range []struct {
		name string
		d    int
		p    float64
	}{{"polynomial", 2, 2}, {"series/d=63", 63, 2}, {"series/d=1e5", 100_000, 2.5}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Enclose(c.d, c.p, 4, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
