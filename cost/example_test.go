package cost_test

import (
	"fmt"

	"github.com/wpm-go/wpm/cost"
)

// Five points on a circle, squared distance.
func Example() {
	c, err := cost.NewRing(5, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Row(0, nil))
	fmt.Println("largest", cost.Max(c), "range", cost.Range(c))
	// Output:
	// [0 1 4 4 1]
	// largest 4 range 4
}

// Kilometres between cities.
func ExampleNewGreatCircle() {
	cities := [][2]float64{{48.2082, 16.3738}, {52.5200, 13.4050}, {-33.8688, 151.2093}} // Vienna, Berlin, Sydney
	c, err := cost.NewGreatCircle(cities, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", c.Row(0, nil))
	// Output: [0.0 523.5 15975.7]
}

// A cost from its JSON form, and back to the canonical one.
func ExampleParseSpec() {
	s, err := cost.ParseSpec([]byte(`{"n": 30, "kind": "ring"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := s.MarshalJSON()
	fmt.Println(string(text))

	_, err = cost.ParseSpec([]byte(`{"kind": "ring", "N": 30}`))
	fmt.Println(err)
	// Output:
	// {"kind":"ring","n":30,"p":1}
	// cost: bad specification: unknown field "N" (did you mean "n"?)
}

// Every bad entry is named.
func ExampleNewDense() {
	_, err := cost.NewDense(2, 2, []float64{0, 1, -1, 0})
	fmt.Println(err)
	// Output: cost: negative: C[1][0] = -1
}
