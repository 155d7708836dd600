package sinkhorn

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestNoShift: on numbers that floats hold exactly, the constant is the best there is, and none where that is as good.
func TestNoShift(t *testing.T) {
	g := newGenerator(29)
	none := 0
	for range 500 {
		n := 1 + g.intn(8)
		b, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range b {
			b[j] = float64(g.intn(7) - 3)
			lo[j] = float64(g.intn(2)) / 16 // few values, so that often all constants of an interval are best
			hi[j] = lo[j] + float64(1+g.intn(3))/8
		}
		value := func(t float64) float64 {
			sum := t
			for j, x := range b {
				sum += min(lo[j]*(x-t), hi[j]*(x-t))
			}
			return sum
		}
		// Concave, with slope 1 - sum lo > 0 on the left and 1 - sum hi on the right, < 0 where hi can hold all: the maximum
		// is at a break.
		var high float64
		best := math.Inf(-1)
		for j, x := range b {
			high += hi[j]
			best = max(best, value(x))
		}
		if !(high > 1) {
			continue
		}
		got := kl.BestShift(b, lo, hi)
		if value(got) != best {
			t.Errorf("b = %v, lo = %v, hi = %v: %v has the value %v, the best is %v", b, lo, hi, got, value(got), best)
		}
		if value(0) == best {
			none++
			if got != 0 {
				t.Errorf("b = %v, lo = %v, hi = %v: %v, but 0 is as good", b, lo, hi, got)
			}
		}
	}
	if none < 20 {
		t.Errorf("none is best %d times", none)
	}
}
