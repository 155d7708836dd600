package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
)

// answer is what a solver hands over: a feasible q, a plan, and prices for the columns.
type answer struct {
	status Status
	stats  Stats // the work until then
	q      []float64
	plan   []entry
	g      []float64 // prices; -Inf for columns that take no part, until dual fills them in
	f      []float64 // potentials of the rows with mass, filled in by dual
	// The cost of the plan and what it lacks (primal), the dual value of g and f and the sum of the
	// magnitudes of its terms (dual); scaled.
	objective, missing num.Twofold
	value              num.Twofold
	size               float64
	// excess is the objective less the dual value of g, without any rounding outward. It is what
	// pivots could still gain, and rounding.
	excess float64
}

// output is the workspace for the answer and for what it takes to make it a Result.
type output struct {
	sums       []num.Twofold // prices of nodes, then what they carry, and then what they have left
	q, g, f    []float64
	plan, sort []entry
	counts     []int // of entries, or columns by cost
}

// optimum reads the answer off an optimal tree, with the potentials and flows that it has for the
// true costs and masses rather than the rounded ones.
func (s *solver) optimum() answer {
	a := answer{status: Optimal, stats: Stats(s.sx.Stats()), g: s.treePrices()}
	a.q, a.plan = s.treeFlows(a.g)
	s.bound(&a)
	a.excess = a.objective.Plus(a.value.Neg()).Float()
	return a
}

// treePrices returns the prices of the columns, from the unrounded costs along the tree.
func (s *solver) treePrices() []float64 {
	in := &s.in
	k := len(in.Rows)
	hub := in.hub()
	s.out.sums = num.Grow(s.out.sums, int(hub)+1)
	s.out.sums[hub] = num.Twofold{}
	for v := s.sx.After(hub); v != hub; v = s.sx.After(v) {
		a := s.sx.Arc(v)
		step := a.Cost
		if !a.Up {
			step = -step
		}
		s.out.sums[v] = s.out.sums[a.Parent].PlusFloat(step)
	}
	offset := s.offset()
	g := num.Grow(s.out.g, len(in.Lo))
	s.out.g = g
	for j := range g {
		if !in.live(j) {
			g[j] = math.Inf(-1)
			continue
		}
		x := offset.Plus(s.out.sums[k+j].Neg()).Float()
		sign, state := in.level(), s.sx.State(j)
		switch {
		case sign != 0 || in.net.Room[j] == 0:
		case state == simplex.AtLower:
			sign = 1
		case state == simplex.AtUpper:
			sign = -1
		}
		// Rounding must not give a price the wrong sign: with a wide box that would be dear.
		switch {
		case sign > 0:
			x = max(x, 0)
		case sign < 0:
			x = min(x, 0)
		case state == simplex.InTree:
			x = 0
		}
		g[j] = s.sx.Unscaled(x)
	}
	return g
}

// offset returns the tree price of the level at which the prices of the columns are zero.
//
// A slack arc in the tree ties them to the hub. Without one, artificial arcs do, and all prices share
// an arbitrary offset; every column is then fixed or full, and the offset that makes the largest
// price of the latter (of all, if there is none) zero is as good as any other and keeps all
// potentials within the largest cost.
//
// When the box is one point by rounding, any offset serves that point; the one that makes all prices
// those of columns at their lower bounds (or upper ones, if they fill everything) serves the box as
// given, too: the dual value then varies no more than the bounds do.
func (s *solver) offset() num.Twofold {
	in := &s.in
	for j := 0; j < len(in.Lo) && in.level() == 0; j++ {
		if s.sx.State(j) == simplex.InTree {
			return num.Twofold{}
		}
	}
	top, fixed, bottom := -1, -1, -1 // columns of least tree price, with room and without, and of the largest
	price := s.out.sums[len(in.Rows):]
	for j := range in.Lo {
		if !in.live(j) {
			continue
		}
		if bottom < 0 || price[j].Hi > price[bottom].Hi {
			bottom = j
		}
		first := &fixed
		if in.net.Room[j] > 0 {
			first = &top
		}
		if *first < 0 || price[j].Hi < price[*first].Hi {
			*first = j
		}
	}
	switch {
	case in.level() > 0:
		return price[bottom]
	case in.level() < 0, top < 0:
		return price[fixed]
	}
	return price[top]
}

// treeFlows returns q and the plan that the tree has for the true masses. They differ from the
// integer flows by rounding, and flows that come out negative for that reason are left out.
// Artificial arcs, empty in whole units, may still hold less than one: it goes to the best column
// at the prices g.
func (s *solver) treeFlows(g []float64) ([]float64, []entry) {
	in := &s.in
	k, hub := int32(len(in.Rows)), in.hub()
	s.out.sums = num.Grow(s.out.sums, int(hub)+1)
	net := s.out.sums // what a node has, less what it needs, with all nodes below it
	q, plan := s.supplies(net), s.out.plan[:0]
	for v := s.sx.Before(hub); v != hub; v = s.sx.Before(v) {
		a, x := s.sx.Arc(v), net[v]
		net[a.Parent] = net[a.Parent].Plus(x)
		switch a.Kind {
		case simplex.Artificial:
			if m := x.Float(); v < k && m > 0 {
				at := bestColumn(s.sx.Row(int(v)), g)
				plan = append(plan, entry{v, int32(at), m, s.sx.ScaledRow(int(v))[at]})
			}
		case simplex.Slack:
			j := v - k
			q[j] = min(max(num.Twofold{Hi: in.Lo[j]}.Plus(x).Float(), in.Lo[j]), in.Hi[j])
		case simplex.Real:
			i, j, m := v, a.Parent-k, x.Float()
			if !a.Up {
				i, j, m = a.Parent, v-k, -m
			}
			if m > 0 && (a.Flow > 0 || m >= noise || in.tiny(i, j)) {
				plan = append(plan, entry{i, j, m, a.Cost})
			}
		}
	}
	in.repair(q)
	s.out.q, s.out.plan = q, plan
	return q, plan
}

// supplies fills in what every node has, less what it needs, and returns q as far as the slack arcs out of the tree
// decide it.
func (s *solver) supplies(net []num.Twofold) []float64 {
	in := &s.in
	k := len(in.Rows)
	net[in.hub()] = num.Twofold{}
	copy(net, in.Mass)
	q := num.Grow(s.out.q, len(in.Lo))
	for j := range q {
		q[j] = in.Lo[j]
		if s.sx.State(j) == simplex.AtUpper {
			q[j] = in.Hi[j]
		}
		need := num.Twofold{Hi: q[j]}
		if in.Point != nil {
			// Not q, which is rounded: its error would run along the tree, and be charged at the largest cost.
			need = in.target(j)
		}
		net[k+j] = need.Neg()
	}
	return q
}

// target returns what column j holds if the box is a point.
func (in *instance) target(j int) num.Twofold { return num.Twofold{Hi: in.Point[j]}.Over(in.Sum) }

// bestColumn returns the first column with the least row[j] - g[j].
func bestColumn(row, g []float64) int {
	least, at := math.Inf(1), 0
	for j, c := range row {
		if x := c - g[j]; x < least {
			least, at = x, j
		}
	}
	return at
}

const (
	// noise bounds the error of a flow in twofold precision: sums of at most 2^31 terms below 2,
	// each addition with an error below 2^-103 of its size. In practice it is far smaller.
	noise = 0x1p-70
	// tiny masses and bounds are below a unit, and their flows are genuine however small.
	tiny = 0x1p-60
)

// tiny reports whether row i or column j has so little that its flows may be below noise.
func (in *instance) tiny(i, j int32) bool {
	return in.Mass[i].Hi <= tiny || in.Lo[j] > 0 && in.Lo[j] <= tiny
}

// repair brings the sum of q, which is in the box, back to 1 after rounding: with columns strictly
// between their bounds, which costs nothing at an optimum, and only if they cannot bring it within
// half of what is promised with others. A box of one point is left alone.
func (in *instance) repair(q []float64) {
	if in.Point != nil {
		return
	}
	over := num.CappedSum(q, 2).PlusFloat(-1)
	for pass, enough := range [2]float64{0x1p-70, 0x1p-53 * float64(len(q))} {
		for j := range q {
			if math.Abs(over.Hi) <= enough {
				break
			}
			if pass == 0 && !(in.Lo[j] < q[j] && q[j] < in.Hi[j]) {
				continue
			}
			x := min(max(num.Twofold{Hi: q[j]}.Plus(over.Neg()).Float(), in.Lo[j]), in.Hi[j])
			over = over.PlusFloat(x).PlusFloat(-q[j])
			q[j] = x
		}
	}
}
