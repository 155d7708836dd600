package knapsack

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// square is the Euclidean cost of k random points of the unit square.
func square(k int) *cost.Dense {
	rnd := rand.New(rand.NewPCG(uint64(k), 1))
	xy := make([][2]float64, k)
	for i := range xy {
		xy[i] = [2]float64{rnd.Float64(), rnd.Float64()}
	}
	c := &cost.Dense{K: k, Kv: k, Data: make([]float64, 0, k*k)}
	for _, a := range xy {
		for _, b := range xy {
			c.Data = append(c.Data, math.Hypot(a[0]-b[0], a[1]-b[1]))
		}
	}
	return c
}

// unevenBox is the box of a base measure of mass 1 whose entries differ by up to a factor 6.
func unevenBox(kv int, eps float64) (lo, hi []float64) {
	rnd := rand.New(rand.NewPCG(uint64(kv), 2))
	m := make([]float64, kv)
	total := 0.0
	for j := range m {
		m[j] = 0.2 + rnd.Float64()
		total += m[j]
	}
	lo, hi = make([]float64, kv), make([]float64, kv)
	for j := range m {
		lo[j], hi[j] = math.Exp(-eps/2)*m[j]/total, math.Exp(eps/2)*m[j]/total
	}
	return lo, hi
}

func BenchmarkMax(b *testing.B) {
	for _, k := range []int{250, 1000, 4000} {
		if testing.Short() && k > 1000 {
			continue
		}
		t, err := New(context.Background(), square(k))
		if err != nil {
			b.Fatal(err)
		}
		for _, eps := range []float64{0.5, 2, 5} {
			lo, hi := unevenBox(k, eps)
			b.Run(fmt.Sprintf("k=%d/eps=%v", k, eps), func(b *testing.B) {
				b.ReportAllocs()
				var f float64
				for b.Loop() {
					f, _ = t.Max(lo, hi)
				}
				b.ReportMetric(f, "f")
			})
		}
	}
}

func BenchmarkSubgradient(b *testing.B) {
	for _, k := range []int{250, 1000, 4000} {
		if testing.Short() && k > 1000 {
			continue
		}
		t, err := New(context.Background(), square(k))
		if err != nil {
			b.Fatal(err)
		}
		g := make([]float64, k)
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			row := 0
			for b.Loop() {
				t.Subgradient(row%k, 0.4, math.Exp(-1), math.Exp(1), g)
				row++ // another one each time: the same one again would be predicted
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, k := range []int{250, 1000, 4000} {
		if testing.Short() && k > 1000 {
			continue
		}
		c := square(k)
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := New(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
