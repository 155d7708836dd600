package mincostflow

import (
	"context"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// solver is the workspace of one solve. Its slices are reused by the next.
type solver struct {
	in     instance
	rows   rows
	units  []uint64 // the source, in units
	total  uint64   // of units
	sx     simplex
	forest start.Forest
	out    output
	watch  watch
}

func newSolver() *solver { return &solver{in: instance{limits: new(limits)}} }

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.rows.forget()
	s.rows.alone = false
	s.sx.pr.rows, s.watch.ctx = nil, nil
	s.in.matrix = nil
	*s.in.limits = limits{low: s.in.low, room: s.in.room}
}

// load reads the costs of the instance: see rows.
func (s *solver) load(ctx context.Context, memory int64) error {
	return s.rows.load(ctx, &s.in, memory)
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
	s.source()
	s.start(ctx, settings)
	return s.optimise()
}

// source fills in the source in units.
func (s *solver) source() {
	s.units, s.total = grow(s.units, len(s.in.Rows)), unit
	sourceUnits(s.in.Mass, s.units)
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
