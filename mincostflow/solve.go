package mincostflow

import (
	"context"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// solver is the workspace of one solve. Its slices are reused by the next.
type solver struct {
	own    instance // for whoever has none elsewhere
	in     *instance
	rows   rows
	units  []uint64 // the source, in units
	total  uint64   // of units
	sx     simplex
	forest start.Forest
	out    output
	watch  watch

	discount float64 // on the first price of artificial arcs, for tests
}

func newSolver() *solver { return &solver{own: instance{limits: new(limits)}} }

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.rows.forget()
	s.rows.alone = false
	s.in, s.sx.rows, s.sx.pr.rows, s.sx.pr.work.watch.ctx, s.watch.ctx = nil, nil, nil, nil, nil
	s.own.matrix = nil
	*s.own.limits = limits{low: s.own.low, room: s.own.room}
}

// load reads the costs of an instance: see rows.
func (s *solver) load(ctx context.Context, in *instance, memory int64) error {
	s.in = in
	return s.rows.load(ctx, in, memory)
}

// watch looks at a context now and then; at none if ctx is nil.
type watch struct {
	ctx         context.Context
	rows, cells int
	over        bool // it has ended
}

// pollRows rows or pollCells cells are read between two looks at the context.
const (
	pollRows  = 16
	pollCells = 1 << 16
)

// row reports whether another row may be read, of so many cells: not when the context has ended.
func (w *watch) row(cells int) bool {
	w.rows++
	w.cells += cells
	if w.rows >= pollRows || w.cells >= pollCells {
		w.rows, w.cells = 0, 0
		return w.look()
	}
	return !w.over
}

// look reports whether the context goes on.
func (w *watch) look() bool {
	w.over = w.over || w.ctx != nil && w.ctx.Err() != nil
	return !w.over
}

// simplex solves the loaded instance.
func (s *solver) simplex(ctx context.Context, settings Settings) answer {
	s.units = grow(s.units, len(s.in.rows))
	sourceUnits(s.in.mass, s.units)
	s.total = unit
	s.start(ctx, settings)
	return s.optimise()
}

// optimise ends with the optimum, from the tree that there is.
func (s *solver) optimise() answer {
	for {
		if !s.sx.run() {
			return s.cancelled()
		}
		a := s.optimum()
		switch {
		case s.watch.over:
			return s.cancelled()
		case a.excess <= refineTol*a.objective.Hi, // the dearest arc in use costs no less than the mean
			!(a.excess > refineTol*s.sx.dearest()), !s.sx.refine():
			return a
		}
	}
}
