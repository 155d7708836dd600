package rowcache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// counted is a structured cost C_ij = i*kv + j that counts its rows and calls after with their number.
type counted struct {
	k, kv int
	view  bool // rows are new slices, not the buffer
	rows  *atomic.Int64
	after func(rows int64)
}

func (c counted) Dims() (int, int) { return c.k, c.kv }

func (c counted) Row(i int, buf []float64) []float64 {
	if c.view || len(buf) < c.kv {
		buf = make([]float64, c.kv)
	}
	buf = buf[:c.kv]
	for j := range buf {
		buf[j] = float64(i*c.kv + j)
	}
	if n := c.rows.Add(1); c.after != nil {
		c.after(n)
	}
	return buf
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		memory int64
		n, kv  int
		want   int
	}{
		{0, 10, 10, 10}, {-1, 10, 10, 0}, {799, 10, 10, 9}, {800, 10, 10, 10}, {79, 10, 10, 0}, {1, 1, 1, 0}, {8, 1, 1, 1},
		{0, math.MaxInt, 1 << 20, 32}, {1 << 33, math.MaxInt, math.MaxInt, 0}, {0, 0, 5, 0}, {0, 5, 0, 0},
		{math.MinInt64, 5, 5, 0},
	} {
		if got := Fit(c.memory, c.n, c.kv); got != c.want {
			t.Errorf("Fit(%d, %d, %d) = %d, want %d", c.memory, c.n, c.kv, got, c.want)
		}
	}
}

// TestRead: every row is checked once, with its content, and the first ones are copied, whatever their number, the size
// and the processors.
func TestRead(t *testing.T) {
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		for _, kv := range []int{3, 700} {
			for _, held := range []int{0, 1, 17, 100} {
				for _, view := range []bool{false, true} {
					index := make([]int, 0, 100)
					for i := range 100 {
						index = append(index, 3*i+1)
					}
					dst := make([][]float64, held)
					for n := range dst { // some of them are in use already
						dst[n] = make([]float64, n%3*kv)
					}
					seen := make([]int, len(index))
					var rows atomic.Int64
					err := Read(nil, counted{k: 400, kv: kv, view: view, rows: &rows}, index, dst, func(n int, row []float64) error {
						seen[n]++
						if len(row) != kv || row[0] != float64(index[n]*kv) || row[kv-1] != float64(index[n]*kv+kv-1) {
							return fmt.Errorf("row %d: %v", n, row)
						}
						return nil
					})
					if err != nil || slices.Min(seen) != 1 || slices.Max(seen) != 1 || rows.Load() != 100 {
						t.Fatalf("kv %d, held %d: %v, %d rows, seen %v", kv, held, err, rows.Load(), seen)
					}
					for n, row := range dst {
						if len(row) != kv {
							t.Fatalf("kv %d, held %d: row %d has %d entries", kv, held, n, len(row))
						}
						for j, x := range row {
							if want := float64(index[n]*kv + j); x != want {
								t.Fatalf("kv %d, held %d: dst[%d][%d] = %v, want %v", kv, held, n, j, x, want)
							}
						}
					}
				}
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// TestReadError: the error is that of the lowest bad row.
func TestReadError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, kv := range []int{3, 700} {
		for range 50 {
			index := make([]int, 300)
			for i := range index {
				index[i] = i
			}
			err := Read(context.Background(), counted{k: 300, kv: kv, rows: new(atomic.Int64)}, index, nil,
				func(n int, _ []float64) error {
					if n%50 == 49 {
						return fmt.Errorf("row %d", n)
					}
					return nil
				})
			if err == nil || err.Error() != "row 49" {
				t.Fatalf("kv %d: %v", kv, err)
			}
		}
	}
}

// TestReadCancelled: after the cancel, every processor reads 16 rows at most.
func TestReadCancelled(t *testing.T) {
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		for _, kv := range []int{3, 700} {
			for _, at := range []int64{0, 1, 40, 500} {
				ctx, cancel := context.WithCancel(context.Background())
				if at == 0 {
					cancel()
				}
				var rows atomic.Int64
				c := counted{k: 5000, kv: kv, rows: &rows, after: func(n int64) {
					if n == at {
						cancel()
					}
				}}
				index := make([]int, 5000)
				err := Read(ctx, c, index, make([][]float64, 3000), func(int, []float64) error { return nil })
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				if more := rows.Load() - at; more > int64(16*procs) || at == 0 && more > 0 {
					t.Errorf("%d processors, kv %d: %d rows after a cancel at %d", procs, kv, more, at)
				}
				cancel()
			}
		}
		runtime.GOMAXPROCS(old)
	}
}
