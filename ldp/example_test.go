package ldp_test

import (
	"bytes"
	"fmt"

	"github.com/wpm-go/wpm/ldp"
)

// A mechanism of three outputs, from a base measure to one release.
func Example() {
	eps, err := ldp.ParseEpsilon("1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Public, once: the box. Ten bits keep the numbers readable; use 62.
	box, err := ldp.NewPolytope(eps, []float64{0.5, 0.25, 0.25}, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range box.Len() {
		fmt.Printf("column %d: %d to %d of %d\n", j, box.Lo(j), box.Hi(j), box.Total())
	}

	// Private, per client: any distribution at all becomes a point of the box.
	row := box.Round([]float64{0.1, 0.1, 0.8})
	fmt.Println(row.At(0), row.At(1), row.At(2), row)

	// One release. Real ones read crypto/rand; these two bytes are the number 0x0280 = 640.
	j, err := row.Sample(bytes.NewReader([]byte{0x80, 0x02}))
	fmt.Println(j, err)
	// Output:
	// column 0: 311 to 845 of 1024
	// column 1: 156 to 424 of 1024
	// column 2: 156 to 424 of 1024
	// 444 156 424 ldp.Weights(not shown)
	// 2 <nil>
}

// An auditor checks a published box, and the rows of a channel, without trust in who made them.
func ExampleCheckRows() {
	eps, _ := ldp.ParseEpsilon("1/2")
	_, err := ldp.NewPolytopeFromBounds(eps, []uint64{5, 5}, []uint64{8, 9}, 4)
	fmt.Println(err)

	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{5, 6}, []uint64{8, 9}, 4)
	fmt.Println(err)
	a, b := box.Round([]float64{1, 0}), box.Round([]float64{0, 1})
	worst, _ := ldp.WorstRatio([]ldp.Weights{a, b})
	fmt.Printf("%d/%d in column %d\n", worst.Num, worst.Den, worst.Column)
	fmt.Println(ldp.CheckRows(eps, []ldp.Weights{a, b}))
	// Output:
	// ldp: bad box: column 1 [5, 9]: upper bound above e^0.5 times the lower bound
	// <nil>
	// 8/7 in column 0
	// <nil>
}

func ExampleEpsilon() {
	for _, s := range []string{"0.10", "1e-1", "2/6", "-1", "1e999999999"} {
		eps, err := ldp.ParseEpsilon(s)
		fmt.Println(eps, err)
	}
	// Output:
	// 0.1 <nil>
	// 0.1 <nil>
	// 1/3 <nil>
	// 0 ldp: bad epsilon: "-1" is neither a decimal nor a fraction
	// 0 ldp: bad epsilon: "1e999999999" is neither a decimal nor a fraction
}
