package units

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/wpmerr"
)

// Settings tunes Project. The zero value is the documented default.
type Settings struct {
	// AllRows reads the rows without units, too, which gives them the largest valid potentials. By default these rows are
	// not read, and errors in their costs are not detected. Their potential is then -max(0, max_j G_j), which is valid
	// because costs are not negative.
	AllRows bool
	// Memory limits the bytes for copies of rows, if the cost computes a row anew for every reader. 0 means 256 MiB, and a
	// negative number means no copies. Results do not depend on Memory.
	Memory int64
}

// Project moves p.Source into the box [p.Lo, p.Hi] at least cost:
//
//	minimise    sum_ij C_ij P_ij / N
//	subject to  P >= 0,  sum_j P_ij = Source_i,  Q_j = sum_i P_ij,  Lo_j <= Q_j <= Hi_j.
//
// Nothing is rounded: P counts units, and costs are taken as exact binary fractions. In a result without an error Upper
// and Lower are equal, and are the optimum; Verify can recompute both.
//
// Bad input gives one of the errors of package wpmerr and an empty Result: ErrShape, ErrSupport, ErrNotFinite,
// ErrNegative, ErrMass (no units), ErrOverflow (more than 2^62), ErrBox, ErrInfeasible. ErrNotConverged (the context
// ended) comes with a plan of whole units whose bounds hold.
//
// See the package comment for the method and what it costs.
func Project(ctx context.Context, p Problem, settings Settings) (Result, error) {
	s := solvers.Get().(*simplex.Solver)
	defer func() {
		s.Forget()
		solvers.Put(s)
	}()
	return project(wpmerr.Context(ctx), s, p, settings)
}

// project is Project with a workspace.
func project(ctx context.Context, s *simplex.Solver, p Problem, settings Settings) (Result, error) {
	c := call{Solver: s, p: p, settings: settings}
	var err error
	if c.k, c.kv, c.n, err = p.check(); err != nil {
		return Result{}, err
	}
	c.units = p.units(c.n)
	if err := c.Load(ctx, c.units, nil, settings.Memory); errors.Is(err, wpmerr.ErrNotConverged) {
		return c.unread(), err
	} else if err != nil {
		return Result{}, err
	}
	c.Start(ctx)
	r, err := c.optimise()
	if err == nil && r.Status == Cancelled {
		err = fmt.Errorf("%w after %d pivots", wpmerr.Ended(ctx), r.Stats.Pivots)
	}
	return r, err
}

// solvers keeps workspaces.
var solvers = sync.Pool{New: func() any { return new(simplex.Solver) }}

// call is one call of Project.
type call struct {
	p        Problem
	settings Settings
	k, kv    int
	n        uint64 // units
	units    simplex.Problem
	*simplex.Solver
}

// units returns the rows with units and the bounds, for n units in all.
func (p *Problem) units(n uint64) simplex.Problem {
	x := simplex.Problem{Cost: p.Cost, Low: make([]uint64, len(p.Lo)), Room: make([]uint64, len(p.Lo))}
	for m, u := range p.Source {
		if u > 0 {
			x.Rows, x.Supply = append(x.Rows, p.row(m)), append(x.Supply, uint64(u))
		}
	}
	for j, lo := range p.Lo {
		x.Low[j], x.Room[j] = uint64(lo), min(uint64(p.Hi[j]), n+1)-uint64(lo)
	}
	return x
}

// optimise pivots from the first tree, and reads the answer off the last one. Its errors are those of costs of rows
// without units.
func (c *call) optimise() (Result, error) {
	done := c.Run()
	for done && c.Refine() { // a finer grid leaves less to the exact prices, if it can be had
		done = c.Run()
	}
	var live, g []*big.Rat
	repairs := 0
	if done {
		live, g, repairs, done = c.OptimiseExactly()
	}
	r := Result{Status: Optimal}
	if !done {
		r.Status = Cancelled
	}
	s := c.Stats()
	r.Stats = Stats{s.Pivots, s.Degenerate, s.Sweeps, s.Rescales, repairs}
	r.Upper = c.plan(&r)
	if r.Status == Cancelled {
		live, g = c.proved()
	}
	ctransform.Fill(g, live) // columns that take nothing
	f, err := c.rows(live, g, &r.Status)
	if err != nil {
		return Result{}, err
	}
	r.Potentials = Potentials{F: f, G: g}
	r.Lower = c.p.dual(r.Potentials, c.n)
	r.Objective, _ = r.Upper.Float64()
	return r, nil
}

// plan fills in Q and Plan, and returns what the plan costs. What it leaves counts at the largest cost, as does an arc
// whose cost has not been read.
func (c *call) plan(r *Result) (upper *big.Rat) {
	flows, has := c.Flows()
	slices.SortFunc(flows, func(a, b simplex.Flow) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	r.Q = wholes(has)
	var pay payment
	left := c.n
	for _, f := range flows {
		if f.Units == 0 {
			continue
		}
		cost, ok := c.Cost(f)
		if !ok {
			r.Status, cost = Cancelled, c.Most()
		}
		pay.add(f.Units, cost)
		left -= f.Units
		r.Plan = append(r.Plan, Entry{c.units.Rows[f.I], int(f.J), int64(f.Units)})
	}
	pay.add(left, c.Most())
	return pay.over(c.n)
}

// wholes returns units as integers.
func wholes(units []uint64) []int64 {
	out := make([]int64, len(units))
	for j, u := range units {
		out[j] = int64(u)
	}
	return out
}

// proved returns potentials of the rows with units and of the columns that a sweep has proved.
func (c *call) proved() (live, g []*big.Rat) {
	seen, prices := make([]float64, len(c.units.Rows)), make([]float64, c.kv)
	c.Proved(seen, prices)
	rats := func(xs []float64) (out []*big.Rat) {
		for _, x := range xs {
			out = append(out, new(big.Rat).SetFloat64(x))
		}
		return out
	}
	return rats(seen), rats(prices)
}

// rows returns the potentials of all rows, given those of the rows with units, by the rules of Settings. If the context
// ends, rows are no longer read, and *st is Cancelled.
func (c *call) rows(live, g []*big.Rat, st *Status) (f []*big.Rat, err error) {
	f = make([]*big.Rat, c.k)
	for n, i := range c.units.Rows {
		f[i] = live[n]
	}
	defer ctransform.Fill(f, g)
	if !c.settings.AllRows || *st == Cancelled {
		return f, nil
	}
	near := make([]float64, len(g))
	for j := range near {
		near[j], _ = g[j].Float64()
	}
	err = c.IdleRows(func(i int, row []float64) { f[i] = ctransform.Exact(row, g, near) })
	if errors.Is(err, wpmerr.ErrNotConverged) {
		*st, err = Cancelled, nil
	}
	return f, err
}

// unread is the result when the context has ended before the costs were read.
func (c *call) unread() Result {
	has := make([]uint64, c.kv)
	c.units.Fill(has, c.n)
	r := Result{Q: wholes(has), Upper: new(big.Rat).SetFloat64(c.Most()), Lower: new(big.Rat), Status: Cancelled}
	r.Objective, _ = r.Upper.Float64()
	zero := new(big.Rat)
	r.Potentials = Potentials{F: slices.Repeat([]*big.Rat{zero}, c.k), G: slices.Repeat([]*big.Rat{zero}, c.kv)}
	return r
}
