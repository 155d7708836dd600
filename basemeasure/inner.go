package basemeasure

import (
	"slices"

	"github.com/wpm-go/wpm/basemeasure/internal/interior"
	"github.com/wpm-go/wpm/internal/cutbound"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// The interior phase takes over from a simplex that has worked for some time, where it is likely to be faster. It goes
// on until the gap is the one asked for, or innerGap; then the simplex starts again, from its certificate. The values
// were chosen on the instances of TestInner and of the bench. No bound depends on them.
const (
	innerBudget = 150 // multiplications of the simplex for every cost before that
	// the relative gap of the best uniform measure at which the interior phase is likely to be faster
	innerOpen  = 0.15
	innerGap   = 1e-4    // the relative gap at which the simplex takes over again
	innerLeast = 1 << 16 // costs: fewer are left to the simplex
	innerMost  = 1 << 22 // costs: more need too much memory
	innerFew   = 1 << 18 // costs: fewer are left to the simplex, too, if the gap asked for is below innerGap
	innerWide  = 1 << 19 // costs: with more, and a gap asked for of at least innerGap, innerOpen does not count
	innerEps   = 1e-3    // beta - alpha, at least
	innerSteps = 60      // at most
	innerCheck = 6       // it ends when in so many steps the gap
	innerFall  = 1.5     // has not fallen by this factor
)

// suitsInterior reports whether the interior phase is worth a try.
func (v *solver) suitsInterior() bool {
	cells, priv := v.p.k*v.p.kv, v.p.priv
	least, open := innerLeast, innerOpen
	switch wide := v.gap >= innerGap; {
	case !wide:
		least = innerFew
	case cells >= innerWide:
		open = 1
	}
	return v.p.criterion.share == 1 && cells >= least && cells <= innerMost &&
		priv.beta.Near-priv.alpha.Near >= innerEps && v.upper-v.proof.lower <= open*v.upper
}

// interior runs the interior phase from the opening measure.
func (v *solver) interior(o *search) error {
	in := make([]int, 0, v.p.k)
	p := interior.Problem{
		Alpha: v.p.priv.alpha.Near, Beta: v.p.priv.beta.Near, Base: v.units.base, Unit: v.units.unit,
	}
	var thresholds []float64
	for i, tau := range o.tau {
		if v.p.criterion.inMax[i] {
			in = append(in, i)
			p.Rows = append(p.Rows, v.p.table.Row(i, nil))
			thresholds = append(thresholds, tau)
		}
	}
	phase := interior.New(p, o.m, thresholds)
	before := v.upper - v.proof.lower
	for step := 1; step <= innerSteps; step++ {
		if err := v.interrupted(); err != nil {
			return err
		}
		ok, err := phase.Step(v.ctx)
		if err != nil {
			return wpmerr.Ended(v.ctx)
		}
		if !ok {
			return nil
		}
		v.stats.Steps++
		c := newCuts(v.p.k)
		for n, w := range phase.Weights() {
			c.weights[in[n]] = w
			c.thresholds[in[n]] = cutbound.Representable(phase.Threshold(n), v.p.exponent)
		}
		v.prove(c)
		v.stats.Evaluations++
		v.improve(phase.Measure())
		gap := v.upper - v.proof.lower
		if v.closed() {
			v.prune()
			return nil
		}
		if gap <= innerGap*v.upper {
			return nil
		}
		if step%innerCheck == 0 {
			if gap*innerFall > before {
				return nil
			}
			before = gap
		}
	}
	return nil
}

// improve makes a measure the incumbent if its upper bound is the least.
func (v *solver) improve(m []float64) {
	if upper := v.p.certified(m); upper < v.upper {
		v.keep(m, upper)
	}
}

// keep makes a measure the incumbent.
func (v *solver) keep(m []float64, upper float64) {
	v.m, v.upper, v.stale = slices.Clone(m), upper, false
	if phi, _, err := v.p.evaluate(m); err == nil {
		v.value = v.p.criterion.value(phi)
	}
}

// prune leaves out the outputs with little mass, if the best multiple of what is left is still good enough.
func (v *solver) prune() {
	mean := num.Sum(v.m) / float64(v.p.kv)
	for _, part := range [...]float64{0.1, 0.01, 0.001} {
		shape := slices.Clone(v.m)
		for j, x := range shape {
			if x < part*mean {
				shape[j] = 0
			}
		}
		if slices.Equal(shape, v.m) {
			return
		}
		r := v.p.search(shape, v.maxEvaluations-v.stats.Evaluations)
		stop := r.run(v.ctx)
		v.stats.Evaluations += r.count
		if stop != nil {
			return
		}
		if r.choose(); v.closes(r.upper) {
			v.keep(r.m, r.upper)
			return
		}
	}
}
