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
	upper, lower, err := basemeasure.Verify(context.Background(), ring, eps, r)
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
	fmt.Printf("support %d, worst case %.4f, mean %.4f\n", r.Nonzeros, r.F, r.Mean)
	// Output:
	// support 2, worst case 1.0000, mean 0.5786
}

// Five points on a line. Minimax brings every point to the same cost; the average is better off without one output.
func ExampleSolve() {
	line, err := cost.NewPoints([][]float64{{0}, {1}, {3}, {7}, {12}}, nil, 1)
	if err != nil {
		log.Fatal(err)
	}
	const eps = 2
	for _, objective := range []basemeasure.Objective{basemeasure.WorstCase, basemeasure.Average} {
		r, err := basemeasure.Solve(context.Background(), line, eps, basemeasure.Settings{Objective: objective})
		if err != nil {
			log.Fatal(err)
		}
		if _, _, err := basemeasure.Verify(context.Background(), line, eps, r); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: worst %.4f, mean %.4f, %d of 5 points in use, gap below 1e-9: %v\n",
			objective, r.WorstCase, r.Mean, r.Nonzeros, r.Gap() <= 1e-9*r.Upper)
	}
	// Output:
	// worst case: worst 2.1665, mean 2.1665, 5 of 5 points in use, gap below 1e-9: true
	// average: worst 2.8288, mean 1.9903, 4 of 5 points in use, gap below 1e-9: true
}

// On a ring one row is enough, and no search.
func ExampleHomogeneous() {
	row := make([]float64, 30)
	for j := range row {
		row[j] = float64(min(j, 30-j) * min(j, 30-j))
	}
	r, err := basemeasure.Homogeneous(row, 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("worst case %.10f, total mass %.10f\n", r.F, r.Mass)
	// Output:
	// worst case 4.8615537452, total mass 0.4764582399
}
