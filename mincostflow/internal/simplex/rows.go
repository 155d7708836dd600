package simplex

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Costs whose largest entry lies between 2^minExp and 2^maxExp are read in place. Above, potentials
// of a few times that could overflow; below, products with masses could underflow. Rows are then
// scaled to the nearer end of the range, by a power of two, in a buffer.
const (
	minExp = -900
	maxExp = 1000
)

// rows are the rows of a cost matrix that take part, counted from 0, scaled where they must be.
type rows struct {
	p      Problem
	held   [][]float64 // the first rows, in place or copied; the others are computed
	copies [][]float64 // memory for copies
	most   float64     // largest cost that can be paid (rows and columns that take part), unscaled
	exp    int         // scaled rows are rows times 2^exp
	alone  bool        // read by one goroutine: whoever has many problems with known costs shares the processors

	buffers
	spare *parallel.Spare[buffers] // for other goroutines
}

// buffers are for matrices that compute their rows, and for exp != 0.
type buffers struct{ buf, scaled []float64 }

// reset makes r read the rows of its problem, in place if the matrix or whole holds them. Of a matrix that computes them,
// it makes place for copies of as many as fit into memory bytes.
func (r *rows) reset(whole [][]float64, memory int64) {
	kv := len(r.p.Low)
	r.exp, r.held, r.copies = 0, r.held[:0], r.copies[:0]
	d, dense := r.p.Cost.(*cost.Dense)
	if !dense {
		r.buf = num.Grow(r.buf, kv)
	}
	if !dense && whole == nil {
		fit := rowcache.Fit(memory, len(r.p.Rows), kv)
		r.copies = slices.Grow(r.copies, fit)[:fit] // with the rows of the last problem, to be used again
		return
	}
	for _, i := range r.p.Rows {
		if dense {
			r.held = append(r.held, d.Data[i*kv:(i+1)*kv:(i+1)*kv])
		} else {
			r.held = append(r.held, whole[i])
		}
	}
}

// load reads and checks the rows, copies those that fit into memory bytes, and finds the scale of their costs. It
// returns ErrNotConverged if the context ends before; up to fewLoaded rows are read whatever it says.
func (r *rows) load(ctx context.Context, memory int64) error {
	r.alone = false
	r.reset(nil, memory)
	tops, mask := make([]float64, len(r.p.Rows)), columns(r.p.Low, r.p.Room)
	if len(r.p.Rows) <= fewLoaded {
		ctx = context.Background()
	}
	r.most = math.MaxFloat64
	err := read(ctx, r.p.Cost, r.p.Rows, r.copies, func(n int, row []float64) (err error) {
		tops[n], err = checkRow(r.p.Rows[n], row, len(r.p.Low), mask)
		return err
	})
	if err == nil {
		r.held = append(r.held, r.copies...)
		r.setScale(slices.Max(tops))
	}
	return err
}

// turn copies the columns of o, which holds all its rows; these are the columns of r. It writes some lines of memory one
// after the other: the copies may all begin at the same place of the cache.
func (r *rows) turn(o *rows) {
	r.alone = o.alone
	r.copies = slices.Grow(r.copies[:0], len(r.p.Rows))[:len(r.p.Rows)]
	for m := range r.copies {
		r.copies[m] = num.Grow(r.copies[m], len(r.p.Low))
	}
	for from := 0; from < len(o.held); from += turnedRows {
		held := o.held[from:min(from+turnedRows, len(o.held))]
		for m, j := range r.p.Rows {
			to := r.copies[m][from:][:len(held)]
			for n, row := range held {
				to[n] = row[j]
			}
		}
	}
	r.held = append(r.held[:0], r.copies...)
	r.setScale(o.most)
}

// turnedRows are copied at a time.
const turnedRows = 16

// read is rowcache.Read with ErrNotConverged if the context ends.
func read(ctx context.Context, c cost.Matrix, index []int, held [][]float64,
	use func(n int, row []float64) error) error {
	err := rowcache.Read(ctx, c, index, held, use)
	if err != nil && err == ctx.Err() {
		return unread(ctx)
	}
	return err
}

// unread is the error if the context has ended before the costs were read.
func unread(ctx context.Context) error {
	return fmt.Errorf("%w before the costs were read", wpmerr.Ended(ctx))
}

// Costs are the costs of a stream of problems with one matrix and the same columns that take part.
type Costs struct {
	most  []float64   // largest cost of every row of the matrix among these columns
	whole [][]float64 // all rows, if they are computed and fit into memory
}

// ReadCosts reads and checks all rows of c, for columns with the bounds of a Problem, and holds them if they are
// computed and fit into memory bytes (as for Solver.Load). Errors: ErrShape, ErrNotFinite, ErrNegative, and
// ErrNotConverged if ctx ends before they are read.
func ReadCosts(ctx context.Context, c cost.Matrix, low, room []uint64, memory int64) (*Costs, error) {
	k, kv := c.Dims()
	known := &Costs{most: make([]float64, k)}
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	if _, ok := c.(*cost.Dense); !ok && rowcache.Fit(memory, k, kv) == k {
		known.whole = make([][]float64, k)
	}
	mask := columns(low, room)
	return known, read(ctx, c, all, known.whole, func(i int, row []float64) (err error) {
		known.most[i], err = checkRow(i, row, kv, mask)
		return err
	})
}

// loadKnown is load, by one worker, for costs that are known.
func (r *rows) loadKnown(w *watch, known *Costs, memory int64) error {
	r.alone = true
	r.reset(known.whole, memory)
	most := 0.0
	for _, i := range r.p.Rows {
		most = max(most, known.most[i])
	}
	r.setScale(most)
	few := len(r.p.Rows) <= fewLoaded
	for n := range r.copies {
		if !few && !w.look() {
			return unread(w.ctx)
		}
		r.copies[n] = num.Grow(r.copies[n], len(r.p.Low))
		copy(r.copies[n], r.p.Cost.Row(r.p.Rows[n], r.buf))
	}
	r.held = append(r.held, r.copies...)
	return nil
}

// fewLoaded rows are read even when the context has ended: a result for them costs next to nothing.
const fewLoaded = 32

// forget drops what belongs to the caller, and copies that take much memory.
func (r *rows) forget() {
	r.p, r.alone = Problem{}, false
	clear(r.held[:cap(r.held)])
	cells := 0
	for _, row := range r.copies[:cap(r.copies)] {
		cells += cap(row)
	}
	if cells > mostCells {
		r.copies = nil
	}
}

// raw returns the n-th row that takes part as it is, valid until the next call.
func (r *rows) raw(n int) []float64 {
	if n < len(r.held) {
		return r.held[n]
	}
	return r.p.Cost.Row(r.p.Rows[n], r.buf)
}

// at returns the n-th row that takes part times 2^exp, valid until the next call.
func (r *rows) at(n int) []float64 {
	row := r.raw(n)
	if r.exp == 0 {
		return row
	}
	by := math.Ldexp(1, r.exp)
	scaled := r.scaled[:len(row)]
	for j, c := range row {
		scaled[j] = c * by
	}
	return scaled
}

// sharedCells are worth more than one goroutine: they take a tenth of a millisecond in memory.
const sharedCells = 1 << 17

// large reports whether k rows are worth more than one goroutine.
func (r *rows) large(k int) bool { return k > sharedCells/len(r.p.Low) }

// shared reports whether k rows are to be read by several goroutines.
func (r *rows) shared(k int) bool { return !r.alone && r.large(k) && runtime.GOMAXPROCS(0) > 1 }

// A goroutine reads partRows rows, or partCells cells, at a time.
const (
	partRows  = 16
	partCells = 1 << 16
)

// share calls use with n below k and rows to read row n from, from several goroutines, and reports whether it has for
// all n before the context ended. Each goroutine looks at it before each part.
func (r *rows) share(w *watch, k int, use func(own *rows, n int)) bool {
	block := min(max(partCells/len(r.p.Low), 1), partRows)
	return r.each(w, (k+block-1)/block, func(own *rows, b int) {
		for n := b * block; n < min((b+1)*block, k); n++ {
			use(own, n)
		}
	})
}

// each calls use with every part below parts and rows to read, from several goroutines, until the context ends.
func (r *rows) each(w *watch, parts int, use func(own *rows, part int)) bool {
	if r.spare == nil {
		r.spare = new(parallel.Spare[buffers])
	}
	err := parallel.For(wpmerr.Context(w.ctx), parts, func(part int) {
		own := *r
		defer own.borrow()()
		use(&own, part)
	})
	w.over = w.over || err != nil
	return !w.over
}

// borrow gives r buffers of its own, and returns what gives them back.
func (r *rows) borrow() (giveBack func()) {
	if r.exp == 0 && len(r.held) == len(r.p.Rows) {
		return func() {}
	}
	b := r.spare.Get()
	b.buf = num.Grow(b.buf, len(r.p.Low))
	if r.exp != 0 {
		b.scaled = num.Grow(b.scaled, len(r.p.Low))
	}
	r.buffers = *b
	return func() { r.spare.Put(b) }
}

// top returns the largest cost that can be paid, scaled.
func (r *rows) top() float64 { return math.Ldexp(r.most, r.exp) }

// shifted returns x * 2^exp. Nearly always exp is 0.
func shifted(x float64, exp int) float64 {
	if exp == 0 {
		return x
	}
	return math.Ldexp(x, exp)
}

// setScale chooses the power of two for costs of at most most.
func (r *rows) setScale(most float64) {
	r.most, r.exp = most, 0
	if most == 0 {
		return
	}
	if _, e := math.Frexp(most); e > maxExp {
		r.exp = maxExp - e
	} else if e < minExp {
		r.exp = minExp - e
	}
	if r.exp != 0 {
		r.scaled = num.Grow(r.scaled, len(r.p.Low))
	}
}

// checkRow checks row i of a cost with kv columns, and returns its largest entry among those that mask admits.
func checkRow(i int, row []float64, kv int, mask []bool) (most float64, err error) {
	m := maxBits(row)
	if m >= infBits || len(row) != kv {
		if err := projection.CheckRow(i, row, kv); err != nil {
			return 0, err
		}
	} else if mask == nil {
		return math.Float64frombits(m), nil
	}
	// Rare: columns that admit nothing, or a cost of -0.
	for j, c := range row {
		if c > most && (mask == nil || mask[j]) {
			most = c
		}
	}
	return most, nil
}

// infBits is the first bit pattern, read as an integer, that is not a finite float >= 0.
const infBits = 0x7ff << 52

// maxBits returns the largest bit pattern in row. Finite floats >= 0 are ordered as their bit
// patterns are, and everything else (negative numbers, NaN, infinities, and -0) comes after them:
// one integer maximum both checks a row and finds its maximum.
func maxBits(row []float64) uint64 {
	var m uint64
	for _, c := range row {
		m = max(m, math.Float64bits(c))
	}
	return m
}

// mostCells are held, 8 MB.
const mostCells = 1 << 20

// watch looks at a context; at none if ctx is nil.
type watch struct {
	ctx  context.Context
	over bool // it has ended
}

// look reports whether the context goes on.
func (w *watch) look() bool {
	w.over = w.over || w.ctx != nil && w.ctx.Err() != nil
	return !w.over
}

// costs are the rows of a Solver as a start reads them.
type costs struct {
	rows  *rows
	watch *watch
}

// Row is that of start.Costs.
func (c *costs) Row(i int) ([]float64, bool) {
	if !c.watch.look() {
		return nil, false
	}
	return c.rows.at(i), true
}

// Going is that of start.Costs.
func (c *costs) Going() bool { return c.watch.look() }

// Share is that of start.Costs.
func (c *costs) Share(n int, t start.Task) bool {
	if !c.rows.shared(n) {
		return t.Do(0, 0, n, c)
	}
	var missed atomic.Bool
	done := c.rows.each(c.watch, start.Parts, func(own *rows, p int) {
		if !t.Do(p, p*n/start.Parts, (p+1)*n/start.Parts, &costs{own, &watch{ctx: c.watch.ctx}}) {
			missed.Store(true)
		}
	})
	c.watch.over = c.watch.over || missed.Load()
	return done && !missed.Load()
}
