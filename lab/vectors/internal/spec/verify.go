// Package spec makes the test vectors of docs/spec: boxes of integers, drawing, policies and counts.
package spec

import (
	"math/big"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

type verifyIn struct {
	Epsilon string     `json:"epsilon"`
	Bits    int        `json:"bits"`
	Lo      []string   `json:"lo"`
	Hi      []string   `json:"hi"`
	Rows    [][]string `json:"rows"`
}

type empty struct{}

// verifyInput is the input of a case: a box with rows of it.
func verifyInput(b box.Box, rows ...[]uint64) verifyIn {
	v := verifyIn{b.Epsilon, b.Bits, values.Decimals(b.Lo), values.Decimals(b.Hi), [][]string{}}
	for _, n := range rows {
		v.Rows = append(v.Rows, values.Decimals(n))
	}
	return v
}

// decide is the definition: the reason why a box is refused, or "".
func decide(b box.Box, e box.Expos) string {
	if len(b.Lo) != len(b.Hi) || len(b.Lo) == 0 {
		return "shape"
	}
	if b.Bits < 1 || b.Bits > 62 {
		return "bits"
	}
	x := e.Of(b.Epsilon)
	for j, lo := range b.Lo {
		if lo > b.Hi[j] || b.Hi[j] > b.Total() || !x.Holds(b.Hi[j], lo) {
			return "box"
		}
	}
	if values.Sum(b.Lo).Cmp(values.Int(b.Total())) > 0 || values.Sum(b.Hi).Cmp(values.Int(b.Total())) < 0 {
		return "sum"
	}
	return ""
}

// Verify fills in the cases of the kind verify: boxes with rows, and the reasons to refuse them.
func Verify(s *cases.Set) {
	e := box.Expos{}
	r := &s.RNG
	put := func(b box.Box, flags ...string) {
		flags = append(append(flags, box.EpsFlags(b.Epsilon)...), box.BitsFlags(b.Bits)...)
		if len(b.Lo) == 1 {
			flags = append(flags, "one-column")
		}
		s.Add(decide(b, e), verifyInput(b), empty{}, flags...)
	}
	hardBoxes(s, e, put)
	wrapBoxes(put)
	highBoxes(e, put)
	doubtful(e, put)
	three := box.Box{Epsilon: "1", Bits: 8, Lo: []uint64{50, 50, 50}, Hi: []uint64{135, 135, 130}}
	for _, row := range [][]uint64{
		{135, 71, 50}, {50, 135, 71}, {76, 50, 130}, {49, 77, 130}, {136, 70, 50}, {75, 50, 131}, {135, 72, 49}, {50, 76,
			130},
		{135, 70, 50}, {135, 72, 50}, {256, 0, 0}, {86, 85, 85}, {86, 85, 85, 0}, {136, 120}, {},
	} {
		reason := ""
		sum, inside := uint64(0), len(row) == 3
		for j, n := range row {
			sum += n
			inside = inside && three.Lo[j] <= n && n <= three.Hi[j]
		}
		if !inside || sum != 256 {
			reason = "row"
		}
		s.Add(reason, verifyInput(three, []uint64{86, 85, 85}, row), empty{}, "rows", "limit")
	}
	for _, text := range box.EdgeEpsilons { // in the spellings of this grammar
		s.Valid(verifyIn{text, 8, []string{"100", "156"}, []string{"100", "156"}, [][]string{}}, empty{}, "limit",
			"spelling")
	}
	for _, text := range box.BadEpsilons {
		s.Invalid("epsilon", verifyIn{text, 8, []string{"256"}, []string{"256"}, [][]string{}}) // a box for every epsilon
	}
	for _, bits := range []int{0, -1, 63, 64, 1 << 20} {
		s.Invalid("bits", verifyIn{"1", bits, []string{"1"}, []string{"1"}, [][]string{}})
	}
	const top = "9223372036854775808" // 2^63
	s.Invalid("bits", verifyIn{"1", 63, []string{top}, []string{top}, [][]string{}}, "one-unit-out")
	s.Invalid("shape", verifyIn{"1", 8, []string{}, []string{}, [][]string{}}, "short")
	s.Invalid("shape", verifyIn{"1", 8, []string{"100", "100"}, []string{"256"}, [][]string{}}, "short")
	s.Invalid("shape", verifyIn{"1", 8, []string{"100"}, []string{"256", "0"}, [][]string{}}, "long")
	s.Until(400, 320, func(n int) {
		b := box.Random(r, e, values.Pick(r, 1, 2, 3, 4, 5, 7, 12))
		j := r.Intn(len(b.Lo))
		switch n % 10 {
		case 0, 1:
			put(b, "tight-ratio")
		case 2: // one unit too high
			if b.Hi[j] < b.Total() {
				b.Hi[j]++
				put(b, "one-unit-out")
			}
		case 3:
			b.Narrow(r)
			put(b)
		case 4: // the upper bounds sum to the total, or to one unit less
			over := new(big.Int).Sub(values.Sum(b.Hi), values.Int(b.Total())).Uint64()
			for i := range b.Hi {
				cut := min(over, b.Hi[i]-b.Lo[i])
				b.Hi[i] -= cut
				over -= cut
			}
			put(b, "tight-mass")
			if b.Hi[j] > b.Lo[j] {
				b = b.Clone()
				b.Hi[j]--
				put(b, "sums-out", "one-unit-out")
			}
		case 5: // the lower bounds sum to the total, or to one unit more
			b.Lo = b.Row(r)
			put(b, "tight-mass")
			if b.Lo[j] < b.Hi[j] {
				b = b.Clone()
				b.Lo[j]++
				put(b, "sums-out", "one-unit-out")
			}
		case 6:
			if b.Hi[j] > b.Lo[j] {
				b.Lo[j], b.Hi[j] = b.Hi[j], b.Lo[j]
				put(b, "wrong-order")
			}
		case 7:
			b.Lo[j] = 0
			put(b, "zero-mass")
		default:
			in := b.Row(r)
			flags := append(append([]string{"rows"}, box.EpsFlags(b.Epsilon)...), box.BitsFlags(b.Bits)...)
			s.Valid(verifyInput(b, in, b.Row(r)), empty{}, flags...)
			out := append([]uint64(nil), in...)
			i := r.Intn(len(b.Lo))
			switch n % 3 {
			case 0:
				out[j]++
				s.Invalid("row", verifyInput(b, in, out), append(flags, "sums-out", "one-unit-out")...)
			case 1:
				if out[j] < b.Hi[j] || i == j || out[i] == 0 {
					break
				}
				out[j]++
				out[i]--
				s.Invalid("row", verifyInput(b, out), append(flags, "one-unit-out")...)
			case 2:
				s.Invalid("row", verifyInput(b, in[:len(in)-1]), append(flags, "short")...)
			}
		}
	})
	for n, in := range []verifyIn{ // 2^64 and what a box has there
		{Lo: []string{"50", "50", "18446744073709551666"}, Hi: []string{"135", "135", "135"}, Rows: [][]string{}},
		{Lo: []string{"50", "50", "50"}, Hi: []string{"135", "135", "18446744073709551751"}, Rows: [][]string{}},
		{Lo: []string{"50", "50", "50"}, Hi: []string{"135", "135", "135"}, Rows: [][]string{{"86", "85", "18446744073709551701"}}},
	} {
		in.Epsilon, in.Bits = "1", 8
		s.Invalid([]string{"box", "box", "row"}[n], in, "wraps")
	}
}

// hardBoxes are columns whose quotient is a convergent of the continued fraction of e^eps: the closest that there is.
func hardBoxes(s *cases.Set, e box.Expos, put func(box.Box, ...string)) {
	for _, text := range box.Epsilons {
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
			b := box.Box{Epsilon: text, Bits: 62}
			lo, hi := k1.Uint64(), h1.Uint64()
			b.Lo = []uint64{lo, b.Total() - lo}
			b.Hi = []uint64{hi, e.Of(text).Floor(b.Total()-lo, b.Total())}
			put(b, "hard-ratio")
		}
	}
}

// highBoxes have an upper bound at 2^B, or one unit above, where e^eps would allow more.
func highBoxes(e box.Expos, put func(box.Box, ...string)) {
	for _, text := range []string{"1", "0.5", "2", "10", "1/3", "64"} {
		for _, bits := range []int{4, 8, 33, 61, 62} {
			b := box.Box{Epsilon: text, Bits: bits}
			x, total := e.Of(text), b.Total()
			lo := total/2 + total/4
			for x.Floor(lo/2, 2*total) > total+1 {
				lo /= 2
			}
			if x.Floor(lo, 2*total) <= total {
				continue
			}
			rest := max(total/16, 1)
			b.Lo, b.Hi = []uint64{lo, rest}, []uint64{total, x.Floor(rest, total)}
			put(b, "limit")
			b = b.Clone()
			b.Hi[0]++
			put(b, "limit", "one-unit-out")
			b.Lo, b.Hi = []uint64{rest, lo}, []uint64{b.Hi[1], b.Hi[0]}
			put(b, "limit", "one-unit-out")
		}
	}
	b := box.Box{Epsilon: "1", Bits: 4, Lo: []uint64{7, 2}, Hi: []uint64{17, 5}}
	put(b, "limit", "one-unit-out")
}

// doubtful are boxes whose quotient differs from e^eps by less than 2^-256: eps is a convergent of the continued fraction
// of a logarithm.
func doubtful(e box.Expos, put func(box.Box, ...string)) {
	const bits = 900
	for n := range uint64(600) {
		r := [2]uint64{n/20 + 2, n%20 + 1}
		if r[0] <= r[1] || new(big.Int).GCD(nil, nil, values.Int(r[0]), values.Int(r[1])).Cmp(big.NewInt(1)) != 0 {
			continue
		}
		// log(a/b) = 2 (z + z^3/3 + z^5/5 + ..) with z = (a-b)/(a+b)
		up, down := values.Int(r[0]-r[1]), values.Int(r[0]+r[1])
		term, sum := new(big.Int).Lsh(big.NewInt(2), bits), new(big.Int)
		term.Div(term.Mul(term, up), down)
		for n := int64(1); term.Sign() > 0; n += 2 {
			sum.Add(sum, new(big.Int).Div(term, big.NewInt(n)))
			term.Div(term.Mul(term, new(big.Int).Mul(up, up)), new(big.Int).Mul(down, down))
		}
		x := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), bits))
		h0, h1, k0, k1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
		var all []string
		for {
			a := values.Floor(x)
			h0, h1 = h1, new(big.Int).Add(new(big.Int).Mul(a, h1), h0)
			k0, k1 = k1, new(big.Int).Add(new(big.Int).Mul(a, k1), k0)
			if k1.BitLen() > 128 {
				break
			}
			all = append(all, new(big.Rat).SetFrac(h1, k1).RatString())
			x.Sub(x, new(big.Rat).SetInt(a)).Inv(x)
		}
		// The last one is off by less than 1/(k0 k1), times r in the exponential.
		if new(big.Int).Mul(k0, k1).BitLen() < 260+values.Int(r[0]/r[1]).BitLen() {
			continue
		}
		const unit = 1 << 57
		b := box.Box{Epsilon: all[len(all)-1], Bits: 62, Lo: []uint64{r[1] * unit}, Hi: []uint64{r[0] * unit}}
		if rest := b.Total() - b.Hi[0]; rest > 0 {
			b.Lo, b.Hi = append(b.Lo, rest), append(b.Hi, rest)
		}
		put(b, "hard-ratio")
	}
}

// wrapBoxes have sums that are right modulo 2^64, and wrong.
func wrapBoxes(put func(box.Box, ...string)) {
	const top = 1 << 62
	for _, text := range []string{"0.5", "1", "10"} {
		for _, extra := range [][]uint64{{top}, {top / 2, top / 2}, {}, {1}, {top - 1}} {
			b := box.Box{Epsilon: text, Bits: 62, Lo: append([]uint64{top, top, top, top}, extra...)}
			b.Hi = append([]uint64(nil), b.Lo...)
			put(b, "wraps", "sums-out")
		}
	}
}
