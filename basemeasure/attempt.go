package basemeasure

import (
	"math"

	"github.com/wpm-go/wpm/internal/cutbound"
)

// attempt is one run of the simplex.
type attempt struct {
	v       *solver
	s       *simplex
	list    pricing
	bound   float64 // best objective of a basis so far
	stalled int     // rounds since it rose
	share   float64 // of the basis in the measure that is evaluated; the rest is the best measure
	proved  float64 // gap at the last certificate
	settled int     // pivots at the last computation of all values
}

// Rules of thumb of the simplex. They decide how long it takes, not what it returns.
const (
	refactorEvery  = 1500 // pivots
	recomputeEvery = 60   // pivots
	stallRounds    = 60   // rounds without progress of the bound
	proveFactor    = 0.3  // a new certificate when the gap fell by this much
	candidates     = 150  // cuts priced in a round, at most
	fewCandidates  = 30   // and half of the inputs, but so many at least
	keepGain       = 0.3  // a round ends when the best reduced cost fell by this much
	crowdShare     = 0.2  // of the basis in the measure that is evaluated, in a crowd after a round without progress
	crowdFall      = 0.9  // the share falls by this factor with each further one
	roundBudget    = 5    // but not before its pivots have cost so many times an evaluation

	infeasibleTol = 1e-3  // basic values below minus this are no rounding: the attempt has failed
	progressTol   = 1e-15 // in units of the game
	closeEnough   = 0.01  // the gap, relative to that asked for, at which only the certificate can be at fault
)

// attempt runs the simplex once. It returns why the search must end; nil if the attempt came to its own end, be it
// converged or not.
func (v *solver) attempt(r tuning) error {
	g := *v.game
	if r.byValue {
		value := v.best - g.base
		if !(value*g.unit < farBelow && value > 0) {
			return nil
		}
		_, exponent := math.Frexp(value)
		g.unit = math.Ldexp(1, -exponent)
		g.top = manyTimes
		v.dearest = v.dearestCosts()
	}
	s := newSimplex(&g, &v.res.Stats)
	s.pivotTol = r.pivotTol
	// A slack that is y short costs the certificate y/alpha, and a lam changes a slack by beta times as much.
	s.slackTol, s.lamTol = r.valueTol*s.alpha, r.valueTol*s.alpha/s.beta
	a := &attempt{v: v, s: s, bound: math.Inf(-1), proved: 1 / proveFactor, share: 1}
	defer v.certify()
	if !s.start(v.strategy(&g)) {
		return nil
	}
	for {
		if err := v.interrupted(); err != nil {
			a.prove()
			return err
		}
		if done := a.round(); done {
			return nil
		}
		if v.turn == turnLater && s.work > innerBudget*v.p.k*v.p.kv {
			v.turn = turnNow
			a.prove()
			return nil
		}
	}
}

// round evaluates the measure of the basis and then pivots on the cuts found there. It reports whether the attempt
// is over.
func (a *attempt) round() (done bool) {
	v, s := a.v, a.s
	if !a.tidy() {
		return true
	}
	v.evaluate(s, a.share)
	bound := s.bound()
	gap := (s.scale(v.best) - bound) / (v.best * s.unit)
	if gap < proveFactor*a.proved {
		a.proved = gap
		a.prove()
	}
	if bound > a.bound+progressTol {
		a.bound, a.stalled, a.share = bound, 0, 1
	} else if a.stalled++; a.stalled > stallRounds {
		a.prove()
		return true
	}
	if v.crowd && a.stalled > 0 {
		a.share = min(crowdShare, crowdFall*a.share)
	}
	goal := v.p.settings.Gap
	if gap <= goal {
		a.prove()
		v.certify()
		switch {
		case v.closed():
			return true
		case s.pivots != s.fresh:
			return !s.refactor()
		case gap <= closeEnough*goal:
			return true
		}
	}
	refused := s.stats.Rejected
	pivots, ok := a.pivot()
	if ok && pivots == 0 && a.share < 1 { // the model has only the cuts of the basis itself wrong
		v.evaluate(s, 1)
		pivots, ok = a.pivot()
	}
	switch {
	case !ok:
		return true
	case pivots > 0:
		s.leastPivot = rejectPivot
		return false
	case s.pivots != s.fresh: // nothing enters: make sure that it is not the rounding of old pivots that says so
		return !s.refactor()
	case s.stats.Rejected > refused && s.leastPivot > lastPivot:
		s.leastPivot = lastPivot
		return false
	}
	a.prove()
	return true
}

// tidy computes values and prices again from time to time. It reports false if the basis is beyond repair.
func (a *attempt) tidy() bool {
	s := a.s
	ok := true
	switch {
	case s.pivots-s.fresh > refactorEvery:
		ok = s.refactor()
		a.settled = s.pivots
	case s.pivots-a.settled > recomputeEvery:
		ok = s.recompute()
		a.settled = s.pivots
	}
	if ok && s.infeasibility() > -infeasibleTol {
		return true
	}
	a.settled = s.pivots
	return s.pivots != s.fresh && s.refactor() && s.infeasibility() > -infeasibleTol
}

// prove computes the lower bound of the basis, and keeps it if it is the best.
func (a *attempt) prove() {
	v, s := a.v, a.s
	c := cuts{make([]float64, v.p.k), make([]float64, v.p.k)}
	values := make([]float64, v.p.k)
	some := s.shared == noBound
	s.each(func(col *column) {
		if i := col.input; i >= 0 && col.value > 0 {
			values[i] += col.value
			c.thresholds[i] += col.value * s.unscale(col.eta)
			if col.bound == s.shared {
				c.weights[i] += col.value
				some = true
			}
		}
	})
	for i, w := range values { // cuts of one input merge into their mean: never worse, by concavity
		if w > 0 {
			c.thresholds[i] = cutbound.Representable(c.thresholds[i]/w, v.p.exponent)
		}
	}
	if some {
		v.take(c)
	}
}

// pivot lets variables enter until the best reduced cost has fallen, or there is none. It reports false if the basis
// is beyond repair.
func (a *attempt) pivot() (pivots int, ok bool) {
	v, s := a.v, a.s
	t := a.offer()
	defer s.withdraw()
	first, work, budget := -1.0, 0, roundBudget*s.k*s.kv
	for pivots == 0 || v.interrupted() == nil {
		e, found := t.best(work < budget)
		if !found {
			break
		}
		if first < 0 {
			first = e.gain
		}
		if pivots > 0 && e.gain < keepGain*first && work >= budget {
			break
		}
		pivot := s.n*(s.kv+s.n+len(s.cands)) + s.kv
		work += pivot
		s.work += pivot
		switch s.enter(&e) {
		case broken:
			return pivots, false
		case pivoted:
			pivots++
		case rejected:
			s.stats.Rejected++
			t.refuse(&e)
		case retry: // the inverse is fresh, and all values with it
			if e.col != nil {
				s.cands = append(s.cands, e.col)
			}
			a.settled = s.pivots
			if !(s.infeasibility() > -infeasibleTol) {
				return max(pivots, 1), true // the next round decides
			}
		}
	}
	return pivots, true
}
