package projection

import (
	"context"
	"errors"
	"fmt"
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
				err := NewStream[int](slots).Run(context.Background(), n, func(_ context.Context, i int, at *Slot[int]) {
					calls.Add(1)
					if d := int64(i) - out.Load(); d >= int64(max(1, slots)) {
						ahead.Add(1)
					}
					at.Result = i * i
					if at.Err = nil; i%100 == 5 {
						at.Err = bad
					}
					at.Done()
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

// TestStreamElsewhere: slots may be filled by goroutines that are not the stream's.
func TestStreamElsewhere(t *testing.T) {
	s := NewStream[string](8)
	queue := make(chan func(), 8)
	var group parallel.Group
	for range 2 {
		group.Go(func() {
			defer s.Stop()
			for f := range queue {
				f()
			}
		})
	}
	next := 0
	err := s.Run(context.Background(), 100, func(_ context.Context, i int, at *Slot[string]) {
		fill := func() {
			at.Result = fmt.Sprint(i)
			at.Done()
		}
		if i%3 == 0 {
			fill()
			return
		}
		queue <- fill
	}, func(i int, r *string, _ error) error {
		if *r != fmt.Sprint(next) || i != next {
			t.Errorf("%d: %s, want %d", i, *r, next)
		}
		next++
		return nil
	})
	close(queue)
	group.Wait()
	if err != nil || next != 100 {
		t.Errorf("%v after %d", err, next)
	}
}

// TestStreamStops: by emit, by the context, by Stop, and by panics of work and emit.
func TestStreamStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	boom := errors.New("boom")
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		for _, at := range []int{0, 1, 17, 99} {
			run := func(work func(s *Stream[int], i int) bool, emit func(cancel func()) error) (calls int,
				thrown any, err error) {
				s := NewStream[int](6)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				defer func() { thrown = recover() }()
				var running atomic.Int64
				err = s.Run(ctx, 100, func(_ context.Context, i int, to *Slot[int]) {
					running.Add(1)
					defer running.Add(-1)
					if work(s, i) {
						to.Done()
					}
				}, func(i int, _ *int, _ error) error {
					calls++
					if i == at {
						return emit(cancel)
					}
					return nil
				})
				if running.Load() != 0 {
					t.Error("Run is back, and work is not")
				}
				return
			}
			work := func(*Stream[int], int) bool { return true }
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
			calls, thrown, _ := run(func(_ *Stream[int], i int) bool {
				if i == at {
					panic("work")
				}
				return true
			}, none)
			if p, ok := thrown.(*parallel.Panic); thrown != "work" && (!ok || p.Value != "work") || calls > at {
				t.Errorf("work panics at %d: %v after %d calls", at, thrown, calls)
			}
			if calls, _, err := run(func(s *Stream[int], i int) bool {
				if i == at {
					s.Stop()
				}
				return i < at
			}, none); err != nil || calls > at {
				t.Errorf("stopped at %d: %v after %d calls", at, err, calls)
			}
		}
	}
}
