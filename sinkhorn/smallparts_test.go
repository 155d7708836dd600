package sinkhorn

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestEveryPart: loops on several threads do every part once.
func TestEveryPart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		for _, m := range []int{0, 1, 2, 7, 100} {
			for name, loop := range map[string]func(int, func(int)){"loop": newWatch(context.Background()).loop} {
				times := make([]atomic.Int32, m)
				loop(m, func(x int) { times[x].Add(1) })
				for x := range times {
					if n := times[x].Load(); n != 1 {
						t.Errorf("%s, %d threads: part %d of %d was done %d times", name, threads, x, m, n)
					}
				}
			}
		}
	}
}

// TestLimitOnWork: passes and steps of conjugate gradients together are stopped at the limit, or after a pass more
// where a level ends there.
func TestLimitOnWork(t *testing.T) {
	p := scattered(t, 40, 0.003)
	whole := mustProject(t, p, Settings{Tolerance: 1e-9})
	steps := 0
	for most := 1; most < whole.Iterations+whole.Stats.CG; most++ {
		r := solvedOrStopped(t, p, Settings{Tolerance: 1e-9, MaxIterations: most})
		work := r.Iterations + r.Stats.CG
		if r.Status != IterationLimit || work < most || r.Iterations != r.Stats.Passes || r.Stats.CG == 0 && work > most+1 {
			t.Errorf("at most %d: %v after %+v", most, r.Status, r.Stats)
		}
		steps = max(steps, r.Stats.CG)
		// No more than one Newton step, with what its line search tries, is begun below the limit.
		if r.Stats.CG > 0 && work > most+whole.Stats.CG {
			t.Errorf("at most %d: %+v", most, r.Stats)
		}
	}
	if steps == 0 {
		t.Error("no Newton step")
	}
}
