package policyfile

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/box"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

// unitsOf returns counts in units of 2^-s, so that the total has 62 bits, and their sum.
func unitsOf(counts []float64) (units []*big.Int, sum *big.Int) {
	total := 0.0
	for _, v := range counts {
		total += v
	}
	_, e := math.Frexp(total)
	units, sum = make([]*big.Int, len(counts)), new(big.Int)
	for i, v := range counts {
		x := exact.Rat(v)
		if s := 62 - e; s >= 0 {
			x.Mul(x, values.Power(s))
		} else {
			x.Quo(x, values.Power(-s))
		}
		units[i] = values.Floor(x)
		sum.Add(sum, units[i])
	}
	return units, sum
}

// BoundaryWord returns the first random word that draws an input after the first few, or the last one that does not.
func BoundaryWord(r *values.RNG, counts []float64) uint64 {
	units, sum := unitsOf(counts)
	c := new(big.Int)
	for _, u := range units[:r.Intn(len(units))] {
		c.Add(c, u)
	}
	word := values.Ceil(new(big.Rat).SetFrac(new(big.Int).Lsh(c, 64), sum))
	if r.Chance(50) {
		word.Sub(word, big.NewInt(1))
	}
	if !word.IsUint64() {
		return r.Next()
	}
	return word.Uint64()
}

// pickInput returns the input that a word draws.
func pickInput(counts []float64, word uint64) int {
	units, sum := unitsOf(counts)
	t := new(big.Int).Mul(values.Int(word), sum)
	t.Rsh(t, 64)
	c := new(big.Int)
	for i, u := range units {
		if c.Add(c, u).Cmp(t) > 0 {
			return i
		}
	}
	panic("a word beyond the counts")
}

// distributionOf reports whether a solver's answer is one that counts.
func distributionOf(q []float64, kv int) bool {
	sum := 0.0
	for _, v := range q {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return len(q) == kv && math.Abs(sum-1) <= 0x1p-20
}

// Release draws an output: by the private data and the random bytes and, in projection mode, by what a solver
// projected. It reports whether the private data are usable.
func (f File) Release(private, random []byte, projected []float64) (index int, usable bool) {
	counts := f.Read(private)
	var n []uint64
	switch {
	case counts == nil:
		n = f.Fallback
	case f.Mode == "projection" && distributionOf(projected, len(f.Box.Lo)):
		n = box.Round(f.Box, projected)
	case f.Rows == nil && f.Geometry == nil:
		n = f.Fallback
	default:
		n = f.row(pickInput(counts, box.LittleEndian(random[:8], 64).Uint64()))
	}
	return box.First(n, box.LittleEndian(random[8:], f.Box.Bits)), counts != nil
}

// Tell changes the random bytes that draw the index to some that tell apart, of a few tries, as many as can be of the
// row, the fallback, the row of the mixture and the solver's answer.
func (f File) Tell(r *values.RNG, private, random []byte, projected []float64) {
	mixture := f
	mixture.Mode = "mixture"
	best, kept := 0, slices.Clone(random[8:])
	for range 60 {
		seen := map[int]bool{}
		for _, draw := range []func() (int, bool){
			func() (int, bool) { return f.Release(private, random, projected) },
			func() (int, bool) { return f.Release(nil, random, nil) },
			func() (int, bool) { return mixture.Release(private, random, nil) },
		} {
			index, _ := draw()
			seen[index] = true
		}
		if len(projected) == len(f.Box.Lo) {
			seen[box.First(box.Round(f.Box, projected), box.LittleEndian(random[8:], f.Box.Bits))] = true
		}
		if len(seen) > best {
			best, kept = len(seen), slices.Clone(random[8:])
		}
		copy(random[8:], r.Bytes(len(kept)))
	}
	copy(random[8:], kept)
}
