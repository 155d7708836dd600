package num_test

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

func ExampleSum() {
	fmt.Println(num.Sum([]float64{1, 1e100, 1, -1e100}))
	// Output: 2
}

// A bound is rounded to its safe side.
func ExampleUp() {
	r := big.NewRat(1, 10)
	fmt.Println(num.Down(r) < num.Up(r), num.Up(r))
	// Output: true 0.1
}
