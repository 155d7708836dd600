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
		err := Each(context.Background(), len(got), func(i int) error { got[i]++; return nil }, func(n int) { seen = append(seen, n) })
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
	if err := Each(ctx, 1000, func(i int) error { sum.Add(int64(i)); return nil }, func(n int) { last.Store(int64(n)) }); err != nil || sum.Load() != 499500 || last.Load() != 1000 {
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
