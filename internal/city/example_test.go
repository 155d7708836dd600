package city_test

import (
	"fmt"

	"github.com/wpm-go/wpm/internal/city"
)

func ExampleGenerate() {
	p, err := city.Generate(1, 3, 20, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p.Users), "users on", p.Cells(), "cells, valid:", p.Validate() == nil)
	// Output: 3 users on 400 cells, valid: true
}

func ExamplePopulation_Truth() {
	p := city.Population{Rows: 1, Cols: 2, Users: []city.User{
		{ID: 1, Cells: []int{0}, Counts: []int{100}},
		{ID: 2, Cells: []int{0, 1}, Counts: []int{5, 5}},
	}}
	fmt.Println(p.Truth())
	// Output: [0.75 0.25]
}
