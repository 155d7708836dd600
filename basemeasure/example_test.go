package basemeasure_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
)

// On a ring every point looks like every other, so the uniform base measure is optimal; what remains is its
// mass. Verify proves it: no eps-LDP mechanism on this ring has a smaller worst case.
func ExampleUniform() {
	ring, err := cost.NewRing(30, 2)
	if err != nil {
		log.Fatal(err)
	}
	const eps = 5
	r, err := basemeasure.Uniform(context.Background(), ring, eps, basemeasure.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	upper, lower, err := basemeasure.Verify(ring, eps, r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mass per point: %.10f\n", r.M[0])
	fmt.Printf("worst case: %.10f\n", r.F)
	fmt.Printf("proved: %s <= worst case of any mechanism, %s reached\n", lower.FloatString(10), upper.FloatString(10))
	// Output:
	// mass per point: 0.0158819413
	// worst case: 4.8615537452
	// proved: 4.8615537452 <= worst case of any mechanism, 4.8615537452 reached
}

// A measure that leaves an output out of use keeps its proportions; only its mass is chosen.
func ExampleShape() {
	line := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
	r, err := basemeasure.Shape(context.Background(), line, []float64{1, 0, 1}, 2, basemeasure.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("support %d, worst case %.4f, mean %.4f\n", r.Support, r.F, r.Mean)
	// Output:
	// support 2, worst case 1.0000, mean 0.5786
}
