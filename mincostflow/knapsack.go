package mincostflow

import (
	"cmp"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// knapsack solves an instance with a single row with mass: fill the columns up to their upper
// bounds by rising cost, on top of their lower bounds, until the mass is used up.
func (s *solver) knapsack() answer {
	in := &s.in
	row := s.sx.ScaledRow(0)
	order := s.out.counts[:0]
	for j := range row {
		if in.Hi[j] > 0 {
			order = append(order, j)
		}
	}
	s.out.counts = order
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })

	s.out.q, s.out.g, s.out.plan = append(s.out.q[:0], in.Lo...), num.Grow(s.out.g, len(in.Lo)), s.out.plan[:0]
	a := answer{status: Optimal, q: s.out.q, g: s.out.g, plan: s.out.plan}
	left := num.CappedSum(in.Lo, 2).Neg().PlusFloat(1)
	threshold := row[order[0]]
	for _, j := range order {
		if left.Hi <= 0 || in.Point != nil {
			break
		}
		threshold = row[j]
		rest := left.PlusFloat(-in.Hi[j]).PlusFloat(in.Lo[j])
		if rest.Hi < 0 {
			a.q[j] = min(max(left.PlusFloat(in.Lo[j]).Float(), in.Lo[j]), in.Hi[j])
			break
		}
		a.q[j] = in.Hi[j]
		left = rest
	}
	if in.level() < 0 {
		threshold = row[order[len(order)-1]] // every column is full: no price above zero
	}
	in.repair(a.q)
	for j, x := range a.q {
		if in.Hi[j] == 0 {
			a.g[j] = math.Inf(-1)
			continue
		}
		a.g[j] = s.sx.Unscaled(row[j] - threshold)
		if x > 0 {
			a.plan = append(a.plan, entry{0, int32(j), x, row[j]})
		}
	}
	s.out.plan = a.plan
	return a
}
