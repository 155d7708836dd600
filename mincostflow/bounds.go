package mincostflow

import (
	"math"
	"slices"
)

// rounding bounds the errors of the twofold arithmetic below, relative to the largest cost for the
// upper bound and to the sum of the magnitudes of its terms for the lower one. n operations, each
// with an error below 2^-102 of that, need n * 2^-102, and n is below 2^22 for a million rows and
// columns. The bounds move outward by this much, which is far below an ulp.
const rounding = 0x1p-80

// result turns an answer into a Result.
func (s *solver) result(a answer, settings Settings) (r Result, err error) {
	return r, s.fill(&r, a, settings)
}

// fill turns an answer into a Result: potentials for all rows and columns, and bounds. It reuses the slices
// of r.
func (s *solver) fill(r *Result, a answer, settings Settings) error {
	in := s.in
	if !a.known {
		s.bound(&a)
	}
	lower := a.value.plusFloat(float64(-rounding * a.size)).plusFloat(-0x1p-1000)
	r.Lower = math.Max(0, s.roundTo(lower, math.Inf(-1)))

	top := s.rows.top()
	upper := a.objective.plus(a.missing.times(top)).plusFloat(float64(rounding * top))
	r.Upper = math.Min(s.rows.most, s.roundTo(upper, math.Inf(1)))
	// A plan with a rounding too much mass can cost more than the largest float.
	r.Objective = math.Min(math.Ldexp(a.objective.value(), -s.rows.exp), math.MaxFloat64)

	r.Q = append(r.Q[:0], a.q...)
	r.Plan = slices.Grow(r.Plan[:0], len(a.plan))[:len(a.plan)]
	for n, e := range a.plan {
		r.Plan[n] = Entry{I: in.rows[e.i], J: int(e.j), Mass: e.mass}
	}
	r.Potentials.G = append(r.Potentials.G[:0], a.g...)
	r.Potentials.F = grow(r.Potentials.F, in.k)
	r.Status = a.status
	r.Stats = Stats{
		Pivots:     s.sx.tree.pivots,
		Degenerate: s.sx.tree.degenerate,
		Sweeps:     s.sx.pr.sweeps,
		Rescales:   max(s.sx.rescales, 0),
	}
	r.Settings = settings
	return s.allRows(r.Potentials.F, a.g, a.f, settings, &r.Status)
}

// bound sorts the plan of a and fills in its cost, what it lacks, and the dual value.
func (s *solver) bound(a *answer) {
	a.plan = s.sortPlan(a.plan, len(s.in.rows), s.in.kv)
	a.objective, a.missing = s.primal(a.q, a.plan)
	a.value, a.size = s.dual(a)
	a.known = true
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
func (s *solver) primal(q []float64, plan []entry) (objective, missing dd) {
	in := s.in
	s.out.rest = append(s.out.rest[:0], in.mass...)
	for _, x := range q {
		s.out.rest = append(s.out.rest, dd{hi: x})
	}
	row, column := s.out.rest[:len(in.mass)], s.out.rest[len(in.mass):] // what is left of them
	for j, x := range q {
		if in.point != nil {
			// Both the point and its rounded form q are targets: take the smaller.
			if p := (dd{hi: in.point[j]}).over(in.pointSum); p.hi < x || p.hi == x && p.lo < 0 {
				column[j] = p
			}
		}
	}
	var mass dd
	for _, e := range plan {
		objective = objective.plus(dd{hi: e.cost}.times(e.mass))
		mass = mass.plusFloat(e.mass)
		row[e.i] = row[e.i].plusFloat(-e.mass)
		column[e.j] = column[e.j].plusFloat(-e.mass)
	}
	missing = mass.neg().plusFloat(1)
	for _, left := range [2][]dd{row, column} {
		for _, x := range left {
			if x.hi < 0 {
				missing = missing.plus(x.neg())
			}
		}
	}
	if over := total(q, 2).plusFloat(-1); over.hi > 0 {
		missing = missing.plus(over)
	}
	if missing.hi < 0 {
		missing = dd{} // rounding
	}
	return objective, missing
}

// roundTo returns x / 2^exp as a float64, rounded towards the infinity dir.
func (s *solver) roundTo(x dd, dir float64) float64 {
	y := math.Ldexp(x.value(), -s.rows.exp)
	// y*2^exp is exact, unless y underflowed to 0 or a subnormal, when it is exact, too, or
	// overflowed, when y is infinite and at least on the right side of a finite bound.
	if math.IsInf(y, 0) {
		return y
	}
	d := x.plusFloat(-math.Ldexp(y, s.rows.exp))
	if d.hi > 0 && dir > 0 || d.hi < 0 && dir < 0 {
		y = math.Nextafter(y, dir)
	}
	return y
}
