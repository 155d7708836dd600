package projection

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestStream: every index is worked at once and emitted in order, ahead of emit by no more than there are slots.
func TestStream(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	bad := errors.New("bad")
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 2, 7, 300} {
			for _, slots := range []int{0, 1, 3, 400} {
				var calls, ahead, out atomic.Int64
				next := 0
				err := Stream(context.Background(), n, slots, func(_ context.Context, i int, r *int) error {
					calls.Add(1)
					if d := int64(i) - out.Load(); d >= int64(max(1, slots)) {
						ahead.Add(1)
					}
					if *r = i * i; i%100 == 5 {
						return bad
					}
					return nil
				}, func(i int, r *int, err error) error {
					if i != next || *r != i*i || (err != nil) != (i%100 == 5) {
						t.Errorf("emit(%d, %d, %v), want %d", i, *r, err, next)
					}
					next++
					out.Add(1)
					return nil
				})
				if next != n || calls.Load() != int64(n) || ahead.Load() != 0 {
					t.Errorf("%d processors, %d slots: %d calls, %d results, %d too early", procs, slots, calls.Load(), next,
						ahead.Load())
				}
				batch := new(BatchError)
				switch {
				case n <= 5 && err != nil:
					t.Error(err)
				case n > 5 && (!errors.As(err, &batch) || !errors.Is(err, bad) || *batch != BatchError{(n + 94) / 100, n, 5, bad}):
					t.Errorf("%v of %d", err, n)
				}
			}
		}
	}
}

// TestStreamStops: by emit, by the context, and by panics of work and emit.
func TestStreamStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	boom := errors.New("boom")
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		for _, at := range []int{0, 1, 17, 99} {
			run := func(work func(i int), emit func(cancel func()) error) (calls int,
				thrown any, err error) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				defer func() { thrown = recover() }()
				var running atomic.Int64
				err = Stream(ctx, 100, 6, func(_ context.Context, i int, _ *int) error {
					running.Add(1)
					defer running.Add(-1)
					work(i)
					return nil
				}, func(i int, _ *int, _ error) error {
					calls++
					if i == at {
						return emit(cancel)
					}
					return nil
				})
				if running.Load() != 0 {
					t.Error("Stream is back, and work is not")
				}
				return
			}
			work := func(int) {}
			none := func(func()) error { return nil }
			if calls, _, err := run(work, func(func()) error { return boom }); err != boom || calls != at+1 {
				t.Errorf("emit fails at %d: %v after %d calls", at, err, calls)
			}
			calls, _, err := run(work, func(cancel func()) error { cancel(); return nil })
			if at < 99 && (!errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled)) || calls != at+1 {
				t.Errorf("cancelled at %d: %v after %d calls", at, err, calls)
			}
			if _, thrown, _ := run(work, func(func()) error { panic("emit") }); thrown != "emit" {
				t.Errorf("emit panics at %d: %v", at, thrown)
			}
			calls, thrown, _ := run(func(i int) {
				if i == at {
					panic("work")
				}
			}, none)
			if p, ok := thrown.(*parallel.Panic); thrown != "work" && (!ok || p.Value != "work") || calls > at {
				t.Errorf("work panics at %d: %v after %d calls", at, thrown, calls)
			}
		}
	}
}
