package parallel

import (
	"context"
	"runtime"
	"testing"
)

// TestSpare: no two goroutines hold one at a time, and no more are made than are held at once, whatever the collector
// does.
func TestSpare(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var s Spare[[]int]
	err := For(context.Background(), 400, func(n int) {
		x := s.Get()
		*x = append((*x)[:0], n)
		if n%50 == 0 {
			runtime.GC()
		}
		if (*x)[0] != n {
			t.Errorf("%d is used by two", n)
		}
		s.Put(x)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.free); n < 1 || n > 4 {
		t.Errorf("%d were made for 4 goroutines", n)
	}
	if a, b := s.Get(), s.Get(); a == b {
		t.Error("one was given twice")
	}
}
