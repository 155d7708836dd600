package aggregate_test

import (
	"context"
	"crypto/sha256"
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

// Two shards counted apart, and added up. A program that knows no more of a policy than its ID counts so, too.
func ExampleCounter() {
	id := sha256.Sum256([]byte("the text of a policy"))
	part := func(shard string, indices ...byte) aggregate.Counts {
		c, err := aggregate.NewCounterOf(id, make([]bool, 3)) // three outputs, all of which may occur
		if err != nil {
			panic(err)
		}
		for _, j := range indices {
			fmt.Println(j, c.Text(fmt.Appendf(nil, "77706d31%x%02x000000", id, j)))
		}
		counts, err := c.Counts("2026-11", []aggregate.Shard{{ID: shard, Lines: c.Lines()}})
		if err != nil {
			panic(err)
		}
		return counts
	}
	a, b := part("monday", 0, 1, 0), part("tuesday", 2, 7)
	all, err := aggregate.Merge(a, b)
	if err != nil {
		panic(err)
	}
	fmt.Println(all.Reports, all.Total(), "of", all.Lines)
	// Output:
	// 0 counted
	// 1 counted
	// 0 counted
	// 2 counted
	// 7 no-such-output
	// [2 1 1] 4 of 5
}
