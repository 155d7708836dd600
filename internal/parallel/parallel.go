// Package parallel runs numbered tasks on all cores, with the same outcome whatever the schedule.
package parallel

import (
	"context"
	"runtime"
	"sync"
)

// Each calls task(0) to task(n-1) on GOMAXPROCS goroutines and done with the number finished, never twice at a time. Tasks are started in order.
//
// The error is that of the lowest task that fails, whatever the schedule: after a failure no further task is started, but all lower ones have been, and
// are waited for. The context is looked at between tasks, and its error comes before all others. done may be nil.
func Each(ctx context.Context, n int, task func(i int) error, done func(finished int)) error {
	var (
		mu       sync.Mutex
		next     int
		finished int
		failed   = n
		first    error
		wg       sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || failed < n || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				err := task(i)
				mu.Lock()
				if err != nil && i < failed {
					failed, first = i, err
				}
				finished++
				if err == nil && done != nil {
					done(finished)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil { // a task that the context stopped fails with an error of its own; say the reason instead
		return err
	}
	return first
}
