package projection_test

import (
	"fmt"

	"github.com/wpm-go/wpm/projection"
)

// The author of a solver reads a problem: counts of three inputs, and outputs that may each have between 0.2 and 0.5.
func Example() {
	var source projection.Source
	if err := source.Set(3, []float64{6, 0, 2}, nil); err != nil {
		fmt.Println(err)
		return
	}
	for n, i := range source.Rows {
		fmt.Printf("input %d has mass %v\n", i, source.Mass[n].Hi)
	}
	var box projection.Box
	err := box.Set(3, []float64{0.2, 0.2, 0.2}, []float64{0.5, 0.5, 0.5})
	fmt.Println("the box has a distribution:", err == nil)
	err = box.Set(3, []float64{0.2, 0.2, 0.2}, []float64{0.25, 0.25, 0.25})
	fmt.Println(err)
	// Output:
	// input 0 has mass 0.75
	// input 2 has mass 0.25
	// the box has a distribution: true
	// infeasible: no distribution in the box: Hi sums to less than 1, by 0.25
}
