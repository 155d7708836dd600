package mincostflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
)

// UnitProblem is the projection of a distribution that consists of whole units: Source[n] of them
// lie on a row, N in all, and column j may hold from Lo[j] to Hi[j]. Nothing in it is modified or
// retained.
type UnitProblem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source counts the units on the rows, >= 0, at least one and at most 2^62 in all.
	Source []int64
	// Support lists the rows that the entries of Source belong to, as in Problem.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, kv entries each, sum Lo <= N <= sum Hi. Hi may exceed N.
	Lo, Hi []int64
}

// UnitEntry is one positive entry of a plan of whole units.
type UnitEntry struct {
	I, J  int
	Units int64
}

// UnitPotentials are dual variables as exact numbers: F[i] + G[j] <= C_ij for every i and j.
type UnitPotentials struct {
	F, G []*big.Rat
}

// UnitResult is an answer to a UnitProblem together with its evidence. Costs are those of a
// distribution, that is, of the units over N, as everywhere in this module.
type UnitResult struct {
	// Q is the projection: whole units in the box, N in all.
	Q []int64
	// Plan moves the source to Q, with exactly these row and column sums; rows ascending, then columns. When Status is
	// Cancelled, it may move a part of the source only.
	Plan []UnitEntry
	// Potentials prove Lower.
	Potentials UnitPotentials
	// Upper is the cost of Plan, with what it leaves at the largest cost, and Lower the dual value of Potentials, both
	// exact. They are equal when Status is Optimal, and then the optimum. Upper is the largest float64 if the context
	// ended before the costs were read.
	Upper, Lower *big.Rat
	// Objective is Upper, rounded to nearest.
	Objective float64
	// Status, Stats and Settings are as in Result. Stats.Repairs counts the pivots that exact prices asked for.
	Status   Status
	Stats    Stats
	Settings Settings
}

// maxUnits bounds N: see units.go.
const maxUnits = 1 << 62

// ProjectUnits moves whole units into the box [p.Lo, p.Hi] at least cost. Nothing is rounded:
// flows are the units themselves, and costs are taken as the exact binary fractions that they are.
// The simplex first runs on a grid of costs as in Project; then the prices of its tree are computed
// exactly and every arc is priced with them, where floats leave a doubt in rational arithmetic, and
// pivots go on until none improves the plan. So Upper and Lower of a result without an error are one
// number, the optimum.
//
// q depends on the order in which ties are broken when there are several optima, as in Project.
//
// Bad input is one of the errors of this package, ErrOverflow for more than 2^62 units among them, and the
// UnitResult is then empty. ErrNotConverged comes with a plan of whole units whose bounds hold.
func ProjectUnits(ctx context.Context, p UnitProblem, settings Settings) (UnitResult, error) {
	s := solvers.Get().(*solver)
	defer s.release()
	in := &s.own
	if err := in.setMatrix(p.Cost); err != nil {
		return UnitResult{}, err
	}
	if err := s.setUnits(p); err != nil {
		return UnitResult{}, err
	}
	settings, err := settings.resolve(in.k + in.kv)
	if err != nil {
		return UnitResult{}, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	switch err := s.load(ctx, in, settings.Memory); err {
	case nil:
	case errUnread:
		r := s.unreadUnits(settings)
		return r, fmt.Errorf("%w: %w before the costs were read", ErrNotConverged, ctx.Err())
	default:
		return UnitResult{}, err
	}
	var e exactPrices
	st := s.simplexUnits(ctx, settings, &e)
	r, err := s.unitResult(p, st, settings, &e)
	if err != nil {
		return UnitResult{}, err
	}
	switch r.Status {
	case PivotLimit:
		err = fmt.Errorf("%w: MaxPivots = %d reached", ErrNotConverged, settings.MaxPivots)
	case Cancelled:
		err = fmt.Errorf("%w: %w after %d pivots", ErrNotConverged, ctx.Err(), r.Stats.Pivots)
	}
	return r, err
}

// setUnits validates the source and the bounds.
func (s *solver) setUnits(p UnitProblem) error {
	if err := s.setUnitSource(p); err != nil {
		return err
	}
	return s.setUnitBox(p)
}

func (s *solver) setUnitSource(p UnitProblem) error {
	in := &s.own
	if err := projection.CheckSupport(in.k, len(p.Source), p.Support); err != nil {
		return err
	}
	in.rows, s.units, s.total = in.rows[:0], s.units[:0], 0
	for n, u := range p.Source {
		if u < 0 {
			return fmt.Errorf("%w: Source[%d] = %d", ErrNegative, n, u)
		}
		if s.total += uint64(u); s.total > maxUnits {
			return fmt.Errorf("%w: the entries of Source up to %d sum to %d, at most 2^62", ErrOverflow, n, s.total)
		}
		if u > 0 {
			i := n
			if p.Support != nil {
				i = p.Support[n]
			}
			in.rows = append(in.rows, i)
			s.units = append(s.units, uint64(u))
		}
	}
	if s.total == 0 {
		return fmt.Errorf("%w: Source sums to 0", ErrMass)
	}
	return nil
}

func (s *solver) setUnitBox(p UnitProblem) error {
	in := &s.own
	if len(p.Lo) != in.kv || len(p.Hi) != in.kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", ErrShape, len(p.Lo), len(p.Hi), in.kv)
	}
	x := in.limits
	x.low, x.room, x.mask = grow(x.low, in.kv), grow(x.room, in.kv), nil
	var sumLo, sumHi uint64
	for j, lo := range p.Lo {
		hi := p.Hi[j]
		switch {
		case lo < 0:
			return fmt.Errorf("%w: Lo[%d] = %d", ErrNegative, j, lo)
		case hi < 0:
			return fmt.Errorf("%w: Hi[%d] = %d", ErrNegative, j, hi)
		case lo > hi:
			return fmt.Errorf("%w: Lo[%d] = %d, Hi[%d] = %d", ErrBox, j, lo, j, hi)
		}
		if sumLo += uint64(lo); sumLo > s.total { // below 2^62 + 2^63 here
			return fmt.Errorf("%w: no distribution in the box: the entries of Lo up to %d sum to more than the %d units there are", ErrInfeasible, j, s.total)
		}
		sumHi = min(sumHi+uint64(hi), s.total)
		if hi == 0 && x.mask == nil {
			x.mask = make([]bool, in.kv)
			for j, hi := range p.Hi {
				x.mask[j] = hi > 0
			}
		}
		x.low[j], x.room[j] = uint64(lo), uint64(hi-lo)
	}
	if sumHi < s.total {
		return fmt.Errorf("%w: no distribution in the box: Hi sums to %d, less than the %d units there are", ErrInfeasible, sumHi, s.total)
	}
	return nil
}

// simplexUnits solves the loaded instance and leaves the exact prices of the optimal tree in e.
func (s *solver) simplexUnits(ctx context.Context, settings Settings, e *exactPrices) Status {
	s.start(ctx, settings.MaxPivots)
	for {
		if st := s.sx.run(); st != Optimal {
			return st
		}
		if !s.sx.refine() { // a finer grid leaves less to the exact prices, if it can be had
			break
		}
	}
	if !e.compute(s) {
		return Cancelled
	}
	return e.repair(s)
}

// unitResult reads the answer off the tree.
func (s *solver) unitResult(p UnitProblem, st Status, settings Settings, e *exactPrices) (UnitResult, error) {
	t := &s.sx.tree
	r := UnitResult{
		Status: st, Settings: settings,
		Stats: Stats{Pivots: t.pivots, Degenerate: t.degenerate, Sweeps: s.sx.pr.sweeps, Rescales: max(s.sx.rescales, 0), Repairs: e.pivots},
	}
	upper := s.unitPlan(&r)
	live, g := s.unitPrices(&r.Status, e)
	f := make([]*big.Rat, s.in.k)
	for n, i := range s.in.rows {
		f[i] = live[n]
	}
	if err := s.unitRows(f, g, settings, &r.Status); err != nil {
		return UnitResult{}, err
	}
	r.Potentials = UnitPotentials{F: f, G: g}

	lower, x := new(big.Rat), new(big.Rat)
	for i, f := range live {
		x.SetUint64(s.units[i])
		lower.Add(lower, x.Mul(x, f))
	}
	for j, g := range g {
		b := p.Lo[j]
		if g.Sign() < 0 {
			b = int64(min(uint64(p.Hi[j]), s.total))
		}
		x.SetInt64(b)
		lower.Add(lower, x.Mul(x, g))
	}
	n := new(big.Rat).SetUint64(s.total)
	r.Upper, r.Lower = upper.Quo(upper, n), lower.Quo(lower, n)
	if r.Lower.Sign() < 0 {
		r.Lower.SetInt64(0)
	}
	r.Objective, _ = r.Upper.Float64()
	return r, nil
}

// unitPlan fills in Q and Plan, and returns what the plan costs. What it leaves counts at the largest cost, as does
// an arc whose cost has not been read.
func (s *solver) unitPlan(r *UnitResult) (upper *big.Rat) {
	in := s.in
	var p kept
	if r.Status != Cancelled {
		// Without an artificial arc that carries flow this only reads it off.
		if p = s.complete(); s.watch.over {
			r.Status = Cancelled
		}
	}
	if r.Status == Cancelled {
		p = s.keep()
		s.settle(p)
	}
	slices.SortFunc(p.flows, func(a, b flow) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	r.Q = make([]int64, in.kv)
	for j, u := range p.has {
		r.Q[j] = int64(u)
	}
	upper = new(big.Rat)
	pay := func(units uint64, cost float64) {
		x := new(big.Rat).SetFloat64(cost)
		upper.Add(upper, x.Mul(x, new(big.Rat).SetUint64(units)))
	}
	left := s.total
	for _, f := range p.flows {
		if f.units == 0 {
			continue
		}
		i, j, c := in.rows[f.i], int(f.j), f.cost
		if s.rows.exp != 0 { // f.cost may be rounded
			if r.Status == Cancelled || !s.watch.row(in.kv) {
				c = s.rows.most
			} else {
				c = s.rows.raw(int(f.i))[j]
			}
		}
		pay(f.units, c)
		left -= f.units
		if n := len(r.Plan); n > 0 && r.Plan[n-1].I == i && r.Plan[n-1].J == j {
			r.Plan[n-1].Units += int64(f.units)
			continue
		}
		r.Plan = append(r.Plan, UnitEntry{i, j, int64(f.units)})
	}
	pay(left, s.rows.most)
	return upper
}

// unitPrices returns the potentials of the rows with mass and of the columns.
func (s *solver) unitPrices(st *Status, e *exactPrices) (live, g []*big.Rat) {
	t := &s.sx.tree
	live, g = make([]*big.Rat, t.k), make([]*big.Rat, t.n)
	if *st == Optimal {
		for i := range live {
			live[i] = e.rat(int32(i))
		}
		for j := range g {
			if t.live(j) {
				g[j] = e.rat(int32(t.k + j))
				g[j].Neg(g[j])
			}
		}
	} else if s.stoppedPrices(live, g, *st); s.watch.over {
		*st = Cancelled
	}
	fillMissing(g, live) // columns that take nothing
	return live, g
}

// fillMissing gives the missing potentials of one side the largest that is valid, since costs are not negative, for
// any cost: the least of zero and all -x for x on the other side.
func fillMissing(potentials, other []*big.Rat) {
	least := new(big.Rat)
	for _, x := range other {
		if y := new(big.Rat).Neg(x); y.Cmp(least) < 0 {
			least = y
		}
	}
	for n, x := range potentials {
		if x == nil {
			potentials[n] = least
		}
	}
}

// stoppedPrices fills in potentials for a tree that is not optimal: those of the tree, kept within the
// largest cost, or, if the context has ended, those that the last sweep has seen, or none.
func (s *solver) stoppedPrices(live, g []*big.Rat, st Status) {
	t := &s.sx.tree
	if st != Cancelled {
		top := s.rows.top()
		floats := make([]float64, t.n)
		for j := range floats {
			floats[j] = math.Inf(-1)
			if t.live(j) {
				floats[j] = math.Ldexp(min(max(-t.pi[t.k+j], -top), top), -s.rows.exp)
				g[j] = new(big.Rat).SetFloat64(floats[j])
			}
		}
		for n := range s.rows.index {
			if !s.watch.row(t.n) {
				break
			}
			live[n] = new(big.Rat).SetFloat64(rowPotential(s.rows.raw(n), floats))
		}
		if !s.watch.over {
			return
		}
	}
	f, prices := make([]float64, len(live)), make([]float64, t.n)
	s.lastSeen(f, prices)
	for n := range live {
		live[n] = new(big.Rat).SetFloat64(f[n])
	}
	for j := range g {
		g[j] = new(big.Rat).SetFloat64(prices[j])
	}
}

// unreadUnits is the result for the instance when the context has ended before its costs were read.
func (s *solver) unreadUnits(settings Settings) UnitResult {
	in := s.in
	r := UnitResult{Q: make([]int64, in.kv), Upper: new(big.Rat).SetFloat64(math.MaxFloat64), Lower: new(big.Rat), Objective: math.MaxFloat64, Status: Cancelled, Settings: settings}
	left := s.total
	for j, l := range in.low {
		r.Q[j] = int64(l)
		left -= l
	}
	for j := range r.Q {
		x := min(left, in.room[j])
		r.Q[j] += int64(x)
		left -= x
	}
	zero := new(big.Rat)
	r.Potentials = UnitPotentials{F: slices.Repeat([]*big.Rat{zero}, in.k), G: slices.Repeat([]*big.Rat{zero}, in.kv)}
	return r
}

// unitRows fills in the missing potentials of rows, by the rules of Settings. *st is as in allRows.
func (s *solver) unitRows(f, g []*big.Rat, settings Settings, st *Status) error {
	defer fillMissing(f, g)
	if !settings.AllRows {
		return nil
	}
	near := make([]float64, len(g))
	for j := range near {
		near[j], _ = g[j].Float64()
	}
	return s.eachIdleRow(st, func(i int, row []float64) { f[i] = exactPotential(row, g, near) })
}

// exactPotential returns the least of row[j] - g[j], given floats near g.
func exactPotential(row []float64, g []*big.Rat, near []float64) (f *big.Rat) {
	// Differences that may be the least, up to the rounding of near and of the subtraction.
	bound := math.Inf(1)
	for j, c := range row {
		bound = math.Min(bound, c-near[j]+doubt(c, near[j], 0))
	}
	for j, c := range row {
		if c-near[j]-doubt(c, near[j], 0) > bound {
			continue
		}
		x := new(big.Rat).SetFloat64(c)
		if x.Sub(x, g[j]); f == nil || x.Cmp(f) < 0 {
			f = x
		}
	}
	return f
}

// doubt bounds the error of a + b + c in floats, if these numbers are known to 2^-52 of themselves, or to the
// smallest float.
func doubt(a, b, c float64) float64 {
	return 0x1p-49*(math.Abs(a)+math.Abs(b)+math.Abs(c)) + 4*math.SmallestNonzeroFloat64
}
