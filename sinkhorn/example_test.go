package sinkhorn_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
)

// A distribution on three points of a line, and outputs that may each have between 0.2 and 0.5 of the
// mass.
func ExampleProject() {
	c, err := cost.FromRows([][]float64{{0, 1, 4}, {1, 0, 1}, {4, 1, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := sinkhorn.Problem{
		Problem: projection.Problem{
			Cost:   c,
			Source: []float64{0.8, 0.2, 0},
			Lo:     []float64{0.2, 0.2, 0.2},
			Hi:     []float64{0.5, 0.5, 0.5},
		},
		Reg: 0.05,
	}
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("q = %.3f\n", r.Q)
	fmt.Printf("%.4f <= optimum <= %.4f\n", r.Lower, r.Upper)
	if _, _, err := sinkhorn.Verify(context.Background(), p, r); err == nil {
		fmt.Println("verified")
	}
	// Output:
	// q = [0.500 0.300 0.200]
	// 0.5000 <= optimum <= 0.5000
	// verified
}
