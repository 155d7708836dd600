package sinkhorn

import "math"

// ending says how a level ended.
type ending int

const (
	running ending = iota // it has not
	solved                // its goal is met
	stopped               // the whole run is over, for s.stop
)

// limitReached looks for reasons to stop other than the goal.
func (s *fast) limitReached() bool {
	switch {
	case s.c.ctx.Err() != nil:
		s.stop = Cancelled
	case s.stats.Passes+s.stats.CG >= s.set.MaxIterations:
		s.stop = IterationLimit
	default:
		return false
	}
	return true
}

// level is what method Fast knows of the Reg in hand.
type level struct {
	last  bool    // it is the final one
	goal  float64 // residual to reach
	tries int     // how often entries of the kernel were left out
	check float64 // residual at which the gap is looked at next
	gap   float64 // that of the last look
	bias  float64 // the posterior bound over the gap asked for, at that look

	best    float64 // least residual so far
	since   int     // passes since it last fell by a tenth
	prev    float64 // residual of the last pass, +Inf after a Newton step
	plain   int     // steps of Algorithm 1 since the last Newton step
	wait    int     // of them before Newton's method is tried
	repairs int     // scalings brought back into range
}

// newLevel is a level before its first pass.
func newLevel(goal float64, last bool) level {
	return level{last: last, goal: goal, check: math.Inf(1), gap: math.Inf(1), best: math.Inf(1), prev: math.Inf(1), wait: 4}
}

// solve runs a level at reg to its end.
func (s *fast) solve(reg float64) ending {
	s.build(reg)
	for {
		if !s.pass() {
			if end := s.repair(reg); end != running {
				return end
			}
			continue
		}
		if s.since++; s.res < 0.9*s.best {
			s.best, s.since = s.res, 0
		}
		if s.atGoal() {
			if !s.last || s.k.few() == nil {
				return s.endAtGoal()
			}
			// Once more with the full kernel, and on with that if need be.
			s.k.whole()
			s.tries = sparseTries
			continue
		}
		if end := s.checkStall(); end != running {
			return end
		}
		s.advance()
	}
}

// repair brings scalings back into range, unless that was tried too often.
func (s *fast) repair(reg float64) ending {
	if s.limitReached() {
		return stopped
	}
	s.rescue(reg)
	if s.repairs++; s.repairs > rescues {
		s.stop = Stalled
		return stopped
	}
	return running
}

// atGoal reports whether the residual is what the level asks for.
func (s *fast) atGoal() bool {
	return s.res <= s.goal && (s.last || s.step() <= levelLog)
}

// endAtGoal ends a level whose residual is what was asked for. Where the gap is the goal, the residual alone does not end the run well.
func (s *fast) endAtGoal() ending {
	if s.last && s.set.Gap > 0 {
		if s.certified() {
			return stopped
		}
		if s.c.choose && s.k.reg > s.c.reg && !s.biasSmall() {
			return solved // the upper bound has come down, and what the gap may be with it
		}
		if s.set.Tolerance == 0 {
			s.stop = s.gapStatus()
			return stopped
		}
	}
	s.stop = Converged
	return solved
}

// biasSmall reports whether the entropy leaves at least half of the gap asked for to the rest, by the last look.
func (s *fast) biasSmall() bool { return s.bias <= 0.5 }

// gapStatus says why a run has come to its end without the gap.
func (s *fast) gapStatus() Status {
	if s.bias > 1 && !s.c.choose {
		return RegLimit
	}
	return Stalled
}

// checkStall ends a level if Reg stands in the way of the gap, if ctx or the limit of iterations ends the run, or after
// too many passes without progress.
func (s *fast) checkStall() ending {
	if s.last && s.set.Gap > 0 && s.res < s.check {
		s.check = s.res / 8
		before := s.gap
		if s.certified() {
			return stopped
		}
		// The plan is much nearer to q than at the look before, and the gap is not smaller. The residual's part of it, the
		// range at most in either bound, is less than half: it is that of Reg.
		if s.bias > 2 && !s.c.choose && s.set.Tolerance == 0 && 4*s.res*s.c.rng <= s.gap && s.gap > 0.9*before {
			s.stop = RegLimit
			return stopped
		}
	}
	switch {
	case s.limitReached():
		return stopped
	case s.last && s.c.choose && s.res <= DefaultTolerance && s.since > roundoffPatience:
		return s.endAtGoal()
	case s.since > patience && s.res <= 1e-6 && (!s.last || s.c.choose && s.k.reg > s.c.reg):
		return solved // the next level may do better
	case s.since > stallPatience && s.res <= 1e-6:
		s.stop = Stalled
		return stopped
	}
	return running
}

// advance takes a step of Algorithm 1 or, where those promise to take long, Newton's.
func (s *fast) advance() {
	if s.k.few() == nil {
		s.trySparse()
	}
	rate := s.res / s.prev
	s.prev = s.res
	if s.plain++; s.plain <= s.wait || steps(s.res, s.goal, rate) < 12 {
		s.v, s.next = s.next, s.v
		return
	}
	s.plain, s.prev = 0, math.Inf(1)
	if s.newtonStep(s.since > signPatience) {
		s.wait = 0
	} else {
		s.wait = min(2*s.wait+4, 64)
	}
}

// step returns the largest |log (q_j/c_j)| over columns that must hold mass.
func (s *fast) step() float64 {
	var m float64
	for j, l := range s.lo {
		if l > 0 {
			m = math.Max(m, math.Abs(math.Log(s.next[j]/s.v[j])))
		}
	}
	return m
}

// steps predicts how many steps of the given rate lead from residual a to b.
func steps(a, b, rate float64) float64 {
	if !(rate < 1) {
		return math.Inf(1)
	}
	return math.Log(b/a) / math.Log(rate)
}
