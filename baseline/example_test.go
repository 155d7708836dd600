package baseline_test

import (
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
	mechanism, err := baseline.NewExponential(line, eps) // for any number of users
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
