package basemeasure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/basemeasure/internal/gub"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Solve returns a base measure whose objective is within the relative gap Settings.Gap of the best that any eps-LDP
// mechanism can have, with the proof. Minimisers are not unique; the one returned has few nonzeros.
//
// Pass a *knapsack.Table as c to sort the cost only once for several calls. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon, ErrSettings; ErrNotConverged, with the best Result so far and valid bounds, if ctx ends, a
// limit is reached or rounding errors stop the solver (Result.Status says which), and without a Result if ctx ends
// before more than 48 rows of costs are sorted.
func Solve(ctx context.Context, c cost.Matrix, eps float64, settings Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	p, settings, err := newProblem(ctx, c, eps, settings, true)
	if err != nil {
		return Result{}, err
	}
	v := newSolver(ctx, p, settings)
	stop := v.solve()
	res := p.result(settings, v.m, v.upper, v.proof)
	v.stats.Pivots, v.stats.Refactors, v.stats.Recomputes = v.counts.Pivots, v.counts.Refactors, v.counts.Recomputes
	res.Stats = v.stats
	return p.finish(res, stop)
}

// solver is one run of Solve.
type solver struct {
	ctx                       context.Context
	p                         *problem
	gap                       float64
	maxEvaluations, maxPivots int
	units                     units

	// The incumbent: the best measure so far, its objective as evaluated, and an upper bound on that.
	m     []float64
	value float64
	upper float64
	stale bool // upper is not that of m yet
	proof proof

	stats  Stats
	counts gub.Counts
}

// units are those of the master program: a cost c is (c - base) * unit there, and top at most. Neither the shift nor the
// scale, a power of two, changes the measures that are best.
type units struct{ base, unit, top float64 }

func (u units) scale(c float64) float64   { return (c - u.base) * u.unit }
func (u units) unscale(x float64) float64 { return x/u.unit + u.base }

func newSolver(ctx context.Context, p *problem, s Settings) *solver {
	base := p.table.MaxCost()
	for i := range p.k {
		base = min(base, p.table.Row(i, nil)[p.table.Order(i)[0]])
	}
	_, exponent := math.Frexp(p.table.MaxCost() - base)
	return &solver{
		ctx: ctx, p: p, gap: s.Gap, maxEvaluations: s.MaxEvaluations, maxPivots: s.MaxPivots,
		units: units{base, math.Ldexp(1, -exponent), math.MaxFloat64}, proof: p.noProof(),
	}
}

// closed reports whether the bounds are as close as asked for.
func (v *solver) closed() bool { return v.closes(v.upper) }

// closes reports whether they would be with that upper bound.
func (v *solver) closes(upper float64) bool {
	most := v.p.table.MaxCost() // no bound is above it: finish sees to that
	upper = min(upper, most)
	// Thresholds, which are numbers of the size of the costs, cannot be finer than the smallest float.
	steps := math.Ldexp(gapSteps*math.SmallestNonzeroFloat64, -v.p.exponent)
	return upper-v.proof.lower <= max(v.gap*upper, absoluteGap*most, steps)
}

const (
	// absoluteGap is the gap, relative to the largest cost, at which the bounds always count as closed.
	absoluteGap = 1e-15
	// gapSteps is the same in steps of the smallest float.
	gapSteps = 4
)

// solve closes the gap: by the simplex, and by the interior phase in between where that is likely to be faster. Nearly
// always the first attempt of the simplex is enough. The second is for values far below the largest cost.
func (v *solver) solve() error {
	o, stop := v.open()
	if stop != nil || v.closed() {
		return stop
	}
	budget := math.MaxInt
	switch {
	case v.suitsInterior():
		budget = innerBudget * v.p.k * v.p.kv
	case v.manyOutputs(o.m):
		if _, stop = v.attempt(v.everyInput(o), v.units, budget, true); stop != nil || v.closed() {
			return stop
		}
	}
	spent, stop := v.attempt(v.worstInput(o), v.units, budget, false)
	if spent {
		if stop = v.interior(o); stop == nil && !v.closed() {
			_, stop = v.attempt(v.proof.cuts, v.units, math.MaxInt, false)
		}
	}
	if stop != nil || v.closed() {
		return stop
	}
	if u, ok := v.unitsOfValue(); ok {
		v.stats.Restarts++
		_, stop = v.attempt(v.proof.cuts, u, math.MaxInt, false)
	}
	if stop == nil && !v.closed() {
		stop = errStalled
	}
	return stop
}

const (
	// farBelow is the value, in units of the master, at which it is worth another unit.
	farBelow = 1e-3
	// manyTimes the best value, any cost keeps an output out of the measure: larger ones would only bring in rounding.
	manyTimes = 1 << 20
)

// unitsOfValue are units of the size of the best value, in place of the largest cost; if that is far below it.
func (v *solver) unitsOfValue() (units, bool) {
	value := v.value - v.units.base
	if !(value*v.units.unit < farBelow && value > 0) {
		return units{}, false
	}
	_, exponent := math.Frexp(value)
	return units{v.units.base, math.Ldexp(1, -exponent), manyTimes}, true
}

// open finds the best uniform measure and its proof.
func (v *solver) open() (*search, error) {
	r := v.p.search(slices.Repeat([]float64{1}, v.p.kv), v.maxEvaluations)
	stop := r.run(v.ctx)
	v.stats.Evaluations = r.count
	r.choose()
	v.m, v.value, v.upper = slices.Clone(r.m), v.p.criterion.value(r.phi), r.upper
	var err error
	if v.proof, err = r.prove(v.ctx, v.proof); stop == nil {
		stop = err
	}
	return r, stop
}

// prove computes the lower bound of c and keeps it if it is the best.
func (v *solver) prove(c cuts) {
	v.stats.Shifts++
	v.proof = v.proof.better(v.p.dual().shift(v.ctx, c))
}

// worstInput is where the simplex starts: from the cut of the worst input at the opening measure, and those of all
// inputs in an average.
func (v *solver) worstInput(o *search) cuts {
	c := cuts{make([]float64, v.p.k), o.tau}
	if v.p.criterion.share > 0 {
		_, worst := v.p.criterion.worst(o.phi)
		c.weights[worst] = 1
	}
	return c
}

// everyInput is where it starts if many outputs will be in use: from the cuts of all inputs, with equal weights.
func (v *solver) everyInput(o *search) cuts {
	c := cuts{make([]float64, v.p.k), o.tau}
	for i, in := range v.p.criterion.inMax {
		if in {
			c.weights[i] = 1
		}
	}
	return c
}

// fewOutputs is the number of outputs that an input fills at the opening measure, below which nearly all outputs will
// be in use.
const fewOutputs = 16

// manyOutputs reports whether the start from the cuts of all inputs is worth a try, with the opening measure m.
func (v *solver) manyOutputs(m []float64) bool {
	k, kv := v.p.k, v.p.kv
	return v.p.criterion.share == 1 && k*kv >= innerLeast &&
		float64(kv) <= fewOutputs*v.p.priv.beta.Near*num.Sum(m)
}

// fit scales a measure into the feasible range.
func (v *solver) fit(m []float64) {
	mass := num.Sum(m)
	alpha, beta := v.p.priv.alpha.Near, v.p.priv.beta.Near
	scale := 1.0
	switch {
	case !(mass > 0):
		fill(m, 1/float64(len(m)))
	case mass*alpha > 1:
		scale = 1 / (alpha * mass)
	case mass*beta < 1:
		scale = 1 / (beta * mass)
	}
	for j := range m {
		m[j] *= scale
	}
}

// evaluate returns the costs and thresholds at a measure, which it scales into the feasible range, and keeps the measure
// if it is the best. They are nil if rounding put the mass outside the range.
func (v *solver) evaluate(m []float64) (phi, tau []float64) {
	v.fit(m)
	v.stats.Evaluations++
	phi, tau, err := v.p.evaluate(m)
	if err != nil {
		return nil, nil
	}
	switch f := v.p.criterion.value(phi); {
	case f < v.value:
		v.value = f
	case f > v.value*(1+sparseTol) || nonzeros(m) >= nonzeros(v.m):
		return phi, tau
	}
	v.m, v.stale = slices.Clone(m), true
	return phi, tau
}

const (
	// sparseTol is by how much of the objective a measure may be worse if it has fewer nonzeros: rounding.
	sparseTol = 1e-14
	// sparseMass is the mass, relative to the largest, below which an output is left out if that costs nothing.
	sparseMass = 1e-10
)

func nonzeros(m []float64) (n int) {
	for _, x := range m {
		if x > 0 {
			n++
		}
	}
	return n
}

// certify computes an upper bound for the incumbent, if it is a new one. On the heavier side of rounding F is flatter
// (see nudges), and outputs with the mass of a rounding are better left out.
func (v *solver) certify() {
	if !v.stale {
		return
	}
	v.stale = false
	found := v.m
	least := sparseMass * slices.Max(found)
	v.upper = math.Inf(1)
	slack := 1.0
	for _, floor := range []float64{0, least} {
		for _, nudge := range nudges {
			m := make([]float64, len(found))
			for j, x := range found {
				if x >= floor {
					m[j] = x * (1 + nudge)
				}
			}
			if upper := v.p.certified(m); upper < v.upper*slack {
				v.m, v.upper, slack = m, upper, 1
			}
		}
		if !slices.ContainsFunc(found, func(x float64) bool { return x > 0 && x < least }) {
			return
		}
		slack = 1 + sparseTol
	}
}

// interrupted says why the search must end, if it must.
func (v *solver) interrupted() error {
	if v.ctx.Err() != nil {
		return wpmerr.Ended(v.ctx)
	}
	if v.stats.Evaluations >= v.maxEvaluations {
		return fmt.Errorf("limit of %d evaluations", v.maxEvaluations)
	}
	if v.counts.Pivots >= v.maxPivots {
		return fmt.Errorf("limit of %d pivots", v.maxPivots)
	}
	return nil
}
