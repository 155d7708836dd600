package baseline

import (
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// expBounds returns rationals with down <= e^eps <= up, at most about 2^-bits apart (absolutely).
func expBounds(eps float64, bits uint) (down, up *big.Rat) {
	low, high := num.ExpFixed(num.Rat(eps), bits)
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	return new(big.Rat).SetFrac(low, one), new(big.Rat).SetFrac(high, one)
}

// floor returns a = 1/(e^eps + k - 1) rounded up: the smallest float that is at least a (or the next one, if a
// is within 2^-120 of a float).
func floor(k int, eps float64) float64 {
	if eps == 0 {
		return 1 / float64(k) // correctly rounded, and all k entries are the same anyway
	}
	e, _ := expBounds(eps, 128)
	return num.Up(e.Inv(e.Add(e, big.NewRat(int64(k)-1, 1))))
}
