package audit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/ldp"
)

// A box one unit too wide: e times 150 is 407.7, and 408 is above it. No number of draws that anyone can make
// shows it.
func ExampleBox() {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	c := audit.Box(audit.Table{
		Epsilon: eps, Bits: 10, Outputs: []string{"north", "east", "south", "west"},
		Lo: []uint64{150, 150, 150, 150}, Hi: []uint64{407, 408, 407, 407},
	})
	fmt.Println(c.Passed, c.Fault)
	fmt.Println(c.Worst)
	fmt.Printf("draws needed: %.1e\n", float64(audit.SamplesFor(150./1024, 1, float64(c.Worst.Loss)-1, 1e-8)))
	// Output:
	// false output east: hi = 408 above e^1 times lo = 150
	// output east: 408 (hi) over 150 (lo), loss 1.00063188, beyond the bound, -1 units to spare
	// draws needed: 1.3e+09
}

// A program that tells its input one time in five is a violation of eps = 1, and thousands of draws show it.
func ExampleStatistical() {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	program := func(_ context.Context, client audit.Row, n int, counts []uint64) error {
		for i := range n {
			if i%5 == 0 {
				counts[2*client.Input]++ // inputs 0 and 1: the tell-tale outputs are 0 and 2
			} else {
				counts[1]++
			}
		}
		return nil
	}
	st, err := audit.Statistical(context.Background(), audit.Design{
		Table: audit.Table{
			Epsilon: eps, Bits: 10, Lo: []uint64{1, 1, 1}, Hi: []uint64{1024, 1024, 1024},
			Rows: []audit.Row{{Name: "zero", Input: 0}, {Name: "one", Input: 1}},
		},
		Samples: 1000,
	}, program)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("violated: %v, the loss is at least %.1f (false-alarm rate %v)\n", st.Violated, float64(st.Lower),
		st.FalseAlarm)
	c := st.Column
	fmt.Printf("output %s: %d draws for %s, %d for %s\n", c.Output, c.Num, c.High, c.Den, c.Low)
	// Output:
	// violated: true, the loss is at least 2.2 (false-alarm rate 1e-06)
	// output 0: 200 draws for zero, 0 for one
}

// Nothing was seen in a million draws: the probability is below 0.0000161, but for a risk of one in ten
// million.
func ExampleInterval() {
	lower, upper, err := audit.Interval(0, 1_000_000, 1e-7)
	fmt.Printf("%v %.7f %v\n", lower, upper, err)
	// Output:
	// 0 0.0000161 <nil>
}
