package baseline_test

import (
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

func BenchmarkExponential(b *testing.B) {
	for _, k := range []int{30, 400} {
		ring, err := cost.NewRing(k, 2)
		if err != nil {
			b.Fatal(err)
		}
		mu := make([]float64, k)
		for j := range mu {
			mu[j] = 1 / float64(k)
		}
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := baseline.Exponential(ring, mu, 5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
