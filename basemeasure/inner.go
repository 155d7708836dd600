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

// suits reports whether the interior phase is worth a try.
func (v *solver) suits() bool {
	cells, priv := v.p.k*v.p.kv, v.p.priv
	least, open := innerLeast, innerOpen
	switch wide := v.p.settings.Gap >= innerGap; {
	case !wide:
		least = innerFew
	case cells >= innerWide:
		open = 1
	}
	return v.p.aim.share == 1 && v.p.settings.Initial == nil && cells >= least && cells <= innerMost &&
		priv.beta.Near-priv.alpha.Near >= innerEps && v.res.Upper-v.res.Lower <= open*v.res.Upper
}

// inner runs the interior phase from the best uniform measure, whose costs phi and tau are still those of open.
func (v *solver) inner() error {
	in := make([]int, 0, v.p.k)
	p := interior.Problem{Alpha: v.game.alpha, Beta: v.game.beta, Base: v.game.base, Unit: v.game.unit}
	var thresholds []float64
	for i, tau := range v.start.tau {
		if v.p.aim.inMax[i] {
			in = append(in, i)
			p.Rows = append(p.Rows, v.p.table.Row(i, nil))
			thresholds = append(thresholds, tau)
		}
	}
	phase := interior.New(p, v.start.m, thresholds)
	before := v.res.Upper - v.res.Lower
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
		v.res.Stats.Steps++
		v.weigh(phase, in)
		v.sight(phase.Measure())
		gap := v.res.Upper - v.res.Lower
		if v.closed() {
			v.prune()
			return nil
		}
		if gap <= innerGap*v.res.Upper {
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

// weigh computes the lower bound of the phase.
func (v *solver) weigh(phase *interior.Phase, in []int) {
	c := cuts{make([]float64, v.p.k), make([]float64, v.p.k)}
	for n, w := range phase.Weights() {
		c.weights[in[n]] = w
		c.thresholds[in[n]] = cutbound.Representable(phase.Threshold(n), v.p.exponent)
	}
	v.take(c)
}

// sight computes the upper bound of a measure, and keeps it if it is the best.
func (v *solver) sight(m []float64) {
	r := v.ray
	copy(r.m, m)
	v.res.Stats.Evaluations++
	if upper := r.certified(); upper < v.res.Upper {
		v.keep(upper)
	}
}

// keep makes r.m the best measure, with its upper bound.
func (v *solver) keep(upper float64) {
	v.res.Upper = upper
	copy(v.res.M, v.ray.m)
	v.ray.appraise(&v.res)
	v.best = v.res.F
	v.stale = false
}

// prune leaves out the outputs with little mass, if the best multiple of what is left is still good enough.
func (v *solver) prune() {
	mean := num.Sum(v.res.M) / float64(v.p.kv)
	for _, part := range [...]float64{0.1, 0.01, 0.001} {
		shape := slices.Clone(v.res.M)
		for j, x := range shape {
			if x < part*mean {
				shape[j] = 0
			}
		}
		if slices.Equal(shape, v.res.M) {
			return
		}
		r := v.p.ray(shape)
		r.limit = v.p.settings.MaxEvaluations - v.res.Stats.Evaluations
		stop := r.search(v.ctx)
		v.res.Stats.Evaluations += r.count
		if stop != nil {
			return
		}
		few := v.p.result()
		if r.choose(&few); v.closes(few.Upper) {
			copy(v.ray.m, few.M)
			v.keep(few.Upper)
			return
		}
	}
}
