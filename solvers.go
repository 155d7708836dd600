package wpm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// exactSettings: the potentials of points without mass prove nothing, and cost a sweep over all rows.
var exactSettings = mincostflow.Settings{}

// exactSolver projects one distribution after the other. A mincostflow.Projector reads the whole cost and may hold it,
// which a device that projects once must not pay for. So projections are single ones until they have read as many rows
// as a Projector does; one is then made, and serves the others. At no number of projections does this read more than
// twice what the better of the two ways does (the rule for renting skis). Both give the same bits.
type exactSolver struct {
	rows   atomic.Int64 // read by single projections
	making sync.Mutex
	stream atomic.Pointer[mincostflow.Projector]
}

func (s *exactSolver) project(ctx context.Context, p projection.Problem, many bool) (*mincostflow.Result, error) {
	if many {
		if stream := s.projector(ctx, p); stream != nil {
			res := new(mincostflow.Result)
			return res, stream.Project(ctx, p.Source, p.Support, res)
		}
	}
	res, err := mincostflow.Project(ctx, p, exactSettings)
	return &res, err
}

// projector returns the Projector if it is there or due, and nil if not. Whoever makes it keeps nobody else waiting.
func (s *exactSolver) projector(ctx context.Context, p projection.Problem) *mincostflow.Projector {
	if stream := s.stream.Load(); stream != nil {
		return stream
	}
	var rows int64
	for _, x := range p.Source {
		if x > 0 {
			rows++
		}
	}
	k, _ := p.Cost.Dims()
	if s.rows.Add(rows)-rows < int64(k) || !s.making.TryLock() {
		return nil
	}
	defer s.making.Unlock()
	if s.stream.Load() == nil {
		stream, err := mincostflow.NewProjector(ctx, p.Cost, p.Lo, p.Hi, exactSettings)
		if err != nil { // the context has ended: a single projection says so with an answer
			return nil
		}
		s.stream.Store(stream)
	}
	return s.stream.Load()
}

// entropicSettings are the settings of the entropic solver.
var entropicSettings = sinkhorn.Settings{Gap: EntropicGap}

const (
	// heldCells is the number of entries up to which the entropic solver holds a cost that is not in memory: half a
	// gigabyte.
	heldCells = 1 << 26
	// fewPoints is the number of points up to which a distribution on a large grid is solved without its structure.
	fewPoints = 64
	// fewReg is the least Reg for those. Fewer levels of annealing are a third of the time on 256 x 256 cells; the
	// projections of few points are far apart, and this Reg is a thousandth of their cost.
	fewReg = 1e-5
)

// entropicSolver projects one distribution after the other by package sinkhorn, to the gap in entropicSettings.
type entropicSolver struct {
	problem sinkhorn.Problem    // without a source
	held    *sinkhorn.Projector // nil if the cost is too large to hold
}

// newEntropicSolver takes Reg as EntropicReg times the range of the cost (1 if all costs are zero) and keeps a
// sinkhorn.Projector. A cost too large to hold is read anew for every distribution. On a grid of that size with squared
// distances, Reg is (h/2)^2 for cells h wide, since the range would take a sweep over all pairs. The cost has been
// checked.
func newEntropicSolver(ctx context.Context, c cost.Matrix, lo, hi []float64) (*entropicSolver, error) {
	s := &entropicSolver{problem: sinkhorn.Problem{Problem: projection.Problem{Cost: c, Lo: lo, Hi: hi}}}
	k, kv := c.Dims()
	_, dense := c.(*cost.Dense)
	held := dense || kv <= heldCells/k
	if grid := cost.Separable(c); grid != nil && !held {
		rows, cols := grid.Size()
		h := 1 / float64(max(rows, cols))
		s.problem.Reg = h * h / 4
		return s, nil
	}
	var err error
	if s.problem.Reg, err = sinkhorn.RelativeReg(ctx, c, EntropicReg); errors.Is(err, wpmerr.ErrReg) {
		if most, _, ended := cost.Extent(ctx, c); ended != nil || most == 0 {
			s.problem.Reg, err = 1, ended
		}
	}
	if err != nil || !held {
		return s, err
	}
	s.held, err = sinkhorn.NewProjector(ctx, c, lo, hi, s.problem.Reg, entropicSettings)
	return s, err
}

// project is sinkhorn.Project. The Result holds the Reg that was chosen.
func (s *entropicSolver) project(ctx context.Context, mass []float64, support []int) (*sinkhorn.Result, error) {
	r := new(sinkhorn.Result)
	if s.held != nil {
		return r, s.held.Project(ctx, mass, support, r)
	}
	p := s.problem
	p.Source, p.Support = mass, support
	points := 0
	for _, x := range mass {
		if x > 0 {
			points++
		}
	}
	if points <= fewPoints {
		p.Reg = max(p.Reg, fewReg)
	}
	var err error
	*r, err = sinkhorn.Project(ctx, p, entropicSettings)
	return r, err
}
