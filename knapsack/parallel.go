package knapsack

import (
	"context"

	"github.com/wpm-go/wpm/internal/parallel"
)

// Rows are handed out in blocks of this many, to whichever goroutine is free: a row's value does not
// depend on who computes it.
const rowBlock = 16

// The numbers of matrix entries below which starting goroutines costs more than it saves: an entry takes
// half a nanosecond to evaluate, and about fifty to sort.
const (
	serialEntries     = 1 << 17
	serialSortEntries = 1 << 12
)

// scratch is what one evaluation needs besides its result. It is used again and again.
type scratch struct {
	box box
	phi []float64
}

// forget drops what belongs to the last caller.
func (s *scratch) forget() { s.box.lo, s.box.hi, s.box.point = nil, nil, nil }

// evalAll evaluates every row of t for the checked box; phi and tau may be nil.
func (s *scratch) evalAll(t *Table, phi, tau []float64) {
	if t.k*t.kv < serialEntries { // without a closure, which would be allocated
		s.evalRows(t, 0, t.k, phi, tau)
		return
	}
	_ = parallel.For(context.Background(), (t.k+rowBlock-1)/rowBlock, func(b int) {
		s.evalRows(t, b*rowBlock, min((b+1)*rowBlock, t.k), phi, tau)
	})
}

// evalRows is evalAll for the rows of one block.
func (s *scratch) evalRows(t *Table, from, to int, toPhi, toTau []float64) {
	var phi, tau [4]float64
	for i := from; i < to; i += len(phi) {
		n := min(len(phi), to-i)
		if n == len(phi) {
			t.eval4(i, &s.box, &phi, &tau)
		} else {
			for r := range n {
				phi[r], tau[r] = t.eval(i+r, &s.box)
			}
		}
		if toPhi != nil {
			copy(toPhi[i:], phi[:n])
		}
		if toTau != nil {
			copy(toTau[i:], tau[:n])
		}
	}
}

// sortAll fills the order of every row, or returns the error of ctx when it ends.
func (t *Table) sortAll(ctx context.Context) error {
	if t.k*t.kv < serialSortEntries {
		s := new(sorter)
		for i := range t.k {
			s.sortRow(t.Row(i, nil), t.Order(i))
		}
		return nil
	}
	return parallel.For(ctx, (t.k+rowBlock-1)/rowBlock, func(b int) {
		s := new(sorter)
		for i := b * rowBlock; i < min((b+1)*rowBlock, t.k); i++ {
			s.sortRow(t.Row(i, nil), t.Order(i))
		}
	})
}
