package num

import (
	"math"
	"math/big"
)

// MaxEpsilon is the largest privacy loss that floats can serve: e^x and e^-x are normal numbers for |x| <= 700.
const MaxEpsilon = 700

// expPrecision leaves 180 correct bits after the roundings of bigExp, and expMargin grants it an error of 2^-150.
const (
	expPrecision = 200
	expMargin    = 150
)

// Enclosure is a real number that is no float: Down <= x <= Up, at most two floats apart. Near is the float nearest to
// x, or its neighbour if x is within 2^-120 of the middle of two floats.
type Enclosure struct{ Down, Near, Up float64 }

// Exp encloses e^x for |x| <= MaxEpsilon. Beyond that, and for NaN, the bounds are the trivial 0 and +Inf, and Near is
// NaN. Unlike math.Exp it gives the same bits on every processor. e^0 is exact.
func Exp(x float64) Enclosure {
	if x == 0 {
		return Enclosure{1, 1, 1}
	}
	if !(math.Abs(x) <= MaxEpsilon) {
		return Enclosure{0, math.NaN(), math.Inf(1)}
	}
	e := bigExp(math.Abs(x))
	if x < 0 {
		e.Quo(big.NewFloat(1), e)
	}
	margin := new(big.Float).SetMantExp(e, -expMargin)
	low, high := new(big.Float).Sub(e, margin), new(big.Float).Add(e, margin)
	near, _ := e.Float64()
	down, up := near, near
	if big.NewFloat(down).Cmp(low) > 0 {
		down = math.Nextafter(down, 0)
	}
	if big.NewFloat(up).Cmp(high) < 0 {
		up = math.Nextafter(up, math.Inf(1))
	}
	return Enclosure{down, near, up}
}

// ExpBounds returns the bounds of Exp.
func ExpBounds(x float64) (down, up float64) {
	e := Exp(x)
	return e.Down, e.Up
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

// ExpFixed returns integers with down <= 2^bits e^x <= up and down >= 2^bits, for a rational x >= 0: what verifiers
// use. It is plain integer arithmetic and has nothing in common with Exp. Each Taylor term x^n/n! is rounded down in
// one sum and up in the other, so the two are about n apart. Once n+2 >= 2x, what is left out is at most twice its
// first term.
func ExpFixed(x *big.Rat, bits uint) (down, up *big.Int) {
	one, unit := new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1)
	down, up = new(big.Int).Set(one), new(big.Int).Set(one)
	if x.Sign() <= 0 {
		return down, up
	}
	termDown, termUp := new(big.Int).Set(one), new(big.Int).Set(one)
	den, rem := new(big.Int), new(big.Int)
	twice, _ := new(big.Rat).Add(x, x).Float64()
	for n := int64(1); ; n++ {
		den.Mul(x.Denom(), big.NewInt(n))
		termDown.Mul(termDown, x.Num()).Quo(termDown, den)
		if termUp.Mul(termUp, x.Num()).QuoRem(termUp, den, rem); rem.Sign() > 0 {
			termUp.Add(termUp, unit)
		}
		down.Add(down, termDown)
		up.Add(up, termUp)
		if float64(n)+1 >= twice && termUp.Cmp(unit) <= 0 {
			return down, up.Add(up, unit) // the terms left out are at most termUp/2 + termUp/4 + ... <= 1
		}
	}
}
