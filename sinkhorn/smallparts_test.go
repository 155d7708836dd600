package sinkhorn

import (
	"fmt"
	"math"
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
			for name, loop := range map[string]func(int, func(int)){"loop": new(watch).loop} {
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

// TestLimitOnWork: passes and steps of conjugate gradients together are stopped at the limit, or after a pass more where a level ends there.
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

// TestRecord: the history of method Fast, where it begins and ends at one Reg, is that of runs that are stopped after so many passes.
func TestRecord(t *testing.T) {
	const same = 1e-10 // potentials are absorbed
	g := newGenerator(96)
	for n := range 6 {
		p := g.problem(4+g.intn(5), 5+g.intn(6), 0.3)
		p.Lo, p.Hi = box(g.mass(len(p.Lo)), 1+g.float())
		var last Result
		for most := 1; most <= 4; most++ {
			r := solvedOrStopped(t, p, Settings{History: true, Tolerance: 1e-14, MaxIterations: most})
			if len(r.History) != most {
				t.Fatalf("%d entries after %d passes", len(r.History), most)
			}
			h := r.History[most-1]
			what := fmt.Sprintf("number %d, pass %d", n, most)
			checkReport(t, what, p, r, same)
			if h.Residual != r.Residual || !(math.Abs(h.Upper-r.Upper) <= same) || !(math.Abs(h.Lower-r.Lower) <= same) {
				t.Errorf("%s: %+v, and the answer has residual %v in [%v, %v]", what, h, r.Residual, r.Lower, r.Upper)
			}
			if !math.IsInf(h.DistanceBound, 1) || !math.IsInf(h.KLBound, 1) {
				t.Errorf("%s: %+v says something of the rate", what, h)
			}
			if most > 1 {
				var kl float64
				low, high := math.Inf(1), math.Inf(-1)
				for j, q := range r.Q {
					if q > 0 {
						kl += q * math.Log(q/last.Q[j])
					}
					if p.Hi[j] > tinyMass {
						d := r.LogV[j] - last.LogV[j]
						low, high = min(low, d), max(high, d)
					}
				}
				if !(math.Abs(h.KL-kl) <= same) {
					t.Errorf("%s: KL %v, want %v", what, h.KL, kl)
				}
				if step := last.History[most-2].Step; !(math.Abs(step-(high-low)) <= same*(1+step)) {
					t.Errorf("%s: the step before was %v, want %v", what, step, high-low)
				}
			} else if h.KL != 0 {
				t.Errorf("%s: KL %v", what, h.KL)
			}
			last = r
		}
	}
}
