package sinkhorn

import (
	"context"
	"sync/atomic"

	"github.com/wpm-go/wpm/internal/parallel"
)

// chunkCells is how many matrix cells make a unit of parallel work. Chunks depend on the shape of
// the matrix alone, and their partial sums are joined in index order: results have the same bits
// whatever the number of threads.
const chunkCells = 1 << 18

// fullRows is how many rows a chunk has at least, where there are more than 16 of them: the partial sums of
// every chunk are written and read again, which should be little beside its rows.
const fullRows = 256

// chunks returns how many chunks a k x n matrix is cut into.
func chunks(k, n int) int {
	c := (int64(k)*int64(n) + chunkCells - 1) / chunkCells
	return int(max(1, min(c, int64(k), int64(max(16, k/fullRows)), 64)))
}

// chunkRows returns the rows of chunk c of m. Chunks of many rows begin at a multiple of 8: the products take
// four rows at a time, and are slow for the rest.
func chunkRows(k, m, c int) (from, to int) {
	from, to = int(int64(k)*int64(c)/int64(m)), int(int64(k)*int64(c+1)/int64(m))
	if k/m < 16 {
		return from, to
	}
	from &^= 7
	if c+1 < m {
		to &^= 7
	}
	return from, to
}

// watch runs the loops of a call and looks at its context.
type watch struct {
	ctx  context.Context // nil never ends
	over atomic.Bool     // a loop was left before its end: what it computed is not there
}

// loop calls f(0), ..., f(m-1), on several threads if there are any, unless the context ends.
func (w *watch) loop(m int, f func(i int)) {
	ctx := w.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	if parallel.For(ctx, m, f) != nil {
		w.over.Store(true)
	}
}

// rows calls f for every row of a k x n matrix, with the number of its chunk, unless the context ends.
func (w *watch) rows(k, n int, f func(ch, i int)) {
	m := chunks(k, n)
	w.loop(m, func(ch int) {
		from, to := chunkRows(k, m, ch)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && w.ended() {
				return
			}
			f(ch, i)
		}
	})
}

// ended reports whether the context is over, for loops to be left.
func (w *watch) ended() bool {
	if w.ctx == nil || w.ctx.Err() == nil {
		return false
	}
	w.over.Store(true)
	return true
}

// cut reports whether a loop was left.
func (w *watch) cut() bool { return w.over.Load() }

// lookRows is how many rows a loop reads between two looks at the context.
const lookRows = 16

// patientCells is the size up to which a sweep over a matrix, a millisecond or so, is not left on the way: then a
// call that the context ends has the bounds of its last iterate.
const patientCells = 1 << 20

// patient makes sweeps over cells entries that are few enough go on to their end.
func (w *watch) patient(cells int) {
	if cells <= patientCells && !w.cut() {
		w.ctx = nil
	}
}
