package num

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// A Span is a range of exponents of floats: a float is an integer below 2^53 times 2 to one of them. The zero Span is
// empty.
type Span struct {
	least, most int // the exponents, from 1 as the bits of a float have them; 0 if there is none
}

// See widens the span to hold finite numbers; zeros need no room.
func (s *Span) See(xs ...float64) {
	least, most := s.least, s.most
	for _, x := range xs {
		e := int(math.Float64bits(x) >> 52 & 0x7ff)
		if e == 0 {
			if x == 0 {
				continue
			}
			e = 1 // below the normal range
		}
		if e > most {
			most = e
		}
		if e < least || least == 0 {
			least = e
		}
	}
	s.least, s.most = least, most
}

// Join widens the span to hold another.
func (s *Span) Join(o Span) {
	if o.least != 0 && (s.least == 0 || o.least < s.least) {
		s.least = o.least
	}
	s.most = max(s.most, o.most)
}

// Columns are exact sums of products of floats, side by side: integers of as many words as the exponents of the factors
// need, three where they are close. A cell of Acc takes a kilobyte, so that many of them do not stay in a cache.
//
// Let the factors lie in spans of wx and wy exponents. A product is an integer below 2^106 times 2^e, and e takes one
// of wx + wy - 1 values, the least of which is the unit: so it is below 2^(105 + wx + wy - 1) units and one. A sum of n
// of them is below 2^(105 + wx + wy + bits in n), and one bit more has the sign. Nothing overflows.
type Columns struct {
	exp   int // the unit is 2^exp
	words int // of each sum, in two's complement, the lowest first
	sums  []uint64
}

// NewColumns returns n sums, all 0, of at most terms products of a number in x and one in y.
func NewColumns(n int, x, y Span, terms int) *Columns {
	size := 106 + x.most - x.least + y.most - y.least + bits.Len(uint(terms)) + 1
	c := &Columns{
		exp:   x.least + y.least - 2*1075,
		words: max((size+63)/64, 1) + 1, // add takes three words from the first that it changes
	}
	c.sums = make([]uint64, n*c.words)
	return c
}

// AddMul adds the product of two finite numbers in the spans to sum j. Goroutines may do so to different sums.
func (c *Columns) AddMul(j int, x, y float64) {
	mx, ex, nx, _ := split(x)
	my, ey, ny, _ := split(y)
	hi, lo := bits.Mul64(mx, my)
	if hi|lo == 0 {
		return
	}
	at := ex + ey - c.exp
	sum := c.sums[j*c.words : (j+1)*c.words][at>>6:]
	sh := uint(at & 63)
	w0, w1, w2 := lo<<sh, hi<<sh|lo>>1>>(63-sh), hi>>1>>(63-sh)
	var carry uint64
	if nx != ny {
		sum[0], carry = bits.Sub64(sum[0], w0, 0)
		sum[1], carry = bits.Sub64(sum[1], w1, carry)
		sum[2], carry = bits.Sub64(sum[2], w2, carry)
		for i := 3; carry != 0 && i < len(sum); i++ {
			sum[i], carry = bits.Sub64(sum[i], 0, carry)
		}
		return
	}
	sum[0], carry = bits.Add64(sum[0], w0, 0)
	sum[1], carry = bits.Add64(sum[1], w1, carry)
	sum[2], carry = bits.Add64(sum[2], w2, carry)
	for i := 3; carry != 0 && i < len(sum); i++ {
		sum[i], carry = bits.Add64(sum[i], 0, carry)
	}
}

// Sum returns sum j.
func (c *Columns) Sum(j int) *Dyadic {
	sum := c.sums[j*c.words : (j+1)*c.words]
	negative := sum[len(sum)-1]>>63 != 0
	text, carry := make([]byte, 8*len(sum)), uint64(1)
	for i, w := range sum {
		if negative {
			w, carry = bits.Add64(^w, 0, carry)
		}
		binary.BigEndian.PutUint64(text[len(text)-8-8*i:], w)
	}
	n := new(big.Int).SetBytes(text)
	if negative {
		n.Neg(n)
	}
	return DyadicInt(n, c.exp)
}
