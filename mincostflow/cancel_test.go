package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// calls are the ways to have rows read: each returns the status, and checks what comes beside a cancel.
func (d draw) calls(t *testing.T, k, kv int, memory int64) map[string]func(ctx context.Context, c cost.Matrix) (Status,
	error) {
	mu, b := d.masses(k), d.masses(kv)
	lo, hi := box(uniform(kv), 1)
	settings := Settings{Memory: memory, AllRows: true}
	few := make([]int, 100)
	for n := range few {
		few[n] = 3 * n
	}
	half := func(p Problem, r Result, err error) (Status, error) {
		t.Helper()
		if r.Status == Cancelled {
			if c, ok := p.Cost.(given.Counting); ok {
				p.Cost = c.Matrix
			}
			checkResult(t, p, r)
		}
		return r.Status, err
	}
	return map[string]func(ctx context.Context, c cost.Matrix) (Status, error){
		"project": func(ctx context.Context, c cost.Matrix) (Status, error) {
			p := Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}
			r, err := Project(ctx, p, settings)
			return half(p, r, err)
		},
		"few atoms": func(ctx context.Context, c cost.Matrix) (Status, error) {
			p := Problem{Cost: c, Source: mu[:len(few)], Support: few, Lo: lo, Hi: hi}
			r, err := Project(ctx, p, settings)
			return half(p, r, err)
		},
		"transport": func(ctx context.Context, c cost.Matrix) (Status, error) {
			r, err := Transport(ctx, c, mu, b)
			if r.Status == Cancelled {
				if _, _, err := VerifyTransport(context.Background(), c.(given.Counting).Matrix, mu, b, r); err != nil {
					t.Error(err)
				}
			}
			return r.Status, err
		},
		"projector": func(ctx context.Context, c cost.Matrix) (Status, error) {
			p, err := NewProjector(ctx, c, lo, hi, settings)
			if err != nil {
				return Cancelled, fmt.Errorf("%w: %w", wpmerr.ErrNotConverged, err) // as the others put it
			}
			var r Result
			err = p.Project(ctx, mu, nil, &r)
			return half(Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, r, err)
		},
	}
}

// plain draws costs from scale to twice that.
func (d draw) plain(k, kv int, scale float64) *cost.Dense {
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, scale*(1+d.Float64()))
	}
	return c
}

// TestCancelReadsNoMore: wherever the context ends (at the start, while costs are read, in a sweep, in the last
// pass), every processor reads 32 rows more at most, and what comes back is verified. Rows that other threads ask for
// while one is on its way to end the context do not count.
func TestCancelReadsNoMore(t *testing.T) {
	const k, kv = 320, 40
	for _, procs := range []int{1, 3} {
		for _, memory := range []int64{0, 8 * kv * 200, -1} {
			old := runtime.GOMAXPROCS(procs)
			d := newDraw(99e6)
			dense := d.plain(k, kv, 1)
			calls := d.calls(t, k, kv, memory)
			for name, call := range calls {
				var all atomic.Int64
				if st, err := call(context.Background(), given.Counting{Matrix: dense, Rows: &all}); err != nil || st != Optimal {
					t.Fatalf("%s: %v, %v", name, st, err)
				}
				for _, at := range []int64{0, 1, 30, all.Load() / 5, all.Load() / 3, all.Load() / 2, all.Load() * 3 / 4,
					all.Load() - 90} {
					ctx, cancel := context.WithCancel(context.Background())
					var rows, ended atomic.Int64
					end := func() { cancel(); ended.Store(rows.Load()) }
					if at == 0 {
						end()
					}
					st, err := call(ctx, given.Counting{Matrix: dense, Rows: &rows, At: at, Cancel: end})
					if more := rows.Load() - ended.Load(); more > int64(32*procs) {
						t.Errorf("%s, memory %d, %d processors, cancelled at row %d of %d: %d rows read after", name, memory, procs, at,
							all.Load(), more)
					}
					if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || st != Cancelled {
						if rows.Load() < all.Load() {
							t.Errorf("%s, memory %d, cancelled at row %d of %d: %v, %v", name, memory, at, all.Load(), st, err)
						}
					}
					cancel()
				}
			}
			runtime.GOMAXPROCS(old)
		}
	}
}

// TestCancelledBounds: bounds after a cancel hold, tighten as the work goes on, and are those of the tree, not of
// nothing.
func TestCancelledBounds(t *testing.T) {
	for seed := range uint64(4) {
		d := newDraw(seed + 100e6)
		const k, kv = 40, 30
		for _, scale := range []float64{1, 0x1p-1040, 0x1p1022} {
			c := d.plain(k, kv, scale)
			p := Problem{Cost: c, Source: d.masses(k), Lo: repeat(0.5/kv, kv), Hi: repeat(2./kv, kv)}
			full, err := Project(context.Background(), p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			last := Result{}
			for asked := 1; ; asked++ {
				r, err := Project(&numtest.Asked{Context: context.Background(), Most: asked}, p, Settings{})
				if err == nil {
					break
				}
				checkResult(t, p, r)
				if r.Lower > full.Upper || r.Upper < full.Lower {
					t.Fatalf("seed %d, asked %d: [%v, %v] excludes [%v, %v]", seed, asked, r.Lower, r.Upper, full.Lower, full.Upper)
				}
				last = r
			}
			// A sweep has proved prices near the best, and the tree has moved nearly everything, at costs from 1 to 2.
			if scale == 1 && !(last.Lower > 0.9*full.Objective && last.Upper < 1.5*full.Objective) {
				t.Errorf("seed %d: stopped just before the end, [%v, %v] around %v", seed, last.Lower, last.Upper, full.Objective)
			}
		}
	}
}

// TestMemory: how many rows are held changes no bit of any result.
func TestMemory(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(numtest.Cases(6, 15)) {
		d := newDraw(seed + 101e6)
		k, kv := 2+d.Intn(90), 2+d.Intn(130)
		c := d.Costs(k, kv)
		computed := given.Counting{Matrix: c, Rows: new(atomic.Int64)}
		p := Problem{Cost: c, Source: d.masses(k), Lo: repeat(0.5/float64(kv), kv), Hi: repeat(2/float64(kv), kv)}
		want := mustProject(t, p, Settings{})
		for _, memory := range []int64{0, -1, 1, int64(8 * kv), int64(8 * kv * (k/2 + 1)), math.MaxInt64} {
			p.Cost = computed
			got, err := Project(ctx, p, Settings{Memory: memory})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, memory %d: %v, %+v, want %+v", seed, memory, err, got, want)
			}
			pr, err := NewProjector(ctx, computed, p.Lo, p.Hi, Settings{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			var one, other Result
			plain, err := NewProjector(ctx, c, p.Lo, p.Hi, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			err1, err2 := pr.Project(ctx, p.Source, nil, &one), plain.Project(ctx, p.Source, nil, &other)
			if err1 != nil || err2 != nil || !reflect.DeepEqual(one, other) {
				t.Fatalf("seed %d, memory %d: projector: %v, %v, %+v, want %+v", seed, memory, err1, err2, one, other)
			}
		}
	}
}

// TestRowsReadOnce: a row of a computed cost is computed once if it fits, and twice if it has no mass and all rows
// are asked for: not in every sweep.
func TestRowsReadOnce(t *testing.T) {
	const k, kv = 120, 100
	d := newDraw(102e6)
	c := d.Costs(k, kv)
	mu, lo, hi := d.masses(k), repeat(0.5/kv, kv), repeat(2./kv, kv)
	for memory, most := range map[int64]int64{0: k, 8 * kv * k: k} {
		var rows atomic.Int64
		counted := given.Counting{Matrix: c, Rows: &rows}
		if _, err := Project(context.Background(), Problem{Cost: counted, Source: mu, Lo: lo, Hi: hi},
			Settings{Memory: memory}); err != nil {
			t.Fatal(err)
		}
		if n := rows.Swap(0); n > most {
			t.Errorf("memory %d: %d rows computed of %d", memory, n, k)
		}
		if _, err := Transport(context.Background(), counted, mu, nil); err != nil {
			t.Fatal(err)
		}
		if n := rows.Swap(0); n > k {
			t.Errorf("transport: %d rows computed of %d", n, k)
		}
		pr, err := NewProjector(context.Background(), counted, lo, hi, Settings{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		for range 3 {
			if err := pr.Project(context.Background(), mu, nil, &r); err != nil {
				t.Fatal(err)
			}
		}
		if n := rows.Swap(0); n > most {
			t.Errorf("projector, memory %d: %d rows computed of %d", memory, n, k)
		}
	}
}

// TestWorkerPanics: a panic of get reaches the caller of All, whichever goroutine it happens on.
func TestWorkerPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	c := dense(t, []float64{0, 1}, []float64{1, 0})
	pr, err := NewProjector(context.Background(), c, []float64{0, 0}, []float64{1, 1}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for at := range 40 {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the panic of get(%d) is gone", at)
				}
			}()
			err := pr.All(context.Background(), 40, func(i int) ([]float64, []int) {
				if i == at {
					panic("get")
				}
				return []float64{1, 2}, nil
			}, func(int, *Result, error) error { return nil })
			t.Errorf("All = %v though get(%d) panics", err, at)
		}()
	}
}

// TestBatchError: users that failed are counted, even if emit looks at no error.
func TestBatchError(t *testing.T) {
	c := dense(t, []float64{0, 1}, []float64{1, 0})
	pr, err := NewProjector(context.Background(), c, []float64{0, 0}, []float64{1, 1}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	err = pr.All(context.Background(), 10, func(i int) ([]float64, []int) {
		if i >= 7 {
			return []float64{0, 0}, nil
		}
		return []float64{3, 4}, nil
	}, func(int, *Result, error) error { return nil })
	var batch *projection.BatchError
	if !errors.As(err, &batch) || batch.Failed != 3 || batch.Users != 10 || batch.First != 7 || !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("%v", err)
	}
}
