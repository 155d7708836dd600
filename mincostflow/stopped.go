package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// This file makes answers when the context has ended: from what is known, without reading any more costs.

// cancelled is the answer once the context has ended: what is known without reading any more costs. The plan is what
// the tree has moved, and the upper bound pays the largest cost for the rest; q is in the box; and the prices are
// those that the last sweep has proved, or none.
func (s *solver) cancelled() answer {
	a := answer{status: Cancelled, stats: Stats(s.sx.Stats())}
	flows, has := s.sx.Flows()
	for _, f := range flows {
		if f.Units > 0 {
			a.plan = append(a.plan, entry{f.I, f.J, math.Ldexp(float64(f.Units), -unitBits), f.Cost})
		}
	}
	a.q = s.in.fill(nil, has)
	a.f, a.g = make([]float64, len(s.in.Rows)), make([]float64, len(s.in.Lo))
	s.sx.Proved(a.f, a.g)
	s.bound(&a)
	return a
}

// unread is the result for the instance when the context has ended before its costs were read: a point of the box,
// without a plan, and bounds that hold for any costs.
func (s *solver) unread(r *Result) {
	in := &s.in
	r.empty()
	has := make([]uint64, len(in.Lo))
	in.net.Fill(has, unit)
	r.Q = in.fill(r.Q, has)
	r.Potentials.F, r.Potentials.G = num.Grow(r.Potentials.F, in.K), num.Grow(r.Potentials.G, len(in.Lo))
	clear(r.Potentials.F)
	clear(r.Potentials.G)
	r.Upper, r.Status = s.sx.Most(), Cancelled
}

// fill appends the masses of columns that have so many units to q, which is empty.
func (in *instance) fill(q []float64, has []uint64) []float64 {
	for j, u := range has {
		q = append(q, min(max(math.Ldexp(float64(u), -unitBits), in.Lo[j]), in.Hi[j]))
	}
	in.repair(q)
	return q
}
