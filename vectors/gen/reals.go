package main

import (
	"math/big"
	"strings"
)

// precision is the working precision of irrational results, in bits: about 150 digits, of which 60 are written.
const precision = 512

func real0() *big.Float { return new(big.Float).SetPrec(precision) }

func realInt(n int64) *big.Float { return real0().SetInt64(n) }

func realRat(x *big.Rat) *big.Float { return real0().SetRat(x) }

func realFloat(x float64) *big.Float { return real0().SetFloat64(x) }

func radd(x, y *big.Float) *big.Float { return real0().Add(x, y) }

func rsub(x, y *big.Float) *big.Float { return real0().Sub(x, y) }

func rmul(x, y *big.Float) *big.Float { return real0().Mul(x, y) }

func rdiv(x, y *big.Float) *big.Float { return real0().Quo(x, y) }

// rexp returns e^x: the series after 64 halvings of the argument, squared back.
func rexp(x *big.Float) *big.Float {
	const halvings = 64
	guard := func() *big.Float { return new(big.Float).SetPrec(2*precision + 4*halvings) }
	y := guard().SetMantExp(guard().Set(x), -halvings)
	if x.Sign() == 0 {
		return realInt(1)
	}
	must(y.MantExp(nil) <= -16, "an exponent out of reach")
	sum, term := guard().SetInt64(1), guard().SetInt64(1)
	for n := int64(1); ; n++ {
		term.Mul(term, y)
		term.Quo(term, guard().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < -2*precision-4*halvings {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return real0().Set(sum)
}

// atanh returns the inverse hyperbolic tangent of a number that is small.
func atanh(x *big.Float) *big.Float {
	guard := func() *big.Float { return new(big.Float).SetPrec(precision + 128) }
	square := guard().Mul(x, x)
	sum, power := guard().Set(x), guard().Set(x)
	for n := int64(3); x.Sign() != 0; n += 2 {
		power.Mul(power, square)
		term := guard().Quo(power, guard().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-precision-64 {
			break
		}
		sum.Add(sum, term)
	}
	return sum
}

// rlog returns the logarithm of x > 0, with full relative precision also near 1.
func rlog(x *big.Float) *big.Float {
	guard := func() *big.Float { return new(big.Float).SetPrec(precision + 128) }
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
	return real0().Set(v)
}

// digits writes 60 digits, in the form d.ddde+nn without idle zeros.
func digits(x *big.Float) string {
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

func digitList(x []*big.Float) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = digits(v)
	}
	return out
}

// less60 reports whether x is below y by more than the digits that are kept.
func less60(x, y *big.Float) bool {
	return x.Cmp(y) < 0 && rsub(y, x).MantExp(nil) > max(y.MantExp(nil), -2000)-300
}
