package projection

import (
	"context"
	"fmt"
	"runtime"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Stream computes n results at a time and hands them on in order. It calls work once for every index below n, on as many
// goroutines as there are processors, the calling one among them. It calls emit for every index in ascending order, on
// the calling goroutine. r is left over from an earlier index, so that its memory can be reused: it belongs to work, and
// then to emit until emit returns. err is the error of work. Work is ahead of emit by at most so many indices as there
// are slots.
//
// Stream stops early if emit returns an error, and returns this error, or if ctx ends, and returns ErrNotConverged. emit
// is then not called for the remaining indices, and the context of work ends. Stream returns when all calls of work have
// returned. A panic of work or emit becomes a panic of Stream. If it has not stopped early and work has failed, the error
// is a *BatchError.
func Stream[R any](ctx context.Context, n, slots int, work func(ctx context.Context, i int, r *R) error,
	emit func(i int, r *R, err error) error) error {
	ctx = wpmerr.Context(ctx)
	inner, cancel := context.WithCancel(ctx)
	ring := make([]slot[R], max(1, slots)) // index i has number i mod len
	tasks := make(chan int, len(ring))     // indices that have a slot and are not worked at yet
	for i := range ring {
		ring[i].done = make(chan struct{}, 1)
		if i < n {
			tasks <- i
		}
	}
	do := func(i int) {
		at := &ring[i%len(ring)]
		at.err = work(inner, i, &at.result)
		at.done <- struct{}{}
	}
	var others parallel.Group
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		others.Go(func() {
			defer cancel() // if work has panicked, its slot will never be done
			for inner.Err() == nil {
				select {
				case i := <-tasks:
					do(i)
				case <-inner.Done():
				}
			}
		})
	}
	defer others.Wait() // and panic if one of them has
	defer cancel()      // also when emit panics
	batch := BatchError{Users: n}
	for i := range n {
		at := &ring[i%len(ring)]
		at.await(inner, tasks, do)
		if ctx.Err() != nil {
			return fmt.Errorf("%w after %d of %d distributions", wpmerr.Ended(ctx), i, n)
		}
		if inner.Err() != nil {
			return nil // work has panicked
		}
		if at.err != nil {
			if batch.Failed++; batch.Failed == 1 {
				batch.First, batch.Err = i, at.err
			}
		}
		if err := emit(i, &at.result, at.err); err != nil {
			return err
		}
		if next := i + len(ring); next < n {
			tasks <- next
		}
	}
	if batch.Failed > 0 {
		return &batch
	}
	return nil
}

// slot is the place of one result.
type slot[R any] struct {
	result R
	err    error
	done   chan struct{} // has room for the one message that says so
}

// await waits for the result or for the end of ctx, and does tasks meanwhile.
func (s *slot[R]) await(ctx context.Context, tasks <-chan int, do func(i int)) {
	for {
		select {
		case <-s.done:
			return
		default:
		}
		select {
		case <-s.done:
			return
		case <-ctx.Done():
			return
		case i := <-tasks:
			do(i)
		}
	}
}
