package ldp

import (
	"encoding/binary"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Second implementations of e^eps, and other helpers of the tests.

// fractionExp encloses e^x, x = p/q > 0, by the continued fraction
//
//	e^(p/q) = 1 + 2p/(2q - p + p^2/(6q + p^2/(10q + ...)))
//
// in exact integers; it shares nothing with expInterval. From the second level on all terms are positive,
// so convergents bracket the tail, and, once 2q - p + tail is positive on both sides, e^x too. Depth
// grows until the relative width is below 2^-bits.
func fractionExp(x *big.Rat, bits uint) (lower, upper *big.Rat) {
	p, q := x.Num(), x.Denom()
	pp := new(big.Int).Mul(p, p)
	// Tail t = p^2/(6q + p^2/(10q + ...)), by the recurrence of convergents h/k.
	h0, h1 := big.NewInt(1), big.NewInt(0)
	k0, k1 := big.NewInt(0), big.NewInt(1)
	head := new(big.Int).Sub(new(big.Int).Lsh(q, 1), p)
	value := func() (*big.Rat, bool) { // 1 + 2p/(head + h1/k1)
		d := new(big.Int).Mul(head, k1) // k1 times the divisor
		if d.Add(d, h1).Sign() <= 0 {
			return nil, false
		}
		v := new(big.Int).Mul(p, k1)
		return new(big.Rat).SetFrac(v.Add(v.Lsh(v, 1), d), d), true
	}
	var last *big.Rat
	for n := int64(1); ; n++ {
		a := new(big.Int).Mul(big.NewInt(4*n+2), q)
		h0, h1 = h1, new(big.Int).Add(new(big.Int).Mul(a, h1), new(big.Int).Mul(pp, h0))
		k0, k1 = k1, new(big.Int).Add(new(big.Int).Mul(a, k1), new(big.Int).Mul(pp, k0))
		if n%8 > 1 { // look at two convergents in eight
			continue
		}
		v, ok := value()
		if !ok {
			last = nil
			continue
		}
		if n%8 == 0 || last == nil {
			last = v
			continue
		}
		lower, upper = last, v
		if lower.Cmp(upper) > 0 {
			lower, upper = upper, lower
		}
		w := new(big.Rat).Sub(upper, lower)
		w.Mul(w, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits)))
		if w.Cmp(lower) < 0 {
			return lower, upper
		}
	}
}

// refPrec is the precision of refExp, and refMargin the relative distance below which a comparison with it
// is not trusted. Its error is under 2^-600: 64 squarings double a first error of 2^-700.
const (
	refPrec   = 800
	refMargin = 560
)

// refExp is e^x by Taylor's series at x / 2^64 and 64 squarings, in big.Float.
func refExp(x *big.Rat) *big.Float {
	y := new(big.Float).SetPrec(refPrec).SetRat(x)
	y.SetMantExp(y, -64)
	sum, term := big.NewFloat(1).SetPrec(refPrec), big.NewFloat(1).SetPrec(refPrec)
	for n := int64(1); n < 16; n++ { // 2^(-58*16) < 2^-800
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return sum
}

// refWithin decides hi <= e lo, and refuses to when the two are too close for the precision.
func refWithin(t testing.TB, e *big.Float, lo, hi uint64) bool {
	t.Helper()
	if lo == 0 || hi == 0 {
		return hi == 0
	}
	v := new(big.Float).SetPrec(refPrec).SetUint64(lo)
	v.Mul(v, e)
	h := new(big.Float).SetPrec(refPrec).SetUint64(hi)
	d := new(big.Float).SetPrec(refPrec).Sub(v, h)
	if d.Sign() == 0 || d.MantExp(nil) < h.MantExp(nil)-refMargin {
		t.Fatalf("reference cannot tell e^eps * %d from %d", lo, hi)
	}
	return d.Sign() > 0
}

// refBox is the truth about a box, by refWithin and big.Int sums.
func refBox(t testing.TB, e *big.Float, lo, hi []uint64, bits int) bool {
	t.Helper()
	total := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	slo, shi, ok := new(big.Int), new(big.Int), true
	for j := range lo {
		l, h := new(big.Int).SetUint64(lo[j]), new(big.Int).SetUint64(hi[j])
		slo.Add(slo, l)
		shi.Add(shi, h)
		ok = ok && l.Cmp(h) <= 0 && h.Cmp(total) <= 0 && refWithin(t, e, lo[j], hi[j])
	}
	return ok && slo.Cmp(total) <= 0 && total.Cmp(shi) <= 0
}

// stream is SplitMix64 as a reader of bytes, eight to a step, low byte first. It counts what was read.
type stream struct {
	state uint64
	buf   []byte
	read  int
}

func newStream(seed uint64) *stream { return &stream{state: seed} }

func (s *stream) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float returns a number in [0, 1), a multiple of 2^-53.
func (s *stream) float() float64 { return float64(s.next()>>11) / (1 << 53) }

func (s *stream) Read(p []byte) (int, error) {
	for i := range p {
		if len(s.buf) == 0 {
			s.buf = binary.LittleEndian.AppendUint64(nil, s.next())
		}
		p[i], s.buf = s.buf[0], s.buf[1:]
	}
	s.read += len(p)
	return len(p), nil
}

// epsilon parses s or ends the test.
func epsilon(t testing.TB, s string) Epsilon {
	t.Helper()
	e, err := ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// polytope makes a box or ends the test.
func polytope(t testing.TB, eps string, m []float64, bits int) *Polytope {
	t.Helper()
	p, err := NewPolytope(epsilon(t, eps), m, bits)
	if err != nil {
		t.Fatalf("NewPolytope(%s, %v, %d): %v", eps, m, bits, err)
	}
	return p
}

// uniform returns kv entries of the given total.
func uniform(kv int, mass float64) []float64 {
	m := make([]float64, kv)
	for j := range m {
		m[j] = mass / float64(kv)
	}
	return m
}

// randomBase returns kv entries of total mass 1, some zero, over several orders of magnitude.
func randomBase(s *stream, kv int) []float64 {
	m, sum := make([]float64, kv), 0.0
	for j := range m {
		switch s.next() % 5 {
		case 0: // a column nobody may use
		case 1:
			m[j] = s.float() * 1e-6
		default:
			m[j] = s.float()
		}
		sum += m[j]
	}
	if sum == 0 {
		m[0], sum = 1, 1
	}
	for j := range m {
		m[j] /= sum
	}
	return m
}

// anyEpsilon draws an Epsilon, plain ones often, the ends of the range sometimes.
func anyEpsilon() *rapid.Generator[Epsilon] {
	return rapid.Custom(func(t *rapid.T) Epsilon {
		s := rapid.OneOf(
			rapid.SampledFrom([]string{"1e-18", "1e-6", "0.1", "1/3", "0.5", "1", "2", "5", "43", "64"}),
			rapid.StringMatching(`(0|[1-5]?[1-9])\.[0-9]{1,20}`),
			rapid.StringMatching(`[1-9][0-9]{0,15}/[1-9][0-9]{14,37}`),
		).Draw(t, "eps")
		e, err := ParseEpsilon(s)
		if err != nil {
			t.Skip(err)
		}
		return e
	})
}

// anyBase draws a base measure whose mass is anywhere in the feasible range of eps, ends included.
func anyBase(eps Epsilon, most int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		m := randomBase(newStream(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(1, most).Draw(t, "kv"))
		end, _ := new(big.Float).Quo(refExp(eps.Rat()), big.NewFloat(1)).Float64()
		low, high := 1/sqrt(end), sqrt(end)
		mass := rapid.OneOf(
			rapid.SampledFrom([]float64{low, high, 1}),
			rapid.Float64Range(low, high),
		).Draw(t, "mass")
		for j := range m {
			m[j] *= mass
		}
		return m
	})
}

func sqrt(x float64) float64 {
	f, _ := new(big.Float).Sqrt(big.NewFloat(x)).Float64()
	return f
}
