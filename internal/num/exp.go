package num

import (
	"math"
	"math/big"
)

// expPrecision leaves 180 correct bits after the roundings of bigExp, and expMargin grants it an error of 2^-150.
const (
	expPrecision = 200
	expMargin    = 150
)

// ExpBounds encloses e^x: down <= e^x <= up, the two being equal (for x = 0) or neighbouring floats, or at
// most two apart. It needs |x| <= 700, where neither e^x nor its inverse leaves the normal range; beyond
// that, and for NaN, the answer is the trivial one, 0 and +Inf. Unlike math.Exp it gives the same bits on every
// processor.
func ExpBounds(x float64) (down, up float64) {
	if !(math.Abs(x) <= 700) {
		return 0, math.Inf(1)
	}
	e := bigExp(math.Abs(x))
	if x < 0 {
		e.Quo(big.NewFloat(1), e)
	}
	margin := new(big.Float).SetMantExp(e, -expMargin)
	if x == 0 {
		margin.SetInt64(0)
	}
	low := new(big.Float).Sub(e, margin)
	high := new(big.Float).Add(e, margin)
	down, _ = low.Float64()
	if big.NewFloat(down).Cmp(low) > 0 {
		down = math.Nextafter(down, 0)
	}
	up, _ = high.Float64()
	if big.NewFloat(up).Cmp(high) < 0 {
		up = math.Nextafter(up, math.Inf(1))
	}
	return down, up
}

// bigExp returns e^x for 0 <= x <= 700 by Taylor's series at x/2^s < 1 and s squarings. 80 terms and ten
// squarings cost a few units of 2^-200 each, and every squaring doubles the error before it: below 2^-180.
func bigExp(x float64) *big.Float {
	halvings := 0
	for x >= 1 {
		x /= 2
		halvings++
	}
	at := new(big.Float).SetPrec(expPrecision).SetFloat64(x)
	sum := new(big.Float).SetPrec(expPrecision).SetInt64(1)
	term := new(big.Float).SetPrec(expPrecision).SetInt64(1)
	n := new(big.Float).SetPrec(expPrecision)
	for i := int64(1); i <= 80; i++ { // 1/80! < 2^-390
		term.Mul(term, at)
		term.Quo(term, n.SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}
