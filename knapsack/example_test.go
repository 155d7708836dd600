package knapsack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
)

// Four points on a line, at distance 1 from each other. Every output has probability at least 1/8, and at
// most four times that: the input at an end keeps half of the mass and passes the rest on to its
// neighbours as far as it must.
func Example() {
	c := &cost.Dense{K: 4, Kv: 4, Data: []float64{
		0, 1, 2, 3,
		1, 0, 1, 2,
		2, 1, 0, 1,
		3, 2, 1, 0,
	}}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	lo := []float64{0.125, 0.125, 0.125, 0.125}
	hi := []float64{0.5, 0.5, 0.5, 0.5}

	phi, tau := table.Phi(0, lo, hi)
	q := make([]float64, 4)
	if err := table.Project(0, lo, hi, q); err != nil {
		log.Fatal(err)
	}
	fmt.Println("phi:", phi, "threshold:", tau)
	fmt.Println("projection:", q)

	f, i := table.Max(lo, hi)
	fmt.Println("worst case:", f, "at input", i)
	// Output:
	// phi: 0.875 threshold: 1
	// projection: [0.5 0.25 0.125 0.125]
	// worst case: 0.875 at input 0
}
