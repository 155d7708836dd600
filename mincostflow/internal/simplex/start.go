package simplex

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/mincostflow/internal/assignment"
	"github.com/wpm-go/wpm/mincostflow/internal/newton"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// A solve begins with a star, or with a forest from one of three rooms: an optimal assignment for some equal masses on
// either side (package assignment), row prices by Newton's method where rows, or rows with much mass, are few (package
// newton), or, in package start, a smaller problem of the same kind where rows and columns are many, and a greedy plan
// where both are few. Starts change the work, never the answer's certificate.
//
// What a forest leaves over is on artificial arcs, priced at first a little above the prices of their nodes. Trees stay
// small then, and few potentials change much. These prices rise, step by step, until nothing is left over.
const (
	// Newton's start comes first up to lightRows rows, and up to lightMost where columns take more than TightRoom of the
	// mass, if it works on few rows. Else it comes second, up to lightMost.
	lightRows = 320
	lightMost = 512
	// Prices of artificial arcs become dearer by dearer. The first is at least leastPrice of the largest cost, so that
	// there are 16 at most.
	dearer     = 4
	leastPrice = 0x1p-30
	// A price stays while an artificial arc carries a heavyRest-th of all mass, and a pass makes more than a pivot for every
	// fewPasses nodes.
	heavyRest = 64
	fewPasses = 64
	// Such prices are for columns that take mostRaised at most: flows then stay below 2^64 (MaxUnits).
	mostRaised = 1 << 63
)

// pool keeps workspaces for smaller problems.
var pool = sync.Pool{New: func() any { return new(Solver) }}

// Start makes the first tree. The solver stops for good when ctx ends.
func (s *Solver) Start(ctx context.Context) {
	s.begin(ctx)
	f, p := &s.forest, &s.rows.p
	problem := start.Problem{Supply: p.Supply, Low: p.Low, Room: p.Room, Top: s.rows.top(), Costs: &s.costs}
	k, much := len(p.Supply), uint64(math.MaxUint64)
	light := lightRows
	if !s.tree.within(uint64(start.TightRoom * float64(p.total()))) {
		light = lightMost
	}
	first := k <= light && !newton.Many(k, len(p.Low)) // Newton's start is
	switch {
	case p.Rounded && assignment.Start(problem, f):
	case first && newton.Start(problem, f):
	case start.Multiscale(problem, (*starter)(s), f):
		s.pr.cut()
		much = p.total() / heavyRest
	case !first && k <= lightMost && newton.Start(problem, f):
	case start.Greedy(problem, f):
	default:
		f.Reset(k, p.Low)
	}
	s.plant(much)
}

// begin makes ready for the problem.
func (s *Solver) begin(ctx context.Context) {
	s.Watch(ctx)
	p, t := &s.rows.p, &s.tree
	t.low, t.room = p.Low, p.Room
	s.costs = costs{&s.rows, &s.watch}
	s.pr.tree, s.pr.costs, s.pr.sweeps = t, &s.costs, 0
	s.rescales, s.retried = -1, false
	// An artificial arc that costs more than every real one is enough: the rows and columns form
	// a complete graph, so flow on artificial arcs could be rerouted over a single real one.
	top := s.rows.top()
	s.full = float64(1.5 * top) // not to be fused with the rounding to the grid
	if top == 0 {
		s.full = 1
	}
	s.tried = s.gridFor(top)
	t.reset(len(p.Supply), len(p.Low))
	s.pr.reset(p.Supply)
}

// total returns what all rows have.
func (p *Problem) total() (units uint64) {
	for _, u := range p.Supply {
		units += u
	}
	return units
}

// plant makes the forest the tree, and raises the prices of artificial arcs from those of their nodes, if columns cannot
// take so much that flows overflow. A price stays while an artificial arc carries as much as much.
func (s *Solver) plant(much uint64) {
	f := &s.forest
	s.tree.plant(f, s.rows.p.Supply)
	for _, a := range f.Arcs {
		s.pr.append(a)
	}
	if s.tree.within(mostRaised) {
		s.raise(max(f.Above, leastPrice*s.full), much)
	}
	s.level()
	s.setGrid(s.tried, s.full)
}

// within reports whether all columns take so much at most.
func (t *basis) within(most uint64) bool {
	for j, low := range t.low {
		if low > most || t.room[j] > most-low {
			return false
		}
		most -= low + t.room[j]
	}
	return true
}

// starter is a Solver that solves smaller problems.
type starter Solver

// Solve is that of start.Solver: another workspace solves the smaller problem.
func (s *starter) Solve(small *start.Smaller, prices []float64) bool {
	b := pool.Get().(*Solver)
	defer func() {
		b.Forget()
		pool.Put(b)
	}()
	b.list = b.list[:0]
	for i := range small.Supply {
		b.list = append(b.list, i)
	}
	r := &b.rows
	r.p = Problem{Rows: b.list, Supply: small.Supply, Low: small.Low, Room: small.Room}
	r.held, r.alone = r.held[:0], s.rows.alone
	for i := range small.Supply {
		r.held = append(r.held, small.Row(i))
	}
	r.most, r.exp = slices.Max(small.Costs), 0 // they are scaled already
	b.Start(s.watch.ctx)
	ok := b.Run()
	copy(prices, b.tree.pi)
	s.watch.over = s.watch.over || b.watch.over
	return ok
}
