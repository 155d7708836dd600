// Package box has the boxes of integers of docs/spec/mechanism.md, made at random, and its rules of rounding and
// drawing.
package box

import (
	"math/big"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// Epsilons are the texts that vectors use, all canonical.
var Epsilons = []string{
	"0.5", "1", "2", "1.5", "0.1", "0.01", "1/3", "5/7",
	"0.693147180559945309417232121458176568", "10", "20", "43", "64",
	"0.000001", "0.000000000000000001", "3.25", "22/7", "1/1000000007", "7", "0.25",
}

// EdgeEpsilons are texts of numbers at the limits of an epsilon, in spellings of all kinds, below e of some boxes alone.
var EdgeEpsilons = []string{
	"1e-18",
	"0.1e-17",
	"10E-19",
	"1e-018",
	"0.000000000000000001",
	"1/1000000000000000000",
	"3/2000000000000000000",
	"64",
	"64.0",
	"6.4e1",
	"64e+0",
	"640e-1",
	"64/1",
	"128/2",
	"64e0",
	"1.00",
	"2/2",
	"170141183460469231731687303715884105729/170141183460469231731687303715884105728",
	"340282366920938463463374607431768211456/340282366920938463463374607431768211455",
	"170141183460469231731687303715884105728/170141183460469231731687303715884105727",
	"340282366920938463463374607431768211458/340282366920938463463374607431768211456",
	"340282366920938463463374607431768211456/340282366920938463463374607431768211456",
	"510423550381407695195061911147652317181/510423550381407695195061911147652317184",
	"1.00000000000000000000000000000000000001",
	"1.5000000000000000000000000000000000000000000000000000000000000",
	"1." + strings.Repeat("0", 98),
}

// BadEpsilons are texts that are no epsilon.
var BadEpsilons = []string{
	"", "0", "0.0", "-1", "+1", " 1", "1 ", "65", "64.000000000000000001", "0.0000000000000000009", "1e-19", "010/3",
	"1/0", "0/1",
	".5", "5.", "01", "1,5", "1_0", "0x1p0", "inf", "NaN", "1/3.0", "1e1000", "--1", "1e", "1/-3", "half", "1//2", "1.2.3",
	"1e+", "64/1e0",
	"9e-19",
	"0.99e-18",
	"9.9E-19",
	"1/1000000000000000001",
	"0.0000000000000000009999",
	"6.41e1",
	"65e0",
	"129/2",
	"641e-1",
	"64.0000000000000000000001",
	"73786976294838206465/1152921504606846976",
	"340282366920938463463374607431768211457/340282366920938463463374607431768211456",
	"680564733841876926926749214863536422913/340282366920938463463374607431768211456",
	"680564733841876926926749214863536422912/340282366920938463463374607431768211457",
	"680564733841876926926749214863536422914/680564733841876926926749214863536422912",
	"1.000000000000000000000000000000000000001",
	"1e0000",
	"1e+0001",
	"1E",
	"0e5",
	"0/7",
	"1e-",
	"1e--1",
	"1e+-1",
	"1e1.0",
	"１",
	"1/２",
	"1\x00",
	"1." + strings.Repeat("0", 99),
	"1/340282366920938463463374607431768211507", "0.00", "1.5e", "e1", "1E9", "2^1", "1\n",
}

// EpsFlags returns the flags of an eps.
func EpsFlags(text string) (flags []string) {
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

// BitsFlags returns the flags of a number of bits.
func BitsFlags(bits int) []string {
	switch {
	case bits >= 54:
		return []string{"wide-bits"}
	case bits == 1:
		return []string{"one-bit"}
	}
	return nil
}

// Expos keep one expansion of e^x for each text.
type Expos map[string]*exact.Expo

// Of returns the expansion for the epsilon that a text says.
func (e Expos) Of(text string) *exact.Expo {
	if e[text] == nil {
		e[text] = exact.NewExpo(values.Rat(text))
	}
	return e[text]
}

// A Box bounds the weights of a row, in units of 2^-Bits.
type Box struct {
	Epsilon string
	Bits    int
	Lo, Hi  []uint64
}

// Total returns 2^Bits, the mass 1.
func (b Box) Total() uint64 { return 1 << uint(b.Bits) }

// Random returns a box that carries the guarantee, with every hi as large as it can be.
func Random(r *values.RNG, e Expos, kv int) Box {
	b := Box{Epsilon: values.Pick(r, Epsilons...), Bits: values.Pick(r, 3, 8, 16, 31, 32, 33, 52, 53, 54, 62, 62)}
	for b.Total() < uint64(4*kv) {
		b.Bits++
	}
	x := e.Of(b.Epsilon)
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
		lo := uint64(w * scale * float64(b.Total()))
		b.Lo, b.Hi = append(b.Lo, lo), append(b.Hi, x.Floor(lo, b.Total()))
	}
	x.Fit(b.Lo, b.Hi, b.Total())
	for j, lo := range b.Lo {
		b.Hi[j] = x.Floor(lo, b.Total())
	}
	total := values.Int(b.Total())
	values.Must(values.Sum(b.Lo).Cmp(total) <= 0 && values.Sum(b.Hi).Cmp(total) >= 0, "a box without a point")
	return b
}

// Narrow lowers upper bounds at random, and keeps the total within reach.
func (b *Box) Narrow(r *values.RNG) {
	room := new(big.Int).Sub(values.Sum(b.Hi), values.Int(b.Total())).Uint64() // below 2^62 kv: kv is small
	for j := range b.Hi {
		cut := min(r.Upto(b.Hi[j]-b.Lo[j]), room)
		b.Hi[j] -= cut
		room -= cut
	}
}

// Row returns a point of the box: lower bounds, and the rest at random.
func (b Box) Row(r *values.RNG) []uint64 {
	n := append([]uint64(nil), b.Lo...)
	rest := new(big.Int).Sub(values.Int(b.Total()), values.Sum(b.Lo)).Uint64()
	for pass := range 2 {
		for j := range n {
			add := min(rest, b.Hi[j]-n[j])
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

// Clone returns a copy that shares no bounds.
func (b Box) Clone() Box {
	b.Lo, b.Hi = append([]uint64(nil), b.Lo...), append([]uint64(nil), b.Hi...)
	return b
}
