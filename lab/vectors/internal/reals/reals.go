// Package reals computes with 512-bit floats, for test vectors of irrational numbers. Functions return new numbers
// and leave their arguments alone.
package reals

import (
	"math/big"
	"strings"
)

// Precision is the working precision of irrational results, in bits: about 150 digits, of which 60 are written.
const Precision = 512

// New returns 0 in the working precision.
func New() *big.Float { return new(big.Float).SetPrec(Precision) }

// Int returns n.
func Int(n int64) *big.Float { return New().SetInt64(n) }

// Rat returns x, rounded.
func Rat(x *big.Rat) *big.Float { return New().SetRat(x) }

// Float returns x.
func Float(x float64) *big.Float { return New().SetFloat64(x) }

// Add returns x + y.
func Add(x, y *big.Float) *big.Float { return New().Add(x, y) }

// Sub returns x - y.
func Sub(x, y *big.Float) *big.Float { return New().Sub(x, y) }

// Mul returns x y.
func Mul(x, y *big.Float) *big.Float { return New().Mul(x, y) }

// Quo returns x / y.
func Quo(x, y *big.Float) *big.Float { return New().Quo(x, y) }

// Exp returns e^x: the series after 64 halvings of the argument, squared back. It panics if |x| is 2^48 or more.
func Exp(x *big.Float) *big.Float {
	const halvings = 64
	guard := func() *big.Float { return new(big.Float).SetPrec(2*Precision + 4*halvings) }
	y := guard().SetMantExp(guard().Set(x), -halvings)
	if x.Sign() == 0 {
		return Int(1)
	}
	if y.MantExp(nil) > -16 {
		panic("an exponent out of reach")
	}
	sum, term := guard().SetInt64(1), guard().SetInt64(1)
	for n := int64(1); ; n++ {
		term.Mul(term, y)
		term.Quo(term, guard().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < -2*Precision-4*halvings {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return New().Set(sum)
}

// atanh returns the inverse hyperbolic tangent of a number that is small.
func atanh(x *big.Float) *big.Float {
	guard := func() *big.Float { return new(big.Float).SetPrec(Precision + 128) }
	square := guard().Mul(x, x)
	sum, power := guard().Set(x), guard().Set(x)
	for n := int64(3); x.Sign() != 0; n += 2 {
		power.Mul(power, square)
		term := guard().Quo(power, guard().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-Precision-64 {
			break
		}
		sum.Add(sum, term)
	}
	return sum
}

// Log returns the logarithm of x > 0, with full relative precision also near 1.
func Log(x *big.Float) *big.Float {
	guard := func() *big.Float { return new(big.Float).SetPrec(Precision + 128) }
	m := guard()
	e := guard().Set(x).MantExp(m) // x = m 2^e, 1/2 <= m < 1
	if m.Cmp(guard().SetFloat64(0.70710678)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	one := guard().SetInt64(1)
	v := atanh(guard().Quo(guard().Sub(m, one), guard().Add(m, one)))
	v.Mul(v, guard().SetInt64(2))
	if e != 0 {
		ln2 := atanh(guard().Quo(one, guard().SetInt64(3)))
		v.Add(v, guard().Mul(ln2, guard().SetInt64(2*int64(e))))
	}
	return New().Set(v)
}

// Digits writes 60 digits, in the form d.ddde+nn without idle zeros.
func Digits(x *big.Float) string {
	if x.Sign() == 0 {
		return "0"
	}
	m, e, _ := strings.Cut(x.Text('e', 59), "e")
	if strings.Contains(m, ".") {
		m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
	}
	if e == "+00" {
		return m
	}
	return m + "e" + e
}

// DigitList writes a list, see Digits.
func DigitList(x []*big.Float) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = Digits(v)
	}
	return out
}

// Less60 reports whether x is below y by more than the digits that are kept.
func Less60(x, y *big.Float) bool {
	return x.Cmp(y) < 0 && Sub(y, x).MantExp(nil) > max(y.MantExp(nil), -2000)-300
}

// Pi returns pi, by Machin's formula.
func Pi() *big.Float {
	arctan := func(n int64) *big.Float {
		x := Quo(Int(1), Int(n))
		square, sum := Mul(x, x), New().Set(x)
		for m, power := int64(3), x; power.MantExp(nil) > -Precision-16; m += 2 {
			power = Mul(power, square)
			term := Quo(power, Int(m))
			if m%4 == 3 {
				term.Neg(term)
			}
			sum = Add(sum, term)
		}
		return sum
	}
	return Mul(Int(4), Sub(Mul(Int(4), arctan(5)), arctan(239)))
}
