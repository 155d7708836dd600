package privacy

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
)

// sums allows a sum of lo of so many 2^B, and a sum of hi of no less than so many.
func sums(most, least int64) VerifyFunc {
	return func(eps *big.Rat, lo, hi []uint64, bits int) error {
		e := exact.NewExpo(eps)
		sl, sh := new(big.Int), new(big.Int)
		for j := range lo {
			if lo[j] > hi[j] || !e.Holds(hi[j], lo[j]) {
				return errors.New("ratio")
			}
			sl.Add(sl, new(big.Int).SetUint64(lo[j]))
			sh.Add(sh, new(big.Int).SetUint64(hi[j]))
		}
		total := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		if sl.Cmp(new(big.Int).Mul(total, big.NewInt(most))) > 0 || sh.Cmp(new(big.Int).Mul(total, big.NewInt(least))) < 0 {
			return errors.New("mass")
		}
		return nil
	}
}

func TestVerifyLaws(t *testing.T) {
	floats := func(eps *big.Rat, lo, hi []uint64, bits int) error {
		var sl, sh float64
		for j := range lo {
			if lo[j] > hi[j] || float64(hi[j]) > math.Exp(exact.Float(eps))*float64(lo[j]) {
				return errors.New("ratio")
			}
			sl, sh = sl+float64(lo[j]), sh+float64(hi[j])
		}
		if total := math.Ldexp(1, bits); sl > total || sh < total {
			return errors.New("mass")
		}
		return nil
	}
	planted.Laws(t, VerifyLaws(), refVerify, []planted.Error[VerifyFunc]{
		{Name: "compares in floats", Impl: floats, Killed: []string{"PolytopeIf"}},
		{Name: "accepts one unit too many", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			low := slices.Clone(hi)
			for j := range low {
				low[j] = max(low[j], 1) - 1
				low[j] = max(low[j], lo[j])
			}
			if err := refVerify(eps, lo, low, bits); err == nil {
				return nil
			}
			return refVerify(eps, lo, hi, bits)
		}, Killed: []string{"PolytopeIf"}},
		{Name: "forgets the sums", Impl: sums(1<<62, 0), Killed: []string{"PolytopeIf"}},
		{Name: "forgets the sum of lo", Impl: sums(1<<62, 1), Killed: []string{"PolytopeIf"}},
		{Name: "forgets the sum of hi", Impl: sums(1, 0), Killed: []string{"PolytopeIf"}},
		{Name: "allows a sum of lo of 2^B + 1", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			if sumOf(lo) == 1<<bits+1 {
				return sums(1<<62, 0)(eps, lo, hi, bits)
			}
			return refVerify(eps, lo, hi, bits)
		}, Killed: []string{"PolytopeIf"}},
		{Name: "adds in 64 bits", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			var sl, sh uint64
			for j := range lo {
				if err := sums(1<<62, 0)(eps, lo[j:j+1], hi[j:j+1], bits); err != nil {
					return err
				}
				sl, sh = sl+lo[j], sh+hi[j]
			}
			if sl > 1<<bits || sh < 1<<bits {
				return errors.New("mass")
			}
			return nil
		}, Killed: []string{"PolytopeIf"}},
		{Name: "looks at the first column only", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			if err := sums(1<<62, 0)(eps, lo[:1], hi[:1], bits); err != nil {
				return err
			}
			if new(big.Int).SetUint64(sumOf(lo)).BitLen() > bits+1 || sumOf(hi) < 1<<bits {
				return errors.New("mass")
			}
			return nil
		}, Killed: []string{"PolytopeIf", "PolytopeOnlyIf"}},
		{Name: "refuses hi = floor(e^eps lo)", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			e := exact.NewExpo(eps)
			for j := range lo {
				if lo[j] > 1 && hi[j] == e.Floor(lo[j], 1<<63) {
					return errors.New("ratio")
				}
			}
			return refVerify(eps, lo, hi, bits)
		}, Killed: []string{"PolytopeIf"}},
		{Name: "refuses lo = hi", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			for j := range lo {
				if lo[j] == hi[j] {
					return errors.New("no room")
				}
			}
			return refVerify(eps, lo, hi, bits)
		}, Killed: []string{"PolytopeIf", "PolytopeOnlyIf"}},
		{Name: "forgets lo <= hi", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			h := slices.Clone(hi)
			for j := range h {
				h[j] = max(h[j], lo[j])
			}
			return refVerify(eps, lo, h, bits)
		}, Killed: []string{"PolytopeIf"}},
		{Name: "takes e^eps for 1 + eps", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			for j := range lo {
				if float64(hi[j]) > (1+exact.Float(eps))*float64(lo[j]) {
					return errors.New("ratio")
				}
			}
			return refVerify(eps, lo, hi, bits)
		}, Killed: []string{"PolytopeIf", "PolytopeOnlyIf"}},
		{Name: "allows e^(2 eps)", Impl: func(eps *big.Rat, lo, hi []uint64, bits int) error {
			return refVerify(exact.Add(eps, eps), lo, hi, bits)
		}, Killed: []string{"PolytopeIf", "PolytopeOnlyIf"}},
	})
}

// editedBox is a refBox with other bounds or another rounding.
type editedBox struct {
	*refBox
	round func(b *refBox, q []float64) []uint64
}

func (b editedBox) Round(q []float64) []uint64 { return b.round(b.refBox, q) }

func withRound(round func(b *refBox, q []float64) []uint64) NewBox {
	return func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
		b, err := makeRefBox(eps, m, bits)
		return editedBox{b, round}, err
	}
}

func withBounds(edit func(b *refBox)) NewBox {
	return func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
		b, err := makeRefBox(eps, m, bits)
		edit(b)
		return b, err
	}
}

// spread gives the missing units to the first columns, whatever their bounds.
func spread(n []uint64, bits int) []uint64 {
	rest := uint64(1) << bits
	for j := range n {
		n[j] = min(n[j], rest)
		rest -= n[j]
	}
	n[0] += rest
	return n
}

func TestBoxLaws(t *testing.T) {
	planted.Laws(t, BoxLaws(), newRefBox, []planted.Error[NewBox]{
		{Name: "swaps alpha and beta", Impl: func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b, err := makeRefBox(eps, m, bits)
			b.lo, b.hi = b.hi, b.lo
			return b, err
		}, Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "takes e^eps for its root", Impl: func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			return newRefBox(exact.Add(eps, eps), m, bits)
		}, Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "rounds hi up", Impl: withBounds(func(b *refBox) {
			for j := range b.hi {
				if b.hi[j] > 0 {
					b.hi[j]++
				}
			}
		}), Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "keeps columns without mass", Impl: withBounds(func(b *refBox) {
			for j := range b.lo {
				if b.lo[j] == 0 {
					b.lo[j], b.hi[j] = 1, 1
				}
			}
		}), Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "does not repair the sums", Impl: func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b := &refBox{bits: bits}
			e := exact.NewExpo(eps)
			for _, v := range m {
				lo := uint64(math.Ceil(math.Ldexp(v*math.Exp(-exact.Float(eps)/2), bits)))
				b.lo, b.hi = append(b.lo, lo), append(b.hi, e.Floor(lo, 1<<bits))
			}
			return b, nil
		}, Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "uses half of m", Impl: func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			half := proptest.Clone(m)
			for j := range half {
				half[j] /= 2
			}
			return newRefBox(eps, half, bits)
		}, Killed: []string{"BoxOfBaseMeasure"}},
		{Name: "writes to m", Impl: func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b, err := makeRefBox(eps, m, bits)
			m[0] /= 3
			return b, err
		}, Killed: []string{"BoxOfBaseMeasure", "RoundInBox"}},
		{Name: "renormalises by dividing by the sum", Impl: withRound(func(b *refBox, q []float64) []uint64 {
			x := b.cutTo(q)
			n, sum := make([]uint64, len(x)), exact.Float(exact.Sum(x))
			for j := range x {
				n[j] = uint64(math.Min(exact.Float(x[j])/sum, 1) * math.Ldexp(1, b.bits))
			}
			return spread(n, b.bits)
		}), Killed: []string{"RoundInBox"}},
		{Name: "corrects one side only", Impl: withRound(func(b *refBox, q []float64) []uint64 {
			x := b.cutTo(q) // the upper bound is kept, the missing mass goes anywhere
			n := make([]uint64, len(x))
			for j, v := range x {
				n[j] = new(big.Int).Quo(v.Num(), v.Denom()).Uint64()
			}
			return spread(n, b.bits)
		}), Killed: []string{"RoundInBox"}},
		{Name: "does not move mass at all", Impl: withRound(func(b *refBox, q []float64) []uint64 {
			n := make([]uint64, len(b.lo))
			for j, v := range b.cutTo(q) {
				n[j] = new(big.Int).Quo(v.Num(), v.Denom()).Uint64()
			}
			return n
		}), Killed: []string{"RoundInBox"}},
		{Name: "ignores q", Impl: withRound(func(b *refBox, _ []float64) []uint64 {
			return proptest.Fill(b.lo, b.hi, 1<<b.bits, func(j int) float64 { return float64(j) })
		}), Killed: []string{"RoundInBox"}},
		{Name: "trusts a wrong length", Impl: withRound(func(b *refBox, q []float64) []uint64 {
			n := b.Round(q)
			return n[:min(len(n), len(q))]
		}), Killed: []string{"RoundInBox"}},
	})
}

// edited makes a mechanism whose weights are changed after the fact.
func edited(edit func(b *refBox, mu []float64, n []uint64) []uint64) NewMechanism {
	return func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
		inner, err := newRefMechanism(c, eps, m, bits)
		return weightsFunc(func(mu []float64) ([]uint64, error) {
			n, err := inner.Weights(mu)
			if err != nil {
				return nil, err
			}
			return edit(inner.(refMechanism).box.(*refBox), mu, n), nil
		}), err
	}
}

type weightsFunc func(mu []float64) ([]uint64, error)

func (f weightsFunc) Weights(mu []float64) ([]uint64, error) { return f(mu) }

// beyond moves a unit to a column that is full.
func beyond(b *refBox, n []uint64) []uint64 {
	for j := range n {
		if n[j] == b.hi[j] && n[j] > 0 {
			for i := range n {
				if i != j && n[i] > b.lo[i] {
					n[j]++
					n[i]--
					return n
				}
			}
		}
	}
	return n
}

func TestMechanismLaws(t *testing.T) {
	planted.Laws(t, MechanismLaws(), newRefMechanism, []planted.Error[NewMechanism]{
		{Name: "spends twice eps", Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
			return newRefMechanism(c, exact.Add(eps, eps), m, bits)
		}, Killed: []string{"ProjectionLDP"}},
		{Name: "tunes the base measure on the input",
			Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
				return weightsFunc(func(mu []float64) ([]uint64, error) {
					own := proptest.Clone(m)
					if len(mu) > 1 && mu[0] > 0.5 {
						slices.Reverse(own)
					}
					inner, err := newRefMechanism(c, eps, own, bits)
					if err != nil {
						return nil, err
					}
					return inner.Weights(mu)
				}), nil
			}, Killed: []string{"ProjectionLDP"}},
		{Name: "multiplies by e^eps in floats",
			Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
				b, err := makeRefBox(eps, m, bits)
				for j, lo := range b.lo {
					b.hi[j] = uint64(math.Ceil(math.Exp(exact.Float(eps)) * float64(lo)))
				}
				return refMechanism{c, b}, err
			}, Killed: []string{"ProjectionLDP"}},
		{Name: "leaves the box by a unit if an input has a mass below 1e-9",
			Impl: edited(func(b *refBox, mu []float64, n []uint64) []uint64 {
				for _, v := range mu {
					if v > 0 && v < 1e-9 {
						return beyond(b, n)
					}
				}
				return n
			}), Killed: []string{"ProjectionLDP"}},
		{Name: "answers a point mass with its nearest output",
			Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
				inner, err := newRefMechanism(c, eps, m, bits)
				return weightsFunc(func(mu []float64) ([]uint64, error) {
					n, err := inner.Weights(mu)
					if err == nil && slices.Max(mu) == 1 {
						row := c[slices.Index(mu, 1)]
						clear(n)
						n[slices.Index(row, slices.Min(row))] = 1 << bits
					}
					return n, err
				}), err
			}, Killed: []string{"ProjectionLDP"}},
		{Name: "ignores its input", Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
			inner, err := newRefMechanism(c, eps, m, bits)
			return weightsFunc(func(mu []float64) ([]uint64, error) {
				return inner.Weights(slices.Repeat([]float64{1 / float64(len(mu))}, len(mu)))
			}), err
		}, Equivalent: "a constant mechanism is private; what a mechanism is worth is in ProjectorLaws and ChannelLaws"},
		{Name: "drops outputs of little mass", Impl: edited(func(b *refBox, _ []float64, n []uint64) []uint64 {
			for j := range n {
				if n[j] < 1<<b.bits/1000 {
					n[j] = 0
				}
			}
			return spread(n, b.bits)
		}), Killed: []string{"ProjectionLDP"}},
		{Name: "loses a unit", Impl: edited(func(_ *refBox, _ []float64, n []uint64) []uint64 {
			n[len(n)-1]--
			return n
		}), Killed: []string{"ProjectionLDP"}},
		{Name: "one unit beyond the box for a point mass", Impl: edited(func(b *refBox, mu []float64, n []uint64) []uint64 {
			if slices.Max(mu) == 1 && len(mu) > 1 {
				return beyond(b, n)
			}
			return n
		}), Killed: []string{"ProjectionLDP"}},
	})
}

func TestChannelLaws(t *testing.T) {
	rowsOf := func(key func(c []float64, j int) float64) NewChannel {
		return func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
			ch, err := refChannel(c, eps, m, bits)
			for i := range ch.Rows {
				ch.Rows[i] = proptest.Fill(ch.Lo, ch.Hi, 1<<bits, func(j int) float64 { return key(c[i], j) })
			}
			return ch, err
		}
	}
	planted.Laws(t, ChannelLaws(), refChannel, []planted.Error[NewChannel]{
		{Name: "fills the dearest first", Impl: rowsOf(func(c []float64, j int) float64 { return -c[j] }),
			Killed: []string{"DiracMixture"}},
		{Name: "compares costs in float32", Impl: rowsOf(func(c []float64, j int) float64 { return float64(float32(c[j])) }),
			Killed: []string{"DiracMixture"}},
		{Name: "puts all mass on the nearest output",
			Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
				ch, err := refChannel(c, eps, m, bits)
				for i, row := range ch.Rows {
					best := 0
					for j := range row {
						if c[i][j] < c[i][best] {
							best = j
						}
					}
					clear(row)
					row[best] = 1 << bits
				}
				return ch, err
			}, Killed: []string{"DiracMixture"}},
		{Name: "lifts only one bound", Impl: func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
			ch, err := refChannel(c, eps, m, bits)
			ch.Hi = slices.Clone(ch.Hi)
			ch.Hi[0] = 1 << bits
			return ch, err
		}, Killed: []string{"DiracMixture"}},
	})
}

func TestSamplerLaws(t *testing.T) {
	wrap := func(f func(weights []uint64, bits int, r io.Reader) (int, error)) NewSampler {
		return func(weights []uint64, bits int) (func(io.Reader) (int, error), error) {
			return func(r io.Reader) (int, error) { return f(weights, bits, r) }, nil
		}
	}
	scan := func(weights []uint64, x uint64) int {
		for j, n := range weights {
			if x < n {
				return j
			}
			x -= n
		}
		return len(weights) - 1
	}
	word := func(bits int, r io.Reader) (uint64, error) {
		b := make([]byte, 8)
		_, err := io.ReadFull(r, b[:(bits+7)/8])
		return binary.LittleEndian.Uint64(b) & (1<<bits - 1), err
	}
	planted.Laws(t, SamplerLaws(), refSampler, []planted.Error[NewSampler]{
		{Name: "modulo bias", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x%(1<<bits-1)), nil
		}), Killed: []string{"SampleExact"}},
		{Name: "off by one", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, max(x&(1<<bits-1), 1)-1), nil
		}), Killed: []string{"SampleExact"}},
		{Name: "keeps the bits above B", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x), nil
		}), Killed: []string{"SampleExact"}},
		{Name: "takes a short read for zeros", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			_, _ = io.ReadFull(r, b)
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x&(1<<bits-1)), nil
		}), Killed: []string{"SampleExact"}},
		{Name: "sums weights in floats of 32 bits", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			x, err := word(bits, r)
			c := float32(0)
			for j, n := range weights {
				c += float32(n)
				if float32(x) < c {
					return j, err
				}
			}
			return len(weights) - 1, err
		}), Killed: []string{"SampleEdges"}},
		{Name: "sums weights in floats", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			x, err := word(bits, r)
			c := 0.0
			for j, n := range weights {
				c += float64(n)
				if float64(x) < c {
					return j, err
				}
			}
			return len(weights) - 1, err
		}), Killed: []string{"SampleEdges"}},
		{Name: "draws the first outcome above 10 bits",
			Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
				x, err := word(bits, r)
				if bits > 10 {
					x = 0
				}
				return scan(weights, x), err
			}), Killed: []string{"SampleEdges"}},
		{Name: "draws 53 bits and fills with zeros", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			x, err := word(bits, r)
			if bits > 53 {
				x = x >> (bits - 53) << (bits - 53)
			}
			return scan(weights, x), err
		}), Killed: []string{"SampleEdges"}},
		{Name: "is off by one at one edge above 32 bits",
			Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
				x, err := word(bits, r)
				if bits > 32 && x > 0 && x == weights[0] {
					x--
				}
				return scan(weights, x), err
			}), Killed: []string{"SampleEdges"}},
		{Name: "reads eight bytes always", Impl: wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, 8)
			if n, err := r.Read(b); err != nil || n < (bits+7)/8 {
				return -1, io.ErrUnexpectedEOF
			}
			return scan(weights, (uint64(b[0])|uint64(b[1])<<8)&(1<<bits-1)), nil
		}), Killed: []string{"SampleExact"}},
	})
}

func TestKPMLaws(t *testing.T) {
	// with changes the floor or the normaliser of the closed form.
	with := func(f func(mu []float64, e float64) (q []float64, r float64)) KPM {
		return func(mu []float64, eps float64) ([]float64, float64, error) {
			q, r := f(mu, math.Exp(eps))
			return q, r, nil
		}
	}
	cutAndDivide := func(mu []float64, a float64) ([]float64, float64) {
		q := make([]float64, len(mu))
		for j := range mu {
			q[j] = max(mu[j], a)
		}
		return proptest.Normalise(q, 1), 1
	}
	edit := func(change func(mu, q []float64)) KPM {
		return func(mu []float64, eps float64) ([]float64, float64, error) {
			q, r, err := refKPM(mu, eps)
			change(mu, q)
			return q, r, err
		}
	}
	planted.Laws(t, KPMLaws(), refKPM, []planted.Error[KPM]{
		{Name: "cuts once and divides by the sum", Impl: with(func(mu []float64, e float64) ([]float64, float64) {
			return cutAndDivide(mu, 1/(e+float64(len(mu))-1))
		}), Killed: []string{"KPMClosedForm", "KPMInBox"}},
		{Name: "floor 1/(e^eps + k)", Impl: with(func(mu []float64, e float64) ([]float64, float64) {
			m, err := exact.Distribution(mu)
			if err != nil {
				panic(err)
			}
			q, r := kpmExact(m, math.Log(e+1))
			return exact.Floats(q), exact.Float(r)
		}), Killed: []string{"KPMClosedForm", "KPMInBox"}},
		{Name: "mixes with the uniform law", Impl: with(func(mu []float64, e float64) ([]float64, float64) {
			k := float64(len(mu))
			q := make([]float64, len(mu))
			for j := range mu {
				q[j] = (mu[j]*(e-1) + 1) / (e - 1 + k)
			}
			return proptest.Normalise(q, 1), 1
		}), Killed: []string{"KPMClosedForm", "KPMProjection"}},
		{Name: "is constant", Impl: edit(func(mu, q []float64) {
			for j := range q {
				q[j] = 1 / float64(len(q))
			}
		}), Killed: []string{"KPMProjection", "KPMClosedForm"}},
		{Name: "the largest entry takes the rounding", Impl: edit(func(mu, q []float64) {
			for j := range q {
				if j > 0 && mu[j] == mu[0] {
					q[0] *= 1 + 1e-12
					return
				}
			}
		}), Killed: []string{"KPMOrder"}},
		{Name: "spends half of eps",
			Impl:   func(mu []float64, eps float64) ([]float64, float64, error) { return refKPM(mu, eps/2) },
			Killed: []string{"KPMClosedForm", "KPMProjection"}},
		{Name: "spends twice eps",
			Impl:   func(mu []float64, eps float64) ([]float64, float64, error) { return refKPM(mu, 2*eps) },
			Killed: []string{"KPMClosedForm", "KPMInBox"}},
		{Name: "gives the first point more", Impl: edit(func(mu, q []float64) {
			if len(q) > 1 {
				q[0] += q[1] / 2
				q[1] /= 2
			}
		}), Killed: []string{"KPMOrder", "KPMInBox", "KPMProjection"}},
	})
}
