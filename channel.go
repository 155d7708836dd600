package wpm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
)

// Channel is the mixture mode: one integer row for each input point. Row i is the projection of the
// point mass at x_i within the integer box, found exactly: with integer bounds that sum to 2^B the
// fractional knapsack has an integer optimum, which the greedy fill reaches.
//
// Drawing i from μ and then j from row i has the law q_mix = sum_i μ_i row_i, which lies in the box, and
// W_p^p(q_mix, μ) <= sum_i μ_i φ_i <= max_i φ_i: minimax optimal with no solver on the device (the
// proof of the paper's reduction to point masses).
type Channel struct {
	rows []ldp.Weights
	cost []float64
}

// Channel computes the rows, O(kv log kv) each; 8 k kv bytes in all.
func (m *Mechanism) Channel(ctx context.Context) (*Channel, error) {
	ch := &Channel{rows: make([]ldp.Weights, m.k), cost: make([]float64, m.k)}
	order := make([]int, m.kv)
	terms := make([]float64, m.kv)
	var buf []float64
	total := float64(m.box.Total())
	for i := range ch.rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		buf = m.cost.Row(i, buf)
		n := m.diracRow(buf, order)
		w, err := m.box.Weights(n)
		if err != nil {
			return nil, fmt.Errorf("wpm: row %d: %w", i, err)
		}
		ch.rows[i] = w
		for j, c := range buf {
			terms[j] = c * (float64(n[j]) / total)
		}
		ch.cost[i] = num.Sum(terms)
	}
	return ch, nil
}

// diracRow fills the cheapest columns first, from lo up to hi, until the total is reached. Ties go to the
// lowest index. It terminates with the exact total because sum lo <= 2^B <= sum hi.
func (m *Mechanism) diracRow(c []float64, order []int) []uint64 {
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int {
		if d := cmp.Compare(c[a], c[b]); d != 0 {
			return d
		}
		return a - b
	})
	n := make([]uint64, m.kv)
	rest := m.box.Total()
	for j := range n {
		n[j] = m.box.Lo(j)
		rest -= n[j]
	}
	for _, j := range order {
		add := min(m.box.Hi(j)-m.box.Lo(j), rest)
		n[j] += add
		rest -= add
		if rest == 0 {
			break
		}
	}
	return n
}

// Dims returns the numbers of inputs and outputs.
func (c *Channel) Dims() (k, kv int) { return len(c.rows), c.rows[0].Len() }

// Row returns the weights of input i.
func (c *Channel) Row(i int) ldp.Weights { return c.rows[i] }

// Cost returns φ_i, the cost <C_i, row_i> of input i (W_p^p of the point mass), to float64 accuracy.
func (c *Channel) Cost(i int) float64 { return c.cost[i] }

// Worst returns the largest φ_i and the first i that has it: the worst case over every private
// distribution, of the projection and of the mixture alike.
func (c *Channel) Worst() (phi float64, i int) {
	for n, v := range c.cost {
		if n == 0 || v > phi {
			phi, i = v, n
		}
	}
	return phi, i
}

// Mix returns q_mix = sum_i mu_i row_i, the law of a release in mixture mode, in floats.
func (c *Channel) Mix(mu []float64) ([]float64, error) {
	k, kv := c.Dims()
	if len(mu) != k {
		return nil, fmt.Errorf("%w: mu has %d entries, the channel %d rows", ErrShape, len(mu), k)
	}
	q := make([]float64, kv)
	for i, w := range mu {
		if w == 0 {
			continue
		}
		row := c.rows[i]
		scale := w / float64(uint64(1)<<row.Bits())
		for j := range q {
			q[j] += scale * float64(row.At(j))
		}
	}
	return q, nil
}
