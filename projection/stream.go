package projection

import (
	"context"
	"fmt"
	"runtime"
	"sync"

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
	inner, cancel := context.WithCancel(ctx)
	s := &stream[R]{end: n, slots: make([]slot[R], max(1, slots))}
	s.changed.L = &s.mu
	s.work = func(i int) {
		at := s.slot(i)
		err := work(inner, i, &at.result)
		s.change(func() { at.err, at.full = err, true })
	}
	var others parallel.Group
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		others.Go(func() {
			back := false
			defer func() {
				if !back { // work has panicked, and its slot will never be full
					s.stop()
				}
			}()
			for i, ok := s.claim(nil); ok; i, ok = s.claim(nil) {
				s.work(i)
			}
			back = true
		})
	}
	defer others.Wait() // and panic if one of them has
	defer cancel()
	defer s.stop() // also when emit panics
	return s.emitAll(ctx, emit)
}

// stream is one call of Stream. Slots are reused: number i mod len serves index i.
type stream[R any] struct {
	work    func(i int)
	mu      sync.Mutex
	changed sync.Cond
	next    int // index to be claimed
	out     int // index to be emitted
	end     int // no index from here on is claimed
	stopped bool
	slots   []slot[R]
}

// slot is the place of one result.
type slot[R any] struct {
	result R
	err    error
	full   bool
}

func (s *stream[R]) slot(i int) *slot[R] { return &s.slots[i%len(s.slots)] }

// emitAll hands all results to emit, and works while there is nothing to hand on.
func (s *stream[R]) emitAll(ctx context.Context, emit func(i int, r *R, err error) error) error {
	batch := BatchError{Users: s.end}
	for i := range s.end {
		at := s.slot(i)
		for j, ok := s.claim(at); ok; j, ok = s.claim(at) {
			s.work(j)
		}
		if !at.full {
			return nil // a panic has stopped it
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w after %d of %d distributions", wpmerr.Ended(ctx), i, s.end)
		}
		if at.err != nil {
			if batch.Failed++; batch.Failed == 1 {
				batch.First, batch.Err = i, at.err
			}
		}
		if err := emit(i, &at.result, at.err); err != nil {
			return err
		}
		s.change(func() { at.full, s.out = false, s.out+1 })
	}
	if batch.Failed > 0 {
		return &batch
	}
	return nil
}

// claim returns the next index, as soon as there is a slot for it. It returns none when the stream has stopped, when
// there are no more indices or, if until is not nil, when that slot is full.
func (s *stream[R]) claim(until *slot[R]) (i int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped && (until == nil && s.next < s.end || until != nil && !until.full) {
		if s.next < s.end && s.next-s.out < len(s.slots) {
			s.next++
			return s.next - 1, true
		}
		s.changed.Wait()
	}
	return 0, false
}

// stop ends the stream: no more indices are claimed.
func (s *stream[R]) stop() { s.change(func() { s.stopped = true }) }

// change calls f while no one else looks, and wakes those that wait.
func (s *stream[R]) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}
