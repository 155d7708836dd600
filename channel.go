package wpm

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/worst"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// Channel is the mixture mode: one integer row for each input point. Row i is the projection of the point mass at x_i
// within the integer box, found exactly: with integer bounds that sum to 2^B the fractional knapsack has an integer
// optimum, which the greedy fill reaches. In a Design whose policy ranks outputs by the distances of integer
// coordinates, the rows use this order. It may differ from the order of costs for outputs whose costs differ by less
// than a rounding error.
//
// Drawing i from μ and then j from row i has the law q_mix = sum_i μ_i row_i, which lies in the box, and W_p^p(q_mix,
// μ) <= sum_i μ_i φ_i <= max_i φ_i. So this mode is minimax optimal with no solver on the device (see the proof of the
// paper's reduction to point masses).
type Channel struct {
	of    *Mechanism
	rows  []ldp.Weights // nil where they are computed when they are asked for,
	cost  []float64     // as these then are
	worst float64       // proved
	input int
}

// maxRows is how many weights a Channel of a matrix holds, 64 MB. Larger ones compute a row when it is asked for.
const maxRows = 1 << 23

// Channel computes the rows on all cores, in O(kv log kv) each. They take 8 k kv bytes in all, up to 64 MB: of more rows,
// each is computed again when it is asked for. The errors are that of ctx, and ErrShape for the zero Mechanism.
func (m *Mechanism) Channel(ctx context.Context) (*Channel, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	return m.channel(ctx, nil)
}

// made refuses nil and the zero Mechanism.
func (m *Mechanism) made() error {
	if m == nil || m.cost == nil {
		return fmt.Errorf("%w: the mechanism is nil or zero: New makes one", wpmerr.ErrShape)
	}
	return nil
}

// channel is Channel. sorted is the cost as a table, or nil.
func (m *Mechanism) channel(ctx context.Context, sorted *knapsack.Table) (*Channel, error) {
	costs := make([]float64, m.k)
	ch := &Channel{of: m}
	if m.k <= maxRows/m.kv {
		ch.rows, ch.cost = make([]ldp.Weights, m.k), costs
	}
	err := m.rows(ctx, sorted, func(i int, n []uint64, phi float64) (err error) {
		if costs[i] = phi; ch.rows != nil {
			ch.rows[i], err = m.box.Weights(n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, phi := range costs {
		if phi > costs[ch.input] {
			ch.input = i
		}
	}
	ch.worst = costs[ch.input]*(1+rowRelErr) + m.tiny()
	most, _, err := cost.Extent(ctx, m.cost)
	ch.worst = min(ch.worst, most)
	return ch, err
}

// tiny is what products below the normal range lose in a row: up to half the smallest float each.
func (m *Mechanism) tiny() float64 { return float64(m.kv) * math.SmallestNonzeroFloat64 }

// derived is channel for a mechanism with a ranking, in O(k + kv) memory. The worst case is proved by a bound for the
// inputs that it does not look at; see package internal/worst.
func (m *Mechanism) derived(ctx context.Context) (*Channel, error) {
	value := func(i int) (float64, error) {
		_, phi, err := m.row(i)
		return phi, err
	}
	found, err := worst.NewSpace(m.cost).InBox(ctx, m.box, value, rowRelErr, m.ranked.Slack)
	if err != nil {
		return nil, err
	}
	return &Channel{of: m, worst: found.Upper + m.tiny(), input: found.Input}, nil
}

// row computes a row and its cost.
func (m *Mechanism) row(i int) (w ldp.Weights, phi float64, err error) {
	if m.ranked == nil {
		n, phi, err := m.filler().row(i, m.cost.Row(i, nil), nil)
		if err == nil {
			w, err = m.box.Weights(n)
		}
		return w, phi, err
	}
	if w, err = m.ranked.Row(i); err != nil {
		return w, 0, fmt.Errorf("wpm: row %d: %w", i, err)
	}
	terms := make([]float64, m.kv)
	for j, c := range m.cost.Row(i, nil) {
		terms[j] = c * (float64(w.At(j)) / float64(m.box.Total()))
	}
	return w, min(num.Sum(terms), math.MaxFloat64), nil
}

// eachRow is called with the rows of a channel and their costs. Weights are overwritten by the next row.
type eachRow func(i int, n []uint64, phi float64) error

// rowBlock is how many rows a goroutine takes at a time.
const rowBlock = 16

// rows computes the rows of the channel and their costs, on all cores and in no order; do is called from several
// goroutines. sorted is the cost as a table, if there is one.
func (m *Mechanism) rows(ctx context.Context, sorted *knapsack.Table, do eachRow) error {
	return parallel.Each(wpmerr.Context(ctx), (m.k+rowBlock-1)/rowBlock, func(block int) error {
		f, buf := m.filler(), make([]float64, m.kv)
		for i := block * rowBlock; i < min((block+1)*rowBlock, m.k); i++ {
			var order []int32
			row := buf
			if sorted != nil {
				row, order = sorted.Row(i, nil), sorted.Order(i)
			} else {
				row = m.cost.Row(i, buf)
			}
			n, phi, err := f.row(i, row, order)
			if err == nil {
				err = do(i, n, phi)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// filler computes rows, one after another.
type filler struct {
	*Mechanism
	lo, hi, n []uint64
	terms     []float64
	sorter    knapsack.Sorter
}

func (m *Mechanism) filler() *filler {
	f := &filler{Mechanism: m, n: make([]uint64, m.kv), terms: make([]float64, m.kv)}
	if m.ranked == nil {
		f.lo, f.hi = make([]uint64, m.kv), make([]uint64, m.kv)
		for j := range f.lo {
			f.lo[j], f.hi[j] = m.box.Lo(j), m.box.Hi(j)
		}
	}
	return f
}

// row returns the weights and the cost of a row, given its entries, and the outputs by these if that is known.
func (f *filler) row(i int, row []float64, order []int32) (n []uint64, phi float64, err error) {
	if f.ranked != nil {
		w, phi, err := f.Mechanism.row(i)
		if err != nil {
			return nil, 0, err
		}
		for j := range f.n {
			f.n[j] = w.At(j)
		}
		return f.n, phi, nil
	}
	if order == nil {
		order = f.sorter.Order(row)
	}
	knapsack.FillUnits(order, f.lo, f.hi, f.box.Total(), f.n)
	for j, c := range row {
		f.terms[j] = c * (float64(f.n[j]) / float64(f.box.Total()))
	}
	return f.n, min(num.Sum(f.terms), math.MaxFloat64), nil
}

// rowRelErr bounds the relative error of a row's cost: a weight, a product and a compensated sum of
// non-negative terms are rounded by 2^-53 each, and 2^-50 leaves room.
const rowRelErr = 0x1p-50

// RoundingCost bounds what rounding a projection to integers adds to its cost. The bound is R times a total variation
// of (kv/4 + 1) / 2^B, where R is the range of the cost (cost.Bound for more than 2^24 entries) and the 1 allows for
// the solver's own rounding of sum q. At 62 bits the bound is below float64 resolution; at few bits it is not. The
// errors are that of ctx, and ErrShape for the zero Mechanism.
func (m *Mechanism) RoundingCost(ctx context.Context) (float64, error) {
	if err := m.made(); err != nil {
		return 0, err
	}
	r, err := cost.Bound(ctx, m.cost)
	if err == nil && m.k <= maxRange/m.kv {
		_, r, err = cost.Extent(ctx, m.cost)
	}
	return math.Ldexp(r*(float64(m.kv)/4+1), -m.box.Bits()), err
}

// maxRange is the largest k*kv at which RoundingCost looks at all entries.
const maxRange = 1 << 24

// Dims returns the numbers of inputs and outputs; 0, 0 for the zero Channel.
func (c *Channel) Dims() (k, kv int) {
	if c.of == nil {
		return 0, 0
	}
	return c.of.Dims()
}

// Row returns the weights of input i, 0 <= i < k. It panics for any other i, as indexing a slice does.
func (c *Channel) Row(i int) ldp.Weights {
	w, _ := c.at(i)
	return w
}

func (c *Channel) at(i int) (ldp.Weights, float64) {
	if c.rows != nil {
		return c.rows[i], c.cost[i]
	}
	w, phi, err := c.of.row(i)
	if err != nil {
		panic(err)
	}
	return w, phi
}

// Cost returns φ_i, the cost <C_i, row_i> of input i (W_p^p of the point mass), to float64 accuracy.
func (c *Channel) Cost(i int) float64 {
	_, phi := c.at(i)
	return phi
}

// Worst returns a proved upper bound on the cost of the worst private distribution, as published in integers, and the
// first point mass that attains it up to rounding. In projection mode the solver's rounding adds RoundingCost at most.
func (c *Channel) Worst() (upper float64, input int) { return c.worst, c.input }

// Mix returns q_mix = sum_i mu_i row_i, the law of a release in mixture mode, in floats. mu has length k and finite
// entries >= 0 with a positive sum, by which it is divided. Errors: ErrShape, ErrMass.
func (c *Channel) Mix(mu []float64) ([]float64, error) {
	k, kv := c.Dims()
	if len(mu) != k {
		return nil, fmt.Errorf("%w: mu has %d entries, the channel %d rows", wpmerr.ErrShape, len(mu), k)
	}
	for i, w := range mu {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: mu[%d] = %v", wpmerr.ErrMass, i, w)
		}
	}
	sum, exp := num.Total(mu)
	if sum == 0 {
		return nil, fmt.Errorf("%w: mu sums to 0", wpmerr.ErrMass)
	}
	q := make([]float64, kv)
	for i, w := range mu {
		if w == 0 {
			continue
		}
		row := c.Row(i)
		scale := math.Ldexp(math.Ldexp(w, -exp)/sum, -row.Bits())
		for j := range q {
			q[j] += scale * float64(row.At(j))
		}
	}
	return q, nil
}
