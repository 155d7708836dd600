package kl_test

import (
	"fmt"

	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// The projection in divergence: everything is scaled alike but for what a bound stops.
func ExampleProject() {
	q, theta, err := kl.Project([]float64{0, 0, 0}, []float64{0.5, 0, 0}, []float64{1, 1, 0.1})
	fmt.Printf("%.2f %.3f %v\n", q, theta, err)
	// Output: [0.50 0.40 0.10] -0.916 <nil>
}
