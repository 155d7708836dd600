package mirror_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mirror"
)

// Five places on a line, and the paper's descent: what is proved in advance (the average is at most that far
// above f*), what was reached, and what is proved afterwards from the thresholds it went through.
func ExampleDescend() {
	line, err := cost.NewPoints([][]float64{{0}, {1}, {3}, {7}, {12}}, nil, 1)
	if err != nil {
		log.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), line)
	if err != nil {
		log.Fatal(err)
	}
	const eps = 2
	r, err := mirror.Descend(context.Background(), table, eps, mirror.Settings{Steps: 4000, Every: 1000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("   T  average   best  bound  lower")
	for _, h := range r.History {
		fmt.Printf("%d  %7.3f  %5.3f  %5.2f  %5.3f\n", h.Step, h.Average, h.Best, h.Bound, h.Lower)
	}
	upper, lower, err := basemeasure.Verify(context.Background(), line, eps, basemeasure.Result{
		M: r.M, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights, Thresholds: r.Thresholds,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("proved exactly: %s <= f* <= %s\n", lower.FloatString(3), upper.FloatString(3))
	// Output:
	//    T  average   best  bound  lower
	// 1000    2.910  2.168   5.55  1.723
	// 2000    2.538  2.168   3.58  1.982
	// 3000    2.414  2.168   2.92  2.054
	// 4000    2.352  2.167   2.59  2.081
	// proved exactly: 2.081 <= f* <= 2.167
}
