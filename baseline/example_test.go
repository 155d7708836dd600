package baseline_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
)

// Three points on a line. KPM and randomised response do not know that the third is far from the first; the
// exponential mechanism does, but knows the input only by its mean costs.
func Example() {
	mu := []float64{0.8, 0.2, 0}
	line := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
	eps := math.Log(3)

	kpm, r, err := baseline.KPM(mu, eps)
	if err != nil {
		log.Fatal(err)
	}
	response, err := baseline.RandomizedResponse(mu, eps)
	if err != nil {
		log.Fatal(err)
	}
	mechanism, err := baseline.NewExponential(context.Background(), line, eps) // for any number of users
	if err != nil {
		log.Fatal(err)
	}
	exponential, err := mechanism.Law(mu, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("KPM                  %.3f, r = %.3f\n", kpm, r)
	fmt.Printf("randomised response  %.3f\n", response)
	fmt.Printf("exponential          %.3f\n", exponential)
	// Output:
	// KPM                  [0.600 0.200 0.200], r = 1.333
	// randomised response  [0.520 0.280 0.200]
	// exponential          [0.401 0.340 0.259]
}

// Samplers map a distribution to the law that one sample is drawn from; the last column is its worst case over points.
func ExampleSampler() {
	line := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
	eps := math.Log(3)
	response, err := baseline.NewRandomizedResponse(3, eps)
	if err != nil {
		log.Fatal(err)
	}
	kpm, err := baseline.NewKPM(3, eps, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []baseline.Sampler{response, kpm} {
		law := make([]float64, 3)
		if err := s.Law(law, []float64{0.8, 0.2, 0}); err != nil {
			log.Fatal(err)
		}
		rows := make([][]float64, 3)
		for i := range rows {
			point := make([]float64, 3)
			point[i] = 1
			rows[i] = make([]float64, 3)
			if err := s.Law(rows[i], point); err != nil {
				log.Fatal(err)
			}
		}
		worst, input, err := baseline.WorstCase(context.Background(), line, rows)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f, worst %.3f at input %d\n", law, worst, input)
	}
	// Output:
	// [0.520 0.280 0.200], worst 0.600 at input 0
	// [0.577 0.230 0.192], worst 0.634 at input 0
}

// A frequency oracle estimates shares without distances. Some may be negative: Simplex mends that.
func ExampleOracle() {
	oue, err := baseline.NewUnary(3, math.Log(3))
	if err != nil {
		log.Fatal(err)
	}
	own, other := oue.Support()
	fmt.Printf("%.2f %.2f\n", own, other)
	shares := make([]float64, 3)
	if err := oue.Estimate(shares, []uint64{450, 300, 230}, 1000); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", shares)
	nearest, err := baseline.Simplex(shares)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", nearest)
	// Output:
	// 0.50 0.25
	// [0.80 0.20 -0.08]
	// [0.80 0.20 0.00]
}
