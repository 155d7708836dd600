package fuzz

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/proptest/privacy"
)

var epsilonGrammar = regexp.MustCompile(`^((0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?|(0|[1-9][0-9]*)/(0|[1-9][0-9]*))$`)

// parseEpsilon is the second opinion: the grammar as an expression, the value by math/big, then the limits.
func parseEpsilon(s string) (*big.Rat, bool) {
	if len(s) > 100 || !epsilonGrammar.MatchString(s) {
		return nil, false
	}
	r := new(big.Rat)
	if p, q, ok := strings.Cut(s, "/"); ok {
		num, _ := new(big.Int).SetString(p, 10)
		den, _ := new(big.Int).SetString(q, 10)
		if den.Sign() == 0 {
			return nil, false
		}
		r.SetFrac(num, den)
	} else if _, ok := r.SetString(s); !ok {
		return nil, false
	}
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
	return r, r.Cmp(tiny) >= 0 && r.Cmp(big.NewRat(64, 1)) <= 0 && r.Denom().BitLen() <= 128
}

// FuzzParseEpsilon: accepted is what the grammar and the limits accept, with that value; the canonical text
// reads back to the same.
func FuzzParseEpsilon(f *testing.F) {
	for _, s := range []string{
		"", "1", "0.1", "1e-3", "1/3", "010/3", "2.50", "64", "64.000000000000000001", "1e-18", "9e-19", "0", "-1", "+1",
		"1_000", "0x1p-2",
		"NaN", "inf", ".5", "5.", "1e", "1e+1", "1E1", "1e1000", "1/0", "1/3/5", "1 ", "٣",
		"1/340282366920938463463374607431768211456",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ldp.ParseEpsilon(s)
		want, ok := parseEpsilon(s)
		if (err == nil) != ok {
			t.Fatalf("ParseEpsilon(%q): %v; by the grammar %v", s, err, ok)
		}
		if err != nil {
			typed(t, err, ldp.ErrEpsilon)
			if !e.IsZero() {
				t.Fatalf("ParseEpsilon(%q) = %v beside an error", s, e)
			}
			return
		}
		if e.Rat().Cmp(want) != 0 {
			t.Fatalf("ParseEpsilon(%q) = %v, want %v", s, e.Rat(), want)
		}
		again, err := ldp.ParseEpsilon(e.String())
		if err != nil || again != e || again.Cmp(e) != 0 {
			t.Fatalf("%q -> %q -> %v, %v", s, e, again, err)
		}
		if nearest, _ := want.Float64(); e.Float64() != nearest {
			t.Fatalf("Float64 of %q = %v, want %v", s, e.Float64(), nearest)
		}
	})
}

func bounds(p *ldp.Polytope) (lo, hi []uint64) {
	for j := range p.Len() {
		lo, hi = append(lo, p.Lo(j)), append(hi, p.Hi(j))
	}
	return lo, hi
}

// checkWeights is the definition of a row of the box, and of a draw from it.
func checkWeights(t *testing.T, p *ldp.Polytope, w ldp.Weights, random []byte) {
	t.Helper()
	sum := new(big.Int)
	for j := range p.Len() {
		n := w.At(j)
		if n < p.Lo(j) || n > p.Hi(j) {
			t.Fatalf("weight %d of column %d is outside [%d, %d]", n, j, p.Lo(j), p.Hi(j))
		}
		sum.Add(sum, new(big.Int).SetUint64(n))
	}
	total := new(big.Int).Lsh(big.NewInt(1), uint(p.Bits()))
	if w.Len() != p.Len() || sum.Cmp(total) != 0 {
		t.Fatalf("%d weights of sum %v, want %d of sum 2^%d", w.Len(), sum, p.Len(), p.Bits())
	}
	size := (p.Bits() + 7) / 8
	r := bytes.NewReader(random)
	j, err := w.Sample(r)
	if len(random) < size {
		if typed(t, err, ldp.ErrRandom); j != -1 {
			t.Fatalf("Sample of a short reader = %d", j)
		}
		return
	}
	if err != nil || r.Len() != len(random)-size {
		t.Fatalf("Sample: %v, %d bytes read, want %d", err, len(random)-r.Len(), size)
	}
	x := new(big.Int)
	for i := size - 1; i >= 0; i-- {
		x.Lsh(x, 8).Or(x, big.NewInt(int64(random[i])))
	}
	x.And(x, new(big.Int).Sub(total, big.NewInt(1)))
	want := 0
	for x.Cmp(new(big.Int).SetUint64(w.At(want))) >= 0 {
		x.Sub(x, new(big.Int).SetUint64(w.At(want)))
		want++
	}
	if j != want {
		t.Fatalf("Sample(%x) = %d, want %d", random[:size], j, want)
	}
}

// FuzzPolytope: whatever m, eps and B say, NewPolytope gives a box with the guarantee or a typed error; whatever
// q says, Round gives a point of it; whatever the random bytes, Sample draws the outcome they stand for.
func FuzzPolytope(f *testing.F) {
	f.Add("1", uint8(61), []byte{2, 0, 8, 8, 2, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add("0.001", uint8(9), []byte{3, 0, 8, 16, 24, 5, 6, 7})
	f.Add("1/3", uint8(0), []byte{0, 0, 8})
	f.Add("45", uint8(30), []byte{5, 8, 10, 18, 26, 34, 42, 50, 7, 15, 23, 31, 39})
	f.Add("64", uint8(61), []byte{1, 7, 15, 23})
	f.Fuzz(func(t *testing.T, text string, b uint8, data []byte) {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			return
		}
		in := &feed{data}
		bits := int(b)%64 + 1 // 63 and 64 are out of range
		kv := in.size(12)
		s := math.Exp(eps.Float64() * (float64(in.byte())/255 - 0.5)) // a feasible mass
		m := in.mass(kv, s)
		kept := clone(m)
		p, err := ldp.NewPolytope(eps, m, bits)
		sameBits(t, "m", m, kept)
		if err != nil {
			typed(t, err, ldp.ErrBits, ldp.ErrBase, ldp.ErrInfeasible)
			if p != nil {
				t.Fatal("a box beside an error")
			}
			// A clean feasible base measure with bits to spare is not refused.
			clean, sum := true, 0.0
			for _, v := range m {
				clean = clean && v >= 0
				sum += v
			}
			if h := eps.Float64() / 2; clean && bits >= 4 && bits <= 62 && sum >= math.Exp(-h) && sum <= math.Exp(h) {
				t.Fatalf("NewPolytope(%v, %v, %d): %v", eps, m, bits, err)
			}
			return
		}
		lo, hi := bounds(p)
		if err := privacy.CheckBox(eps.Rat(), lo, hi, bits); err != nil || p.Len() != kv {
			t.Fatalf("NewPolytope(%v, %v, %d) = %d, %d: %v", eps, m, bits, lo, hi, err)
		}
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		for j, v := range m {
			if (v == 0) != (hi[j] == 0) {
				t.Fatalf("column %d: m = %v, box [%d, %d]", j, v, lo[j], hi[j])
			}
		}
		q := in.floats(kv + int(in.byte()%3) - 1)
		kept = clone(q)
		w := p.Round(q)
		sameBits(t, "q", q, kept)
		checkWeights(t, p, w, in.b)
		n := make([]uint64, kv)
		for j := range n {
			n[j] = w.At(j)
		}
		if _, err := p.Weights(n); err != nil {
			t.Fatalf("Weights refuses what Round gave: %v", err)
		}
	})
}

// FuzzPolytopeBounds: the verdict on given integers is that of the definition, for boxes and for rows.
func FuzzPolytopeBounds(f *testing.F) {
	f.Add("1", uint8(2), []byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2})
	f.Add("2", uint8(62), []byte{0})
	f.Add("0.5", uint8(61), bytes.Repeat([]byte{9, 16, 33, 200, 4}, 16))
	f.Fuzz(func(t *testing.T, text string, b uint8, data []byte) {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			return
		}
		in := &feed{data}
		bits, kv := int(b)%64, in.size(6)
		style := in.byte()
		lo, hi := make([]uint64, kv), make([]uint64, kv)
		_, e := eps.ExpBounds(96)
		for j := range lo {
			lo[j] = in.uint64()
			if style%4 > 0 { // of a size that fits, with hi near the limit
				lo[j] = lo[j] >> (65 - uint(bits+1)%64) / uint64(kv)
			}
			limit := new(big.Rat).Mul(e, new(big.Rat).SetInt(new(big.Int).SetUint64(lo[j])))
			n := new(big.Int).Quo(limit.Num(), limit.Denom())
			if hi[j] = n.Uint64(); !n.IsUint64() || style%4 == 0 {
				hi[j] = in.uint64()
			}
			hi[j] += uint64(in.byte()%4) / 3 // sometimes one too many
		}
		p, err := ldp.NewPolytopeFromBounds(eps, lo, hi, bits)
		if bits < 1 || bits > 62 {
			typed(t, err, ldp.ErrBits)
			return
		}
		want := privacy.CheckBox(eps.Rat(), lo, hi, bits)
		for j := range hi { // the package's own rule, which keeps all sums in range
			if want == nil && hi[j] > 1<<bits {
				want = errors.New("hi > 2^B")
			}
		}
		if (err == nil) != (want == nil) {
			t.Fatalf("NewPolytopeFromBounds(%v, %d, %d, %d): %v; by definition %v", eps, lo, hi, bits, err, want)
		}
		if err != nil {
			typed(t, err, ldp.ErrBox, ldp.ErrBits)
			return
		}
		q := in.floats(kv)
		checkWeights(t, p, p.Round(q), in.b)
		n := make([]uint64, kv)
		sum, inside := new(big.Int), true
		for j := range n {
			n[j] = lo[j] + in.uint64()%(hi[j]-lo[j]+2) // sometimes one too many
			inside = inside && n[j] <= hi[j]
			sum.Add(sum, new(big.Int).SetUint64(n[j]))
		}
		inside = inside && sum.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(bits))) == 0
		if _, err := p.Weights(n); (err == nil) != inside {
			t.Fatalf("Weights(%d) in [%d, %d]: %v", n, lo, hi, err)
		} else if err != nil {
			typed(t, err, ldp.ErrBox)
		}
	})
}
