package ldp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// The checks of this file take the implementation as an argument. A named test gives each one the real thing, and
// TestPlantedBugs gives it implementations with one mistake each, which it must refuse: a check that accepts everything
// would fail there.

// Fixed point of squaringExp. With y = x/2^14 <= 2^-8 the terms left out are below 2^-8n / n! = 2^-321 for n = 28.
// Horner's steps and the tail leave less than 2^6 units, and each of 14 squarings at most doubles the relative width
// and adds a unit.
const (
	squaringBits   = 320
	squaringHalves = 14
	squaringTerms  = 28
	squaringWidth  = 290 // the relative width is below 2^-290: 320 - 14 - 6 and some reserve
)

// squaringExp returns integers lower < 2^squaringBits e^x < upper, for 0 < x <= 64: the argument is halved 14 times,
// the polynomial is evaluated from its last term on, and the result is squared 14 times, in integers, rounded down for
// the one and up for the other. It shares neither method nor code with expInterval.
func squaringExp(x *big.Rat) (lower, upper *big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), squaringBits)
	y := new(big.Int).Lsh(x.Num(), squaringBits-squaringHalves)
	down, rest := new(big.Int).QuoRem(y, x.Denom(), new(big.Int))
	up := new(big.Int).Set(down)
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	ceil := func(z *big.Int) *big.Int { return z.Neg(z.Rsh(z.Neg(z), squaringBits)) } // of z / 2^squaringBits
	// 1 + y/(n+1) + y^2/((n+1)(n+2)) + .. is above 1 and, as y <= 1/2, below 1 + 2y.
	lower, upper = new(big.Int).Set(one), new(big.Int).Lsh(up, 1)
	upper.Add(upper, one)
	for n := int64(squaringTerms); n > 0; n-- {
		d := big.NewInt(n)
		lower.Mul(lower, down).Rsh(lower, squaringBits).Quo(lower, d).Add(lower, one)
		ceil(upper.Mul(upper, up)).Add(upper, big.NewInt(n-1)).Quo(upper, d).Add(upper, one)
	}
	for range squaringHalves {
		lower.Mul(lower, lower).Rsh(lower, squaringBits)
		ceil(upper.Mul(upper, upper))
	}
	return lower, upper
}

// randomEpsilon returns decimals on a log scale over [1e-6, 40] with 1 to 17 digits, fractions with denominators of up
// to 128 bits, and now and then an end of the range.
func randomEpsilon(s *stream) (Epsilon, error) {
	switch s.next() % 8 {
	case 0:
		return ParseEpsilon([]string{"1e-18", "1e-6", "64", "63.999999999999999999", "1", "40"}[s.next()%6])
	case 1, 2, 3:
		den := new(big.Int).SetUint64(s.next() | 1<<63)
		den.Lsh(den, uint(s.next()%64)).Add(den, big.NewInt(1))
		num := new(big.Int).Mul(den, new(big.Int).SetUint64(s.next()%(40<<20)+1))
		num.Rsh(num, 20).Add(num, big.NewInt(1))
		return ParseEpsilon(num.String() + "/" + den.String())
	default:
		return ParseEpsilon(strconv.FormatFloat(math.Exp(math.Log(1e-6)+s.float()*math.Log(4e7)), 'g', int(1+s.next()%17),
			64))
	}
}

type expBounds func(e Epsilon, bits int) (lower, upper *big.Rat)

// checkExpBounds compares bounds at 200 bits with squaringExp on n random eps: each must have its stated width, and the
// two intervals a point in common.
func checkExpBounds(bounds expBounds, n int) error {
	const relative = 200
	s := newStream(50)
	for range n {
		e, err := randomEpsilon(s)
		if err != nil {
			return err
		}
		lower, upper := bounds(e, relative)
		down, up := squaringExp(e.Rat())
		width := new(big.Int).Sub(up, down)
		if width.Sign() <= 0 || width.Lsh(width, squaringWidth).Cmp(down) > 0 {
			return fmt.Errorf("e^%v: the second opinion is wider than 2^-%d", e, squaringWidth)
		}
		w := new(big.Rat).Sub(upper, lower)
		w.Mul(w, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), relative)))
		if w.Sign() <= 0 || w.Cmp(lower) > 0 {
			return fmt.Errorf("e^%v: the bounds are %v apart, in units of 2^-%d", e, w.FloatString(3), relative)
		}
		if scaled(lower).Cmp(up) >= 0 || scaled(upper).Cmp(down) <= 0 {
			return fmt.Errorf("e^%v: [%v, %v] has no point in common with the second opinion", e, lower, upper)
		}
	}
	return nil
}

// scaled returns r 2^squaringBits, which is whole for the denominators 2^232 that bounds at 200 bits have; rounded down
// otherwise.
func scaled(r *big.Rat) *big.Int {
	z := new(big.Int).Lsh(r.Num(), squaringBits)
	return z.Quo(z, r.Denom())
}

// Two implementations of bounds on e^eps agree on 10^5 random eps at 200 bits.
func TestExpBoundsSecondOpinion(t *testing.T) {
	n := 100_000
	if !numtest.Full() {
		n = 2_000
	}
	if err := checkExpBounds(Epsilon.ExpBounds, n); err != nil {
		t.Error(err)
	}
}

// checkVerify compares a verdict on boxes with the truth: every box of two columns at two bits, and quotients that lie
// within 2^-130 to 2^-254 of e^eps, on either side.
func checkVerify(t testing.TB, verify func(p *Polytope) error) error {
	t.Helper()
	decide := func(p *Polytope, e *big.Float) error {
		if got, want := verify(p) == nil, refBox(t, e, p.lo, p.hi, p.bits); got != want {
			return fmt.Errorf("eps %v, %d bits, lo %v, hi %v: accepted %v, truth %v", p.eps, p.bits, p.lo, p.hi, got, want)
		}
		return nil
	}
	for _, text := range []string{"0.4", "0.6932", "1.5"} {
		eps := epsilon(t, text)
		e, top := refExp(eps.Rat()), uint64(5)
		for word := range top * top * top * top {
			lo, hi := []uint64{word % top, word / top % top}, []uint64{word / top / top % top, word / top / top / top}
			if err := decide(&Polytope{eps, 2, lo, hi}, e); err != nil {
				return err
			}
		}
	}
	for _, c := range hard {
		eps := epsilon(t, c.eps)
		lo, hi := []uint64{c.lo, c.lo}, []uint64{c.hi, c.hi}
		b := bits.Len64(2*c.lo - 1) // sum lo <= 2^b <= sum hi for each quotient of the table above 1
		if uint64(1)<<b > 2*c.hi || b > maxBits {
			lo, hi, b = []uint64{c.lo, 1<<61 - 5}, []uint64{c.hi, 1<<61 - 5}, 62
		}
		if err := decide(&Polytope{eps, b, lo, hi}, refExp(eps.Rat())); err != nil {
			return err
		}
	}
	wide := slices.Repeat([]uint64{1 << 62}, 5) // sums to 2^62 modulo 2^64
	return decide(&Polytope{epsilon(t, "1"), 62, wide, wide}, refExp(big.NewRat(1, 1)))
}

func TestVerifyDecides(t *testing.T) {
	if err := checkVerify(t, (*Polytope).Verify); err != nil {
		t.Error(err)
	}
}

// checkDesign asks of boxes designed from base measures that they are boxes, by refBox, and that each column in use has
// a unit.
func checkDesign(t testing.TB, design func(eps Epsilon, m []float64, bits int) (*Polytope, error)) error {
	t.Helper()
	s := newStream(51)
	for _, text := range []string{"0.1", "1", "3", "12"} {
		eps := epsilon(t, text)
		e := refExp(eps.Rat())
		for _, bits := range []int{8, 16, 53, 62} {
			for _, kv := range []int{2, 3, 9} {
				m := randomBase(s, kv)
				m[kv-1] += 0.25
				for j := range m {
					m[j] /= 1.25
				}
				p, err := design(eps, m, bits)
				if err != nil {
					return fmt.Errorf("eps %v, %d bits, m %v: %w", eps, bits, m, err)
				}
				if p.Len() != kv || !refBox(t, e, p.lo, p.hi, p.bits) {
					return fmt.Errorf("eps %v, %d bits, m %v: lo %v, hi %v is not a box", eps, bits, m, p.lo, p.hi)
				}
				for j := range m {
					if (m[j] > 0) != (p.lo[j] > 0) {
						return fmt.Errorf("eps %v, %d bits: column %d of mass %v has lo %d", eps, bits, j, m[j], p.lo[j])
					}
				}
			}
		}
	}
	return nil
}

func TestDesignGivesBoxes(t *testing.T) {
	if err := checkDesign(t, NewPolytope); err != nil {
		t.Error(err)
	}
}

// checkRound asks for a point of the box, whatever the floats are.
func checkRound(t testing.TB, round func(p *Polytope, q []float64) Weights) error {
	t.Helper()
	s := newStream(52)
	for _, p := range []*Polytope{
		polytope(t, "1", []float64{0.3, 0, 0.5, 0.2}, 8), polytope(t, "0.1", uniform(4, 1), 62),
		polytope(t, "5", uniform(3, 1), 4),
	} {
		for range 500 {
			q := make([]float64, s.next()%6)
			for j := range q {
				if q[j] = odd[s.next()%uint64(len(odd))]; s.next()%2 == 0 {
					q[j] = s.float()
				}
			}
			w := round(p, q)
			if _, err := p.Weights(w.n); err != nil || w.bits != p.bits {
				return fmt.Errorf("lo %v, hi %v: Round(%v) = %v, %d bits: %w", p.lo, p.hi, q, w.n, w.bits, err)
			}
		}
	}
	return nil
}

func TestRoundStaysInBox(t *testing.T) {
	if err := checkRound(t, (*Polytope).Round); err != nil {
		t.Error(err)
	}
}

type sampler func(w Weights, r io.Reader) (int, error)

// checkSampler runs all 2^B words through rows of up to nine bits, with noise above the B bits, and demands that column
// j comes from the words in [n_0 + .. + n_(j-1), n_0 + .. + n_j) and no others; that each draw reads its own bytes and
// no more; and that a source that ends early gives no index.
func checkSampler(sample sampler) error {
	for _, w := range []Weights{
		{&row{1, []uint64{2}}}, {&row{1, []uint64{1, 1}}}, {&row{3, []uint64{1, 0, 3, 4}}}, {&row{4, []uint64{0, 5, 11}}},
		{&row{4, []uint64{16, 0}}},
		{&row{7, []uint64{1, 126, 1}}}, {&row{8, []uint64{30, 66, 160, 0}}}, {&row{9, []uint64{255, 1, 0, 256}}},
	} {
		need := (w.bits + 7) / 8
		var all []byte
		for word := range uint64(1) << w.bits {
			all = append(all, binary.LittleEndian.AppendUint64(nil, word|0x5a5a5a5a5a5a5a5a<<w.bits)[:need]...)
		}
		r, from := bytes.NewReader(all), uint64(0)
		for j, n := range w.n {
			for word := from; word < from+n; word++ {
				left := r.Len()
				got, err := sample(w, r)
				if got != j || err != nil {
					return fmt.Errorf("%v of %d bits: word %d gives %d, %v, want %d", w.n, w.bits, word, got, err, j)
				}
				if left-r.Len() != need {
					return fmt.Errorf("%v of %d bits: read %d bytes, want %d", w.n, w.bits, left-r.Len(), need)
				}
			}
			from += n
		}
		for n := range need {
			if got, err := sample(w, bytes.NewReader(all[:n])); got != -1 || !errors.Is(err, ErrRandom) {
				return fmt.Errorf("%v of %d bits: %d, %v from %d bytes, want -1 and ErrRandom", w.n, w.bits, got, err, n)
			}
		}
	}
	return nil
}

func TestSamplerIsItsWeights(t *testing.T) {
	if err := checkSampler(Weights.Sample); err != nil {
		t.Error(err)
	}
}

// A planted bug is one mistake, and the named test whose check refuses it.
type planted struct {
	bug, caughtBy string
	check         func(t testing.TB) error
}

func plantedBugs() []planted {
	var all []planted
	sampling := func(bug string, f sampler) {
		all = append(all, planted{bug, "TestSamplerIsItsWeights", func(testing.TB) error { return checkSampler(f) }})
	}
	scan := func(n []uint64, below func(c uint64) bool) int {
		c := uint64(0)
		for j, v := range n {
			if c += v; below(c) {
				return j
			}
		}
		return len(n) - 1
	}
	word := func(w Weights, r io.Reader) (uint64, error) {
		var buf [8]byte
		if _, err := io.ReadFull(r, buf[:(w.bits+7)/8]); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrRandom, err)
		}
		return binary.LittleEndian.Uint64(buf[:]) & (1<<w.bits - 1), nil
	}
	drawing := func(bug string, draw func(w Weights, x uint64) int) { // the reading is right, the rest is not
		sampling(bug, func(w Weights, r io.Reader) (int, error) {
			x, err := word(w, r)
			if err != nil {
				return -1, err
			}
			return draw(w, x), nil
		})
	}
	drawing("cumulative scan off by one: x <= c", func(w Weights, x uint64) int {
		return scan(w.n, func(c uint64) bool { return x <= c })
	})
	drawing("last bit unprotected: B - 1 random bits", func(w Weights, x uint64) int {
		return scan(w.n, func(c uint64) bool { return x>>1<<1 < c })
	})
	drawing("modulo bias: the word modulo 2^B - 1", func(w Weights, x uint64) int {
		return scan(w.n, func(c uint64) bool { return x%(1<<w.bits-1) < c })
	})
	drawing("total 2^B - 1: the last unit is never drawn", func(w Weights, x uint64) int {
		return scan(w.n, func(c uint64) bool { return min(x, 1<<w.bits-2) < c })
	})
	drawing("dropped last column", func(w Weights, x uint64) int {
		return scan(w.n[:max(1, len(w.n)-1)], func(c uint64) bool { return x < c })
	})
	drawing("weights renormalised in float32", func(w Weights, x uint64) int {
		u, c := float32(x)/float32(uint64(1)<<w.bits-1), float32(0)
		for j, n := range w.n {
			if c += float32(n) / float32(uint64(1)<<w.bits); u < c {
				return j
			}
		}
		return len(w.n) - 1
	})
	drawing("bits above B not cut off", func(w Weights, x uint64) int {
		return scan(w.n, func(c uint64) bool { return x|1<<w.bits < c })
	})
	sampling("unchecked short read", func(w Weights, r io.Reader) (int, error) {
		var buf [8]byte
		_, _ = r.Read(buf[:(w.bits+7)/8])
		x := binary.LittleEndian.Uint64(buf[:]) & (1<<w.bits - 1)
		return scan(w.n, func(c uint64) bool { return x < c }), nil
	})
	sampling("rejection: the number of bytes read depends on the word", func(w Weights, r io.Reader) (int, error) {
		x, err := word(w, r)
		for err == nil && x == 0 {
			x, err = word(w, r)
		}
		if err != nil {
			return -1, err
		}
		return scan(w.n, func(c uint64) bool { return x < c }), nil
	})
	last := uint64(math.MaxUint64)
	sampling("random word reused across releases", func(w Weights, r io.Reader) (int, error) {
		x, err := word(w, r)
		if err != nil {
			return -1, err
		}
		if last == math.MaxUint64 {
			last = x
		}
		return scan(w.n, func(c uint64) bool { return last < c }), nil
	})

	verifying := func(bug string, ok func(p *Polytope) bool) {
		all = append(all, planted{bug, "TestVerifyDecides", func(t testing.TB) error {
			return checkVerify(t, func(p *Polytope) error {
				if ok(p) {
					return nil
				}
				return ErrBox
			})
		}})
	}
	// rule is Verify with a bound on hi and a say in the sums.
	rule := func(p *Polytope, most func(lo uint64) uint64, sums bool) bool {
		for j, lo := range p.lo {
			if lo > p.hi[j] || p.hi[j] > p.Total() || p.hi[j] > most(lo) {
				return false
			}
		}
		return !sums || sum(p.lo) <= p.Total() && sum(p.hi) >= p.Total()
	}
	exactly := func(p *Polytope) func(uint64) uint64 { return newFactor(p.eps.Rat()).floor }
	float := func(p *Polytope) func(uint64) uint64 {
		return func(lo uint64) uint64 { return uint64(min(math.Exp(p.eps.Float64())*float64(lo), 1<<62)) }
	}
	verifying("box check by math.Exp", func(p *Polytope) bool { return rule(p, float(p), true) })
	verifying("box check by math.Exp with a tolerance of 1e-9", func(p *Polytope) bool {
		return rule(p, func(lo uint64) uint64 {
			return uint64(min(math.Exp(p.eps.Float64())*float64(lo)*(1+1e-9)+1e-9, 1<<62))
		}, true)
	})
	verifying("box check with ceil instead of floor", func(p *Polytope) bool {
		return rule(p, func(lo uint64) uint64 { return exactly(p)(lo) + min(lo, 1) }, true)
	})
	verifying("box check at 128 bits without refinement", func(p *Polytope) bool {
		return rule(p, newFactor(p.eps.Rat()).over.mul, true)
	})
	verifying("sums of the box not checked", func(p *Polytope) bool { return rule(p, exactly(p), false) })
	verifying("sums modulo 2^64", func(p *Polytope) bool {
		return rule(p, exactly(p), false) && wrapping(p.lo) <= p.Total() && wrapping(p.hi) >= p.Total()
	})
	verifying("lower bound of 0 taken for no bound", func(p *Polytope) bool {
		return rule(p, func(lo uint64) uint64 {
			if lo == 0 {
				return math.MaxUint64
			}
			return exactly(p)(lo)
		}, true)
	})

	designing := func(bug string, f func(p *Polytope, m []float64)) { // f spoils a good design
		all = append(all, planted{bug, "TestDesignGivesBoxes", func(t testing.TB) error {
			return checkDesign(t, func(eps Epsilon, m []float64, bits int) (*Polytope, error) {
				p, err := NewPolytope(eps, m, bits)
				if err == nil {
					f(p, m)
				}
				return p, err
			})
		}})
	}
	designing("alpha and beta of the box swapped", func(p *Polytope, _ []float64) { p.lo, p.hi = p.hi, p.lo })
	designing("hi = ceil(e^eps lo)", func(p *Polytope, _ []float64) {
		for j, lo := range p.lo {
			p.hi[j] = exactly(p)(lo) + min(lo, 1)
		}
	})
	designing("e^eps on both sides of m: a ratio of e^2eps", func(p *Polytope, m []float64) {
		for j := range m {
			p.lo[j] = max(p.lo[j]/2, min(p.lo[j], 1))
		}
	})
	designing("bounds by math.Exp", func(p *Polytope, m []float64) {
		half, total := p.eps.Float64()/2, float64(p.Total())
		for j, v := range m {
			p.lo[j], p.hi[j] = uint64(math.Ceil(total*math.Exp(-half)*v)), uint64(min(total*math.Exp(half)*v, total))
		}
	})
	designing("last column dropped", func(p *Polytope, m []float64) { p.lo[len(m)-1], p.hi[len(m)-1] = 0, 0 })

	rounding := func(bug string, f func(p *Polytope, q []float64) Weights) {
		all = append(all, planted{bug, "TestRoundStaysInBox", func(t testing.TB) error { return checkRound(t, f) }})
	}
	clamp := func(p *Polytope, q []float64) []uint64 {
		n := make([]uint64, p.Len())
		for j := range n {
			if j < len(q) && q[j] > 0 {
				n[j] = uint64(min(q[j], 1) * float64(p.Total()))
			}
			n[j] = min(max(n[j], p.lo[j]), p.hi[j])
		}
		return n
	}
	rounding("clamped, then renormalised", func(p *Polytope, q []float64) Weights {
		n, s, left := clamp(p, q), 0.0, p.Total()
		for _, v := range n {
			s += float64(v)
		}
		for j := range n {
			n[j] = min(uint64(float64(n[j])/s*float64(p.Total())), left)
			left -= n[j]
		}
		n[0] += left
		return Weights{&row{p.bits, n}}
	})
	rounding("clamped, the rest of the mass lost",
		func(p *Polytope, q []float64) Weights { return Weights{&row{p.bits, clamp(p, q)}} })
	rounding("clamped, the rest of the mass to the first column", func(p *Polytope, q []float64) Weights {
		n := clamp(p, q)
		n[0] += p.Total() - wrapping(n)
		return Weights{&row{p.bits, n}}
	})
	rounding("bits of another box", func(p *Polytope, q []float64) Weights { w := p.Round(q); w.bits--; return w })

	bounding := func(bug string, f expBounds) {
		all = append(all, planted{bug, "TestExpBoundsSecondOpinion",
			func(testing.TB) error { return checkExpBounds(f, 200) }})
	}
	bounding("neighbours of math.Exp as bounds", func(e Epsilon, _ int) (*big.Rat, *big.Rat) {
		v := math.Exp(e.Float64())
		return new(big.Rat).SetFloat64(math.Nextafter(v, 0)), new(big.Rat).SetFloat64(math.Nextafter(v, math.Inf(1)))
	})
	bounding("an interval of the right width around math.Exp", func(e Epsilon, bits int) (*big.Rat, *big.Rat) {
		l := new(big.Rat).SetFloat64(math.Exp(e.Float64()))
		w := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(bits)))
		return l, w.Add(w.Mul(w, l), l)
	})
	bounding("eps read as a float64", func(e Epsilon, bits int) (*big.Rat, *big.Rat) {
		below, above := expInterval(new(big.Rat).SetFloat64(e.Float64()), 232)
		one := new(big.Int).Lsh(big.NewInt(1), 232)
		return new(big.Rat).SetFrac(below, one), new(big.Rat).SetFrac(above, one)
	})
	bounding("series cut off after 20 terms", func(e Epsilon, bits int) (*big.Rat, *big.Rat) {
		s, term := big.NewRat(1, 1), big.NewRat(1, 1)
		for n := int64(1); n <= 20; n++ {
			s.Add(s, term.Mul(term, e.Rat()).Quo(term, big.NewRat(n, 1)))
		}
		w := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(bits)))
		return s, w.Add(w.Mul(w, s), s)
	})
	return all
}

// wrapping is the sum modulo 2^64.
func wrapping(v []uint64) (s uint64) {
	for _, x := range v {
		s += x
	}
	return s
}

// Every planted bug is refused by the check of the test that is named beside it.
func TestPlantedBugs(t *testing.T) {
	names := testNames(t)
	for _, b := range plantedBugs() {
		if err := b.check(t); err == nil {
			t.Errorf("%s: not caught by %s", b.bug, b.caughtBy)
		} else {
			t.Logf("%s: %s: %v", b.bug, b.caughtBy, err)
		}
		if !names[b.caughtBy] {
			t.Errorf("%s: there is no %s", b.bug, b.caughtBy)
		}
	}
}

// testNames returns the tests of this package.
func testNames(t testing.TB) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ = strings.Cut(name, "(")
				names["Test"+name] = true
			}
		}
	}
	return names
}
