package mincostflow

import "math"

// complete turns the flows of any primal feasible tree into a plan without artificial arcs: real
// flows are kept as far as possible, and the rest goes, row by row, to the cheapest columns that
// still need or can take it. It works in units throughout, so that everything adds up.
func (s *solver) complete() ([]float64, []entry) {
	t, in := &s.net, s.in
	flows := make([]flow, 0, t.k+t.n)
	has := make([]int64, t.n)  // what the columns get
	left := make([]int64, t.k) // what the rows keep
	copy(left, s.mass)
	for v := range t.root {
		p := &t.nodes[v]
		if p.parent < 0 || p.kind != realArc || p.flow == 0 {
			continue
		}
		i, j := v, p.parent-int32(t.k)
		if !p.up {
			i, j = p.parent, v-int32(t.k)
		}
		flows = append(flows, flow{i, j, p.flow, t.cost[v]})
		has[j] += p.flow
		left[i] -= p.flow
	}
	// A row may send more than it has, from an artificial arc.
	for n := range flows {
		f := &flows[n]
		back := min(f.units, max(-left[f.i], 0))
		f.units -= back
		has[f.j] -= back
		left[f.i] += back
	}
	// needs is what the columns lack to reach their lower bounds, spare what the rows keep.
	var needs, spare int64
	for j, h := range has {
		needs += max(t.low[j]-h, 0)
	}
	for _, l := range left {
		spare += l
	}
	// Take back what stands above lower bounds while others lack it.
	for n := range flows {
		if needs <= spare {
			break
		}
		f := &flows[n]
		back := min(f.units, max(has[f.j]-t.low[f.j], 0), needs-spare)
		f.units -= back
		has[f.j] -= back
		left[f.i] += back
		spare += back
	}
	for i := range left {
		if left[i] == 0 {
			continue
		}
		row := s.rows.at(in.rows[i])
		for left[i] > 0 {
			j, m := -1, int64(0)
			least := math.Inf(1)
			for c, x := range row {
				if x >= least {
					continue
				}
				// Needs first, as long as there are any; then room.
				r := t.low[c] - has[c]
				if needs == 0 {
					r = unbounded
					if t.room[c] != unbounded {
						r = t.low[c] + t.room[c] - has[c]
					}
				}
				if r > 0 {
					j, m, least = c, r, x
				}
			}
			m = min(m, left[i])
			if j < 0 {
				break // the units leave room for everything, so this does not happen
			}
			flows = append(flows, flow{int32(i), int32(j), m, row[j]})
			if needs > 0 {
				needs -= m
			}
			has[j] += m
			left[i] -= m
		}
	}
	q := make([]float64, t.n)
	for j := range q {
		q[j] = min(max(math.Ldexp(float64(has[j]), -unitBits), in.lo[j]), in.hi[j])
	}
	in.repair(q)
	plan := make([]entry, 0, len(flows))
	for _, f := range flows {
		if f.units > 0 {
			plan = append(plan, entry{f.i, f.j, math.Ldexp(float64(f.units), -unitBits), f.cost})
		}
	}
	return q, plan
}

// flow is an integer entry of a plan.
type flow struct {
	i, j  int32
	units int64
	cost  float64
}
