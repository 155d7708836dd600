package sphere_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/lab/sphere"
)

// A small run: one dimension of each part.
func ExampleRun() {
	res, err := sphere.Run(context.Background(), sphere.Config{
		Dims: []int{63}, Epsilons: []float64{4}, AtomDims: []int{2}, Atoms: []int{20}, AtomEpsilons: []string{"4"},
		Points: 512, Instances: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := res.Mean(63, 4)
	fmt.Printf("published rules: %.2f and %.2f times the optimal mean squared error\n", m.Grid.Ratio, m.Search.Ratio)
	a, _ := res.Row(2, 20, "4")
	fmt.Println("W_2 of the projection below 0.65 of a random atom's:", a.Ratio < 0.65)
	// Output:
	// published rules: 1.41 and 1.41 times the optimal mean squared error
	// W_2 of the projection below 0.65 of a random atom's: true
}
