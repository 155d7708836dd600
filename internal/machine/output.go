package machine

import (
	"math"
	"strconv"
)

// number is a float64 that any JSON reader takes for the same float64. A number without a point or an exponent is
// an exact integer to some readers, and beyond 2^53 another one than the float; so those have an exponent.
// Infinities, where a quantity can be infinite, are the strings "inf" and "-inf".
type number float64

// MarshalJSON writes the shortest text that reads back as the same float64.
func (x number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(x)), nil }

// numbers is a []float64 written as number are.
type numbers []float64

// MarshalJSON writes an array.
func (x numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+20*len(x))
	b = append(b, '[')
	for i, v := range x {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

// appendNumber writes x. A NaN, which only a broken solver would return, is written so that encode finds it.
func appendNumber(b []byte, x float64) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(b, `"inf"`...)
	case math.IsInf(x, -1):
		return append(b, `"-inf"`...)
	case math.IsNaN(x):
		return append(b, `"nan"`...)
	case x == 0 && math.Signbit(x):
		return append(b, "-0.0"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
