// Package rowcache reads the rows of a cost matrix once, on all cores, and keeps as many of them as a budget allows.
//
// A structured cost computes a row anew for every reader, which takes up to a hundred times as long as to read it from
// memory. So solvers that sweep over the rows hold copies. That changes no number: a matrix returns the same bits at
// every call.
package rowcache

import (
	"context"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// DefaultMemory is what Settings.Memory = 0 means to every solver: 256 MiB.
const DefaultMemory = 256 << 20

// Fit returns how many of n rows of kv numbers fit into memory bytes: into DefaultMemory if memory is 0, and none if it
// is negative.
func Fit(memory int64, n, kv int) int {
	if memory == 0 {
		memory = DefaultMemory
	}
	if memory < 0 || n < 1 || kv < 1 {
		return 0
	}
	return int(min(int64(n), memory/8/int64(kv)))
}

const (
	// block rows are read between two looks at the context, at most.
	block = 16
	// serialCells are read by one goroutine: they take microseconds in memory, and rarely more than a millisecond if
	// computed.
	serialCells = 1 << 15
)

// Read reads the rows index[0], index[1], ... of c, each of them once. It copies row index[n] to dst[n], for n below
// len(dst), and calls check, from several goroutines, with every n and row index[n], which is valid only during the
// call. Slices of dst that are too short are replaced. A row whose length is not kv is checked, but not copied.
//
// The error is that of the lowest n for which check returns one. When the context ends, every processor reads 16
// further rows at most, and the error is that of the context. A nil context never ends.
func Read(ctx context.Context, c cost.Matrix, index []int, dst [][]float64,
	check func(n int, row []float64) error) error {
	ctx = wpmerr.Context(ctx)
	_, kv := c.Dims()
	r := reader{matrix: c, kv: kv, index: index, dst: dst[:min(len(dst), len(index))], check: check, failed: len(index)}
	blocks := (len(index) + block - 1) / block
	if len(index) <= serialCells/kv {
		for b := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.read(b)
		}
		return r.err
	}
	if err := parallel.For(ctx, blocks, r.read); err != nil {
		return err
	}
	return r.err
}

// reader is one call of Read.
type reader struct {
	matrix cost.Matrix
	kv     int
	index  []int
	dst    [][]float64
	check  func(n int, row []float64) error

	spare parallel.Spare[[]float64] // for rows that are not held

	mu     sync.Mutex
	failed int // the lowest n whose row is bad
	err    error
}

// read reads the rows of one block, unless a lower row is bad.
func (r *reader) read(b int) {
	from, to := b*block, min((b+1)*block, len(r.index))
	if r.passed(from) {
		return
	}
	held := r.rows(from, min(to, len(r.dst)))
	var buf []float64
	for n := from; n < to; n++ {
		if n < len(r.dst) {
			buf = held[n-from]
		} else if n == max(from, len(r.dst)) {
			spare := r.spare.Get()
			defer r.spare.Put(spare)
			if *spare == nil {
				*spare = make([]float64, r.kv)
			}
			buf = *spare
		}
		row := r.matrix.Row(r.index[n], buf)
		if n < len(r.dst) && len(row) == r.kv {
			copy(buf, row) // it may be a view
		}
		if err := r.check(n, row); err != nil {
			r.fail(n, err)
			return
		}
	}
}

// rows returns the rows from to end - 1 of dst, made as long as they must be. Memory is asked for by blocks: to clear
// it all at once would take longer than a cancel may.
func (r *reader) rows(from, end int) [][]float64 {
	if from >= end {
		return nil
	}
	rows := r.dst[from:end]
	var slab []float64
	for n := range rows {
		if cap(rows[n]) >= r.kv {
			rows[n] = rows[n][:r.kv]
			continue
		}
		if slab == nil {
			slab = make([]float64, r.kv*(len(rows)-n))
		}
		rows[n], slab = slab[:r.kv:r.kv], slab[r.kv:]
	}
	return rows
}

// passed reports whether a row below n is bad.
func (r *reader) passed(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed < n
}

// fail records that row n is bad.
func (r *reader) fail(n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < r.failed {
		r.failed, r.err = n, err
	}
}
