package policyfile

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// added is the sum of counts in their order, in binary64.
func added(counts []float64) (total float64) {
	for _, v := range counts {
		total += v
	}
	return total
}

// shiftOf returns s with 2^61 <= 2^s total < 2^62.
func shiftOf(total float64) int {
	_, e := math.Frexp(total)
	return 62 - e
}

// unitsAt returns counts in units of 2^-s, and their sum.
func unitsAt(counts []float64, s int) (units []*big.Int, sum *big.Int) {
	units, sum = make([]*big.Int, len(counts)), new(big.Int)
	for i, v := range counts {
		x := exact.Rat(v)
		if s >= 0 {
			x.Mul(x, values.Power(s))
		} else {
			x.Quo(x, values.Power(-s))
		}
		units[i] = values.Floor(x)
		sum.Add(sum, units[i])
	}
	return units, sum
}

func unitsOf(counts []float64) (units []*big.Int, sum *big.Int) {
	return unitsAt(counts, shiftOf(added(counts)))
}

// ends returns the words around the ends of the intervals of words that draw an input.
func ends(units []*big.Int, sum *big.Int) (words []uint64) {
	c := new(big.Int)
	for _, u := range units {
		c.Add(c, u)
		end := values.Ceil(new(big.Rat).SetFrac(new(big.Int).Lsh(c, 64), sum))
		for _, d := range []int64{-2, -1, 0, 1} {
			if w := new(big.Int).Add(end, big.NewInt(d)); w.IsUint64() {
				words = append(words, w.Uint64())
			}
		}
	}
	return words
}

// TellWords returns words that draw another input with a plausible error: units of another size, a sum in another order
// or without rounding, or a total that is not the sum of the units.
func TellWords(counts []float64) (words []uint64) {
	right, sum := unitsOf(counts)
	turned := slices.Clone(counts)
	slices.Reverse(turned)
	all := new(big.Rat)
	for _, v := range counts {
		all.Add(all, exact.Rat(v))
	}
	total, _ := all.Float64()
	s := shiftOf(added(counts))
	for _, wrong := range []int{s - 1, s + 1, shiftOf(added(turned)), shiftOf(total)} {
		units, other := unitsAt(counts, wrong)
		if other.Sign() > 0 {
			words = append(words, tellWord(right, sum, units, other)...)
		}
	}
	for _, bits := range []uint{61, 62} {
		words = append(words, tellWord(right, sum, right, new(big.Int).Lsh(big.NewInt(1), bits))...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// TellCounts returns a word that draws one input by these counts and another one by the others, if it finds one.
func TellCounts(counts, others []float64) []uint64 {
	right, sum := unitsOf(counts)
	wrong, other := unitsOf(others)
	return tellWord(right, sum, wrong, other)
}

// tellWord returns a word that draws one input by the first units and another by the second, if it finds one.
func tellWord(right []*big.Int, sum *big.Int, wrong []*big.Int, other *big.Int) []uint64 {
	for _, w := range append(ends(right, sum), ends(wrong, other)...) {
		if draws(right, sum, w) != draws(wrong, other, w) {
			return []uint64{w}
		}
	}
	return nil
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
	i := draws(units, sum, word)
	values.Must(i < len(units), "a word beyond the counts")
	return i
}

// draws returns the input that a word draws, or the number of inputs if it draws none.
func draws(units []*big.Int, sum *big.Int, word uint64) int {
	t := new(big.Int).Mul(values.Int(word), sum)
	t.Rsh(t, 64)
	c := new(big.Int)
	for i, u := range units {
		if c.Add(c, u).Cmp(t) > 0 {
			return i
		}
	}
	return len(units)
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

// Drawn is what a release draws: an index, whether the private data are usable, and the input that the first word drew
// if its row decides, else -1.
type Drawn struct {
	Index  int
	Usable bool
	Input  int
}

// Release draws an output: by the private data and the random bytes and, in projection mode, by what a solver
// projected.
func (f File) Release(private, random []byte, projected []float64) Drawn {
	n, d := f.law(private, random, projected)
	d.Index = box.First(n, box.LittleEndian(random[8:], f.Box.Bits))
	return d
}

// law returns the row to draw from, and all of a Drawn but the index.
func (f File) law(private, random []byte, projected []float64) ([]uint64, Drawn) {
	counts := f.Read(private)
	d := Drawn{Usable: counts != nil, Input: -1}
	switch {
	case counts == nil:
		return f.Fallback, d
	case f.Mode == "projection" && distributionOf(projected, len(f.Box.Lo)):
		return box.Round(f.Box, projected), d
	case !f.rows():
		return f.Fallback, d
	}
	d.Input = pickInput(counts, box.LittleEndian(random[:8], 64).Uint64())
	return f.row(d.Input), d
}

// wrong returns the rows that a client with a plausible error would draw from, those that are the right row left out.
func (f File) wrong(right []uint64, projected []float64) (rows [][]uint64) {
	add := func(n []uint64) {
		if !slices.Equal(n, right) {
			rows = append(rows, n)
		}
	}
	add(f.Fallback)
	if len(projected) > 0 { // also where it is no distribution, or the data are unusable
		add(box.Round(f.Box, projected))
	}
	if f.Geometry != nil && f.Codes == nil {
		for i := range f.Inputs { // where the threshold does not fit
			if n := f.fill(i); n != nil {
				add(n)
			}
		}
	}
	for i := range f.Inputs { // of another input, among them the one before and the one after
		if f.rows() {
			add(f.row(i))
		}
		if f.Geometry != nil && f.Codes == nil {
			for _, g := range f.misread() {
				add(g.row(i))
			}
		}
	}
	return rows
}

// misread returns policies whose geometry is this one's as a client with an error reads it.
func (f File) misread() (out []File) {
	with := func(change func(g *Geometry)) {
		g := *f.Geometry
		change(&g)
		h := f
		h.Geometry = &g
		out = append(out, h)
	}
	switch f.Geometry.Kind {
	case "grid":
		with(func(g *Geometry) { g.Rows, g.Cols = g.Cols, g.Rows })
		with(func(g *Geometry) { g.Kind = "ring" })
		with(func(g *Geometry) { g.scaled = true })
	case "points":
		with(func(g *Geometry) { g.near = true })
	}
	with(func(g *Geometry) { g.last = true })
	fill := f // the threshold of the greedy fill in place of the one that the policy has
	fill.Thresholds = nil
	for i := range f.Inputs {
		fill.Thresholds = append(fill.Thresholds, f.threshold(i))
	}
	return append(out, fill)
}

// Tell changes the random bytes that draw the index to some that tell the right row from as many wrong ones as can be:
// where a row has another index, an end of an interval of one of the two rows is near.
func (f File) Tell(r *values.RNG, private, random []byte, projected []float64) {
	right, _ := f.law(private, random, projected)
	wrong := f.wrong(right, projected)
	words := []uint64{box.LittleEndian(random[8:], f.Box.Bits).Uint64()}
	for _, n := range append([][]uint64{right}, wrong...) {
		end := uint64(0)
		for _, v := range n {
			end += v
			words = append(words, end-1, end, end-1-r.Upto(f.Box.Total()>>6), end+r.Upto(f.Box.Total()>>6))
		}
	}
	best, kept := -1, uint64(0)
	for _, x := range words {
		if x >= f.Box.Total() { // also below 0
			continue
		}
		told := 0
		for _, n := range wrong {
			if first(n, x) != first(right, x) {
				told++
			}
		}
		if told > best || told == best && r.Chance(30) {
			best, kept = told, x
		}
	}
	high := r.Next()
	for i := range random[8:] {
		random[8+i] = byte((kept | high<<uint(f.Box.Bits)) >> (8 * i))
	}
}

// first is box.First for words below 2^63.
func first(n []uint64, x uint64) int {
	for j, v := range n {
		if x < v {
			return j
		}
		x -= v
	}
	panic("a word beyond the total")
}
