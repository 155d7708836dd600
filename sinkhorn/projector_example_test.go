package sinkhorn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn"
)

// Three users, each with a few places on a ring, and one mechanism.
func ExampleProjector() {
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		log.Fatal(err)
	}
	lo := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	hi := []float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3}
	p, err := sinkhorn.NewProjector(context.Background(), ring, lo, hi, 0.01, sinkhorn.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	places := [][]int{{0}, {1, 2}, {0, 3, 5}}
	weights := [][]float64{{1}, {0.5, 0.5}, {0.5, 0.25, 0.25}}
	var r sinkhorn.Result
	for i := range places {
		if err := p.Project(context.Background(), weights[i], places[i], &r); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("user %d moves %.2f, proved best to 1 %%: %t\n", i, r.Upper, r.Gap() <= 0.01*r.Upper)
	}
	// Output:
	// user 0 moves 1.10, proved best to 1 %: true
	// user 1 moves 0.60, proved best to 1 %: true
	// user 2 moves 0.40, proved best to 1 %: true
}
