package projection

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Stream computes many results at a time and hands them on in order. It serves one call of Run.
//
// Results lie in slots, which are reused: slot i mod len serves index i. Work is ahead of emit by at most the number of
// slots.
type Stream[R any] struct {
	mu      sync.Mutex
	changed sync.Cond
	next    int // index to be claimed
	out     int // index to be emitted
	end     int // no index from here on is claimed
	stopped bool
	slots   []Slot[R]
}

// Slot is the place of one result.
type Slot[R any] struct {
	Result R     // left over from an earlier index, so that its memory can be reused
	Err    error // what emit gets beside it
	of     *Stream[R]
	full   bool
}

// NewStream returns a stream with the given number of slots, at least one.
func NewStream[R any](slots int) *Stream[R] {
	s := &Stream[R]{slots: make([]Slot[R], max(1, slots))}
	s.changed.L = &s.mu
	for i := range s.slots {
		s.slots[i].of = s
	}
	return s
}

// Run calls work once for every index below n, on as many goroutines as there are processors, the calling one among
// them. It calls emit for every index in ascending order, on the calling goroutine; the result belongs to emit until
// emit returns. work fills its slot and calls Done, or leaves the slot to another goroutine that will.
//
// Run stops early if emit returns an error, and returns this error; if ctx ends, and returns ErrNotConverged; or if
// Stop is called, and returns nil. emit is then not called for the remaining indices, and the context of work ends. Run
// returns when all calls of work have returned. A panic of work or emit becomes a panic of Run. If Run has not stopped
// early and some slots hold an error, it returns a *BatchError.
func (s *Stream[R]) Run(ctx context.Context, n int, work func(ctx context.Context, i int, at *Slot[R]),
	emit func(i int, r *R, err error) error) error {
	inner, cancel := context.WithCancel(ctx)
	s.end = n
	var others parallel.Group
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		others.Go(func() {
			back := false
			defer func() {
				if !back { // work has panicked, and its slot will never be full
					s.Stop()
				}
			}()
			for i, at, _ := s.claim(nil); at != nil; i, at, _ = s.claim(nil) {
				work(inner, i, at)
			}
			back = true
		})
	}
	defer others.Wait() // and panic if one of them has
	defer cancel()
	defer s.Stop() // also when emit panics
	batch := BatchError{Users: n}
	for i := range n {
		at := &s.slots[i%len(s.slots)]
		j, free, full := s.claim(at)
		for ; free != nil; j, free, full = s.claim(at) {
			work(inner, j, free) // this goroutine works, too, while there is nothing to emit
		}
		if !full {
			return nil // stopped
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w after %d of %d distributions", wpmerr.Ended(ctx), i, n)
		}
		if at.Err != nil {
			if batch.Failed++; batch.Failed == 1 {
				batch.First, batch.Err = i, at.Err
			}
		}
		if err := emit(i, &at.Result, at.Err); err != nil {
			return err
		}
		s.release(at)
	}
	if batch.Failed > 0 {
		return &batch
	}
	return nil
}

// Done hands the result on to emit.
func (at *Slot[R]) Done() {
	s := at.of
	s.mu.Lock()
	at.full = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

// Stop ends the stream: no more indices are claimed, and Run returns without waiting for slots that are not done.
func (s *Stream[R]) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

// claim returns the next index and its slot, as soon as there is room for it. It returns no slot when the stream has
// stopped, when there are no more indices or, if until is not nil, when that slot is full. It says whether it is.
func (s *Stream[R]) claim(until *Slot[R]) (i int, free *Slot[R], full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped && (until == nil && s.next < s.end || until != nil && !until.full) {
		if s.next < s.end && s.next-s.out < len(s.slots) {
			s.next++
			return s.next - 1, &s.slots[(s.next-1)%len(s.slots)], false
		}
		s.changed.Wait()
	}
	return 0, nil, until != nil && until.full
}

// release frees the slot that was emitted for another index.
func (s *Stream[R]) release(at *Slot[R]) {
	s.mu.Lock()
	at.full, at.Err = false, nil
	s.out++
	s.mu.Unlock()
	s.changed.Broadcast()
}
