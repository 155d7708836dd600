package mincostflow

import "math"

// This file makes answers when the context has ended: from what is known, without reading any more costs.

// flow is an integer entry of a plan.
type flow struct {
	i, j  int32
	units uint64
	cost  float64
}

// keep returns what the real arcs of a primal feasible tree move, as far as a plan can keep it, and what the columns
// then hold: the flows, and what the rows still have, at no matter which cost. If artificial arcs carry nothing, these
// are all flows.
func (s *solver) keep() (flows []flow, has []uint64) {
	t := &s.sx.tree
	flows, has = make([]flow, 0, t.k+t.n), make([]uint64, t.n)
	sent := make([]uint64, t.k)
	for v := range t.root {
		p := &t.nodes[v]
		if p.parent < 0 || p.kind != realArc || p.flow == 0 {
			continue
		}
		i, j := t.ends(v)
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
	var needs, spare uint64 // what columns lack to reach their lower bounds, and what rows have
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
	s.in.settle(has, spare)
	return flows, has
}

// settle gives the columns, which have so much, the spare units: up to the lower bounds first, and then in order.
func (x *limits) settle(has []uint64, spare uint64) {
	for j, low := range x.low {
		more := low - min(has[j], low)
		has[j] += more
		spare -= more
	}
	for j, low := range x.low {
		more := min(spare, x.room[j]-(has[j]-low))
		has[j] += more
		spare -= more
	}
}

// cancelled is the answer once the context has ended: what is known without reading any more costs. The plan is what
// the tree has moved, and the upper bound pays the largest cost for the rest; q is in the box; and the prices are
// those that the last sweep has proved, or none.
func (s *solver) cancelled() answer {
	a := answer{status: Cancelled}
	flows, has := s.keep()
	for _, f := range flows {
		if f.units > 0 {
			a.plan = append(a.plan, entry{f.i, f.j, math.Ldexp(float64(f.units), -unitBits), f.cost})
		}
	}
	a.q = s.in.fill(nil, has)
	a.f, a.g = make([]float64, len(s.rows.index)), make([]float64, s.sx.tree.n)
	s.lastProved(a.f, a.g)
	s.bound(&a)
	return a
}

// lastProved fills in the potentials that the last complete sweep has proved. f and g are zeros, which are valid, since
// costs are not negative, and stay so if there was no sweep or its prices are too large.
func (s *solver) lastProved(f, g []float64) {
	proved := &s.sx.pr.proved
	if len(proved.f) != len(f) {
		return
	}
	most, finite := 0.0, true
	for n, x := range proved.f {
		// Two grids less is more than all roundings (proved). Scaled back, small costs may lose half of the smallest
		// float in f and in g.
		f[n] = shifted(x-2*proved.grid, -s.rows.exp)
		if s.rows.exp > 0 {
			f[n] -= 2 * math.SmallestNonzeroFloat64
		}
		most = max(most, f[n])
		finite = finite && math.Abs(f[n]) <= math.MaxFloat64
	}
	for j, x := range proved.g {
		if g[j] = shifted(-x, -s.rows.exp); math.IsInf(x, 1) {
			g[j] = -most // a column that takes nothing: costs are not negative
		}
		finite = finite && math.Abs(g[j]) <= math.MaxFloat64
	}
	if !finite { // prices may be eight times the largest cost
		clear(f)
		clear(g)
	}
}

// unread is the result for the instance when the context has ended before its costs were read: a point of the box,
// without a plan, and bounds that hold for any costs up to most.
func (s *solver) unread(r *Result, most float64) {
	in := &s.in
	r.empty()
	has := make([]uint64, in.kv)
	in.settle(has, unit)
	r.Q = in.fill(r.Q, has)
	r.Potentials.F, r.Potentials.G = grow(r.Potentials.F, in.k), grow(r.Potentials.G, in.kv)
	clear(r.Potentials.F)
	clear(r.Potentials.G)
	r.Upper, r.Status = most, Cancelled
}

// fill appends the masses of columns that have so many units to q, which is empty.
func (in *instance) fill(q []float64, has []uint64) []float64 {
	for j, u := range has {
		q = append(q, min(max(math.Ldexp(float64(u), -unitBits), in.lo[j]), in.hi[j]))
	}
	in.repair(q)
	return q
}
