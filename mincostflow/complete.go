package mincostflow

import "math"

// complete turns the flows of any primal feasible tree into a plan without artificial arcs: real
// flows are kept as far as possible, and the rest goes, row by row, to the cheapest columns that
// still need or can take it. It works in units throughout, so that everything adds up.
func (s *solver) complete() []flow {
	t := &s.net
	flows := make([]flow, 0, t.k+t.n)
	has := make([]uint64, t.n)  // what the columns get
	sent := make([]uint64, t.k) // what the rows send
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
		sent[i] += p.flow
	}
	back := func(f *flow, units uint64) {
		f.units -= units
		has[f.j] -= units
		sent[f.i] -= units
	}
	// A row may send more than it has, from an artificial arc.
	for n := range flows {
		if f := &flows[n]; sent[f.i] > s.mass[f.i] {
			back(f, min(f.units, sent[f.i]-s.mass[f.i]))
		}
	}
	// needs is what the columns lack to reach their lower bounds, spare what the rows keep.
	var needs, spare uint64
	for j, h := range has {
		needs += t.low[j] - min(h, t.low[j])
	}
	for i, m := range s.mass {
		spare += m - sent[i]
	}
	// Take back what stands above lower bounds while others lack it.
	for n := range flows {
		if needs <= spare {
			break
		}
		f := &flows[n]
		u := min(f.units, has[f.j]-min(has[f.j], t.low[f.j]), needs-spare)
		back(f, u)
		spare += u
	}
	for i, m := range s.mass {
		if sent[i] == m {
			continue
		}
		row := s.rows.at(s.live[i])
		for left := m - sent[i]; left > 0; {
			j, u := -1, uint64(0)
			least := math.Inf(1)
			for c, x := range row {
				if x >= least {
					continue
				}
				// Needs first, as long as there are any; then room.
				r := t.low[c] - min(has[c], t.low[c])
				if needs == 0 {
					r = unbounded
					if t.room[c] != unbounded {
						r = t.low[c] + t.room[c] - has[c]
					}
				}
				if r > 0 {
					j, u, least = c, r, x
				}
			}
			u = min(u, left)
			if j < 0 {
				break // the units leave room for everything, so this does not happen
			}
			flows = append(flows, flow{int32(i), int32(j), u, row[j]})
			if needs > 0 {
				needs -= u
			}
			has[j] += u
			left -= u
		}
	}
	return flows
}

// completeFloat is complete with masses for units.
func (s *solver) completeFloat() ([]float64, []entry) {
	in := s.in
	flows := s.complete()
	has := make([]uint64, in.kv)
	plan := make([]entry, 0, len(flows))
	for _, f := range flows {
		if f.units > 0 {
			has[f.j] += f.units
			plan = append(plan, entry{f.i, f.j, math.Ldexp(float64(f.units), -unitBits), f.cost})
		}
	}
	q := make([]float64, in.kv)
	for j := range q {
		q[j] = min(max(math.Ldexp(float64(has[j]), -unitBits), in.lo[j]), in.hi[j])
	}
	in.repair(q)
	return q, plan
}

// flow is an integer entry of a plan.
type flow struct {
	i, j  int32
	units uint64
	cost  float64
}
