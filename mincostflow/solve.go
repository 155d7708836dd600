package mincostflow

import (
	"context"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
)

// solver is the workspace of one solve. Its slices are reused by the next.
type solver struct {
	in    instance
	units []uint64 // the source, in units
	sx    simplex.Solver
	out   output
}

func newSolver() *solver { return &solver{in: instance{limits: new(limits)}} }

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.sx.Forget()
	s.in.matrix = nil
	*s.in.limits = limits{low: s.in.low, room: s.in.room}
}

// load writes the instance in units and reads its costs: see simplex.Solver.
func (s *solver) load(ctx context.Context, known *simplex.Costs, memory int64) error {
	in := &s.in
	s.units = num.Grow(s.units, len(in.Rows))
	sourceUnits(in.Mass, s.units)
	p := simplex.Problem{Cost: in.matrix, Rows: in.Rows, Supply: s.units, Low: in.low, Room: in.room,
		Rounded: in.point != nil}
	return s.sx.Load(ctx, p, known, memory)
}

// refineTol times its dearest arc is how far from its bound a plan may be that needs no finer grid.
const refineTol = 0x1p-46

// simplex solves the loaded instance.
func (s *solver) simplex(ctx context.Context, settings Settings) answer {
	s.sx.Start(ctx, settings.maxPivots)
	for s.sx.Run() {
		a := s.optimum()
		switch {
		case s.sx.Stopped():
			return s.cancelled()
		case a.excess <= refineTol*a.objective.Hi, // the dearest arc in use costs no less than the mean
			!(a.excess > refineTol*s.sx.Dearest()), !s.sx.Refine():
			return a
		}
	}
	return s.cancelled()
}
