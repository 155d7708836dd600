package mincostflow

import "math"

// kept is what the real arcs of a primal feasible tree move, as far as a plan can keep it, in units, so that everything
// adds up.
type kept struct {
	flows []flow
	has   []uint64 // what the columns get
	sent  []uint64 // what the rows send
	needs uint64   // what the columns lack to reach their lower bounds: no more than the rows still have
	spare uint64   // what the rows still have
}

// keep reads the flows off the tree, and no costs.
func (s *solver) keep() kept {
	t := &s.sx.tree
	flows := make([]flow, 0, t.k+t.n)
	has := make([]uint64, t.n)
	sent := make([]uint64, t.k)
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
		if f := &flows[n]; sent[f.i] > s.units[f.i] {
			back(f, min(f.units, sent[f.i]-s.units[f.i]))
		}
	}
	var needs, spare uint64
	for j, h := range has {
		needs += t.low[j] - min(h, t.low[j])
	}
	for i, m := range s.units {
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
	return kept{flows, has, sent, needs, spare}
}

// settle gives the columns what the rows still have, at no matter which cost: up to the lower bounds first, and then
// in order.
func (s *solver) settle(p kept) {
	t := &s.sx.tree
	for j := range p.has {
		x := t.low[j] - min(p.has[j], t.low[j])
		p.has[j] += x
		p.spare -= x
	}
	for j := range p.has {
		x := p.spare
		if t.room[j] != unbounded {
			x = min(x, t.low[j]+t.room[j]-p.has[j])
		}
		p.has[j] += x
		p.spare -= x
	}
}

// complete turns the flows of any primal feasible tree into a plan without artificial arcs: real
// flows are kept as far as possible, and the rest goes, row by row, to the cheapest columns that
// still need or can take it. The plan is not complete if s.watch is over in the end.
func (s *solver) complete() kept {
	t, p := &s.sx.tree, s.keep()
	flows, has, sent, needs := p.flows, p.has, p.sent, p.needs
	for i, m := range s.units {
		if sent[i] == m {
			continue
		}
		if !s.watch.row(t.n) {
			break
		}
		row := s.rows.at(i)
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
	p.flows = flows
	return p
}

// masses returns q and the plan of p, with masses for units.
func (s *solver) masses(p kept) ([]float64, []entry) {
	in := s.in
	plan := make([]entry, 0, len(p.flows))
	for _, f := range p.flows {
		if f.units > 0 {
			plan = append(plan, entry{f.i, f.j, math.Ldexp(float64(f.units), -unitBits), f.cost})
		}
	}
	q := make([]float64, in.kv)
	for j := range q {
		q[j] = min(max(math.Ldexp(float64(p.has[j]), -unitBits), in.lo[j]), in.hi[j])
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
