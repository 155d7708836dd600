package mincostflow

import "github.com/wpm-go/wpm/internal/num"

// entry is a positive entry of a plan while it is being built: i counts rows with mass, cost is
// scaled.
type entry struct {
	i, j int32
	mass float64
	cost float64
}

// sortPlan sorts p by row, then column, and joins entries of the same arc. It returns what is left of p.
func (s *solver) sortPlan(p []entry, k, kv int) []entry {
	s.out.sort = num.Grow(s.out.sort, len(p))
	s.countingSort(s.out.sort, p, kv, false)
	s.countingSort(p, s.out.sort, k, true)
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

// key returns the row or the column of e.
func (e *entry) key(row bool) int32 {
	if row {
		return e.i
	}
	return e.j
}

// countingSort sorts src to dst by row or column, of which there are n. It is stable.
func (s *solver) countingSort(dst, src []entry, n int, row bool) {
	s.out.counts = num.Grow(s.out.counts, n+1)
	at := s.out.counts
	clear(at)
	for e := range src {
		at[src[e].key(row)+1]++
	}
	for i := range n {
		at[i+1] += at[i]
	}
	for e := range src {
		to := &at[src[e].key(row)]
		dst[*to] = src[e]
		*to++
	}
}
