package basemeasure

import (
	"cmp"
	"math"
	"slices"

	"github.com/wpm-go/wpm/basemeasure/internal/gub"
	"github.com/wpm-go/wpm/internal/cutbound"
)

// attempt is one run of the simplex: column generation for the design problem as a linear program. The designer plays
// m, the adversary cuts (i, eta). The cuts of the maximum share one bound, and each input with a weight floor_i in the
// average has a bound of its own:
//
//	max  sum lam_c t_c
//	     sum over the cuts of a bound of lam_c = share, or floor_i   (one row per bound)
//	     sum lam_c g_cj - y_j = 0                                    (one row per output)
//	     lam, y >= 0
//
// where the cut (i, eta) has t = eta and g_j = h(C_ij - eta), h(x) = alpha x for x > 0 and beta x otherwise. Two more
// columns, without a bound, keep the mass of m at most 1/alpha (t = -1/alpha, g = 1) and at least 1/beta (t = 1/beta,
// g = -1). The multiplier of output j is m_j. The price of a bound is the cost in the model of its input, or of its
// worst one. The master program has the cuts that were found so far; pricing evaluates all phi_i at a query point.
type attempt struct {
	v       *solver
	master  *gub.Simplex
	units   units
	own     []int     // the bound of each input, or gub.NoBound
	shared  int       // the bound of the maximum, or gub.NoBound
	maxCost []float64 // of each output, where costs far above the value may be in the master; see tooDear
	phi     []float64 // costs at the last query point
	tau     []float64 // and thresholds

	bound      float64 // best objective of a basis so far
	stalled    int     // rounds since it rose
	proved     float64 // gap at the last certificate
	work       int     // multiplications of the pivots, about
	stabilised bool
	share      float64 // of the master's solution in the query point, if stabilised (Wentges 1997)
}

// Rules of thumb of the simplex. They decide how long it takes, not what it returns.
const (
	stallRounds   = 60  // rounds without progress of the bound
	proveFactor   = 0.3 // a new certificate when the gap fell by this much
	candidates    = 150 // cuts priced in a round, at most
	fewCandidates = 30  // and half of the inputs, but so many at least
	keepGain      = 0.3 // a round ends when the best reduced cost fell by this much
	stableShare   = 0.2 // of the master's solution in the query point, after a round without progress
	stableFall    = 0.9 // the share falls by this factor with each further one
	roundBudget   = 5   // but not before its pivots have cost so many times an evaluation

	valueTol    = 1e-11 // by how much the ratio test may overstep
	progressTol = 1e-15 // in units of the master
	closeEnough = 0.01  // the gap, relative to that asked for, at which only the certificate can be at fault
)

// The labels of the columns that are no cuts.
const (
	maxMass = -1 - iota // m may not be heavier than 1/alpha
	minMass             // nor lighter than 1/beta
)

// attempt runs the simplex once, from a strategy of the adversary, with the mean of Wentges as query point if it is to be
// stabilised. It returns why the search must end; nil if the attempt came to its own end, be it converged or not. spent
// says that the budget of multiplications was.
func (v *solver) attempt(from cuts, u units, budget int, stabilised bool) (spent bool, stop error) {
	a := v.newAttempt(u)
	a.stabilised = stabilised
	defer v.certify()
	if !a.start(from) {
		return false, nil
	}
	for {
		if err := v.interrupted(); err != nil {
			a.prove()
			return false, err
		}
		if done := a.round(); done {
			return false, nil
		}
		if a.work > budget {
			a.prove()
			return true, nil
		}
	}
}

func (v *solver) newAttempt(u units) *attempt {
	a := &attempt{
		v: v, units: u, own: make([]int, v.p.k), shared: gub.NoBound,
		bound: math.Inf(-1), proved: 1 / proveFactor, share: 1,
	}
	var rhs []float64
	for i, floor := range v.p.criterion.floor {
		a.own[i] = gub.NoBound
		if floor > 0 {
			a.own[i] = len(rhs)
			rhs = append(rhs, floor)
		}
	}
	if share := v.p.criterion.share; share > 0 {
		a.shared = len(rhs)
		rhs = append(rhs, share)
	}
	// A slack that is y short costs the certificate y/alpha, and a lam changes a slack by beta times as much.
	alpha, beta := v.p.priv.alpha.Near, v.p.priv.beta.Near
	a.master = gub.New(v.p.kv, rhs, valueTol*alpha/beta, valueTol*alpha, &v.counts)
	if u != v.units {
		a.maxCost = v.maxCosts()
	}
	return a
}

// start gives the master the cuts of a strategy. Their weights in the maximum are relative.
func (a *attempt) start(from cuts) bool {
	top, sum := -1, 0.0
	for i, w := range from.weights {
		sum += w
		if a.v.p.criterion.inMax[i] && (top < 0 || w > from.weights[top]) {
			top = i
		}
	}
	for i, w := range from.weights {
		eta := a.units.scale(from.thresholds[i])
		if a.own[i] != gub.NoBound {
			a.offer(i, a.own[i], eta)
		}
		if a.shared != gub.NoBound && (i == top || a.v.p.criterion.inMax[i] && w > 0) {
			c := a.offer(i, a.shared, eta)
			if sum > 0 {
				c.Value = a.v.p.criterion.share * (w / sum)
			}
		}
	}
	return a.master.Start(a.offerMass(maxMass))
}

// offer offers the cut of an input at eta, in units of the master.
func (a *attempt) offer(input, bound int, eta float64) *gub.Column {
	eta = min(eta, a.units.top)
	return a.master.Offer(input, bound, eta, func(outputs []int, g []float64) {
		row := a.v.p.table.Row(input, nil)
		ab := [2]float64{a.v.p.priv.alpha.Near, a.v.p.priv.beta.Near}
		base, unit, top := a.units.base, a.units.unit, a.units.top
		for p, j := range outputs[:len(g)] {
			x := min((row[j]-base)*unit, top) - eta
			g[p] = x * ab[math.Float64bits(x)>>63]
		}
	})
}

// offerMass offers a bound on the mass.
func (a *attempt) offerMass(which int) *gub.Column {
	t, sign := -1/a.v.p.priv.alpha.Near, 1.0
	if which == minMass {
		t, sign = 1/a.v.p.priv.beta.Near, -1
	}
	return a.master.Offer(which, gub.NoBound, t, func(_ []int, g []float64) { fill(g, sign) })
}

// round evaluates the query point and then pivots on the cuts found there. It reports whether the attempt is over.
func (a *attempt) round() (done bool) {
	v, s := a.v, a.master
	if !s.Refresh() {
		return true
	}
	a.query(a.share)
	bound := s.Objective()
	gap := (a.units.scale(v.value) - bound) / (v.value * a.units.unit)
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
	if a.stabilised && a.stalled > 0 {
		a.share = min(stableShare, stableFall*a.share)
	}
	if gap <= v.gap {
		a.prove()
		v.certify()
		switch {
		case v.closed():
			return true
		case !s.Fresh():
			return !s.Refactor()
		case gap <= closeEnough*v.gap:
			return true
		}
	}
	refused := v.stats.Rejected
	pivots, ok := a.pivot()
	if ok && pivots == 0 && a.share < 1 { // the model has only the cuts of the basis itself wrong
		a.query(1)
		pivots, ok = a.pivot()
	}
	switch {
	case !ok:
		return true
	case pivots > 0:
		s.Desperate(false)
		return false
	case !s.Fresh(): // nothing enters: make sure that it is not the rounding of old pivots that says so
		return !s.Refactor()
	case v.stats.Rejected > refused && s.Desperate(true):
		return false
	}
	a.prove()
	return true
}

// query evaluates the master's solution. With a share below 1 it evaluates the mean of that, which has the share, and
// the incumbent. Before it, where there are masses that are too dear, it evaluates the solution without them.
func (a *attempt) query(share float64) {
	v := a.v
	m := make([]float64, v.p.kv)
	dear := false
	for j, x := range a.master.Multipliers {
		if x > 0 {
			m[j] = x
			dear = dear || a.tooDear(j, x)
		}
	}
	if dear {
		cheap := slices.Clone(m)
		for j, x := range m {
			if a.tooDear(j, x) {
				cheap[j] = 0
			}
		}
		v.evaluate(cheap)
	}
	if share < 1 {
		for j, x := range v.m {
			m[j] = share*m[j] + (1-share)*x
		}
	}
	if phi, tau := v.evaluate(m); phi != nil {
		a.phi, a.tau = phi, tau
	} else if a.phi == nil { // the cuts of the incumbent do no harm, nor do those of the query point before
		a.phi, a.tau, _ = v.p.evaluate(v.m)
	}
}

// maxCosts is the largest cost of each output, less the least cost of all, over the inputs of the maximum.
func (v *solver) maxCosts() []float64 {
	most := make([]float64, v.p.kv)
	for i := range v.p.k {
		if !v.p.criterion.inMax[i] {
			continue
		}
		for j, c := range v.p.table.Row(i, nil) {
			most[j] = max(most[j], c-v.units.base)
		}
	}
	return most
}

// tooDear reports whether x on output j alone makes a measure worse than the best: some input pays for it. Where costs
// span many orders of magnitude the master has such masses, of the size of a rounding.
func (a *attempt) tooDear(j int, x float64) bool {
	p := a.v.p
	return a.maxCost != nil && p.criterion.share*p.priv.alpha.Near*x*a.maxCost[j] > a.v.value-a.units.base
}

// prove computes the lower bound of the basis, and keeps it if it is the best.
func (a *attempt) prove() {
	c := newCuts(a.v.p.k)
	values := make([]float64, a.v.p.k)
	some := a.shared == gub.NoBound
	for col := range a.master.Columns {
		if i := col.Label; i >= 0 && col.Value > 0 {
			values[i] += col.Value
			c.thresholds[i] += col.Value * a.units.unscale(col.Objective)
			if col.Bound == a.shared {
				c.weights[i] += col.Value
				some = true
			}
		}
	}
	for i, w := range values { // cuts of one input merge into their mean: never worse, by concavity
		if w > 0 {
			c.thresholds[i] = cutbound.Representable(c.thresholds[i]/w, a.v.p.exponent)
		}
	}
	if some {
		a.v.prove(c)
	}
}

// pivot lets variables enter until the best reduced cost has fallen, or there is none. It reports false if the basis
// is beyond repair.
func (a *attempt) pivot() (pivots int, ok bool) {
	v, s := a.v, a.master
	slacks := a.price()
	defer s.Withdraw()
	first, work, budget := -1.0, 0, roundBudget*v.p.k*v.p.kv
	for pivots == 0 || v.interrupted() == nil {
		// Slacks that were not negative when the round began count while the round is young: letting them in finds a better
		// query point, at the price of more pivots.
		young := work < budget
		e, found := s.Price(func(j int) bool { return slacks[j] == slackMay || young && slacks[j] == slackIdle })
		if !found {
			break
		}
		if first < 0 {
			first = e.Reduced
		}
		if pivots > 0 && e.Reduced < keepGain*first && !young {
			break
		}
		work += s.Work()
		a.work += s.Work()
		switch s.Enter(e) {
		case gub.Broken:
			return pivots, false
		case gub.Pivoted:
			pivots++
		case gub.Rejected:
			v.stats.Rejected++
			if e.Column == nil {
				slacks[e.Row] = slackRefused
			}
		case gub.Retry:
			if !s.Feasible() {
				return max(pivots, 1), true // the next round decides
			}
		}
	}
	return pivots, true
}

// slackState says whether the slack of an output may enter.
type slackState int8

const (
	slackIdle slackState = iota // only while a round is young
	slackMay
	slackRefused
)

// violation is a cut that the master has wrong, and by how much.
type violation struct {
	input, bound int
	by           float64
}

// price offers the cuts that the query point calls for: a candidate list (multiple pricing). It returns the slacks, by
// output, that the multipliers recommend.
func (a *attempt) price() []slackState {
	s := a.master
	slacks := make([]slackState, a.v.p.kv)
	negative := false
	for j, x := range s.Multipliers {
		if x < -gub.Rounding {
			slacks[j] = slackMay
			negative = true
		}
	}
	var list []violation
	consider := func(i, bound int, price float64) {
		// With a negative multiplier the query point is not that of the basis, and any cut may be of use.
		if by := a.units.scale(a.phi[i]) - price; by > gub.Rounding || negative {
			list = append(list, violation{i, bound, by})
		}
	}
	shared := s.BoundPrice(a.shared)
	for i, own := range a.own {
		counts := a.shared != gub.NoBound && a.v.p.criterion.inMax[i]
		if own != gub.NoBound {
			price := s.BoundPrice(own)
			consider(i, own, price)
			if counts && price-shared > gub.Rounding { // the key of the one bound is a cut of the other
				a.offer(i, a.shared, s.Key(own).Objective)
			}
		}
		if counts {
			consider(i, a.shared, shared)
		}
	}
	slices.SortFunc(list, func(a, b violation) int {
		return cmp.Or(cmp.Compare(b.by, a.by), a.bound-b.bound, a.input-b.input)
	})
	most := min(candidates, max(fewCandidates, a.v.p.k/2))
	for _, c := range list[:min(len(list), most)] {
		a.offer(c.input, c.bound, a.units.scale(a.tau[c.input]))
	}
	a.offerMass(maxMass)
	a.offerMass(minMass)
	return slacks
}
