// Package values draws the numbers of test vectors, and writes them as the files have them: floats in hexadecimal,
// integers and rationals in decimal.
package values

import (
	"math"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/proptest/exact"
)

// HexFloat writes a float exactly.
func HexFloat(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'x', -1, 64)
}

// HexFloats writes a list of floats.
func HexFloats(x []float64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = HexFloat(v)
	}
	return out
}

// HexMatrix writes rows of floats.
func HexMatrix(c [][]float64) [][]string {
	out := make([][]string, len(c))
	for i, row := range c {
		out[i] = HexFloats(row)
	}
	return out
}

// Decimals writes a list of integers.
func Decimals(x []uint64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = strconv.FormatUint(v, 10)
	}
	return out
}

// Ratios writes a list of rationals: fractions in lowest terms, or integers.
func Ratios(x []*big.Rat) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = v.RatString()
	}
	return out
}

// Rat reads a rational, and panics if the text is none.
func Rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a rational: " + text)
	}
	return r
}

// Matrix returns rows as rationals.
func Matrix(c [][]float64) [][]*big.Rat {
	out := make([][]*big.Rat, len(c))
	for i, row := range c {
		out[i] = exact.Rats(row)
	}
	return out
}

// Ceil returns x rounded up.
func Ceil(x *big.Rat) *big.Int { return exact.CeilQuo(x, big.NewRat(1, 1)) }

// Floor returns x rounded down.
func Floor(x *big.Rat) *big.Int { return new(big.Int).Div(x.Num(), x.Denom()) }

// Power returns 2^bits.
func Power(bits int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
}

// Sum returns the sum of x, which may be above 2^64.
func Sum(x []uint64) *big.Int {
	s := new(big.Int)
	for _, v := range x {
		s.Add(s, new(big.Int).SetUint64(v))
	}
	return s
}

// Int returns n as a big integer.
func Int(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// Must panics unless ok: what an oracle relies on, or proves, does not hold.
func Must(ok bool, what string) {
	if !ok {
		panic("broken oracle: " + what)
	}
}
