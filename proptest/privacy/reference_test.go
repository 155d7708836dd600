package privacy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
)

// Slow implementations of the interfaces, made from package exact. They must pass every law; the planted errors of
// mutants_test.go are changes of them.

func refKPM(mu []float64, eps float64) ([]float64, float64, error) {
	m, err := exact.Distribution(mu)
	if err != nil {
		return nil, 0, err
	}
	if eps == 0 {
		return slices.Repeat([]float64{1 / float64(len(mu))}, len(mu)), 1, nil
	}
	q, r := kpmExact(m, eps)
	var f []float64
	for _, v := range q {
		f = append(f, exact.Float(v))
	}
	return f, exact.Float(r), nil
}

// refBox is the ceil rule with an exact repair, and a rounding that is optimal by being greedy.
type refBox struct {
	bits   int
	lo, hi []uint64
}

func newRefBox(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
	b, err := makeRefBox(eps, m, bits)
	return b, err
}

func makeRefBox(eps *big.Rat, m []float64, bits int) (*refBox, error) {
	e := exact.NewExpo(eps)
	total := uint64(1) << bits
	_, beta := exact.ExpBounds(exact.Mul(eps, big.NewRat(1, 2)), 192)
	_, above := exact.ExpBounds(eps, 192)
	b := &refBox{bits: bits}
	units := exact.Integer(total)
	for _, v := range m {
		lo := uint64(0)
		if v > 0 {
			h := exact.CeilQuo(exact.Mul(units, beta), exact.Quo(big.NewRat(1, 1), exact.Rat(v)))
			l := exact.CeilQuo(new(big.Rat).SetInt(h), above)
			if !l.IsUint64() || l.Uint64() > total {
				l.SetUint64(total)
			}
			lo = max(1, l.Uint64())
		}
		b.lo = append(b.lo, lo)
		b.hi = append(b.hi, e.Floor(lo, total))
	}
	b.fit(e, total)
	return b, nil
}

// fit lowers the largest lower bounds, or raises them, until there is a point; empty columns stay empty.
func (b *refBox) fit(e *exact.Expo, total uint64) {
	var used []int
	for j, n := range b.lo {
		if n > 0 {
			used = append(used, j)
		}
	}
	lo, hi := make([]uint64, len(used)), make([]uint64, len(used))
	for n, j := range used {
		lo[n], hi[n] = b.lo[j], b.hi[j]
	}
	over := new(big.Int)
	for _, n := range lo {
		over.Add(over, new(big.Int).SetUint64(n))
	}
	for over.Sub(over, new(big.Int).SetUint64(total)).Sign() > 0 {
		at := 0
		for n := range lo {
			if lo[n] > lo[at] {
				at = n
			}
		}
		step := new(big.Int).SetUint64(lo[at] - 1)
		if over.Cmp(step) < 0 {
			step.Set(over)
		}
		lo[at] -= step.Uint64()
		hi[at] = e.Floor(lo[at], total)
		over.SetInt64(0)
		for _, n := range lo {
			over.Add(over, new(big.Int).SetUint64(n))
		}
	}
	e.Fit(lo, hi, total)
	for n, j := range used {
		b.lo[j], b.hi[j] = lo[n], hi[n]
	}
}

func (b *refBox) Len() int { return len(b.lo) }

func (b *refBox) Bits() int { return b.bits }

func (b *refBox) Lo(j int) uint64 { return b.lo[j] }

func (b *refBox) Hi(j int) uint64 { return b.hi[j] }

// cutTo returns 2^B q as rationals, cut to the box; NaN and missing entries are lo.
func (b *refBox) cutTo(q []float64) []*big.Rat {
	units := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(b.bits)))
	x := make([]*big.Rat, len(b.lo))
	for j := range x {
		lo := exact.Integer(b.lo[j])
		hi := exact.Integer(b.hi[j])
		switch {
		case j >= len(q) || math.IsNaN(q[j]) || math.IsInf(q[j], -1):
			x[j] = lo
		case math.IsInf(q[j], 1):
			x[j] = hi
		default:
			x[j] = exact.Min(exact.Max(exact.Mul(units, exact.Rat(q[j])), lo), hi)
		}
	}
	return x
}

// Round cuts to the box, moves what is missing into the slack in one direction, and rounds the fractions so
// that the sum comes out.
func (b *refBox) Round(q []float64) []uint64 {
	x := b.cutTo(q)
	d := exact.Sub(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(b.bits))), exact.Sum(x))
	for j := range x {
		side := b.hi[j]
		if d.Sign() < 0 {
			side = b.lo[j]
		}
		room := exact.Sub(exact.Integer(side), x[j])
		step := d
		if d.Sign() > 0 && room.Cmp(d) < 0 || d.Sign() < 0 && room.Cmp(d) > 0 {
			step = room
		}
		x[j] = exact.Add(x[j], step)
		d = exact.Sub(d, step)
	}
	n := make([]uint64, len(x))
	frac := make([]*big.Rat, len(x))
	rest := uint64(1) << b.bits
	for j, v := range x {
		f := new(big.Int).Quo(v.Num(), v.Denom())
		n[j] = f.Uint64()
		frac[j] = exact.Sub(v, new(big.Rat).SetInt(f))
		rest -= n[j]
	}
	order := proptest.Indices(len(x))
	slices.SortStableFunc(order, func(a, c int) int { return frac[c].Cmp(frac[a]) })
	for _, j := range order[:rest] {
		n[j]++
	}
	return n
}

// refMechanism projects exactly and rounds.
type refMechanism struct {
	c   [][]float64
	box IntegerBox
}

func newRefMechanism(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
	b, err := makeRefBox(eps, m, bits)
	return refMechanism{c, b}, err
}

func (r refMechanism) Weights(mu []float64) ([]uint64, error) {
	m, err := exact.Distribution(mu)
	if err != nil {
		return nil, err
	}
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(r.box.Bits())))
	var lo, hi []*big.Rat
	for j := range r.c[0] {
		lo = append(lo, exact.Quo(exact.Integer(r.box.Lo(j)), total))
		hi = append(hi, exact.Quo(exact.Integer(r.box.Hi(j)), total))
	}
	_, q, err := exact.Flow(proptest.ExactCost(r.c), m, lo, hi)
	if err != nil {
		return nil, err
	}
	return r.box.Round(exact.Floats(q)), nil
}

func refChannel(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
	b, err := makeRefBox(eps, m, bits)
	if err != nil {
		return Channel{}, err
	}
	ch := Channel{Bits: bits, Lo: b.lo, Hi: b.hi}
	for i := range c {
		ch.Rows = append(ch.Rows, proptest.Fill(b.lo, b.hi, 1<<bits, func(j int) float64 { return c[i][j] }))
	}
	return ch, nil
}

func refVerify(eps *big.Rat, lo, hi []uint64, bits int) error {
	return boxHolds(exact.NewExpo(eps), lo, hi, bits)
}

func refSampler(weights []uint64, bits int) (func(io.Reader) (int, error), error) {
	return func(r io.Reader) (int, error) {
		b := make([]byte, (bits+7)/8)
		if _, err := io.ReadFull(r, b); err != nil {
			return -1, fmt.Errorf("no random bits: %w", err)
		}
		x := uint64(0)
		for i, v := range b {
			x |= uint64(v) << (8 * i)
		}
		x &= 1<<bits - 1
		for j, n := range weights {
			if x < n {
				return j, nil
			}
			x -= n
		}
		return -1, errors.New("weights do not sum to 2^bits")
	}, nil
}
