package baseline

import (
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// expBounds returns rationals with down <= e^eps <= up, at most about 2^-bits apart (absolutely). Each Taylor
// term eps^n/n! is rounded down in one sum and up in the other, in units of 2^-bits. Once n+2 >= 2 eps, what
// is left out is at most twice its first term.
func expBounds(eps float64, bits uint) (down, up *big.Rat) {
	x := num.Rat(eps)
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	sumDown, sumUp := new(big.Int).Set(one), new(big.Int).Set(one)
	termDown, termUp := new(big.Int).Set(one), new(big.Int).Set(one)
	den, rem, unit := new(big.Int), new(big.Int), big.NewInt(1)
	for n := int64(1); ; n++ {
		den.Mul(x.Denom(), big.NewInt(n))
		termDown.Mul(termDown, x.Num()).Quo(termDown, den)
		termUp.Mul(termUp, x.Num()).QuoRem(termUp, den, rem)
		if rem.Sign() > 0 {
			termUp.Add(termUp, unit)
		}
		sumDown.Add(sumDown, termDown)
		sumUp.Add(sumUp, termUp)
		if float64(n) >= 2*eps && termUp.Cmp(unit) <= 0 {
			sumUp.Add(sumUp, unit)
			return new(big.Rat).SetFrac(sumDown, one), new(big.Rat).SetFrac(sumUp, one)
		}
	}
}

// floor returns a = 1/(e^eps + k - 1) rounded up: the smallest float that is at least a (or the next one, if a
// is within 2^-100 of a float).
func floor(k int, eps float64) float64 {
	if eps == 0 {
		return 1 / float64(k) // correctly rounded, and all k entries are the same anyway
	}
	// e^eps to a relative 2^-140 by Taylor's series at eps/2^s < 1 and s <= 10 squarings, which double the
	// error each; then a little less than that.
	const prec, margin = 160, 100
	halvings := 0
	for eps >= 1 {
		eps /= 2
		halvings++
	}
	x := new(big.Float).SetPrec(prec).SetFloat64(eps)
	e := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	n := new(big.Float).SetPrec(prec)
	for i := int64(1); i <= 40; i++ { // 1/41! < 2^-164
		term.Mul(term, x)
		term.Quo(term, n.SetInt64(i))
		e.Add(e, term)
	}
	for range halvings {
		e.Mul(e, e)
	}
	e.Sub(e, new(big.Float).SetPrec(prec).SetMantExp(e, -margin))
	e.Add(e, n.SetInt64(int64(k)-1))
	r, _ := e.Rat(nil)
	// a < 1/k, which a little less than e^eps may hide when eps is tiny.
	return min(num.Up(r.Inv(r)), num.Up(big.NewRat(1, int64(k))))
}
