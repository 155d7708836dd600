package gub_test

import (
	"fmt"

	"github.com/wpm-go/wpm/basemeasure/internal/gub"
)

// Three alloys make one ton. Each has a value, and 3, -1 and -2 parts more of a metal than the mix must have on average.
// A fourth column buys the metal.
func Example() {
	value, metal := []float64{1, 4, 6}, []float64{3, -1, -2}
	s := gub.New(1, []float64{1}, 1e-11, 1e-11, new(gub.Counts))
	offer := func(c int) *gub.Column {
		return s.Offer(c, 0, value[c], func(rows []int, a []float64) { a[0] = metal[c] })
	}
	offer(0)
	buy := s.Offer(3, gub.NoBound, -5, func(rows []int, a []float64) { a[0] = 1 })
	if !s.Start(buy) {
		fmt.Println("no start")
		return
	}
	for pivots := 1; pivots > 0; {
		pivots = 0
		for c := range value {
			offer(c)
		}
		for {
			e, found := s.Price(func(int) bool { return true })
			if !found {
				break
			}
			if s.Enter(e) == gub.Pivoted {
				pivots++
			}
		}
		s.Withdraw()
	}
	for c := range s.Columns {
		fmt.Printf("alloy %d: %.1f\n", c.Label, c.Value)
	}
	for _, m := range s.Multipliers {
		fmt.Printf("the metal is worth %.0f\n", m)
	}
	fmt.Printf("value %.0f\n", s.Objective())
	// Unordered output:
	// alloy 2: 0.6
	// alloy 0: 0.4
	// the metal is worth 1
	// value 4
}
