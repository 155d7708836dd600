package aggregate_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost"
)

func Example() {
	counts, err := aggregate.Count(3, []int{0, 0, 1, 0, 2, 0, 1, 0, 0, 1})
	if err != nil {
		panic(err)
	}
	h, err := aggregate.NewHistogram(counts, aggregate.Settings{Confidence: 0.9})
	if err != nil {
		panic(err)
	}
	for j := range h.Estimate {
		fmt.Printf("%.1f in [%.2f, %.2f]\n", h.Estimate[j], h.Lower[j], h.Upper[j])
	}
	line, err := cost.NewPoints([][]float64{{0}, {1}, {2}}, nil, 1)
	if err != nil {
		panic(err)
	}
	e, err := aggregate.Evaluate(context.Background(), line, []float64{8, 2, 0}, h.Estimate)
	if err != nil {
		panic(err)
	}
	fmt.Printf("W_1 = %.2f\n", e.Distance(1))
	// Output:
	// 0.6 in [0.24, 0.89]
	// 0.3 in [0.06, 0.68]
	// 0.1 in [0.00, 0.47]
	// W_1 = 0.30
}
