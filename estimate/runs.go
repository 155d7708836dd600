package estimate

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Runs are rows of sum 1 with two values in each column, but for one entry of a row. Columns are the outputs in some
// order: in a good one, the high entries of a row are in few spans.
type Runs struct {
	Order     []int32   // the output of each column
	Low, High []float64 // by column
	// Row appends the spans of row i that are high, from (included) and to (excluded) by turns, ascending and apart. It
	// returns an output outside of them that has more than its low value, and how much more. It is called for several rows
	// at once.
	Row func(i int, spans []int32) (_ []int32, output int, more float64, err error)
}

const (
	// MaxRuns is the largest number of spans of a channel.
	MaxRuns = 1 << 26
	// sumSlack is above the rounding of a sum of 2^20 entries, 2^20 2^-53, and of what it is compared with.
	sumSlack = 1e-9
	// runsBlock rows are asked for at a time.
	runsBlock = 256
)

// NewRuns makes a channel of k rows without writing them out: it takes 8 bytes for each span, and twice as much while it
// is made. The errors are ErrShape; ErrChannel for values that make no rows; wpmerr.ErrTooLarge for more than MaxRuns
// spans; the first error of Row; and that of ctx.
func NewRuns(ctx context.Context, k int, r Runs) (*Channel, error) {
	kv := len(r.Order)
	if min(k, kv) < 1 || max(k, kv) > math.MaxInt32 || len(r.Low) != kv || len(r.High) != kv {
		return nil, fmt.Errorf("%w: %d inputs, %d outputs with %d and %d values", wpmerr.ErrShape, k, kv, len(r.Low),
			len(r.High))
	}
	c := &Channel{k: k, kv: kv, order: r.Order, scale: ones(k), low: r.Low, step: make([]float64, kv), even: true,
		smooth: true}
	a := asked{Channel: c, Runs: r, base: 0, sums: make([]float64, kv+1)}
	if err := a.columns(); err != nil {
		return nil, err
	}
	if err := a.rows(wpmerr.Context(ctx)); err != nil {
		return nil, err
	}
	return c, nil
}

// asked is a channel while its rows are asked for.
type asked struct {
	*Channel
	Runs
	base float64   // the sum of low
	sums []float64 // of step, before each column
}

// columns checks the columns, and sets what depends on them.
func (a *asked) columns() error {
	seen := make([]bool, a.kv)
	for n, j := range a.Order {
		if j < 0 || int(j) >= a.kv || seen[j] {
			return fmt.Errorf("%w: column %d is output %d of %d, or of another column", wpmerr.ErrShape, n, j, a.kv)
		}
		low, high := a.Low[n], a.High[n]
		if !(low >= 0 && low <= high && high <= 1) {
			return fmt.Errorf("%w: output %d has %v or %v", ErrChannel, j, low, high)
		}
		seen[j], a.step[n], a.base = true, high-low, a.base+low
		a.sums[n+1] = a.sums[n] + a.step[n]
		a.smooth = a.smooth && high <= maxRatio*low
	}
	return nil
}

// rows asks for the rows, side by side.
func (a *asked) rows(ctx context.Context) error {
	blocks := make([]Channel, (a.k+runsBlock-1)/runsBlock)
	var kept atomic.Int64
	err := parallel.Each(ctx, len(blocks), func(b int) error {
		if err := a.block(&blocks[b], b*runsBlock, min((b+1)*runsBlock, a.k)); err != nil {
			return err
		}
		if kept.Add(int64(len(blocks[b].runs))) > MaxRuns {
			return fmt.Errorf("%w: the rows have more than %d spans", wpmerr.ErrTooLarge, MaxRuns)
		}
		return nil
	}, nil)
	if ctx.Err() != nil {
		return wpmerr.Ended(ctx)
	}
	if err != nil {
		return err
	}
	c := a.Channel
	c.runs = make([]run, 0, kept.Load())
	for b := range blocks {
		for _, first := range blocks[b].first {
			c.first = append(c.first, int32(len(c.runs))+first)
		}
		c.runs, c.odd = append(c.runs, blocks[b].runs...), append(c.odd, blocks[b].odd...)
		c.entries += blocks[b].entries
		blocks[b] = Channel{}
	}
	c.first = append(c.first, int32(len(c.runs)))
	return nil
}

// block asks for the rows from (included) to (excluded).
func (a *asked) block(into *Channel, from, to int) error {
	var spans []int32
	for i := from; i < to; i++ {
		row, output, more, err := a.Row(i, spans[:0])
		if err != nil {
			return err
		}
		if err := a.keep(into, odd{int32(i), int32(output), more}, row); err != nil {
			return err
		}
		spans = row
	}
	return nil
}

// keep checks a row, and appends it to a block.
func (a *asked) keep(into *Channel, o odd, spans []int32) error {
	into.first = append(into.first, int32(len(into.runs)))
	sum, last := a.base+o.extra, int32(-1)
	for ; len(spans) > 1; spans = spans[2:] {
		from, to := spans[0], spans[1]
		if from <= last || to <= from || int(to) > a.kv {
			return fmt.Errorf("%w: row %d has a span from %d to %d, after %d, of %d outputs", wpmerr.ErrShape, o.i, from, to, last,
				a.kv)
		}
		sum, last = sum+a.sums[to]-a.sums[from], to
		into.runs, into.entries = append(into.runs, run{from, to}), into.entries+int(to-from)
	}
	if o.j < 0 || int(o.j) >= a.kv || !(o.extra >= 0 && math.Abs(sum-1) <= sumSlack) {
		return fmt.Errorf("%w: row %d has the sum %v, with %v more at output %d", ErrChannel, o.i, sum, o.extra, o.j)
	}
	if o.extra > 0 {
		into.odd = append(into.odd, o)
	}
	return nil
}
