package spec

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

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

// Sample fills in the cases of the kind sample: random bytes and the output that they draw.
func Sample(s *cases.Set) {
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
		flags := box.BitsFlags(bits)
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
				s.Valid(sampleIn{bits, values.Decimals(w), hex.EncodeToString(b)},
					sampleOut{box.First(w, box.LittleEndian(b, bits))}, more...)
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
		s.Invalid("weights", sampleIn{bits, values.Decimals(out), hex.EncodeToString(r.Bytes(need))}, "sums-out",
			"one-unit-out")
	})
	const top = 1 << 62
	s.Invalid("weights", sampleIn{62, values.Decimals([]uint64{top, top, top, top, top}), "0000000000000000"}, "wraps")
	s.Invalid("weights", sampleIn{8, []string{}, "00"}, "short")
	s.Invalid("bits", sampleIn{63, []string{"9223372036854775808"}, "0000000000000000"})
	for _, bits := range []int{0, 63, 64} {
		s.Invalid("bits", sampleIn{bits, []string{"1"}, "0000000000000000"})
	}
	s.Invalid("weights", sampleIn{8, []string{"86", "85", "18446744073709551701"}, "00"}, "wraps") // 2^64 and 85
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

// nearest certifies a rounding: no unit moves at a gain from one column to another.
func nearest(b box.Box, q []float64, n []uint64) {
	var least, most *big.Rat // of a unit more, of a unit less
	for j := range n {
		x := new(big.Rat).SetInt(values.Int(b.Lo[j]))
		switch {
		case j >= len(q) || math.IsNaN(q[j]):
		case math.IsInf(q[j], 1):
			x = new(big.Rat).SetInt(values.Int(b.Hi[j]))
		case math.IsInf(q[j], -1):
		default:
			x = exact.Mul(exact.Rat(q[j]), values.Power(b.Bits))
		}
		off := func(n *big.Int) *big.Rat { d := exact.Sub(new(big.Rat).SetInt(n), x); return d.Abs(d) }
		at := off(values.Int(n[j]))
		if n[j] < b.Hi[j] {
			if d := exact.Sub(off(values.Int(n[j]+1)), at); least == nil || d.Cmp(least) < 0 {
				least = d
			}
		}
		if n[j] > b.Lo[j] {
			if d := exact.Sub(at, off(values.Int(n[j]-1))); most == nil || d.Cmp(most) > 0 {
				most = d
			}
		}
	}
	values.Must(least == nil || most == nil || most.Cmp(least) <= 0, "a rounding that is not the nearest")
}

// Round fills in the cases of the kind round: distributions rounded to weights.
func Round(s *cases.Set) {
	r, e := &s.RNG, box.Expos{}
	s.Until(300, 0, func(n int) {
		b := box.Random(r, e, values.Pick(r, 1, 2, 3, 4, 6, 12))
		if n%3 == 0 {
			b.Narrow(r)
		}
		flags := append(box.EpsFlags(b.Epsilon), box.BitsFlags(b.Bits)...)
		q := make([]float64, len(b.Lo))
		row := b.Row(r)
		style := r.Intn(8)
		for j := range q {
			switch style {
			case 0, 1, 2: // near a row
				q[j] = math.Ldexp(float64(row[j])+values.Pick(r, 0, 0.5, -0.5, r.Float()), -b.Bits)
			case 3: // halves and quarters of units: ties
				q[j] = math.Ldexp(float64(row[j]>>min(uint(b.Bits), 10)<<min(uint(b.Bits), 10))+values.Pick(r, 0.5, 0.25, 0.75),
					-b.Bits)
			case 4:
				q[j] = r.Float() * 3
			case 5:
				q[j] = r.Float() * 1e-3
			case 6:
				q[j] = values.Pick(r, math.NaN(), math.Inf(1), math.Inf(-1), -r.Float(), 0, math.Copysign(0, -1), 1e300,
					0x1p-1074,
					r.Float(), 2, 1.9999)
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
		w := box.Round(b, q)
		nearest(b, q, w)
		s.Valid(roundIn{b.Epsilon, b.Bits, values.Decimals(b.Lo), values.Decimals(b.Hi), values.HexFloats(q)},
			roundOut{values.Decimals(w)}, flags...)
	})
}
