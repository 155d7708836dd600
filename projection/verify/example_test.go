package verify_test

import (
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/projection/verify"
)

// All mass is at the first of three points of a line, and outputs may have half of it at most. A plan proves that this
// costs 1/2 at most, and potentials that nothing costs less.
func Example() {
	c, err := cost.NewPoints([][]float64{{0}, {1}, {2}}, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := projection.Problem{Cost: c, Source: []float64{1, 0, 0}, Lo: []float64{0, 0, 0}, Hi: []float64{0.5, 0.5, 0.5}}
	answer, err := verify.New(p, []float64{0.5, 0.5, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	upper, err := answer.Plan([]projection.Entry{{I: 0, J: 0, Mass: 0.5}, {I: 0, J: 1, Mass: 0.5}}, 0.5, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	lower, err := answer.Lower(projection.Potentials{F: []float64{1, 0, 0}, G: []float64{-1, 0, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lower, "<= optimum <=", upper)
	// Output:
	// 1/2 <= optimum <= 1/2
}
