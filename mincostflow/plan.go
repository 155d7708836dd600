package mincostflow

// entry is a positive entry of a plan while it is being built: i counts rows with mass, cost is
// scaled.
type entry struct {
	i, j int32
	mass float64
	cost float64
}

// sortPlan sorts p by row, then column, and joins entries of the same arc. It returns what is left of p.
func (s *solver) sortPlan(p []entry, k, kv int) []entry {
	s.out.sort = grow(s.out.sort, len(p))
	s.out.counts = grow(s.out.counts, max(k, kv)+1)
	q, at := s.out.sort, s.out.counts
	// Two stable counting sorts.
	clear(at)
	for _, e := range p {
		at[e.j+1]++
	}
	for j := range kv {
		at[j+1] += at[j]
	}
	for _, e := range p {
		q[at[e.j]] = e
		at[e.j]++
	}
	clear(at)
	for _, e := range q {
		at[e.i+1]++
	}
	for i := range k {
		at[i+1] += at[i]
	}
	for _, e := range q {
		p[at[e.i]] = e
		at[e.i]++
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
