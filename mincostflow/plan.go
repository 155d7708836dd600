package mincostflow

import (
	"cmp"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// entry is a positive entry of a plan while it is being built: i counts rows with mass, cost is
// scaled.
type entry struct {
	i, j int32
	mass float64
	cost float64
}

// sortPlan sorts p by row, then column, and joins entries of the same arc. It returns what is left of p.
func (s *solver) sortPlan(p []entry) []entry {
	s.out.sort = append(s.out.sort[:0], p...)
	s.out.counts = num.Grow(s.out.counts, len(s.in.Rows)+1)
	next := s.out.counts // where the next entry of a row belongs
	clear(next)
	for e := range p {
		next[p[e].i+1]++
	}
	for i := range s.in.Rows {
		next[i+1] += next[i]
	}
	for _, e := range s.out.sort {
		p[next[e.i]] = e
		next[e.i]++
	}
	from := 0
	for _, end := range next[:len(s.in.Rows)] {
		slices.SortStableFunc(p[from:end], func(a, b entry) int { return cmp.Compare(a.j, b.j) })
		from = end
	}
	n := 0
	for _, e := range p {
		if n > 0 && p[n-1].i == e.i && p[n-1].j == e.j {
			p[n-1].mass += e.mass
			continue
		}
		p[n] = e
		n++
	}
	return p[:n]
}
