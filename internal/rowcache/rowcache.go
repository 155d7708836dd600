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
)

// DefaultMemory is what Settings.Memory = 0 means to every solver: 256 MiB.
const DefaultMemory = 256 << 20

// Fit returns how many of n rows of kv numbers fit into memory bytes: into DefaultMemory if memory is 0, and none if it is
// negative.
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

// Read reads the rows index[0], index[1], ... of c, each of them once. It copies row index[n] to dst[n], for n below len(dst),
// and calls check, from several goroutines, with every n and row index[n], which is valid only during the call. Slices
// of dst that are too short are replaced. A row whose length is not kv is checked, but not copied.
//
// The error is that of the lowest n for which check returns one. When the context ends, every processor reads 16 further
// rows at most, and the error is that of the context. A nil context never ends.
func Read(ctx context.Context, c cost.Matrix, index []int, dst [][]float64, check func(n int, row []float64) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	_, kv := c.Dims()
	held := min(len(dst), len(index))
	var (
		mu     sync.Mutex
		failed = len(index)
		first  error
	)
	passed := func(n int) bool { // a lower row is bad
		mu.Lock()
		defer mu.Unlock()
		return failed < n
	}
	read := func(from, to int) {
		// Memory is asked for by blocks: to clear it all at once would take longer than a cancel may.
		var slab, buf []float64
		for n := from; n < to; n++ {
			switch {
			case n < held && cap(dst[n]) >= kv:
				dst[n] = dst[n][:kv]
			case n < held:
				if len(slab) == 0 {
					slab = make([]float64, kv*(min(to, held)-n))
				}
				dst[n], slab = slab[:kv:kv], slab[kv:]
			case n == held || buf == nil:
				buf = make([]float64, kv)
			}
			if n < held {
				buf = dst[n]
			}
			row := c.Row(index[n], buf)
			if n < held && len(row) == kv {
				copy(buf, row) // it may be a view
			}
			if err := check(n, row); err != nil {
				mu.Lock()
				if n < failed {
					failed, first = n, err
				}
				mu.Unlock()
				return
			}
		}
	}
	if len(index) <= serialCells/kv {
		for from := 0; from < len(index) && !passed(from); from += block {
			if err := ctx.Err(); err != nil {
				return err
			}
			read(from, min(from+block, len(index)))
		}
		return first
	}
	err := parallel.For(ctx, (len(index)+block-1)/block, func(b int) {
		if from := b * block; !passed(from) {
			read(from, min(from+block, len(index)))
		}
	})
	if err != nil {
		return err
	}
	return first
}
