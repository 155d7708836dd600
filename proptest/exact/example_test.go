package exact_test

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/proptest/exact"
)

// Bounds on e^x from the power series, in rationals.
func ExampleExpBounds() {
	lower, upper := exact.ExpBounds(big.NewRat(1, 1), 100)
	fmt.Println(lower.FloatString(25))
	fmt.Println(upper.FloatString(25))
	// Output:
	// 2.7182818284590452353602875
	// 2.7182818284590452353602875
}
