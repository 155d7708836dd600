package numtest_test

import (
	"fmt"

	"github.com/wpm-go/wpm/internal/numtest"
)

// The generator of the reference files: the same numbers in any language.
func ExampleSplitMix64() {
	r := numtest.NewSplitMix64(1)
	fmt.Println(r.Uint64(), r.Float64() < 1)
	// Output:
	// 10451216379200822465 true
}
