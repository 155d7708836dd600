package mincostflow_test

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// A distribution on six points of a line, moved as little as possible until every point has
// between exp(-1/2) and exp(1/2) times its share.
func ExampleProject() {
	c, err := cost.NewPoints([][]float64{{0}, {1}, {2.5}, {4.5}, {7}, {10}}, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	lo, hi := make([]float64, 6), make([]float64, 6)
	for j := range lo {
		lo[j], hi[j] = math.Exp(-0.5)/6, math.Exp(0.5)/6
	}
	p := projection.Problem{
		Cost:    c,
		Source:  []float64{0.75, 0.25}, // three quarters on point 0, the rest on point 2
		Support: []int{0, 2},
		Lo:      lo,
		Hi:      hi,
	}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("q         %.3f\n", r.Q)
	fmt.Printf("cost      %.6f\n", r.Objective)
	upper, lower, err := mincostflow.Verify(context.Background(), p, r)
	fmt.Println("proved   ", lower.FloatString(6), "to", upper.FloatString(6), err)
	// Output:
	// q         [0.275 0.275 0.147 0.101 0.101 0.101]
	// cost      2.191091
	// proved    2.191091 to 2.191091 <nil>
}

// The exact Wasserstein distance between two histograms, with the plan behind it.
func ExampleTransport() {
	c, err := cost.FromRows([][]float64{
		{0, 1, 4},
		{1, 0, 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := mincostflow.Transport(context.Background(), c, []float64{0.5, 0.5}, []float64{0.25, 0.25, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("cost", r.Objective)
	for _, e := range r.Plan {
		fmt.Printf("%d -> %d: %v\n", e.I, e.J, e.Mass)
	}
	// Output:
	// cost 0.75
	// 0 -> 0: 0.25
	// 0 -> 1: 0.25
	// 1 -> 2: 0.5
}

// A stream of users, each with a few atoms, projected into one box by all processors.
func ExampleProjector_All() {
	ring, err := cost.NewRing(8, 1)
	if err != nil {
		panic(err)
	}
	lo, hi := make([]float64, 8), make([]float64, 8)
	for j := range lo {
		lo[j], hi[j] = 1./16, 1./4
	}
	p, err := mincostflow.NewProjector(context.Background(), ring, lo, hi, mincostflow.Settings{})
	if err != nil {
		panic(err)
	}
	users := [][]int{{0}, {0, 4}, {1, 2}}
	err = p.All(context.Background(), len(users), func(i int) ([]float64, []int) {
		mu := make([]float64, len(users[i]))
		for n := range mu {
			mu[n] = 1 / float64(len(mu))
		}
		return mu, users[i]
	}, func(i int, r *mincostflow.Result, err error) error {
		if err == nil {
			fmt.Printf("user %d: W = %.4f, q at home %.4f\n", i, r.Objective, r.Q[users[i][0]])
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// user 0: W = 1.3125, q at home 0.2500
	// user 1: W = 0.6250, q at home 0.2500
	// user 2: W = 0.8750, q at home 0.2500
}
