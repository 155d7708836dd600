// Package rowcache reads the rows of a cost matrix once, on all cores, and keeps as many of them as a budget allows.
//
// A structured cost computes a row anew for every reader, which takes up to a hundred times as long as to read it from
// memory. So solvers that sweep over the rows hold copies. That changes no number: a matrix returns the same bits at
// every call.
package rowcache

import (
	"context"
	"math"
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

// Read reads the rows index[0], index[1], ... of c, each of them once. It copies the first len(dst)/kv to dst, one after
// the other, and calls check, from several goroutines, with every n and row index[n], which is valid only during the call.
// A row whose length is not kv is checked, but not copied.
//
// The error is that of the lowest n for which check returns one. When the context ends, every processor reads 16 further
// rows at most, and the error is that of the context. A nil context never ends.
func Read(ctx context.Context, c cost.Matrix, index []int, dst []float64, check func(n int, row []float64) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	_, kv := c.Dims()
	held := len(dst) / kv
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
		var buf []float64
		for n := from; n < to; n++ {
			if n < held {
				buf = dst[n*kv : (n+1)*kv : (n+1)*kv]
			} else if n == held || buf == nil {
				buf = make([]float64, kv)
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

// Dense returns c in memory, if it is there already or fits into memory bytes (see Fit), and nil if neither. It reads all
// rows in any case, and check is as in Read.
func Dense(ctx context.Context, c cost.Matrix, memory int64, check func(i int, row []float64) error) (*cost.Dense, error) {
	k, kv := c.Dims()
	d, ok := c.(*cost.Dense)
	var dst []float64
	if !ok && k <= math.MaxInt/8/kv && Fit(memory, k, kv) == k {
		if ctx != nil && ctx.Err() != nil { // before memory is asked for
			return nil, ctx.Err()
		}
		dst = make([]float64, k*kv)
		d = &cost.Dense{K: k, Kv: kv, Data: dst}
	}
	index := make([]int, k)
	for i := range index {
		index[i] = i
	}
	if err := Read(ctx, c, index, dst, check); err != nil {
		return nil, err
	}
	return d, nil
}
