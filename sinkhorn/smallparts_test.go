package sinkhorn

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestLineTable: the windows of a line are as narrow, and the range of a block as wide, as their exponents allow; the sources that windows begin with are the best ones.
func TestLineTable(t *testing.T) {
	const mid, same = 3.5, 1e-12 // exponents of up to 600
	g := newGenerator(95)
	for _, n := range []int{1, 7, 40} {
		for _, kappa := range []float64{1e-4, 0.02, 0.3, 2, 30, 500} {
			l := newLineTable(n, kappa)
			cut := func(r int) float64 { return 2 * kappa * float64(r) * float64(r) }
			if r := l.reach; r > n || r < n && cut(r) < lineCut || r > 1 && cut(r-1) >= lineCut {
				t.Errorf("%d cells, sharpness %v: reach %d", n, kappa, r)
			}
			span := func(h int) float64 { return 2 * kappa * mid * float64(h) }
			if h := l.half; h > n-1 || span(h) > lineRange || h < n-1 && span(h+1) <= lineRange {
				t.Errorf("%d cells, sharpness %v: half %d", n, kappa, h)
			}
			for d := range lineBlock {
				for i := -l.half; i <= l.half; i++ {
					want := math.Exp(2 * kappa * (float64(d) - mid) * float64(i))
					if got := l.rho[d*(2*l.half+1)+l.half+i]; !(math.Abs(got-want) <= same*want) {
						t.Errorf("%d cells, sharpness %v: factor (%d, %d) is %v, want %v", n, kappa, d, i, got, want)
					}
				}
			}
			w := make([]float64, n)
			for j := range w {
				if w[j] = 20 * g.float(); j%5 == 3 {
					w[j] = math.Inf(-1)
				}
			}
			var s lineScratch
			if !l.windows(w, &s) || len(s.arg) != n+2*l.reach {
				t.Fatalf("%d cells: %d windows", n, len(s.arg))
			}
			for i, j := range s.arg {
				at := func(j int) float64 { d := float64(i - l.reach - j); return w[j] - kappa*d*d }
				for k := range w {
					if at(k) > at(j)+same*(1+math.Abs(at(k))) {
						t.Errorf("%d cells, sharpness %v: source %d is better at %d than %d", n, kappa, k, i-l.reach, j)
					}
				}
			}
		}
	}
	var s lineScratch
	if newLineTable(3, 1).windows([]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}, &s) {
		t.Error("windows of nothing")
	}
}

// TestEveryPart: loops on several threads do every part once.
func TestEveryPart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		for _, m := range []int{0, 1, 2, 7, 100} {
			for name, loop := range map[string]func(int, func(int)){"loop": new(watch).loop, "lines": func(m int, f func(int)) {
				k := newGridKernel(&gridLevel{rows: 50, cols: 2})
				k.lines(m, func(l int, _ *lineScratch) { f(l) })
			}} {
				times := make([]atomic.Int32, m)
				if m == 0 && name == "lines" {
					continue // a grid has some
				}
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
