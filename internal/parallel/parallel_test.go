package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := make([]int, 100)
		var seen []int
		err := Each(context.Background(), len(got), func(i int) error { got[i]++; return nil },
			func(n int) { seen = append(seen, n) })
		if err != nil || slices.Min(got) != 1 || slices.Max(got) != 1 {
			t.Errorf("on %d threads: %v, %v", procs, got, err)
		}
		if len(seen) != 100 || !slices.IsSorted(seen) || seen[99] != 100 {
			t.Errorf("on %d threads: progress %v", procs, seen)
		}
		// The error is that of the lowest task, and all below it have run.
		clear(got)
		err = Each(context.Background(), len(got), func(i int) error {
			got[i]++
			if i%10 == 7 {
				return fmt.Errorf("task %d", i)
			}
			return nil
		}, nil)
		if err == nil || err.Error() != "task 7" || slices.Min(got[:8]) != 1 {
			t.Errorf("on %d threads: %v after %v", procs, err, got)
		}
		runtime.GOMAXPROCS(old)
	}
	if err := Each(context.Background(), 0, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestEachStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ran := make([]bool, 1000)
	err := Each(ctx, len(ran), func(i int) error {
		ran[i] = true
		if i == 3 {
			cancel()
			return errors.New("a task's own error")
		}
		return nil
	}, nil)
	if !errors.Is(err, context.Canceled) || ran[999] {
		t.Errorf("%v", err)
	}
}

func TestLowestError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	ctx := context.Background()
	var sum, last atomic.Int64
	if err := Each(ctx, 1000, func(i int) error { sum.Add(int64(i)); return nil },
		func(n int) { last.Store(int64(n)) }); err != nil || sum.Load() != 499500 || last.Load() != 1000 {
		t.Errorf("sum %d, last %d, err %v", sum.Load(), last.Load(), err)
	}
	if err := Each(ctx, 0, func(int) error { return errors.New("called") }, func(int) {}); err != nil {
		t.Error(err)
	}
	// Whichever of two failing tasks is first in time, the lower one is reported.
	for round := range 100 {
		started, gate := make(chan struct{}), make(chan struct{})
		err := Each(ctx, 200, func(i int) error {
			switch i {
			case round % 2: // fails first
				<-started
				close(gate)
			case 1 - round%2: // fails later
				close(started)
				<-gate
				for range 100 {
					runtime.Gosched()
				}
			default:
				return nil
			}
			return fmt.Errorf("task %d", i)
		}, func(int) {})
		if err == nil || err.Error() != "task 0" {
			t.Fatalf("round %d: error %v, want that of task 0", round, err)
		}
	}
}

// TestPanics: what a task throws on whatever goroutine reaches the caller, where it can be recovered.
func TestPanics(t *testing.T) {
	boom := errors.New("boom")
	loops := map[string]func(task func(i int)){
		"For": func(task func(i int)) { _ = For(context.Background(), 64, task) },
		"Each": func(task func(i int)) {
			_ = Each(context.Background(), 64, func(i int) error { task(i); return nil }, nil)
		},
		"done": func(task func(i int)) { _ = Each(context.Background(), 64, func(int) error { return nil }, task) },
		"Group": func(task func(i int)) {
			var g Group
			for i := range 64 {
				g.Go(func() { task(i) })
			}
			g.Wait()
		},
		"nested": func(task func(i int)) {
			_ = For(context.Background(), 4, func(o int) { _ = For(context.Background(), 16, func(i int) { task(16*o + i) }) })
		},
	}
	for name, loop := range loops {
		for _, procs := range []int{2, 4} {
			old := runtime.GOMAXPROCS(procs)
			for what, task := range map[string]func(){"error": func() { panic(boom) }, "text": func() { panic("boom") },
				"goexit": runtime.Goexit} {
				func() {
					defer func() {
						p, ok := recover().(*Panic)
						if !ok {
							t.Errorf("%s, %s on %d threads: no *Panic", name, what, procs)
							return
						}
						if what == "error" && !errors.Is(p, boom) || len(p.Stack) == 0 {
							t.Errorf("%s: %v", name, p)
						}
					}()
					loop(func(i int) {
						if i == 7 {
							task()
						}
					})
					t.Errorf("%s, %s on %d threads: returned", name, what, procs)
				}()
			}
			runtime.GOMAXPROCS(old)
		}
	}
}

func TestFor(t *testing.T) {
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := make([]int, 1000)
		if err := For(context.Background(), len(got), func(i int) { got[i]++ }); err != nil || slices.Min(got) != 1 ||
			slices.Max(got) != 1 {
			t.Errorf("on %d threads: %v", procs, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var ran atomic.Int64
		err := For(ctx, 1000, func(int) { ran.Add(1); cancel() })
		if !errors.Is(err, context.Canceled) || ran.Load() > int64(procs) {
			t.Errorf("on %d threads: %v after %d tasks", procs, err, ran.Load())
		}
		// All done is no error, however late the context ends.
		ctx, cancel = context.WithCancel(context.Background())
		ran.Store(0)
		err = For(ctx, 1, func(int) { cancel() })
		if err != nil {
			t.Errorf("on %d threads: %v though all is done", procs, err)
		}
		runtime.GOMAXPROCS(old)
	}
	if err := For(context.Background(), 0, nil); err != nil {
		t.Error(err)
	}
}
