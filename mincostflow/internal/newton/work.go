package newton

import (
	"sync"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// rowBits is above all row numbers: a power of two.
	rowBits  = 1 << rowShift
	rowShift = 7
	// Costs are below 2^costBits units, and prices are kept below twice that.
	costBits = 53
)

// work is a workspace for one problem.
type work struct {
	p     start.Problem
	total uint64  // units
	heavy []int32 // the rows that take part, ascending; the others have little mass

	// The costs of column at[c] as integers, in units of about 2^-53 of the largest (of the usual ones, where a few
	// dwarf the others; those are cut) and times rowBits, are cells[c*k : (c+1)*k]. Columns that take nothing are
	// left out; if there are very many cells, at is a sample.
	cells []int64
	at    []int32
	cell  []int32 // c for every column, or -1
	grain float64 // a unit
	keys  []int64 // the prices likewise, less the number of the row

	samples []sample
	sorted  []float64

	gap    float64   // typical, between the two least costs of a column
	width  float64   // the last width
	stale  bool      // f has changed since it was measured
	whole  bool      // samples is every column that takes anything, and not stale
	enough float64   // what the rows may have too much or too little, over total
	mass   []float64 // of the rows, over that of all of them
	f      []float64 // their prices
	old    []float64
	left   []float64 // what they keep, smoothed
	step   []float64
	slope  []float64 // k x k, minus the Hessian of the smoothed dual value; off the diagonal, two entries add up to one

	served      []service // of every column
	spare       []uint64  // what columns get from heavy rows
	first, next []int     // the columns of every heavy row, as lists
}

// sample stands for some columns.
type sample struct {
	low, room   float64
	best, other int64 // the two least of cell - key, as measure has found them
	at          int32 // its cells
}

// service is what prices say about a column: the two best rows, C_ij - f_i of the best, and how far the other is
// from it. A second of -1 is unknown.
type service struct {
	least, gap float64
	by, second int32
}

// works keeps workspaces.
var works = sync.Pool{New: func() any { return new(work) }}

// release puts w back without anything of the caller's.
func (w *work) release() {
	w.p = start.Problem{}
	works.Put(w)
}

// reset makes all rows of p heavy.
func (w *work) reset(p start.Problem) {
	w.p, w.total, w.heavy = p, 0, w.heavy[:0]
	for i, u := range p.Supply {
		w.total += u
		w.heavy = append(w.heavy, int32(i))
	}
}

// resize makes place for k rows.
func (w *work) resize(k int) {
	w.mass, w.f, w.keys = num.Grow(w.mass, k), num.Grow(w.f, k), num.Grow(w.keys, k)
	w.old, w.left, w.step = num.Grow(w.old, k), num.Grow(w.left, k), num.Grow(w.step, k)
	w.slope = num.Grow(w.slope, k*k)
}
