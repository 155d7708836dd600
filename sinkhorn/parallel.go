package sinkhorn

import (
	"context"
	"sync/atomic"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// watch runs the loops of a call and looks at its context.
type watch struct {
	ctx         context.Context // of the call
	sweep       context.Context // that loops look at: the same, or one that does not end
	interrupted atomic.Bool     // a loop was left before its end: what it computed is not there
}

func newWatch(ctx context.Context) *watch { return &watch{ctx: ctx, sweep: ctx} }

// loop calls f(0), ..., f(m-1), on several threads if there are any, unless the context ends.
func (w *watch) loop(m int, f func(i int)) {
	if parallel.For(w.sweep, m, f) != nil {
		w.interrupted.Store(true)
	}
}

// rows calls f for every row of a k x n matrix, with the number of its chunk, unless the context ends.
func (w *watch) rows(k, n int, f func(ch, i int)) {
	m := loops.Chunks(k, n)
	w.loop(m, func(ch int) {
		from, to := loops.ChunkRows(k, m, ch)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && w.ended() {
				return
			}
			f(ch, i)
		}
	})
}

// ended reports whether loops are to be left, since their context has ended.
func (w *watch) ended() bool {
	if w.sweep.Err() == nil {
		return false
	}
	w.interrupted.Store(true)
	return true
}

// cut reports whether a loop was left.
func (w *watch) cut() bool { return w.interrupted.Load() }

// lookRows is how many rows a loop reads between two looks at the context.
const lookRows = 16

// patientCells is the size up to which a sweep over a matrix, a millisecond or so, is not left on the way: then a
// call that the context ends has the bounds of its last iterate.
const patientCells = 1 << 20

// patient makes sweeps over cells entries that are few enough go on to their end.
func (w *watch) patient(cells int) {
	if cells <= patientCells && !w.cut() {
		w.sweep = context.Background()
	}
}
