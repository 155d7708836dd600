package mincostflow

import (
	"github.com/wpm-go/wpm/projection"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// rounding bounds the errors of the twofold arithmetic below, relative to the largest cost for the
// upper bound and to the sum of the magnitudes of its terms for the lower one. n operations, each
// with an error below 2^-102 of that, need n * 2^-102, and n is below 2^22 for a million rows and
// columns. The bounds move outward by this much, which is far below an ulp.
const rounding = 0x1p-80

// fillResult turns an answer into a Result: potentials for all rows and columns, and bounds. It reuses the slices
// of r.
func (s *solver) fillResult(r *Result, a answer, settings Settings) error {
	in := &s.in
	lower := a.value.PlusFloat(float64(-rounding * a.size)).PlusFloat(-0x1p-1000)
	r.Lower = math.Max(0, s.roundTo(lower, math.Inf(-1)))

	top := s.sx.Scaled(s.sx.Most())
	upper := a.objective.Plus(a.missing.Times(top)).PlusFloat(float64(rounding * top))
	r.Upper = math.Min(s.sx.Most(), s.roundTo(upper, math.Inf(1)))
	// A plan with a rounding too much mass can cost more than the largest float.
	r.Objective = math.Min(s.sx.Unscaled(a.objective.Float()), math.MaxFloat64)

	r.Q = append(r.Q[:0], a.q...)
	r.Plan = slices.Grow(r.Plan[:0], len(a.plan))[:len(a.plan)]
	for n, e := range a.plan {
		r.Plan[n] = projection.Entry{I: in.Rows[e.i], J: int(e.j), Mass: e.mass}
	}
	r.Potentials.G = append(r.Potentials.G[:0], a.g...)
	r.Potentials.F = num.Grow(r.Potentials.F, in.K)
	r.Status, r.Stats = a.status, a.stats
	return s.allRows(r.Potentials.F, a.g, a.f, settings, &r.Status)
}

// bound sorts the plan of a and fills in its cost, what it lacks, and the dual value.
func (s *solver) bound(a *answer) {
	a.plan = s.sortPlan(a.plan, len(s.in.Rows), len(s.in.Lo))
	a.objective, a.missing = s.primal(a.q, a.plan)
	a.value, a.size = s.dual(a)
}

// primal returns the cost of the plan, scaled, and how much mass is missing from it: an upper bound
// on what has to be moved by other means, at the largest cost at worst, to turn the plan into one
// from the source to q.
//
// Scale down the rows of P that exceed the source, then the columns that exceed q. This removes at
// most the sum of the excesses, costs nothing, and leaves a plan below both marginals. What it
// then lacks to mass 1, at most 1 - mass(P) + excesses, can be moved from the rows that keep
// some to the columns that lack some. If q sums to more than 1, it stands for any distribution
// below it, and the columns exceed that by at most as much again.
func (s *solver) primal(q []float64, plan []entry) (objective, missing num.Twofold) {
	in := &s.in
	s.out.sums = append(s.out.sums[:0], in.Mass...)
	for _, x := range q {
		s.out.sums = append(s.out.sums, num.Twofold{Hi: x})
	}
	row, column := s.out.sums[:len(in.Mass)], s.out.sums[len(in.Mass):] // what is left of them
	for j := range in.Point {
		// Both the point and its rounded form q are targets: take the smaller.
		if p := in.target(j); p.Hi < q[j] || p.Hi == q[j] && p.Lo < 0 {
			column[j] = p
		}
	}
	var mass num.Twofold
	for _, e := range plan {
		objective = objective.Plus(num.Twofold{Hi: e.cost}.Times(e.mass))
		mass = mass.PlusFloat(e.mass)
		row[e.i] = row[e.i].PlusFloat(-e.mass)
		column[e.j] = column[e.j].PlusFloat(-e.mass)
	}
	missing = mass.Neg().PlusFloat(1)
	for _, x := range s.out.sums {
		if x.Hi < 0 {
			missing = missing.Plus(x.Neg())
		}
	}
	if over := num.CappedSum(q, 2).PlusFloat(-1); over.Hi > 0 {
		missing = missing.Plus(over)
	}
	if missing.Hi < 0 {
		missing = num.Twofold{} // rounding
	}
	return objective, missing
}

// roundTo returns x / 2^exp as a float64, rounded towards the infinity dir.
func (s *solver) roundTo(x num.Twofold, dir float64) float64 {
	y := s.sx.Unscaled(x.Float())
	// y*2^exp is exact, unless y underflowed to 0 or a subnormal, when it is exact, too, or
	// overflowed, when y is infinite and at least on the right side of a finite bound.
	if math.IsInf(y, 0) {
		return y
	}
	d := x.PlusFloat(-s.sx.Scaled(y))
	if d.Hi > 0 && dir > 0 || d.Hi < 0 && dir < 0 {
		y = math.Nextafter(y, dir)
	}
	return y
}
