package sinkhorn

import (
	"context"
	"math"
	"slices"
	"testing"
)

// TestExtrapolate: prices go on by a quarter of their last change, unless that changes their sign, and the prices before are kept.
func TestExtrapolate(t *testing.T) {
	s := &gridSolver{g: []float64{2, -3, 1, -1, 0, 5}}
	before := []float64{1, -1, 9, -8, 4, 5}
	s.extrapolate(before)
	if want := []float64{2.25, -3.5, 1, -1, 0, 5}; !slices.Equal(s.g, want) { // exact in floats
		t.Errorf("prices %v, want %v", s.g, want)
	}
	if want := []float64{2, -3, 1, -1, 0, 5}; !slices.Equal(before, want) {
		t.Errorf("prices before %v, want %v", before, want)
	}
}

// TestMultiplierKeepsStart: where every column is at a bound and the mass is 1, any multiplier of an interval will do, and the one to start
// from is kept: prices do not drift from step to step.
func TestMultiplierKeepsStart(t *testing.T) {
	logS, lo, hi := []float64{2, -8}, []float64{0, 0.25}, []float64{0.75, 1}
	for _, near := range []float64{0, 1.5, 6, -2} { // between log 0.75 - 2 and log 0.25 + 8
		if got := (&gridSolver{x: make([]float64, 2)}).multiplier(logS, lo, hi, near); got != near {
			t.Errorf("from %v to %v", near, got)
		}
	}
}

// TestGridStops counts the steps at one Reg by hand: the first whose residual is the tolerance is the last, and when none of a hundred and one
// in a row brings the residual down by two per cent, the run has stalled.
func TestGridStops(t *testing.T) {
	p := gridProblem(t, 6, 8, 1, 0.1)
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	level := newGridLevel(6, 8, p.Source, in.lo, in.hi, in.level)
	fresh := func() *gridSolver {
		s := newGridSolver(level)
		s.k.setReg(p.Reg)
		return s
	}
	last := func(tolerance float64) *Result {
		r := &Result{}
		run := &gridRun{ctx: context.Background(), in: in, set: Settings{Tolerance: tolerance, MaxIterations: 2000}, r: r, fine: level, goal: p.Reg}
		run.last(fresh(), p.Reg)
		return r
	}
	s := fresh()
	var residuals []float64
	least, at := math.Inf(1), 0
	for n := 1; n-at <= 101; n++ {
		s.step()
		residuals = append(residuals, s.residual)
		if s.residual < 0.98*least {
			least, at = s.residual, n
		}
	}
	if !(least > 0) {
		t.Fatal("a residual of 0 meets every tolerance")
	}
	// The smallest tolerance that none of these residuals meets.
	unmet := math.Nextafter(slices.Min(residuals), 0)
	if r := last(unmet); r.Status != Stalled || r.Iterations != len(residuals) {
		t.Errorf("%v after %d steps, want stalled after %d", r.Status, r.Iterations, len(residuals))
	}
	const early = 4
	if slices.Min(residuals[:early-1]) <= residuals[early-1] {
		t.Fatal("the first residuals do not fall")
	}
	if r := last(residuals[early-1]); r.Status != Converged || r.Iterations != early {
		t.Errorf("%v after %d steps, want converged after %d", r.Status, r.Iterations, early)
	}
}

// TestCoarser: an axis of 16 cells or more is halved where its cells are not much longer than those of the other, or the other is not halved.
func TestCoarser(t *testing.T) {
	for _, tt := range []struct{ rows, cols, coarseRows, coarseCols int }{
		{15, 15, 0, 0}, {1, 15, 0, 0}, {1, 16, 1, 8}, {17, 1, 9, 1}, {16, 16, 8, 8}, {15, 16, 15, 8}, {16, 15, 8, 15}, {31, 33, 16, 17},
		{16, 23, 8, 12}, {16, 24, 16, 12}, {24, 16, 12, 16}, {23, 16, 12, 8}, {24, 40, 24, 20}, {30, 40, 15, 20}, // half as long again is much
	} {
		n := tt.rows * tt.cols
		mu, hi := make([]float64, n), make([]float64, n)
		for i := range mu {
			mu[i], hi[i] = float64(i), 1
		}
		l := newGridLevel(tt.rows, tt.cols, mu, mu, hi, 0).coarser()
		if l == nil {
			if tt.coarseRows != 0 {
				t.Errorf("%+v: none", tt)
			}
			continue
		}
		if l.rows != tt.coarseRows || l.cols != tt.coarseCols {
			t.Errorf("%+v: %d x %d", tt, l.rows, l.cols)
		}
		var mass, room float64 // whole numbers
		for i, x := range l.mu {
			mass += x
			room += l.hi[i]
			if l.lo[i] != x {
				t.Errorf("%+v: cell %d has lo %v and mass %v, which were the same", tt, i, l.lo[i], x)
			}
		}
		if mass != float64(n*(n-1)/2) || room != float64(n) {
			t.Errorf("%+v: mass %v and room %v", tt, mass, room)
		}
	}
}
