package sphere

import "math/big"

// interval is 0 <= lo <= x <= hi. All operations round lo down and hi up, at the precision of arith; none of them
// subtracts, so nothing but sub can be negative.
type interval struct{ lo, hi *big.Float }

// arith does interval arithmetic at a fixed number of bits. big.Float rounds +, -, * and / correctly in both
// directions; its Sqrt is checked.
type arith struct{ bits uint }

func (ar arith) down() *big.Float {
	return new(big.Float).SetPrec(ar.bits).SetMode(big.ToNegativeInf)
}
func (ar arith) up() *big.Float { return new(big.Float).SetPrec(ar.bits).SetMode(big.ToPositiveInf) }

func (ar arith) rat(r *big.Rat) interval { return interval{ar.down().SetRat(r), ar.up().SetRat(r)} }
func (ar arith) ratio(p, q int64) interval {
	return ar.rat(big.NewRat(p, q))
}

func (ar arith) add(x, y interval) interval {
	return interval{ar.down().Add(x.lo, y.lo), ar.up().Add(x.hi, y.hi)}
}

// sub is the one operation with a result of any sign.
func (ar arith) sub(x, y interval) interval {
	return interval{ar.down().Sub(x.lo, y.hi), ar.up().Sub(x.hi, y.lo)}
}

func (ar arith) mul(x, y interval) interval {
	return interval{ar.down().Mul(x.lo, y.lo), ar.up().Mul(x.hi, y.hi)}
}

// quo needs y.lo > 0.
func (ar arith) quo(x, y interval) interval {
	return interval{ar.down().Quo(x.lo, y.hi), ar.up().Quo(x.hi, y.lo)}
}

// sqrt widens what big.Float returns until its square is on the right side, which is a proof whatever Sqrt did.
func (ar arith) sqrt(x interval) interval {
	lo, hi := ar.down().Sqrt(x.lo), ar.up().Sqrt(x.hi)
	ulp := new(big.Float).SetMantExp(big.NewFloat(1), -int(ar.bits)+2) // four units of the last bit, relative
	for ar.up().Mul(lo, lo).Cmp(x.lo) > 0 {
		lo.Sub(lo, ar.up().Mul(lo, ulp))
	}
	for ar.down().Mul(hi, hi).Cmp(x.hi) < 0 {
		hi.Add(hi, ar.up().Mul(hi, ulp))
	}
	return interval{lo, hi}
}

// pow returns x^y for x > 0 and a finite float64 y >= 0, which is n + f with an integer n and f = sum of b_i 2^-i: the
// power n by squaring, each x^(2^-i) by i square roots.
func (ar arith) pow(x interval, y *big.Rat) interval {
	one := ar.ratio(1, 1)
	n := new(big.Int).Quo(y.Num(), y.Denom())
	rest := new(big.Rat).Sub(y, new(big.Rat).SetInt(n))
	result := one
	for i := n.BitLen() - 1; i >= 0; i-- {
		result = ar.mul(result, result)
		if n.Bit(i) == 1 {
			result = ar.mul(result, x)
		}
	}
	unit := big.NewRat(1, 1)
	for rest.Sign() > 0 { // ends: y is dyadic
		rest.Add(rest, rest)
		x = ar.sqrt(x)
		if rest.Cmp(unit) >= 0 {
			rest.Sub(rest, unit)
			result = ar.mul(result, x)
		}
	}
	return result
}

// expm1 returns e^x - 1 for a rational x > 0: Taylor's series at x / 2^k < 1/4, then k times e^2y - 1 = (e^y - 1)(2 +
// (e^y - 1)). With y < 1/4, what is left out after the term y^n/n! is less than that term.
func (ar arith) expm1(x *big.Rat) interval {
	y := new(big.Rat).Set(x)
	k := 0
	for half := big.NewRat(1, 2); y.Cmp(big.NewRat(1, 4)) >= 0; k++ {
		y.Mul(y, half)
	}
	iy := ar.rat(y)
	sum, term := iy, iy
	for n := int64(2); ; n++ {
		term = ar.mul(term, ar.quo(iy, ar.ratio(n, 1)))
		sum = ar.add(sum, term)
		if term.hi.MantExp(nil) < iy.lo.MantExp(nil)-int(ar.bits) {
			break
		}
	}
	sum.hi = ar.up().Add(sum.hi, term.hi)
	two := ar.ratio(2, 1)
	for range k {
		sum = ar.mul(sum, ar.add(two, sum))
	}
	return sum
}

// series returns sum_{n>=0} prod_{i<n} (num+i)/(den+i) x^n for num, den > 0 and 0 < x < 1.
//
// The tail: the quotient of two terms, (num+i)/(den+i) x, is monotone in i and tends to x, so from i = n on it is at
// most rho = max((num+n)/(den+n) x, x), and the terms after term n sum to at most term n times rho/(1-rho). The sum
// ends when that is below 2^-bits of it.
func (ar arith) series(num, den *big.Rat, x interval) interval {
	one := ar.ratio(1, 1)
	n, d := ar.rat(num), ar.rat(den) // num + i, den + i
	sum, term := ar.ratio(1, 1), ar.ratio(1, 1)
	ratio := interval{ar.down(), ar.up()}
	rest, tail := ar.down(), ar.up()
	for i := 0; ; i++ {
		ratio.lo.Mul(ratio.lo.Quo(n.lo, d.hi), x.lo)
		ratio.hi.Mul(ratio.hi.Quo(n.hi, d.lo), x.hi)
		if i%8 == 0 {
			rho := ratio.hi
			if rho.Cmp(x.hi) < 0 {
				rho = x.hi
			}
			if rho.Cmp(one.lo) < 0 {
				tail.Quo(tail.Mul(term.hi, rho), rest.Sub(one.lo, rho))
				if tail.MantExp(nil) < sum.lo.MantExp(nil)-int(ar.bits) {
					sum.hi.Add(sum.hi, tail)
					return sum
				}
			}
		}
		term.lo.Mul(term.lo, ratio.lo)
		term.hi.Mul(term.hi, ratio.hi)
		sum.lo.Add(sum.lo, term.lo)
		sum.hi.Add(sum.hi, term.hi)
		n.lo.Add(n.lo, one.lo)
		n.hi.Add(n.hi, one.hi)
		d.lo.Add(d.lo, one.lo)
		d.hi.Add(d.hi, one.hi)
	}
}
