package basemeasure

import (
	"context"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
)

// lowerCheck computes the lower bound from sum_i w_i (C_ij - eta_i)_+ and sum_i w_i (eta_i - C_ij)_+ for every column,
// in exact sums side by side.
type lowerCheck struct {
	c          cost.Matrix
	shares     []weighing
	parts      *num.Dyadic // of all shares
	thresholds []float64
	e          *num.Dyadic // E

	inputs []int // those with a weight
	rows   [][]float64
	bufs   [][]float64
}

const (
	// heldCells is how many entries of the cost are held at a time.
	heldCells = 1 << 21
	// columnBlock is the number of columns that a goroutine adds to at a time.
	columnBlock = 256
)

// alike reports whether all sums are the same: on a ring each column is a permutation of each other, and of each row.
func (l *lowerCheck) alike() bool {
	constant := func(list []float64) bool {
		return !slices.ContainsFunc(list, func(x float64) bool { return x != list[0] })
	}
	return cost.SpaceOf(l.c).Transitive && constant(l.thresholds) &&
		!slices.ContainsFunc(l.shares, func(s weighing) bool { return !constant(s.weights) })
}

// check returns the bound.
func (l *lowerCheck) check(ctx context.Context) (*big.Rat, error) {
	if l.alike() {
		row := l.c.Row(0, nil) // as a cost of one output
		l.c = &cost.Dense{K: len(row), Kv: 1, Data: row}
	}
	k, kv := l.c.Dims()
	for i := range k {
		for _, s := range l.shares {
			if s.weights[i] > 0 {
				l.inputs = append(l.inputs, i)
				break
			}
		}
	}
	size := min(max(heldCells/kv, 1), len(l.inputs))
	l.bufs = make([][]float64, size) // never rows that Row returned: those may be the matrix's own
	l.rows = make([][]float64, size)
	for n := range l.bufs {
		l.bufs[n] = make([]float64, kv)
	}
	above, below, err := l.columns(ctx, size)
	if err != nil {
		return nil, err
	}

	// b_j times sum: the shares' sums are multiplied out.
	sum, times := l.parts, make([]*num.Dyadic, len(l.shares))
	for s, share := range l.shares {
		sum = sum.Times(share.sum)
		times[s] = share.part
		for other := range l.shares {
			if other != s {
				times[s] = times[s].Times(l.shares[other].sum)
			}
		}
	}
	var least *num.Dyadic
	for j := range kv {
		b := new(num.Dyadic)
		for s, t := range times {
			at := above[s].Sum(j).Add(l.e.Times(below[s].Sum(j)))
			b.Add(at.Times(t))
		}
		if least == nil || b.Cmp(least) < 0 {
			least = b
		}
	}
	bound := least.Over(sum)
	if bound.Sign() > 0 {
		bound.Quo(bound, l.e.Rat())
	}
	mean := new(num.Dyadic)
	for s, share := range l.shares {
		var eta num.Acc
		for _, i := range l.inputs {
			eta.AddMul(share.weights[i], l.thresholds[i])
		}
		mean.Add(eta.Dyadic().Times(times[s]))
	}
	return bound.Add(bound, mean.Over(sum)), nil
}

// columns returns the sums of each share, those below with a minus sign. size rows are held at a time.
func (l *lowerCheck) columns(ctx context.Context, size int) (above, below []*num.Columns, err error) {
	_, kv := l.c.Dims()
	var costs num.Span
	err = l.each(ctx, size, func(list []int) error {
		spans := make([]num.Span, len(list))
		err := parallel.For(ctx, len(list), func(n int) {
			spans[n].See(l.rows[n]...)
			spans[n].See(l.thresholds[list[n]])
		})
		for _, s := range spans {
			costs.Join(s)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range l.shares {
		var weights num.Span
		weights.See(s.weights...)
		terms := 2 * len(l.inputs)
		above = append(above, num.NewColumns(kv, costs, weights, terms))
		below = append(below, num.NewColumns(kv, costs, weights, terms))
	}
	err = l.each(ctx, size, func(list []int) error {
		return parallel.For(ctx, (kv+columnBlock-1)/columnBlock, func(block int) {
			from, to := block*columnBlock, min((block+1)*columnBlock, kv)
			for n, i := range list {
				for s, share := range l.shares {
					if w := share.weights[i]; w > 0 {
						l.add(above[s], below[s], l.rows[n], w, l.thresholds[i], from, to)
					}
				}
			}
		})
	})
	return above, below, err
}

// add adds one row to columns from (included) to (excluded).
func (l *lowerCheck) add(above, below *num.Columns, row []float64, w, eta float64, from, to int) {
	for j := from; j < to; j++ {
		c, into := row[j], above
		if c < eta {
			into = below
		}
		into.AddMul(j, c, w)
		into.AddMul(j, eta, -w)
	}
}

// each calls do with the inputs that count, size at a time, while l.rows holds their rows.
func (l *lowerCheck) each(ctx context.Context, size int, do func(list []int) error) error {
	for from := 0; from < len(l.inputs); from += size {
		list := l.inputs[from:min(from+size, len(l.inputs))]
		if size < len(l.inputs) || l.rows[0] == nil {
			err := parallel.For(ctx, len(list), func(n int) { l.rows[n] = l.c.Row(list[n], l.bufs[n]) })
			if err != nil {
				return err
			}
		}
		if err := do(list); err != nil {
			return err
		}
	}
	return nil
}
