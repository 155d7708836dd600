package basemeasure

import (
	"math"
	"math/big"
)

// bracket encloses a real number: down <= x <= up, at most two floats apart, and near is the float nearest
// to x (or a neighbour of it, if x is within 2^-120 of the middle of two floats).
type bracket struct{ down, near, up float64 }

// privacy holds e^(-eps/2), e^(eps/2) and e^eps.
type privacy struct{ alpha, beta, e bracket }

// expPrecision leaves 200 - 20 correct bits after the roundings below.
const expPrecision = 200

// expMargin is the relative error granted to bigExp: 2^-150, against a true one below 2^-180 (80 terms
// and ten squarings, each a few units of 2^-200, the squarings doubling what came before).
const expMargin = 150

// newPrivacy encloses the three factors. math.Exp would do for speed, but neither states its error nor
// gives the same bits on all processors.
func newPrivacy(eps float64) privacy {
	if eps == 0 {
		one := bracket{1, 1, 1}
		return privacy{one, one, one}
	}
	beta := bigExp(eps / 2) // exact: halving a float; a subnormal eps rounds, and e^eps is 1 up to 2^-1000
	e := new(big.Float).SetPrec(expPrecision).Mul(beta, beta)
	alpha := new(big.Float).SetPrec(expPrecision).Quo(big.NewFloat(1), beta)
	return privacy{alpha: enclose(alpha), beta: enclose(beta), e: enclose(e)}
}

// bigExp returns e^y for 0 <= y <= 350 by Taylor's series at y/2^s < 1 and s squarings.
func bigExp(y float64) *big.Float {
	halvings := 0
	for y >= 1 {
		y /= 2
		halvings++
	}
	x := new(big.Float).SetPrec(expPrecision).SetFloat64(y)
	sum := new(big.Float).SetPrec(expPrecision).SetInt64(1)
	term := new(big.Float).SetPrec(expPrecision).SetInt64(1)
	n := new(big.Float).SetPrec(expPrecision)
	for i := int64(1); i <= 80; i++ { // 1/80! < 2^-390
		term.Mul(term, x)
		term.Quo(term, n.SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func enclose(x *big.Float) bracket {
	near, _ := x.Float64()
	margin := new(big.Float).SetPrec(expPrecision).SetMantExp(x, -expMargin)
	b := bracket{down: near, near: near, up: near}
	low := new(big.Float).SetPrec(expPrecision).Sub(x, margin)
	high := new(big.Float).SetPrec(expPrecision).Add(x, margin)
	for big.NewFloat(b.down).Cmp(low) > 0 {
		b.down = math.Nextafter(b.down, 0)
	}
	for big.NewFloat(b.up).Cmp(high) < 0 {
		b.up = math.Nextafter(b.up, math.Inf(1))
	}
	return b
}
