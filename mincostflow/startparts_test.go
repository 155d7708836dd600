package mincostflow

import (
	"context"
	"testing"
)

// TestSweepAsksSeldom: a sweep over the costs asks the context at its start and then once in 16 rows, or 2^16 cells.
func TestSweepAsksSeldom(t *testing.T) {
	const k, n = 300, 400
	d := newDraw(33e6)
	p := Problem{Cost: d.costs(k, n), Source: repeat(1./k, k), Lo: repeat(0.5/n, n), Hi: repeat(2./n, n)}
	s, _, settings := solverOf(t, p)
	s.simplex(context.Background(), settings)
	ctx := &asked{Context: context.Background()}
	s.watch = watch{ctx: ctx}
	if found, ok := s.sx.pr.sweep(); found || !ok {
		t.Fatalf("after the optimum: %v, %v", found, ok)
	}
	if least := k / pollRows; ctx.times < least || ctx.times > least+1 {
		t.Errorf("asked %d times in %d cells", ctx.times, k*n)
	}
}
