package baseline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
)

func BenchmarkKPM(b *testing.B) {
	for _, k := range []int{30, 400, 4000} {
		mu := make([]float64, k)
		for j := range mu {
			mu[j] = 2 * float64(j) / float64(k*(k-1))
		}
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := baseline.KPM(mu, 5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExponential prepares the mechanism once, for users of five places among k and of all k.
func BenchmarkExponential(b *testing.B) {
	for _, k := range []int{30, 400} {
		ring, err := cost.NewRing(k, 2)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("new/k=%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := baseline.NewExponential(context.Background(), ring, 5); err != nil {
					b.Fatal(err)
				}
			}
		})
		e, err := baseline.NewExponential(context.Background(), ring, 5)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{5, k} {
			mu, support := make([]float64, n), make([]int, n)
			for at := range mu {
				mu[at], support[at] = 1/float64(n), at*(k/n)
			}
			b.Run(fmt.Sprintf("law/k=%d/places=%d", k, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Law(mu, support); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
