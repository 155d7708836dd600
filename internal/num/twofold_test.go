package num

import (
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestTwofold checks that the two error-free transformations are error-free.
func TestTwofold(t *testing.T) {
	rnd := numtest.NewSplitMix64(5)
	for range 10000 {
		a := math.Ldexp(rnd.Float64()-0.5, rnd.Intn(120)-60)
		b := math.Ldexp(rnd.Float64()-0.5, rnd.Intn(120)-60)
		s, e := TwoSum(a, b)
		if sum := new(big.Rat).Add(Rat(a), Rat(b)); sum.Cmp(new(big.Rat).Add(Rat(s), Rat(e))) != 0 {
			t.Fatalf("TwoSum(%v, %v) = %v, %v", a, b, s, e)
		}
		s, e = TwoDiff(a, b)
		if diff := new(big.Rat).Sub(Rat(a), Rat(b)); diff.Cmp(new(big.Rat).Add(Rat(s), Rat(e))) != 0 {
			t.Fatalf("TwoDiff(%v, %v) = %v, %v", a, b, s, e)
		}
	}
}
