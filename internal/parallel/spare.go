package parallel

import "sync"

// Spare keeps what goroutines use in turn: as many are made as are in use at once. It forgets none, as a sync.Pool
// does whenever the garbage collector runs, and under the race detector at random; what a call allocates is then no
// matter of time. The zero value is empty. It lives as long as one call.
type Spare[T any] struct {
	mu   sync.Mutex
	free []*T
}

// Get returns one that nobody uses, or a new one, which is zero.
func (s *Spare[T]) Get() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		x := s.free[n-1]
		s.free = s.free[:n-1]
		return x
	}
	return new(T)
}

// Put gives one back.
func (s *Spare[T]) Put(x *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}
