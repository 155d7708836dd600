package channel_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// Rows for the map of 10 x 10 cells from half a million devices: codes beat the best disc.
func ExampleNew() {
	cells, err := cost.NewGrid(10, 10, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		panic(err)
	}
	d, err := channel.New(context.Background(), channel.Problem{Cost: cells, Epsilon: eps, Devices: 500_000})
	if err != nil {
		panic(err)
	}
	fmt.Printf("codes: %v, predicted root risk %.1f of the best disc\n", d.Codes, d.Risk)
	fmt.Println("private:", d.Verify() == nil)
	// Output:
	// codes: true, predicted root risk 0.8 of the best disc
	// private: true
}
