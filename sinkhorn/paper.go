package sinkhorn

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// paperRun is a run of Algorithm 1 as package paper has it, on the rows with mass and the columns with room.
type paperRun struct {
	c   *core
	set Settings
	r   Result
	p   paper.Problem
	*paper.Iterate
	residual float64
	b        *certificate // of the present iterate, if its bounds are known
	oldQ     []float64
	// The least residual so far, and the number of steps since it fell by a tenth.
	best  float64
	since int
}

// paper runs Algorithm 1 from a start, or from v = 1 if that is nil, with the stops of the settings.
func (c *core) paper(set Settings, start []float64) (Result, *certificate) {
	s := &paperRun{c: c, set: set, r: Result{Settings: set}, best: math.Inf(1)}
	s.p = paper.Problem{C: c.row, Mu: c.mass, Lo: c.lo, Hi: c.hi, Lambda: c.reg}
	if start != nil {
		start = tameLogs(slices.Clone(start))
	}
	s.Iterate = paper.New(s.p, start)
	for check := 1; ; {
		if s.Step(c.sweep, s.p) != nil {
			c.ended()
			return s.r, unproved(s.Q)
		}
		s.r.Iterations++
		s.residual, s.b = s.Residual(), nil
		if set.History || set.Gap > 0 && s.r.Iterations >= check {
			s.certify()
			check = s.r.Iterations + 1 + s.r.Iterations/8
		}
		if set.History {
			s.record()
		}
		if s.residual < 0.9*s.best {
			s.best, s.since = s.residual, 0
		} else {
			s.since++
		}
		if s.r.Status = s.status(); s.r.Status != Unknown {
			break
		}
	}
	if s.b == nil {
		s.certify()
	}
	s.r.Residual, s.r.Stats.Passes = s.residual, s.r.Iterations
	return s.r, s.b
}

// certify finds the bounds of the present iterate.
func (s *paperRun) certify() {
	s.b = s.c.certify(newLogPlan(s.c, s.c.reg, s.LogV).iterate(s.Theta, s.Q))
}

// status says why the run is over, if it is.
func (s *paperRun) status() Status {
	floor := residualFloor * s.c.rng / s.c.reg
	small := func() bool { return s.set.Gap > 0 && s.b.small(s.set.Gap, s.c) }
	switch {
	case s.set.Tolerance > 0 && s.residual <= max(s.set.Tolerance, floor), s.b != nil && small():
		return Converged
	case s.set.Tolerance == 0 && s.residual <= max(floor, DefaultTolerance), s.residual <= 1e-6 && s.since > 100_000:
		// The residual is at the level of rounding.
		if s.certify(); small() {
			return Converged
		}
		if s.set.Gap > 0 && s.set.Tolerance == 0 && s.b.bias(s.set.Gap, s.c) > 1 {
			return RegLimit
		}
		return Stalled
	case s.c.ctx.Err() != nil:
		return Cancelled
	case s.r.Iterations >= s.set.MaxIterations:
		return IterationLimit
	}
	return Unknown
}

// record adds the present iterate to the history.
func (s *paperRun) record() {
	h := Iterate{Residual: s.residual}
	h.Upper, h.Lower = s.b.original(s.c)
	h.Step, _ = hilbert.LogDistance(s.Next, s.LogV)
	if s.oldQ != nil {
		h.KL = divergence(s.Q, s.oldQ)
	}
	s.oldQ = append(s.oldQ[:0], s.Q...)
	s.r.History = append(s.r.History, h)
}

// residualFloor times R / Reg is a residual that rounding of the exponents alone can leave; below it, an
// iterate counts as converged.
const residualFloor = 0x1p-50

// small reports whether the bounds prove a relative gap, or one that is all rounding; see Settings.met.
func (b *certificate) small(gap float64, c *core) bool {
	upper, lower := b.original(c)
	return Settings{Gap: gap}.met(upper-lower, upper, c.top*b.slack, c.top)
}

// bias returns the posterior bound over the relative gap asked for.
func (b *certificate) bias(gap float64, c *core) float64 {
	return b.posterior / (gap * (b.upper + math.Ldexp(c.offset, c.exp)))
}

// divergence returns KL(p || q).
func divergence(p, q []float64) float64 {
	var s float64
	for j, x := range p {
		if x > 0 {
			// Sum of x log(x/y) - x + y, whose terms are not negative.
			s += x*math.Log(x/q[j]) - x + q[j]
		} else {
			s += q[j]
		}
	}
	return math.Max(0, s)
}
