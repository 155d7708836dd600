package private

import (
	"fmt"
	"io"
	"math"
	"math/bits"
)

// Distribution is one client's distribution over the inputs of a policy. Mu reads it.
type Distribution struct {
	Redacted[Distribution]
	*counts
}

// counts is behind a pointer because fmt cannot call Format on what lies in another type's unexported field:
// there it prints fields, but of a pointer only the address.
type counts struct {
	count []float64 // finite, >= 0
	total float64   // their sum, > 0
}

// Mu returns the distribution as k floats, summing to 1 up to k roundings; nil for the zero Distribution.
func (d Distribution) Mu() []float64 {
	if d.counts == nil {
		return nil
	}
	mu := make([]float64, len(d.count))
	for i, v := range d.count {
		mu[i] = v / d.total
	}
	return mu
}

// Pick returns the input that a uniform 64-bit word draws from the distribution.
//
// With u_i = floor(2^s count_i), where s brings the total to [2^61, 2^62), and S = sum u_i, the number of
// words that give i is 2^64 u_i / S rounded up or down: a rounding of μ to 2^64 units. Whole counts with a
// sum below 2^61 lose nothing in u. No word gives an input with u_i = 0. Privacy does not rest on this
// draw: whatever i is, the release comes from a row in the box.
//
// The scans have no early end and no branch on the data. (A product by a power of two is exact, or below 1 and then
// 0 units either way.)
func (d Distribution) Pick(word uint64) int {
	_, e := math.Frexp(d.total)
	half, rest := math.Ldexp(1, (62-e)/2), math.Ldexp(1, 62-e-(62-e)/2) // 2^s may be too large for a float64
	u := make([]uint64, len(d.count))
	sum := uint64(0)
	for i, v := range d.count {
		u[i] = uint64(int64(v * half * rest)) // their sum is below 2^63, also with total off by a rounding for each input
		sum += u[i]
	}
	t, _ := bits.Mul64(word, sum) // uniform on 0..sum-1, up to one word in 2^64 each
	var c, i uint64
	for _, v := range u {
		c += v
		_, less := bits.Sub64(t, c, 0) // 1 if t < c
		i += 1 - less
	}
	return int(i) // t < sum = c at the end, so i <= k - 1
}

// Redacted, embedded in a struct type T, hides its values: under every verb and in every encoding they are one text.
type Redacted[T any] struct{}

// String hides the content.
func (Redacted[T]) String() string { return fmt.Sprintf("%T(redacted)", *new(T)) }

// GoString hides the content.
func (r Redacted[T]) GoString() string { return r.String() }

// Format hides the content under every verb.
func (r Redacted[T]) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText hides the content, also within JSON. There is no error.
func (r Redacted[T]) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
