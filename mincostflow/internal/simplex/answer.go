package simplex

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
)

// Most returns the largest cost that can be paid, or the largest float if the costs have not been read.
func (s *Solver) Most() float64 { return s.rows.most }

// Row returns the n-th row that takes part as it is, valid until the next call.
func (s *Solver) Row(n int) []float64 { return s.rows.raw(n) }

// ScaledRow returns the n-th row that takes part, scaled, valid until the next call.
func (s *Solver) ScaledRow(n int) []float64 { return s.rows.at(n) }

// Scaled returns a cost times the power of two by which costs are scaled. Nearly always that is 1.
func (s *Solver) Scaled(x float64) float64 { return shifted(x, s.rows.exp) }

// Unscaled is the inverse of Scaled.
func (s *Solver) Unscaled(x float64) float64 { return shifted(x, -s.rows.exp) }

// Flow is a positive entry of a plan: so many units from the I-th row that takes part to column J.
type Flow struct {
	I, J  int32
	Units uint64
	Cost  float64 // scaled, of each
}

// Flows returns what the real arcs of the tree move, as far as a plan can keep it (some may keep nothing), and what the
// columns then hold: these units, and what the rows still have, at no matter which cost. If artificial arcs carry
// nothing, these are all flows.
func (s *Solver) Flows() (flows []Flow, has []uint64) {
	t := &s.tree
	flows, has = make([]Flow, 0, t.k+t.n), make([]uint64, t.n)
	sent := make([]uint64, t.k)
	for v := range t.root {
		p := &t.nodes[v]
		if p.parent < 0 || p.kind != Real || p.flow == 0 {
			continue
		}
		i, j := t.ends(v)
		flows = append(flows, Flow{i, j, p.flow, t.cost[v]})
		has[j] += p.flow
		sent[i] += p.flow
	}
	back := func(f *Flow, units uint64) {
		f.Units -= units
		has[f.J] -= units
		sent[f.I] -= units
	}
	// A row may send more than it has, from an artificial arc.
	for n := range flows {
		if f := &flows[n]; sent[f.I] > s.rows.p.Supply[f.I] {
			back(f, min(f.Units, sent[f.I]-s.rows.p.Supply[f.I]))
		}
	}
	var needs, spare uint64 // what columns lack to reach their lower bounds, and what rows have
	for j, h := range has {
		needs += t.low[j] - min(h, t.low[j])
	}
	for i, m := range s.rows.p.Supply {
		spare += m - sent[i]
	}
	// Take back what stands above lower bounds while others lack it.
	for n := range flows {
		if needs <= spare {
			break
		}
		f := &flows[n]
		u := min(f.Units, has[f.J]-min(has[f.J], t.low[f.J]), needs-spare)
		back(f, u)
		spare += u
	}
	s.rows.p.Fill(has, spare)
	return flows, has
}

// Cost returns the cost of a flow as the matrix has it, or false if it would have to read a row and the context has
// ended.
func (s *Solver) Cost(f Flow) (c float64, ok bool) {
	switch {
	case s.rows.exp == 0:
		return f.Cost, true
	case !s.watch.look(): // f.Cost may be rounded
		return 0, false
	}
	return s.rows.raw(int(f.I))[f.J], true
}

// Proved fills in potentials of the rows that take part and of the columns that the last complete sweep has proved. f
// and g are zeros, which are valid, since costs are not negative, and stay so if there was no sweep or its prices are
// too large.
func (s *Solver) Proved(f, g []float64) {
	proved := &s.pr.proved
	if len(proved.f) != len(f) {
		return
	}
	most, finite := 0.0, true
	for n, x := range proved.f {
		// Two grids less is more than all roundings (see proved). Scaled back, small costs may lose half of the smallest
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

// Potentials fills in the largest valid potentials f of the rows that take part for the prices g of the columns, and
// then the largest valid prices of the columns that take no part, which g has as -Inf. They are worth nothing if s has
// Stopped.
func (s *Solver) Potentials(f, g []float64) {
	s.open(f, g)
	s.closed(g, f)
}

// open fills in the largest valid potentials f of the rows that take part for the prices g, as far as there is time.
func (s *Solver) open(f, g []float64) {
	if s.rows.shared(len(f)) {
		s.rows.share(&s.watch, len(f), func(own *rows, n int) { f[n] = ctransform.Row(own.raw(n), g) })
		return
	}
	for n := range f {
		if !s.watch.look() {
			return
		}
		f[n] = ctransform.Row(s.rows.raw(n), g)
	}
}

// closed gives the columns that take no part (-Inf) the largest prices valid for the rows that do.
func (s *Solver) closed(g, f []float64) {
	dead := s.list[:0]
	for j, x := range g {
		if math.IsInf(x, -1) {
			dead = append(dead, j)
			g[j] = math.MaxFloat64
		}
	}
	s.list = dead
	if len(dead) == 0 {
		return
	}
	s.below = num.Grow(s.below, len(g))
	below := s.below // the exact minimum is below its rounded value
	clear(below)
	for n := range s.rows.p.Rows {
		if !s.watch.look() {
			break // as in open
		}
		row := s.rows.raw(n)
		for _, j := range dead {
			g[j], below[j] = ctransform.Lower(g[j], below[j], row[j], f[n])
		}
	}
	for _, j := range dead {
		if below[j] {
			g[j] = math.Nextafter(g[j], math.Inf(-1))
		}
	}
}

// IdleRows reads and checks the rows that take no part, and hands them to use, from several goroutines. Errors: those
// of the costs, and ErrNotConverged if the context ends before it is done.
func (s *Solver) IdleRows(use func(i int, row []float64)) error {
	k, kv := s.rows.p.Cost.Dims()
	idle := s.list[:0]
	for i, n := 0, 0; i < k; i++ {
		if n < len(s.rows.p.Rows) && s.rows.p.Rows[n] == i {
			n++
		} else {
			idle = append(idle, i)
		}
	}
	s.list = idle
	return read(s.watch.ctx, s.rows.p.Cost, idle, nil, func(n int, row []float64) error {
		if _, err := checkRow(idle[n], row, kv, nil); err != nil {
			return err
		}
		use(idle[n], row)
		return nil
	})
}
