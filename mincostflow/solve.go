package mincostflow

import (
	"context"

	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/projection"
)

// solver is the workspace of one solve. Its slices are reused by the next.
type solver struct {
	in  instance
	sx  simplex.Solver
	out output
}

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.sx.Forget()
	s.in.net.Cost, s.in.source, s.in.Box = nil, nil, projection.Box{}
}

// load writes the instance in units and reads its costs: see simplex.Solver.
func (s *solver) load(ctx context.Context, known *simplex.Costs, memory int64) error {
	s.in.writeSource()
	return s.sx.Load(ctx, s.in.net, known, memory)
}

// refineTol times its dearest arc is how far from its bound a plan may be that needs no finer grid.
const refineTol = 0x1p-46

// simplex solves the loaded instance.
func (s *solver) simplex(ctx context.Context) answer {
	s.sx.Start(ctx)
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
