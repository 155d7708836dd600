package main

import (
	"math/big"
	"strings"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

// epsilons are the texts that vectors use, all canonical.
var epsilons = []string{
	"0.5", "1", "2", "1.5", "0.1", "0.01", "1/3", "5/7", "0.693147180559945309417232121458176568", "10", "20", "43", "64",
	"0.000001", "0.000000000000000001", "3.25", "22/7", "1/1000000007", "7", "0.25",
}

// badEpsilons are texts that are none.
var badEpsilons = []string{
	"", "0", "0.0", "-1", "+1", " 1", "1 ", "65", "64.000000000000000001", "0.0000000000000000009", "1e-19", "010/3", "1/0", "0/1",
	".5", "5.", "01", "1,5", "1_0", "0x1p0", "inf", "NaN", "1/3.0", "1e1000", "--1", "1e", "1/-3", "half", "1//2", "1.2.3", "1e+", "64/1e0",
	"1/340282366920938463463374607431768211507", "0.00", "1.5e", "e1", "1E9", "2^1", "1\n",
}

func epsFlags(text string) (flags []string) {
	x := values.Rat(text)
	if x.Cmp(big.NewRat(20, 1)) >= 0 {
		flags = append(flags, "large-eps")
	}
	if x.Cmp(big.NewRat(1, 1000000)) <= 0 {
		flags = append(flags, "small-eps")
	}
	if strings.Contains(text, "/") {
		flags = append(flags, "fraction-eps")
	}
	return flags
}

func bitsFlags(bits int) []string {
	switch {
	case bits >= 54:
		return []string{"wide-bits"}
	case bits == 1:
		return []string{"one-bit"}
	}
	return nil
}

// expo keeps one expansion of e^x for each text.
type expos map[string]*exact.Expo

func (e expos) of(text string) *exact.Expo {
	if e[text] == nil {
		e[text] = exact.NewExpo(values.Rat(text))
	}
	return e[text]
}

// integerBox is a box in units of 2^-bits.
type integerBox struct {
	epsilon string
	bits    int
	lo, hi  []uint64
}

func (b integerBox) total() uint64 { return 1 << uint(b.bits) }

// randomBox returns a box that carries the guarantee, with every hi as large as it can be.
func randomBox(r *values.RNG, e expos, kv int) integerBox {
	b := integerBox{epsilon: values.Pick(r, epsilons...), bits: values.Pick(r, 3, 8, 16, 31, 32, 33, 52, 53, 54, 62, 62)}
	for b.total() < uint64(4*kv) {
		b.bits++
	}
	x := e.of(b.epsilon)
	weights, sum := make([]float64, kv), 0.0
	for j := range weights {
		weights[j] = values.Pick(r, 1, 1, r.Float(), r.Float()*1e-6, 0)
		sum += weights[j]
	}
	if sum == 0 {
		weights[0], sum = 1, 1
	}
	// Between 1/e^eps and 1 of the mass is in the lower bounds.
	scale := 1 / sum / exact.Float(x.Upper)
	scale += r.Float() * (1/sum - scale)
	for _, w := range weights {
		lo := uint64(w * scale * float64(b.total()))
		b.lo, b.hi = append(b.lo, lo), append(b.hi, x.Floor(lo, b.total()))
	}
	x.Fit(b.lo, b.hi, b.total())
	for j, lo := range b.lo {
		b.hi[j] = x.Floor(lo, b.total())
	}
	values.Must(values.Sum(b.lo).Cmp(values.Int(b.total())) <= 0 && values.Sum(b.hi).Cmp(values.Int(b.total())) >= 0, "a box without a point")
	return b
}

// narrow lowers upper bounds at random, and keeps the total within reach.
func (b *integerBox) narrow(r *values.RNG) {
	room := new(big.Int).Sub(values.Sum(b.hi), values.Int(b.total())).Uint64() // below 2^62 kv: kv is small
	for j := range b.hi {
		cut := min(r.Upto(b.hi[j]-b.lo[j]), room)
		b.hi[j] -= cut
		room -= cut
	}
}

// row returns a point of the box: lower bounds, and the rest at random.
func (b integerBox) row(r *values.RNG) []uint64 {
	n := append([]uint64(nil), b.lo...)
	rest := new(big.Int).Sub(values.Int(b.total()), values.Sum(b.lo)).Uint64()
	for pass := range 2 {
		for j := range n {
			add := min(rest, b.hi[j]-n[j])
			if pass == 0 {
				add = r.Upto(add)
			}
			n[j] += add
			rest -= add
		}
	}
	values.Must(rest == 0, "a row that does not fill")
	return n
}

type verifyIn struct {
	Epsilon string     `json:"epsilon"`
	Bits    int        `json:"bits"`
	Lo      []string   `json:"lo"`
	Hi      []string   `json:"hi"`
	Rows    [][]string `json:"rows"`
}

type empty struct{}

func (b integerBox) in(rows ...[]uint64) verifyIn {
	v := verifyIn{b.epsilon, b.bits, values.Decimals(b.lo), values.Decimals(b.hi), [][]string{}}
	for _, n := range rows {
		v.Rows = append(v.Rows, values.Decimals(n))
	}
	return v
}

func (b integerBox) clone() integerBox {
	b.lo, b.hi = append([]uint64(nil), b.lo...), append([]uint64(nil), b.hi...)
	return b
}

// decide is the definition: the reason why a box is refused, or "".
func (b integerBox) decide(e expos) string {
	if len(b.lo) != len(b.hi) || len(b.lo) == 0 {
		return "shape"
	}
	if b.bits < 1 || b.bits > 62 {
		return "bits"
	}
	x := e.of(b.epsilon)
	for j, lo := range b.lo {
		if lo > b.hi[j] || b.hi[j] > b.total() || !x.Holds(b.hi[j], lo) {
			return "box"
		}
	}
	if values.Sum(b.lo).Cmp(values.Int(b.total())) > 0 || values.Sum(b.hi).Cmp(values.Int(b.total())) < 0 {
		return "sum"
	}
	return ""
}

func verifyVectors(s *cases.Set) {
	e := expos{}
	r := &s.RNG
	put := func(b integerBox, flags ...string) {
		flags = append(append(flags, epsFlags(b.epsilon)...), bitsFlags(b.bits)...)
		if len(b.lo) == 1 {
			flags = append(flags, "one-column")
		}
		s.Add(b.decide(e), b.in(), empty{}, flags...)
	}
	hardBoxes(s, e, put)
	wrapBoxes(put)
	for _, text := range badEpsilons {
		s.Invalid("epsilon", verifyIn{text, 8, []string{"100"}, []string{"256"}, [][]string{}})
	}
	for _, bits := range []int{0, -1, 63, 64, 1 << 20} {
		s.Invalid("bits", verifyIn{"1", bits, []string{"1"}, []string{"1"}, [][]string{}})
	}
	s.Invalid("shape", verifyIn{"1", 8, []string{}, []string{}, [][]string{}}, "short")
	s.Invalid("shape", verifyIn{"1", 8, []string{"100", "100"}, []string{"256"}, [][]string{}}, "short")
	s.Invalid("shape", verifyIn{"1", 8, []string{"100"}, []string{"256", "0"}, [][]string{}}, "long")
	s.Until(320, 240, func(n int) {
		b := randomBox(r, e, values.Pick(r, 1, 2, 3, 4, 5, 7, 12))
		j := r.Intn(len(b.lo))
		switch n % 10 {
		case 0, 1:
			put(b, "tight-ratio")
		case 2: // one unit too high
			if b.hi[j] < b.total() {
				b.hi[j]++
				put(b, "one-unit-out")
			}
		case 3:
			b.narrow(r)
			put(b)
		case 4: // the upper bounds sum to the total, or to one unit less
			over := new(big.Int).Sub(values.Sum(b.hi), values.Int(b.total())).Uint64()
			for i := range b.hi {
				cut := min(over, b.hi[i]-b.lo[i])
				b.hi[i] -= cut
				over -= cut
			}
			put(b, "tight-mass")
			if b.hi[j] > b.lo[j] {
				b = b.clone()
				b.hi[j]--
				put(b, "sums-out", "one-unit-out")
			}
		case 5: // the lower bounds sum to the total, or to one unit more
			b.lo = b.row(r)
			put(b, "tight-mass")
			if b.lo[j] < b.hi[j] {
				b = b.clone()
				b.lo[j]++
				put(b, "sums-out", "one-unit-out")
			}
		case 6:
			if b.hi[j] > b.lo[j] {
				b.lo[j], b.hi[j] = b.hi[j], b.lo[j]
				put(b, "wrong-order")
			}
		case 7:
			b.lo[j] = 0
			put(b, "zero-mass")
		default:
			in := b.row(r)
			flags := append(append([]string{"rows"}, epsFlags(b.epsilon)...), bitsFlags(b.bits)...)
			s.Valid(b.in(in, b.row(r)), empty{}, flags...)
			out := append([]uint64(nil), in...)
			i := r.Intn(len(b.lo))
			switch n % 3 {
			case 0:
				out[j]++
				s.Invalid("row", b.in(in, out), append(flags, "sums-out", "one-unit-out")...)
			case 1:
				if out[j] < b.hi[j] || i == j || out[i] == 0 {
					break
				}
				out[j]++
				out[i]--
				s.Invalid("row", b.in(out), append(flags, "one-unit-out")...)
			case 2:
				s.Invalid("row", b.in(in[:len(in)-1]), append(flags, "short")...)
			}
		}
	})
}

// hardBoxes are columns whose quotient is a convergent of the continued fraction of e^eps: the closest that there is.
func hardBoxes(s *cases.Set, e expos, put func(integerBox, ...string)) {
	for _, text := range epsilons {
		lower, _ := exact.ExpBounds(values.Rat(text), 600)
		h0, h1, k0, k1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
		x := new(big.Rat).Set(lower)
		for n := 0; ; n++ {
			a := values.Floor(x)
			h0, h1 = h1, new(big.Int).Add(new(big.Int).Mul(a, h1), h0)
			k0, k1 = k1, new(big.Int).Add(new(big.Int).Mul(a, k1), k0)
			if h1.BitLen() > 62 {
				break
			}
			x.Sub(x, new(big.Rat).SetInt(a)).Inv(x)
			if h1.BitLen() < 40 && n%5 != 0 {
				continue
			}
			// Multiples of a convergent are as close in quotient.
			b := integerBox{epsilon: text, bits: 62}
			lo, hi := k1.Uint64(), h1.Uint64()
			b.lo = []uint64{lo, b.total() - lo}
			b.hi = []uint64{hi, e.of(text).Floor(b.total()-lo, b.total())}
			put(b, "hard-ratio")
		}
	}
}

// wrapBoxes have sums that are right modulo 2^64, and wrong.
func wrapBoxes(put func(integerBox, ...string)) {
	const top = 1 << 62
	for _, text := range []string{"0.5", "1", "10"} {
		for _, extra := range [][]uint64{{top}, {top / 2, top / 2}, {}, {1}, {top - 1}} {
			b := integerBox{epsilon: text, bits: 62, lo: append([]uint64{top, top, top, top}, extra...)}
			b.hi = append([]uint64(nil), b.lo...)
			put(b, "wraps", "sums-out")
		}
	}
}
