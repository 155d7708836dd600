package mincostflow

import (
	"cmp"
	"math"
	"slices"
)

// knapsack solves an instance with a single row with mass: fill the columns up to their upper
// bounds by rising cost, on top of their lower bounds, until the mass is used up.
func (s *solver) knapsack() answer {
	in := s.in
	s.net.pivots, s.net.degenerate, s.pr.sweeps, s.rescales = 0, 0, 0, 0
	row := s.rows.at(s.live[0])
	order := s.order[:0]
	for j := range row {
		if in.hi[j] > 0 {
			order = append(order, int32(j))
		}
	}
	s.order = order
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(row[a], row[b]) })

	s.q, s.g, s.plan = append(s.q[:0], in.lo...), grow(s.g, in.kv), s.plan[:0]
	a := answer{status: Optimal, q: s.q, g: s.g, plan: s.plan}
	left := total(in.lo, 2).neg().plusFloat(1)
	threshold := row[order[0]]
	for _, j := range order {
		if left.hi <= 0 || in.point != nil {
			break
		}
		threshold = row[j]
		rest := left.plusFloat(-in.hi[j]).plusFloat(in.lo[j])
		if rest.hi < 0 {
			a.q[j] = min(max(left.plusFloat(in.lo[j]).value(), in.lo[j]), in.hi[j])
			break
		}
		a.q[j] = in.hi[j]
		left = rest
	}
	if in.level < 0 {
		threshold = row[order[len(order)-1]] // every column is full: no price above zero
	}
	in.repair(a.q)
	for j, x := range a.q {
		if in.hi[j] == 0 {
			a.g[j] = math.Inf(-1)
			continue
		}
		a.g[j] = math.Ldexp(row[j]-threshold, -s.rows.exp)
		if x > 0 {
			a.plan = append(a.plan, entry{0, int32(j), x, row[j]})
		}
	}
	s.plan = a.plan
	return a
}
