package sinkhorn

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestKLProjectMemory: what the memory held before does not show, neither in columns that s does not reach nor in others.
func TestKLProjectMemory(t *testing.T) {
	g := newGenerator(91)
	var w kl.Workspace
	for range 200 {
		n := 2 + g.intn(12)
		logS := make([]float64, n)
		for j := range logS {
			if logS[j] = 20 * (g.float() - 0.5); g.intn(4) == 0 {
				logS[j] = math.Inf(-1)
			}
		}
		lo, hi := box(g.mass(n), 3)
		for j := range lo {
			if g.intn(2) == 0 {
				lo[j] = 0
			}
		}
		want, theta, err := KLProject(logS, lo, hi)
		if err != nil {
			continue // the columns that s reaches cannot hold the mass
		}
		q := make([]float64, n)
		for j := range q {
			q[j] = hi[j] / 2
		}
		if again, ok := w.Project(logS, lo, hi, q); !ok || again != theta || !slices.Equal(q, want) {
			t.Errorf("logS = %v, lo = %v, hi = %v: %v, %v in used memory, want %v, %v", logS, lo, hi, q, again, want, theta)
		}
	}
}
