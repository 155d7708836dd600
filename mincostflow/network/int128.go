package network

import (
	"math/big"
	"math/bits"
)

// int128 is a 128-bit integer in two's complement, for sums of at most 2^64 int64s.
type int128 struct {
	hi int64
	lo uint64
}

func (w *int128) add(x int64) {
	lo := w.lo + uint64(x)
	w.hi += x >> 63
	if lo < w.lo {
		w.hi++
	}
	w.lo = lo
}

// sub is not add(-x): -x overflows for the least int64.
func (w *int128) sub(x int64) {
	lo := w.lo - uint64(x)
	w.hi -= x >> 63
	if lo > w.lo {
		w.hi--
	}
	w.lo = lo
}

// int64 returns the value if it fits.
func (w int128) int64() (int64, bool) {
	x := int64(w.lo)
	return x, w.hi == x>>63
}

func (w int128) big() *big.Int {
	x := big.NewInt(w.hi)
	x.Lsh(x, 64)
	return x.Add(x, new(big.Int).SetUint64(w.lo))
}

func (w *int128) plus(x int128) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, x.lo, 0)
	w.hi += x.hi + int64(carry)
}
