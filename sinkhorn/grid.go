package sinkhorn

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// This file drives the method for separable grids: *cost.Grid with p = 2, where the squared distance
// is a sum over the axes and the kernel a product. A pass over the kernel costs some 40 ns a cell instead of
// kv, and memory is a few hundred bytes a cell.
//
// The method is Algorithm 1 with annealing, from a coarse image of the grid to finer ones: while the spread
// of the kernel is wider than a cell, a coarser grid does as well. Prices converge fast in value (the lower
// bound is off by the square of their error) but slowly in their long waves, which show in the column
// sums; so the plan is repaired by a flow between neighbouring cells (grid_flow.go) and its cost followed.

// gridCells is the number of pairs from which on the method for grids takes over.
const gridCells = 1 << 22

// fewRows is the number of rows with mass up to which the rows alone are worked on, whatever the cost.
const fewRows = 64

// separable returns the grid that the method for grids applies to, or nil.
func (in *instance) separable(s Settings) *cost.Grid {
	g, ok := in.matrix.(*cost.Grid)
	if !ok || g.P() != 2 || s.Method == Paper || s.History {
		return nil
	}
	if len(in.rows) <= fewRows || len(in.rows) < gridCells/in.kv {
		return nil
	}
	return g
}

// gridSolver is the state on one level.
type gridSolver struct {
	l        *gridLevel
	k        *gridKernel
	g        []float64 // prices Reg log v; -Inf where hi = 0
	w, f, s  []float64
	theta    float64
	residual float64
	x        []float64
	exact    kl.Workspace
}

func newGridSolver(l *gridLevel) *gridSolver {
	n := l.rows * l.cols
	s := &gridSolver{l: l, k: newGridKernel(l)}
	s.g, s.w, s.f, s.s, s.x = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	s.close()
	return s
}

// close excludes the columns with hi = 0.
func (s *gridSolver) close() {
	for j, h := range s.l.hi {
		switch {
		case h == 0:
			s.g[j] = math.Inf(-1)
		case math.IsInf(s.g[j], -1):
			s.g[j] = 0
		}
	}
}

// step is one iteration of Algorithm 1 in logarithms. The residual is that of the prices before it.
func (s *gridSolver) step() {
	l, reg := s.l, s.k.reg
	for j, g := range s.g {
		s.w[j] = g / reg
	}
	s.k.sum(s.f, s.w)
	for i, f := range s.f {
		s.x[i] = l.logMu[i] - f
	}
	s.k.sum(s.s, s.x)
	if l.level == 0 {
		s.theta = s.multiplier(s.s, l.lo, l.hi, s.theta)
	}
	var residual float64
	for j, y := range s.s {
		if l.hi[j] == 0 {
			continue
		}
		z := s.theta + y
		logQ := max(min(z, l.logHi[j]), l.logLo[j])
		residual += math.Abs(math.Exp(logQ) - math.Exp(y+s.w[j]))
		s.g[j] = reg * (logQ - z)
	}
	s.residual = residual
}

// multiplier returns theta of the projection of s = exp(logS) onto a box that is not a point: by Newton's method from near or, where that
// fails, exactly.
func (s *gridSolver) multiplier(logS, lo, hi []float64, near float64) float64 {
	for j, y := range logS {
		s.x[j] = math.Exp(min(near+y, 300))
	}
	if x, ok := kl.Scale(s.x, lo, hi, 1); ok {
		return near + math.Log(x)
	}
	if theta, ok := s.exact.Project(logS, lo, hi, s.x); ok && !math.IsInf(theta, 0) {
		return theta
	}
	return near
}

// Stages of the annealing.
const (
	// gridCoarse and gridFine are the iterations at each Reg on coarse levels and on the grid itself.
	gridCoarse, gridFine = 30, 12
	// gridSettled is the residual at which a coarse stage ends early.
	gridSettled = 1e-5
	// gridExtra extrapolates the prices linearly in Reg when Reg is halved: a half would be right for
	// smooth problems, a quarter is never far wrong.
	gridExtra = 0.25
)

// grid solves the instance on the grid c.
func (in *instance) grid(ctx context.Context, c *cost.Grid, set Settings) (Result, error) {
	rows, cols := c.Size()
	n := in.kv
	mu := make([]float64, n)
	for i, r := range in.rows {
		mu[r] = in.mass[i]
	}
	levels := []*gridLevel{newGridLevel(rows, cols, mu, in.lo, in.hi, in.level)}
	fine := levels[0]
	rng := fine.rangeOf(in.rows)
	if in.reg < minRelReg*rng {
		return Result{}, fmt.Errorf("%w: Reg = %v is below %v of the range %v of the cost", ErrReg, in.reg, minRelReg, rng)
	}
	goal := min(in.reg, 0x1p100) // beyond, all plans are the same
	r := &Result{Settings: set}
	run := &gridRun{ctx: ctx, in: in, set: set, r: r, fine: fine, goal: goal}

	if set.Initial != nil {
		s := newGridSolver(fine)
		for j, x := range set.Initial {
			s.g[j] = goal * x
		}
		s.close()
		run.last(s, goal)
		return run.finish()
	}
	for {
		next := levels[len(levels)-1].coarser()
		if next == nil {
			break
		}
		levels = append(levels, next)
	}
	// Start where everything is within reach of everything, one eighth of the range.
	reg := max(goal, rng/8)
	var s, prev *gridSolver
	var before []float64 // the prices at the last Reg
	for i := len(levels) - 1; i > 0; i-- {
		l := levels[i]
		h := l.finest()
		s = newGridSolver(l)
		if prev != nil {
			s.g = l.refine(prev.l, prev.g)
			before = l.refine(prev.l, before)
		} else {
			before = make([]float64, len(s.g))
		}
		s.close()
		for {
			if !run.stage(s, reg, gridCoarse) {
				return run.stopped(levels, i, s, reg)
			}
			if reg <= h*h || reg == goal {
				break
			}
			s.extrapolate(before)
			reg = max(reg/2, goal)
		}
		prev = s
	}
	s = newGridSolver(fine)
	if prev != nil {
		s.g = fine.refine(prev.l, prev.g)
		s.close()
		before = fine.refine(prev.l, before)
	} else {
		before = make([]float64, n)
	}
	for reg > goal {
		if !run.stage(s, reg, gridFine) {
			run.r.Status = run.why()
			run.settle(s)
			return run.finish()
		}
		factor := 0.5
		if set.Gap > 0 {
			if run.keep(s.certify()) {
				r.Status = Converged
				return run.finish()
			}
			// The gap is about proportional to Reg.
			factor = min(factor, max(0.125, 0.7*set.Gap*run.r.Upper/run.r.Gap()))
		}
		if factor == 0.5 {
			s.extrapolate(before)
		} else {
			copy(before, s.g)
		}
		reg = max(reg*factor, goal)
	}
	run.last(s, goal)
	return run.finish()
}

// extrapolate moves the prices on by a part of the last change, where they keep their sign.
func (s *gridSolver) extrapolate(before []float64) {
	for j, g := range s.g {
		if x := g + gridExtra*(g-before[j]); x*g > 0 {
			s.g[j] = x
		}
		before[j] = g
	}
}

// rangeOf returns the largest cost from any of the rows.
func (l *gridLevel) rangeOf(rows []int) float64 {
	dx, dy := l.spacing()
	var top float64
	for _, i := range rows {
		r, c := i/l.cols, i%l.cols
		x, y := dx*float64(max(c, l.cols-1-c)), dy*float64(max(r, l.rows-1-r))
		top = max(top, x*x+y*y)
	}
	return top
}

// gridRun is one call.
type gridRun struct {
	ctx  context.Context
	in   *instance
	set  Settings
	r    *Result
	fine *gridLevel
	goal float64
	best *gridAnswer
	// The best lower bound and what proves it.
	f, g  []float64
	lower float64
	any   bool
}

// stage runs iterations at reg. It reports false if the call has to stop.
func (run *gridRun) stage(s *gridSolver, reg float64, steps int) bool {
	s.k.setReg(reg)
	for range steps {
		if run.why() != Unknown {
			return false
		}
		s.step()
		run.r.Iterations++
		run.r.Stats.Passes++
		if s.residual <= gridSettled {
			break
		}
	}
	return true
}

// why returns the reason to stop now, or Unknown if there is none.
func (run *gridRun) why() Status {
	switch {
	case run.ctx.Err() != nil:
		return Cancelled
	case run.r.Iterations >= run.set.MaxIterations:
		return IterationLimit
	}
	return Unknown
}

// keep takes in an answer on the fine grid and reports whether the gap is what was asked for.
func (run *gridRun) keep(a *gridAnswer) bool {
	if !run.any || a.lower > run.lower {
		run.any, run.f, run.g, run.lower = true, a.f, a.g, a.lower
	}
	if run.best == nil || a.upper < run.best.upper {
		run.best = a
	}
	r := run.r
	r.Upper, r.Lower = run.best.upper, run.lower
	return run.set.Gap > 0 && run.set.met(r.Gap(), r.Upper, 0, run.fine.largest())
}

// last works at the final Reg until the goal is met or there is nothing left to gain.
func (run *gridRun) last(s *gridSolver, reg float64) {
	r := run.r
	s.k.setReg(reg)
	least, since := math.Inf(1), 0
	next := r.Iterations + gridFine
	for {
		if st := run.why(); st != Unknown {
			r.Status = st
			break
		}
		s.step()
		r.Iterations++
		r.Stats.Passes++
		if run.set.Tolerance > 0 && s.residual <= run.set.Tolerance {
			r.Status = Converged
			break
		}
		if s.residual < 0.98*least {
			least, since = s.residual, 0
		} else if since++; since > 100 {
			r.Status = Stalled
			break
		}
		if run.set.Gap > 0 && r.Iterations >= next {
			before := math.Inf(1)
			if run.best != nil {
				before = r.Gap()
			}
			if run.keep(s.certify()) {
				r.Status = Converged
				return
			}
			if r.Gap() > 0.97*before && run.set.Tolerance == 0 {
				r.Status = Stalled
				return
			}
			next += r.Iterations
		}
	}
	if run.settle(s) {
		r.Status = Converged
	}
}

// gridPatient is the number of cells up to which a call whose context has ended still finds bounds: some milliseconds.
const gridPatient = 1 << 12

// settle takes in the answer at the prices of s when the call ends, unless the context has ended and that would take long.
func (run *gridRun) settle(s *gridSolver) bool {
	if run.r.Status == Cancelled && len(s.g) > gridPatient {
		return false
	}
	return run.keep(s.certify())
}

// stopped is the answer of a call that has to stop on a coarse level.
func (run *gridRun) stopped(levels []*gridLevel, at int, s *gridSolver, reg float64) (Result, error) {
	if run.ctx.Err() != nil && run.in.kv > gridPatient {
		return run.finish()
	}
	g := s.g
	for i := at - 1; i >= 0; i-- {
		g = levels[i].refine(levels[i+1], g)
	}
	s = newGridSolver(run.fine)
	s.g = g
	s.close()
	s.k.setReg(reg)
	run.r.Status = run.why()
	run.settle(s)
	return run.finish()
}

// finish fills in the result.
func (run *gridRun) finish() (Result, error) {
	r, a := run.r, run.best
	if a == nil { // the context has ended
		r = run.in.unfinished(r, run.fine.largest(), nil)
		return *r, r.err(run.ctx)
	}
	r.Q, r.LogV, r.Reg = a.q, a.logV, a.reg
	if a.reg == run.goal {
		r.Reg = run.in.reg
	}
	r.Potentials = Potentials{F: run.f, G: run.g}
	r.Transport, r.Objective = a.transport, a.objective
	r.Upper, r.Lower = a.upper, run.lower
	r.Posterior, r.Residual = a.posterior, a.residual
	r.Flow = &a.flow
	return *r, r.err(run.ctx)
}
