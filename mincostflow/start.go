package mincostflow

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm/mincostflow/internal/newton"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// A solve begins with a star, or with a forest from one of two rooms: row prices by Newton's method where rows, or rows
// with much mass, are few (package newton), or a smaller problem of the same kind where rows and columns are many
// (package start). Starts change the work, never the answer's certificate.
//
// What a forest leaves over is on artificial arcs, priced at first a little above the prices of their nodes. Trees stay
// small then, and few potentials change much. These prices rise, step by step, until nothing is left over.
const (
	// Newton's start comes first up to lightRows rows, and up to lightMost if the other one does not pay.
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
	// Such prices are for columns that take mostRaised at most: flows then stay below 2^64 (units.go).
	mostRaised = 1 << 63
)

// begin makes ready for the source in s.units and the box.
func (s *solver) begin(ctx context.Context, settings Settings) {
	s.watch = watch{ctx: ctx}
	s.sx.begin(&s.watch, &s.rows, s.units, s.in.low, s.in.room, settings.maxPivots)
}

// start makes the first tree for the source in s.units and the box.
func (s *solver) start(ctx context.Context, settings Settings) {
	s.begin(ctx, settings)
	x, f := &s.sx, &s.forest
	p := start.Problem{Supply: s.units, Low: s.in.low, Room: s.in.room, Top: s.rows.top(), Costs: s}
	k, much := len(s.units), uint64(math.MaxUint64)
	switch {
	case k <= lightRows && newton.Start(p, f):
	case start.Multiscale(p, s, f):
		x.pr.cut()
		much = s.total / heavyRest
	case k > lightRows && k <= lightMost && newton.Start(p, f):
	default:
		f.Reset(k, s.in.low)
	}
	s.plant(much)
}

// plant makes the forest the tree, and raises the prices of artificial arcs from those of their nodes, if columns cannot
// take so much that flows overflow. A price stays while an artificial arc carries as much as much.
func (s *solver) plant(much uint64) {
	x, f := &s.sx, &s.forest
	x.tree.plant(f, s.units)
	x.pr.seed(f.Arcs)
	if x.tree.within(mostRaised) {
		x.raise(max(f.Above, leastPrice*x.full), much)
	}
	x.level()
	x.setGrid(x.tried, x.full)
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

// Row is that of start.Costs.
func (s *solver) Row(i int) ([]float64, bool) { return (&polled{&s.rows, &s.watch}).Row(i) }

// Going is that of start.Costs.
func (s *solver) Going() bool { return s.watch.look() }

// Share is that of start.Costs.
func (s *solver) Share(n int, t start.Task) bool {
	if !s.rows.shared(n) {
		return t.Do(0, 0, n, s)
	}
	var missed atomic.Bool
	done := s.rows.spread(&s.watch, start.Parts, func(own *rows, part int) {
		if !t.Do(part, part*n/start.Parts, (part+1)*n/start.Parts, &polled{own, &watch{ctx: s.watch.ctx}}) {
			missed.Store(true)
		}
	})
	s.watch.over = s.watch.over || missed.Load()
	return done && !missed.Load()
}

// polled are rows that are read by one goroutine as long as the context goes on.
type polled struct {
	rows  *rows
	watch *watch
}

// Row returns row i, or false when the context has ended.
func (p *polled) Row(i int) ([]float64, bool) {
	if !p.watch.row(p.rows.kv) {
		return nil, false
	}
	return p.rows.at(i), true
}

// Going reports whether the context goes on.
func (p *polled) Going() bool { return p.watch.look() }

// Share does the task as a whole.
func (p *polled) Share(n int, t start.Task) bool { return t.Do(0, 0, n, p) }

// Solve is that of start.Solver: another workspace solves the smaller problem.
func (s *solver) Solve(small *start.Smaller, prices []float64) bool {
	b := solvers.Get().(*solver)
	defer b.release()
	b.units, b.total = append(b.units[:0], small.Supply...), s.total
	b.in.low, b.in.room = append(b.in.low[:0], small.Low...), append(b.in.room[:0], small.Room...)
	b.in.Rows = b.in.Rows[:0]
	for i := range small.Supply {
		b.in.Rows = append(b.in.Rows, i)
	}
	r := &b.rows
	r.data, r.kv, r.index, r.held, r.alone = small.Costs, len(small.Low), b.in.Rows, r.held[:0], s.rows.alone
	r.most, r.exp = slices.Max(small.Costs), 0 // they are scaled already
	b.start(s.watch.ctx, Settings{})
	ok := b.sx.run()
	copy(prices, b.sx.tree.pi)
	s.watch.over = s.watch.over || b.watch.over
	return ok
}
