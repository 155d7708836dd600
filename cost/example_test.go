package cost_test

import (
	"context"
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
	largest, widest, err := cost.Extent(context.Background(), c)
	fmt.Println("largest", largest, "range", widest, err)
	// Output:
	// [0 1 4 4 1]
	// largest 4 range 4 <nil>
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
	// Output: negative value: C[1][0] = -1
}

func ExampleNewGrid() {
	c, err := cost.NewGrid(2, 3, 1) // cells of the unit square, row by row
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", c.Row(0, nil))
	// Output:
	// [0.00 0.33 0.67 0.50 0.60 0.83]
}

func ExampleNewPoints() {
	shops := [][]float64{{0, 0}, {3, 4}}
	depots := [][]float64{{0, 4}, {3, 0}, {3, 4}}
	c, err := cost.NewPoints(shops, depots, 2) // squared distances
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Row(0, nil), c.Row(1, nil))
	// Output:
	// [16 9 25] [9 16 0]
}

func ExampleNewCosine() {
	c, err := cost.NewCosine([][]float64{{1, 0}, {1, 1}, {0, 2}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", c.Row(0, nil))
	// Output:
	// [0.000 0.293 1.000]
}

func ExampleFromRows() {
	c, err := cost.FromRows([][]float64{{0, 12, 25}, {12, 0, 18}}) // minutes between stations
	if err != nil {
		fmt.Println(err)
		return
	}
	k, kv := c.Dims()
	fmt.Println(k, kv, c.Row(1, nil))
	// Output:
	// 2 3 [12 0 18]
}

// A cost as JSON, and built again from it, bit for bit.
func ExampleSpecOf() {
	grid, err := cost.NewGrid(2, 3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := cost.SpecOf(context.Background(), grid)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := s.MarshalJSON()
	fmt.Println(string(text), err)
	again, err := s.Build()
	fmt.Println(again.Row(0, nil)[5] == grid.Row(0, nil)[5], err)
	// Output:
	// {"kind":"grid","rows":2,"cols":3,"p":1} <nil>
	// true <nil>
}
