package main

import (
	"math"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/proptest/exact"
)

// rng is splitmix64, written out so that the files do not depend on a library's generator.
type rng struct{ state uint64 }

// newRNG returns the generator of a kind, seeded by the FNV-1a hash of its name.
func newRNG(name string) rng {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rng{h}
}

func (r *rng) next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// intn returns a number from 0 to n-1; the bias of the remainder does not matter here.
func (r *rng) intn(n int) int { return int(r.next() % uint64(n)) }

func (r *rng) between(a, b int) int { return a + r.intn(b-a+1) }

// upto returns a number from 0 to n.
func (r *rng) upto(n uint64) uint64 {
	if n == math.MaxUint64 {
		return r.next()
	}
	return r.next() % (n + 1)
}

// float returns a multiple of 2^-53 in [0, 1).
func (r *rng) float() float64 { return float64(r.next()>>11) * 0x1p-53 }

func (r *rng) chance(percent int) bool { return r.intn(100) < percent }

func (r *rng) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.next() >> 56)
	}
	return b
}

func pick[T any](r *rng, from ...T) T { return from[r.intn(len(from))] }

// hexFloat writes a float exactly.
func hexFloat(x float64) string {
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

func hexFloats(x []float64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = hexFloat(v)
	}
	return out
}

func hexMatrix(c [][]float64) [][]string {
	out := make([][]string, len(c))
	for i, row := range c {
		out[i] = hexFloats(row)
	}
	return out
}

func decimals(x []uint64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = strconv.FormatUint(v, 10)
	}
	return out
}

func ratios(x []*big.Rat) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = v.RatString()
	}
	return out
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a rational: " + text)
	}
	return r
}

func matrix(c [][]float64) [][]*big.Rat {
	out := make([][]*big.Rat, len(c))
	for i, row := range c {
		out[i] = exact.Rats(row)
	}
	return out
}

// ceil returns x rounded up, floor rounded down.
func ceil(x *big.Rat) *big.Int { return exact.CeilQuo(x, big.NewRat(1, 1)) }

func floor(x *big.Rat) *big.Int { return new(big.Int).Div(x.Num(), x.Denom()) }

func power(bits int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
}

func sumUnits(x []uint64) *big.Int {
	s := new(big.Int)
	for _, v := range x {
		s.Add(s, new(big.Int).SetUint64(v))
	}
	return s
}

func unit(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func must(ok bool, what string) {
	if !ok {
		panic("broken oracle: " + what)
	}
}
