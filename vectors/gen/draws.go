package main

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

// first returns the first j with n_0 + .. + n_j > x.
func first(n []uint64, x *big.Int) int {
	c := new(big.Int)
	for j, v := range n {
		if c.Add(c, values.Int(v)).Cmp(x) > 0 {
			return j
		}
	}
	panic("a word beyond the total")
}

// littleEndian returns the low bits of bytes, the first of which is the lowest.
func littleEndian(b []byte, bits int) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	mask := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	return new(big.Int).And(new(big.Int).SetBytes(b), mask.Sub(mask, big.NewInt(1)))
}

// wordBytes returns the bytes that a draw reads for the word x; high fills the bits that it does not look at.
func wordBytes(x *big.Int, bits int, high uint64) []byte {
	n := (bits + 7) / 8
	v := x.Uint64() | high<<uint(bits)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return b
}

type sampleIn struct {
	Bits    int      `json:"bits"`
	Weights []string `json:"weights"`
	Random  string   `json:"random"`
}

type sampleOut struct {
	Index int `json:"index"`
}

func sampleVectors(s *cases.Set) {
	r := &s.RNG
	s.Until(240, 110, func(n int) {
		bits := values.Pick(r, 1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 52, 53, 54, 56, 57, 61, 62)
		total := uint64(1) << uint(bits)
		kv := values.Pick(r, 1, 2, 3, 5, 9, 20)
		cuts := []uint64{0, total}
		for range kv - 1 {
			cuts = append(cuts, values.Pick(r, r.Upto(total), 0, total, total/2))
		}
		slices.Sort(cuts)
		w := make([]uint64, kv)
		for j := range w {
			w[j] = cuts[j+1] - cuts[j]
		}
		flags := bitsFlags(bits)
		if slices.Contains(w, 0) {
			flags = append(flags, "zero-mass")
		}
		if kv >= 10 {
			flags = append(flags, "large")
		}
		c := cuts[r.Between(0, kv)]
		for _, x := range []uint64{c - 1, c, values.Pick(r, c+1, r.Upto(total-1))} {
			if x < total {
				b := wordBytes(values.Int(x), bits, r.Next())
				more := append(slices.Clone(flags), "boundary")
				s.Valid(sampleIn{bits, values.Decimals(w), hex.EncodeToString(b)}, sampleOut{first(w, littleEndian(b, bits))}, more...)
			}
		}
		need := (bits + 7) / 8
		if n%2 != 0 {
			return
		}
		s.Invalid("random", sampleIn{bits, values.Decimals(w), hex.EncodeToString(r.Bytes(r.Intn(need)))}, "short")
		out := slices.Clone(w)
		j := r.Intn(kv)
		if r.Chance(50) || out[j] == 0 {
			out[j]++
		} else {
			out[j]--
		}
		s.Invalid("weights", sampleIn{bits, values.Decimals(out), hex.EncodeToString(r.Bytes(need))}, "sums-out", "one-unit-out")
	})
	const top = 1 << 62
	s.Invalid("weights", sampleIn{62, values.Decimals([]uint64{top, top, top, top, top}), "0000000000000000"}, "wraps")
	s.Invalid("weights", sampleIn{8, []string{}, "00"}, "short")
	for _, bits := range []int{0, 63, 64} {
		s.Invalid("bits", sampleIn{bits, []string{"1"}, "0000000000000000"})
	}
}

type roundIn struct {
	Epsilon string   `json:"epsilon"`
	Bits    int      `json:"bits"`
	Lo      []string `json:"lo"`
	Hi      []string `json:"hi"`
	Q       []string `json:"q"`
}

type roundOut struct {
	Weights []string `json:"weights"`
}

// roundInto is the rounding rule in rationals.
func roundInto(b integerBox, q []float64) []uint64 {
	kv := len(b.lo)
	n, fraction := make([]*big.Int, kv), make([]*big.Rat, kv)
	rest := values.Int(b.total())
	for j := range n {
		lo, hi := values.Int(b.lo[j]), values.Int(b.hi[j])
		n[j], fraction[j] = lo, new(big.Rat)
		switch {
		case j >= len(q) || math.IsNaN(q[j]) || math.IsInf(q[j], -1):
		case math.IsInf(q[j], 1):
			n[j] = hi
		default:
			x := exact.Mul(exact.Rat(q[j]), values.Power(b.bits))
			whole := values.Floor(x)
			switch {
			case whole.Cmp(lo) < 0:
			case whole.Cmp(hi) >= 0:
				n[j] = hi
			default:
				n[j], fraction[j] = whole, exact.Sub(x, new(big.Rat).SetInt(whole))
			}
		}
		n[j] = new(big.Int).Set(n[j])
		rest.Sub(rest, n[j])
	}
	// Too much: the first columns give back, down to lo.
	for j := range n {
		if rest.Sign() < 0 {
			give := new(big.Int).Sub(n[j], values.Int(b.lo[j]))
			if over := new(big.Int).Neg(rest); give.Cmp(over) > 0 {
				give = over
			}
			n[j].Sub(n[j], give)
			rest.Add(rest, give)
			if rest.Sign() == 0 {
				break
			}
		}
	}
	// Too little: a unit to the largest fractions, the first of equals, then to the first columns, up to hi.
	order := make([]int, kv)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int { return fraction[j].Cmp(fraction[i]) })
	given := make([]bool, kv)
	for _, j := range order {
		if rest.Sign() > 0 && fraction[j].Sign() > 0 {
			n[j].Add(n[j], big.NewInt(1))
			rest.Sub(rest, big.NewInt(1))
			given[j] = true
		}
	}
	for j := range n {
		add := new(big.Int).Sub(values.Int(b.hi[j]), n[j])
		if add.Cmp(rest) > 0 {
			add.Set(rest)
		}
		n[j].Add(n[j], add)
		rest.Sub(rest, add)
	}
	values.Must(rest.Sign() == 0, "a rounding that does not fill")
	out := make([]uint64, kv)
	for j, v := range n {
		out[j] = v.Uint64()
	}
	return out
}

// nearest certifies a rounding: no unit moves at a gain from one column to another.
func nearest(b integerBox, q []float64, n []uint64) {
	var least, most *big.Rat // of a unit more, of a unit less
	for j := range n {
		x := new(big.Rat).SetInt(values.Int(b.lo[j]))
		switch {
		case j >= len(q) || math.IsNaN(q[j]):
		case math.IsInf(q[j], 1):
			x = new(big.Rat).SetInt(values.Int(b.hi[j]))
		case math.IsInf(q[j], -1):
		default:
			x = exact.Mul(exact.Rat(q[j]), values.Power(b.bits))
		}
		off := func(n *big.Int) *big.Rat { d := exact.Sub(new(big.Rat).SetInt(n), x); return d.Abs(d) }
		at := off(values.Int(n[j]))
		if n[j] < b.hi[j] {
			if d := exact.Sub(off(values.Int(n[j]+1)), at); least == nil || d.Cmp(least) < 0 {
				least = d
			}
		}
		if n[j] > b.lo[j] {
			if d := exact.Sub(at, off(values.Int(n[j]-1))); most == nil || d.Cmp(most) > 0 {
				most = d
			}
		}
	}
	values.Must(least == nil || most == nil || most.Cmp(least) <= 0, "a rounding that is not the nearest")
}

func roundVectors(s *cases.Set) {
	r, e := &s.RNG, expos{}
	s.Until(300, 0, func(n int) {
		b := randomBox(r, e, values.Pick(r, 1, 2, 3, 4, 6, 12))
		if n%3 == 0 {
			b.narrow(r)
		}
		flags := append(epsFlags(b.epsilon), bitsFlags(b.bits)...)
		q := make([]float64, len(b.lo))
		row := b.row(r)
		style := r.Intn(8)
		for j := range q {
			switch style {
			case 0, 1, 2: // near a row
				q[j] = math.Ldexp(float64(row[j])+values.Pick(r, 0, 0.5, -0.5, r.Float()), -b.bits)
			case 3: // halves and quarters of units: ties
				q[j] = math.Ldexp(float64(row[j]>>min(uint(b.bits), 10)<<min(uint(b.bits), 10))+values.Pick(r, 0.5, 0.25, 0.75), -b.bits)
			case 4:
				q[j] = r.Float() * 3
			case 5:
				q[j] = r.Float() * 1e-3
			case 6:
				q[j] = values.Pick(r, math.NaN(), math.Inf(1), math.Inf(-1), -r.Float(), 0, math.Copysign(0, -1), 1e300, 0x1p-1074, r.Float(), 2, 1.9999)
			case 7:
				q[j] = 1 / float64(len(q))
			}
		}
		switch style {
		case 3, 7:
			flags = append(flags, "tie")
		case 4, 5:
			flags = append(flags, "outside")
		case 6:
			flags = append(flags, "nan", "infinite", "negative", "denormal")
		}
		if r.Chance(8) {
			q, flags = q[:r.Intn(len(q)+1)], append(flags, "short")
		} else if r.Chance(5) {
			q, flags = append(q, 0.5, 0.5), append(flags, "long")
		}
		w := roundInto(b, q)
		nearest(b, q, w)
		s.Valid(roundIn{b.epsilon, b.bits, values.Decimals(b.lo), values.Decimals(b.hi), values.HexFloats(q)}, roundOut{values.Decimals(w)}, flags...)
	})
}
