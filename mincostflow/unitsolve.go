package mincostflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
	"github.com/wpm-go/wpm/wpmerr"
)

// ProjectUnits moves whole units into the box [p.Lo, p.Hi] at least cost. Nothing is rounded: flows are counts of
// units, and costs are taken as exact binary fractions. The simplex first runs on a grid of costs as in Project. Then
// the prices of its tree are computed exactly, and every arc is priced with them, in rational arithmetic where floats
// leave a doubt. Pivots go on until none improves the plan. So in a result without an error Upper and Lower are equal,
// and are the optimum.
//
// If there are several optima, q depends on the order in which ties are broken, as in Project.
//
// Bad input gives one of the errors of this package, such as ErrOverflow for more than 2^62 units, and an empty
// UnitResult. ErrNotConverged comes with a plan of whole units whose bounds hold.
func ProjectUnits(ctx context.Context, p UnitProblem, settings Settings) (UnitResult, error) {
	s := solvers.Get().(*solver)
	defer s.release()
	in := &s.in
	if err := in.setMatrix(p.Cost); err != nil {
		return UnitResult{}, err
	}
	_, _, n, err := p.check()
	if err != nil {
		return UnitResult{}, err
	}
	s.setUnits(&p, n)
	ctx = wpmerr.Context(ctx)
	switch err := s.load(ctx, settings.Memory); err {
	case nil:
	case errUnread:
		return s.unreadUnits(), fmt.Errorf("%w before the costs were read", wpmerr.Ended(ctx))
	default:
		return UnitResult{}, err
	}
	var e exactPrices
	optimal := s.simplexUnits(ctx, settings, &e)
	r, err := s.unitResult(p, optimal, settings, &e)
	if err != nil {
		return UnitResult{}, err
	}
	if r.Status == Cancelled {
		err = fmt.Errorf("%w after %d pivots", wpmerr.Ended(ctx), r.Stats.Pivots)
	}
	return r, err
}

// setUnits takes over a problem that has been checked, of n units.
func (s *solver) setUnits(p *UnitProblem, n uint64) {
	in := &s.in
	in.Rows, s.units, s.total = in.Rows[:0], s.units[:0], n
	for m, u := range p.Source {
		if u > 0 {
			in.Rows = append(in.Rows, p.row(m))
			s.units = append(s.units, uint64(u))
		}
	}
	x := in.limits
	x.low, x.room = grow(x.low, in.kv), grow(x.room, in.kv)
	for j, lo := range p.Lo {
		x.low[j], x.room[j] = uint64(lo), min(uint64(p.Hi[j]), n+1)-uint64(lo)
	}
}

// simplexUnits solves the loaded instance, leaves the exact prices of the optimal tree in e, and reports whether it
// could before it had to stop.
func (s *solver) simplexUnits(ctx context.Context, settings Settings, e *exactPrices) bool {
	s.start(ctx, settings)
	return s.optimiseUnits(e)
}

// optimiseUnits is simplexUnits from the tree that there is.
func (s *solver) optimiseUnits(e *exactPrices) bool {
	for {
		if !s.sx.run() {
			return false
		}
		if !s.sx.refine() { // a finer grid leaves less to the exact prices, if it can be had
			return e.compute(s) && e.repair(s)
		}
	}
}

// unitResult reads the answer off the tree.
func (s *solver) unitResult(p UnitProblem, optimal bool, settings Settings, e *exactPrices) (UnitResult, error) {
	r := UnitResult{Status: Optimal, Stats: s.stats()}
	if !optimal {
		r.Status = Cancelled
	}
	r.Stats.Repairs = e.pivots
	r.Upper = s.unitPlan(&r)
	live, g := s.unitPrices(r.Status, e)
	f := make([]*big.Rat, s.in.k)
	for n, i := range s.in.Rows {
		f[i] = live[n]
	}
	if err := s.unitRows(f, g, settings, &r.Status); err != nil {
		return UnitResult{}, err
	}
	r.Potentials = UnitPotentials{F: f, G: g}
	r.Lower = p.dual(r.Potentials, s.total)
	r.Objective, _ = r.Upper.Float64()
	return r, nil
}

// unitPlan fills in Q and Plan, and returns what the plan costs. What it leaves counts at the largest cost, as does
// an arc whose cost has not been read.
func (s *solver) unitPlan(r *UnitResult) (upper *big.Rat) {
	in := &s.in
	flows, has := s.keep()
	slices.SortFunc(flows, func(a, b flow) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	r.Q = make([]int64, in.kv)
	for j, u := range has {
		r.Q[j] = int64(u)
	}
	var pay unitCost
	left := s.total
	for _, f := range flows {
		if f.units == 0 {
			continue
		}
		i, j, c := in.Rows[f.i], int(f.j), f.cost
		if s.rows.exp != 0 { // f.cost may be rounded
			if r.Status != Cancelled && !s.watch.row(in.kv) {
				r.Status = Cancelled
			}
			if c = s.rows.most; r.Status != Cancelled {
				c = s.rows.raw(int(f.i))[j]
			}
		}
		pay.add(f.units, c)
		left -= f.units
		r.Plan = append(r.Plan, UnitEntry{i, j, int64(f.units)})
	}
	pay.add(left, s.rows.most)
	return pay.over(s.total)
}

// unitPrices returns the potentials of the rows with mass and of the columns.
func (s *solver) unitPrices(st Status, e *exactPrices) (live, g []*big.Rat) {
	t := &s.sx.tree
	live, g = make([]*big.Rat, t.k), make([]*big.Rat, t.n)
	if st == Optimal {
		for i := range live {
			live[i] = e.pi[i].Rat()
		}
		for j := range g {
			if t.live(j) {
				g[j] = new(num.Dyadic).Minus(&e.pi[t.k+j]).Rat()
			}
		}
	} else {
		seen, prices := make([]float64, len(live)), make([]float64, t.n)
		s.lastProved(seen, prices)
		for n, x := range seen {
			live[n] = new(big.Rat).SetFloat64(x)
		}
		for j, x := range prices {
			g[j] = new(big.Rat).SetFloat64(x)
		}
	}
	ctransform.Fill(g, live) // columns that take nothing
	return live, g
}

// unreadUnits is the result for the instance when the context has ended before its costs were read.
func (s *solver) unreadUnits() UnitResult {
	in := &s.in
	has := make([]uint64, in.kv)
	in.settle(has, s.total)
	r := UnitResult{Q: make([]int64, in.kv), Upper: new(big.Rat).SetFloat64(math.MaxFloat64), Lower: new(big.Rat),
		Objective: math.MaxFloat64, Status: Cancelled}
	for j, u := range has {
		r.Q[j] = int64(u)
	}
	zero := new(big.Rat)
	r.Potentials = UnitPotentials{F: slices.Repeat([]*big.Rat{zero}, in.k), G: slices.Repeat([]*big.Rat{zero}, in.kv)}
	return r
}

// unitRows fills in the missing potentials of rows, by the rules of Settings. *st is as in allRows.
func (s *solver) unitRows(f, g []*big.Rat, settings Settings, st *Status) error {
	defer ctransform.Fill(f, g)
	if !settings.AllRows {
		return nil
	}
	near := make([]float64, len(g))
	for j := range near {
		near[j], _ = g[j].Float64()
	}
	return s.eachIdleRow(st, func(i int, row []float64) { f[i] = ctransform.Exact(row, g, near) })
}
