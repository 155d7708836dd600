package mincostflow

// entry is a positive entry of a plan while it is being built: i counts rows with mass, cost is
// scaled.
type entry struct {
	i, j int32
	mass float64
	cost float64
}

// sortPlan sorts by row, then column, and joins entries of the same arc.
func sortPlan(plan *[]entry, k, kv int) {
	p := *plan
	q := make([]entry, len(p))
	// Two stable counting sorts.
	at := make([]int, max(k, kv)+1)
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
	*plan = p[:n]
}
