package grid

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/wpmerr"
)

// solver is the state on one level.
type solver struct {
	l        *level
	k        *kernel
	g        []float64 // prices Reg log v; -Inf where hi = 0
	w, f, s  []float64
	theta    float64
	residual float64
	x        []float64
	exact    kl.Workspace
	mixer    anderson
	moved    bool         // the step before was at this Reg
	sums     []float64    // column sums of its prices reg w
	promise  float64      // the dual value of its result is at least this
	parts    [][2]float64 // sums along rows of cells
}

func newSolver(l *level) *solver {
	n := l.rows * l.cols
	s := &solver{l: l, k: newKernel(l)}
	s.g, s.w, s.f, s.s, s.x = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	s.sums, s.parts = make([]float64, n), make([][2]float64, l.rows)
	s.close()
	return s
}

// close excludes the columns with hi = 0.
func (s *solver) close() {
	for j, h := range s.l.hi {
		switch {
		case h == 0:
			s.g[j] = math.Inf(-1)
		case math.IsInf(s.g[j], -1):
			s.g[j] = 0
		}
	}
}

// step is one iteration of Algorithm 1 in logarithms, from prices that are extrapolated from the iterations before it.
// The residual is that of the prices it begins with. They have to be as good as the iteration before promised: else the
// step begins where that has ended.
func (s *solver) step() {
	l, reg := s.l, s.k.reg
	mixed := s.moved && s.mixer.mix(s.k, s.g, s.w, s.sums)
	value := s.dualValue()
	if mixed && !(value >= s.promise) {
		s.mixer.undo(s.g)
		value = s.dualValue()
	}
	s.moved = true
	for i, f := range s.f {
		s.x[i] = l.logMu[i] - f
	}
	s.k.sum(s.s, s.x)
	s.theta = s.multiplier(s.s, l.lo, l.hi, s.theta)
	s.k.lines(l.rows, func(r int, _ *lineScratch) {
		var p [2]float64
		for j := r * l.cols; j < (r+1)*l.cols; j++ {
			if l.hi[j] == 0 {
				continue
			}
			z, logSum := s.theta+s.s[j], s.s[j]+s.w[j]
			logQ := max(min(z, l.logHi[j]), l.logLo[j])
			q := math.Exp(logQ)
			s.sums[j] = math.Exp(logSum)
			p[0] += math.Abs(q - s.sums[j])
			if q > 0 {
				p[1] += q * (logQ - logSum)
			}
			p[1] += s.sums[j] - q
			s.g[j] = reg * (logQ - z)
		}
		s.parts[r] = p
	})
	var gain float64 // divergence of q from the column sums: the dual value rises by as much, times reg, or more
	s.residual = 0
	for _, p := range s.parts {
		s.residual += p[0]
		gain += p[1]
	}
	s.promise = value + reg*gain - valueError*(1+reg+math.Abs(value))
}

// valueError is above the rounding of a dual value, relative to its size, to costs, which are at most 2, and to Reg.
const valueError = 0x1p-48

// dualValue sums the kernel over the columns at the prices g, and returns their dual value,
//
//	-reg sum_i mu_i f_i + sum_j min(lo_j g_j, hi_j g_j),
//
// without what does not depend on prices.
func (s *solver) dualValue() float64 {
	l, reg := s.l, s.k.reg
	for j, g := range s.g {
		s.w[j] = g / reg
	}
	s.k.sum(s.f, s.w)
	s.k.lines(l.rows, func(r int, _ *lineScratch) {
		var p [2]float64
		for j := r * l.cols; j < (r+1)*l.cols; j++ {
			if l.mu[j] > 0 {
				p[0] += l.mu[j] * s.f[j]
			}
			if l.hi[j] > 0 {
				p[1] += min(l.lo[j]*s.g[j], l.hi[j]*s.g[j])
			}
		}
		s.parts[r] = p
	})
	var value float64
	for _, p := range s.parts {
		value += p[1] - reg*p[0]
	}
	return value
}

// begin prepares steps at reg from the prices g.
func (s *solver) begin(reg float64) {
	s.k.setReg(reg)
	s.moved, s.mixer.count = false, 0
}

// multiplier returns theta of the projection of s = exp(logS) onto a box that is not a point: by Newton's method from
// near or, where that fails, exactly.
func (s *solver) multiplier(logS, lo, hi []float64, near float64) float64 {
	cols := s.l.cols
	s.k.lines(s.l.rows, func(r int, _ *lineScratch) {
		for j := r * cols; j < (r+1)*cols; j++ {
			s.x[j] = math.Exp(min(near+logS[j], 300))
		}
	})
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
	// coarseSteps and fineSteps are the iterations at each Reg on coarse levels and on the grid itself.
	coarseSteps, fineSteps = 15, 6
	// stageResidual is the residual at which a coarse stage ends early.
	stageResidual = 1e-5
	// extraShare extrapolates the prices linearly in Reg when Reg is halved: a half would be right for
	// smooth problems, a quarter is never far wrong.
	extraShare = 0.25
)

// Solve finds the entropic projection on a grid at squared distance. It returns a Result without Q where the context
// has ended before there was anything to prove. The problem is valid: package sinkhorn checks it.
func Solve(ctx context.Context, p Problem, set Settings) *Result {
	rows, cols := p.Grid.Size()
	fine := newLevel(rows, cols, p.Mu, p.Lo, p.Hi)
	goal := min(p.Reg, 0x1p100) // beyond, all plans are the same
	run := &call{ctx: wpmerr.Context(ctx), set: set, r: &Result{}, fine: fine, goal: goal}
	if set.Initial != nil {
		s := newSolver(fine)
		for j, x := range set.Initial {
			s.g[j] = goal * x
		}
		s.close()
		run.last(s, goal)
	} else if s, before, reg := run.coarse(max(goal, Range(p.Grid, p.Mu)/8)); s != nil {
		run.anneal(s, before, reg)
	}
	run.finish(p.Reg)
	return run.r
}

// coarse solves on coarser images of the grid, from a reg at which everything is within reach of everything, and
// returns the state on the grid itself, the prices at the reg before, and the reg reached. It returns nil if the call
// is over.
func (run *call) coarse(reg float64) (s *solver, before []float64, at float64) {
	levels := []*level{run.fine}
	for next := run.fine.coarser(); next != nil; next = next.coarser() {
		levels = append(levels, next)
	}
	var prev *solver
	looked := run.set.Choose || run.set.Gap == 0 || run.set.Tolerance > 0
	for i := len(levels) - 1; i >= 0; i-- {
		l := levels[i]
		s = newSolver(l)
		if prev != nil {
			s.g = l.refine(prev.l, prev.g)
			before = l.refine(prev.l, before)
			s.close()
		} else {
			before = make([]float64, len(s.g))
		}
		if i == 0 {
			break
		}
		for h := l.finest(); ; reg = max(reg/2, run.goal) {
			if !run.stage(s, reg, coarseSteps) {
				run.stopped(levels, i, s, reg)
				return nil, nil, 0
			}
			if reg <= h*h || reg == run.goal {
				break
			}
			s.extrapolate(before)
		}
		if reg == run.goal && !looked {
			looked = true
			if run.hopeless(levels, i, s) {
				return nil, nil, 0
			}
		}
		prev = s
	}
	return s, before, reg
}

// hopeless reports whether the call is over because its Reg is too large for the gap. A coarse image at this Reg has
// about the same posterior bound and gap as the grid itself. If they are far above what is asked for, its prices are
// looked at on the grid, and the bounds found there decide.
func (run *call) hopeless(levels []*level, at int, s *solver) bool {
	// Bounds on the grid itself decide. From twice the gap on, the coarse image makes them worth finding.
	const clear = 2
	if a := s.certify(); run.bias(a, a.lower) <= clear {
		return false
	}
	s = run.raise(levels, at, s, run.goal)
	switch a := s.certify(); {
	case run.keep(a):
		run.r.Status = Converged
	case run.bias(a, run.lower) > regLimit:
		run.r.Status = RegLimit
	default:
		return false
	}
	return true
}

// regLimit is the bias from which on Reg is given up. At 1 the posterior bound is what is asked for; it still falls a
// little as the prices converge, and TestRegTooLarge holds that a gap half as large again as the one reached is not
// refused.
const regLimit = 1.25

// smallBias is the bias up to which a Reg is worked at when the gap chooses it. It leaves to the defect of the columns
// as much of the gap as to the entropy.
const smallBias = 0.5

// bias returns the entropy's part of the gap over the gap asked for: the posterior bound, or the gap if that is less.
func (run *call) bias(a *answer, lower float64) float64 {
	return min(a.posterior, a.upper-lower) / max(run.set.Gap*a.upper, leastGap*run.fine.largest())
}

// anneal brings reg down to the goal on the grid itself, and works there.
func (run *call) anneal(s *solver, before []float64, reg float64) {
	for reg > run.goal {
		if !run.stage(s, reg, fineSteps) {
			run.r.Status = run.why()
			run.keepLast(s)
			return
		}
		factor := 0.5
		if run.set.Gap > 0 {
			a := s.certify()
			if run.keep(a) {
				run.r.Status = Converged
				return
			}
			if run.set.Choose && run.bias(a, run.lower) <= smallBias && run.last(s, reg) {
				return
			}
			// The gap is about proportional to Reg.
			factor = min(factor, max(0.125, 0.7*run.set.Gap*run.r.Upper/(run.r.Upper-run.r.Lower)))
		}
		if factor == 0.5 {
			s.extrapolate(before)
		} else {
			copy(before, s.g)
		}
		reg = max(reg*factor, run.goal)
	}
	run.last(s, reg)
}

// extrapolate moves the prices on by a part of the last change, where they keep their sign.
func (s *solver) extrapolate(before []float64) {
	for j, g := range s.g {
		if x := g + extraShare*(g-before[j]); x*g > 0 {
			s.g[j] = x
		}
		before[j] = g
	}
}

// Range returns the largest cost from any cell with mass.
func Range(c *cost.Grid, mu []float64) float64 {
	rows, cols := c.Size()
	dx, dy := (&level{rows: rows, cols: cols}).spacing()
	var top float64
	for i, m := range mu {
		if m > 0 {
			r, c := i/cols, i%cols
			x, y := dx*float64(max(c, cols-1-c)), dy*float64(max(r, rows-1-r))
			top = max(top, x*x+y*y)
		}
	}
	return top
}

// call is one call.
type call struct {
	ctx  context.Context
	set  Settings
	r    *Result
	fine *level
	goal float64
	best *answer
	// The best lower bound and what proves it.
	f, g  []float64
	lower float64
	any   bool
}

// stage runs iterations at reg. It reports false if the call has to stop.
func (run *call) stage(s *solver, reg float64, steps int) bool {
	s.begin(reg)
	for range steps {
		if run.why() != Unknown {
			return false
		}
		s.step()
		run.r.Iterations++
		if s.residual <= stageResidual {
			break
		}
	}
	return true
}

// why returns the reason to stop now, or Unknown if there is none.
func (run *call) why() Status {
	switch {
	case run.ctx.Err() != nil:
		return Cancelled
	case run.r.Iterations >= run.set.MaxIterations:
		return IterationLimit
	}
	return Unknown
}

// keep takes in an answer on the fine grid and reports whether the gap is what was asked for.
func (run *call) keep(a *answer) bool {
	if !run.any || a.lower > run.lower {
		run.any, run.f, run.g, run.lower = true, a.f, a.g, a.lower
	}
	if run.best == nil || a.upper < run.best.upper {
		run.best = a
	}
	r := run.r
	r.Upper, r.Lower = run.best.upper, run.lower
	return run.set.Gap > 0 && r.Upper-r.Lower <= max(run.set.Gap*r.Upper, leastGap*run.fine.largest())
}

// last works at one Reg until the goal is met or there is nothing left to gain. It reports false where the gap chooses
// Reg and asks for a smaller one, since the upper bound has come down.
func (run *call) last(s *solver, reg float64) bool {
	r := run.r
	s.begin(reg)
	least, since, flat := math.Inf(1), 0, 0
	start := r.Iterations
	next := start + 2*fineSteps
	for {
		if st := run.why(); st != Unknown {
			r.Status = st
			break
		}
		s.step()
		r.Iterations++
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
				before = r.Upper - r.Lower
			}
			a := s.certify()
			if run.keep(a) {
				r.Status = Converged
				return true
			}
			switch bias := run.bias(a, run.lower); {
			case run.set.Choose && reg > run.goal && bias > smallBias:
				return false
			case !run.set.Choose && run.set.Tolerance == 0 && bias > regLimit:
				r.Status = RegLimit
				return true
			}
			if flat++; r.Upper-r.Lower <= 0.97*before {
				flat = 0
			}
			if flat == flatLooks && run.set.Tolerance == 0 {
				r.Status = Stalled
				return true
			}
			next += r.Iterations - start
		}
	}
	if run.keepLast(s) {
		r.Status = Converged
	}
	return true
}

// flatLooks is how many looks in a row may find the gap less than 3 % below the one before, until the run is given up.
// Each comes after twice as many iterations as the one before, so that the last of four is after 180 or more. With two,
// 24 iterations decide, and five blobs of widths of 0.03 on 36 x 70 cells end at a gap of 21 % in place of 3 %.
const flatLooks = 4

// patientCells is the number of cells up to which a call whose context has ended still finds bounds: some milliseconds.
const patientCells = 1 << 12

// keepLast takes in the answer at the prices of s when the call ends, unless the context has ended and that would take
// long.
func (run *call) keepLast(s *solver) bool {
	if run.r.Status == Cancelled && len(s.g) > patientCells {
		return false
	}
	return run.keep(s.certify())
}

// stopped takes in the answer of a call that has to stop on a coarse level.
func (run *call) stopped(levels []*level, at int, s *solver, reg float64) {
	run.r.Status = run.why()
	if run.ctx.Err() != nil && len(run.fine.mu) > patientCells {
		return
	}
	run.keepLast(run.raise(levels, at, s, reg))
}

// raise takes the prices of a coarse level to the grid itself.
func (run *call) raise(levels []*level, at int, s *solver, reg float64) *solver {
	g := s.g
	for i := at - 1; i >= 0; i-- {
		g = levels[i].refine(levels[i+1], g)
	}
	s = newSolver(run.fine)
	s.g = g
	s.close()
	s.k.setReg(reg)
	return s
}

// finish fills in the result.
func (run *call) finish(reg float64) {
	r, a := run.r, run.best
	r.Largest = run.fine.largest()
	if a == nil {
		return
	}
	r.Q, r.LogV, r.Reg = a.q, a.logV, a.reg
	if a.reg == run.goal {
		r.Reg = reg
	}
	r.F, r.G = run.f, run.g
	r.Transport, r.Objective = a.transport, a.objective
	r.Upper, r.Lower = a.upper, run.lower
	r.Posterior, r.Residual = a.posterior, a.residual
	r.Flow = &a.flow
}
