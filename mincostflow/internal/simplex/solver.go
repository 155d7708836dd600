package simplex

import (
	"context"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// Solver is the workspace of one solve. Its slices are reused by the next. The zero value is ready to be used.
type Solver struct {
	rows   rows // and the problem
	watch  watch
	costs  costs
	forest start.Forest
	tree   basis
	pr     pricer

	exp      int     // the grid in force is 2^exp
	tried    int     // the finest grid asked for so far
	retried  bool    // that grid has been asked for again, after potentials outgrew it
	full     float64 // price of artificial arcs at which they carry nothing at an optimum
	rescales int     // changes of the grid or of the price after the first

	list  []int  // columns that take no part, or rows that take none
	below []bool // of these columns, see closed
}

// Load takes over a problem, reads and checks its costs, and copies as many of the rows that take part as fit into
// memory bytes if they are computed (0 means 256 MiB, and a negative number none). With costs that are known, it checks
// nothing, and works on one goroutine.
//
// Errors: those of the costs (ErrShape, ErrNotFinite, ErrNegative), and ErrNotConverged if ctx ends before they were
// read. Most then bounds what may be known of them. Up to 32 rows are read even if ctx has ended.
func (s *Solver) Load(ctx context.Context, p Problem, known *Costs, memory int64) error {
	s.take(p)
	s.Watch(ctx)
	if known != nil {
		return s.rows.loadKnown(&s.watch, known, memory)
	}
	return s.rows.load(ctx, memory)
}

// LoadTurned takes over a problem that has the costs of o, with its sides exchanged: rows are columns of o, and columns
// are the rows that take part in o. It copies them, whatever memory that takes.
func (s *Solver) LoadTurned(p Problem, o *Solver) {
	s.take(p)
	s.rows.turn(&o.rows)
}

// take takes over a problem.
func (s *Solver) take(p Problem) {
	s.rows.p = p
	s.tree.pivots, s.tree.degenerate, s.pr.sweeps, s.rescales = 0, 0, 0, 0
}

// Forget drops what belongs to the caller, and much memory.
func (s *Solver) Forget() {
	s.rows.forget()
	s.tree.low, s.tree.room, s.watch.ctx = nil, nil, nil
}

// Watch has s look at another context.
func (s *Solver) Watch(ctx context.Context) { s.watch = watch{ctx: ctx} }

// Stopped reports whether the context has been seen to end.
func (s *Solver) Stopped() bool { return s.watch.over }

// Stats counts the work since Load.
type Stats struct {
	Pivots     int // simplex pivots
	Degenerate int // pivots that moved nothing
	Sweeps     int // full pricing sweeps over the rows
	Rescales   int // changes of the grid or of the artificial cost after the start
}

// Stats returns the work since Load, without that at exact prices.
func (s *Solver) Stats() Stats {
	t := &s.tree
	return Stats{Pivots: t.pivots, Degenerate: t.degenerate, Sweeps: s.pr.sweeps, Rescales: max(s.rescales, 0)}
}
