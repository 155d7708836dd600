package mincostflow

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Projector projects one distribution after the other with the same cost into the same box. The work that depends only
// on cost and box is done once: the costs are checked and read, and the box is converted to units of flow. No
// distribution depends on an earlier one: results are those of Project, bit for bit, in any order and with any number
// of workers.
//
// Memory is that of one Project for every call that runs at the same time, and about 40 bytes for every column.
// Computed costs are held as a whole if they fit into Settings.Memory. If they do not fit, every call holds rows, and
// as many calls as there are processors share this budget. In the long run no call allocates if the Result that it
// fills has been filled before; AllRows allocates.
//
// All methods may be called from several goroutines at once.
type Projector struct {
	in       instance // but for a source
	costs    *simplex.Costs
	settings Settings
	memory   int64 // of a workspace
	free     parallel.Spare[solver]
}

// NewProjector checks the costs, the bounds and the settings, as Project does. It copies the
// bounds; the cost matrix is kept and must not change. When ctx ends, the error is ErrNotConverged.
func NewProjector(ctx context.Context, c cost.Matrix, lo, hi []float64, settings Settings) (*Projector, error) {
	ctx = wpmerr.Context(ctx)
	p := &Projector{settings: settings}
	err := p.in.setCost(c)
	if err != nil {
		return nil, err
	}
	if err := p.in.setBox(slices.Clone(lo), slices.Clone(hi)); err != nil {
		return nil, err
	}
	if p.costs, err = simplex.ReadCosts(ctx, c, p.in.net.Low, p.in.net.Room, settings.Memory); err != nil {
		return nil, err
	}
	// What a workspace holds: its part of what all may hold, if the whole matrix is too much.
	p.memory = p.settings.Memory
	if p.memory == 0 {
		p.memory = rowcache.DefaultMemory
	}
	if p.memory > 0 {
		p.memory = max(p.memory/int64(runtime.GOMAXPROCS(0)), 1)
	}
	return p, nil
}

// Project projects one distribution, given as in Problem, and fills r, reusing its slices. Bad input gives one of the
// errors of wpmerr and an empty r. ErrNotConverged comes with a feasible result whose bounds hold. Verify it with
// the Problem that the distribution makes together with the cost and the bounds.
func (p *Projector) Project(ctx context.Context, source []float64, support []int, r *Result) error {
	if r == nil {
		return fmt.Errorf("%w: no Result to fill", wpmerr.ErrShape)
	}
	s := p.free.Get()
	defer p.free.Put(s)
	if s.in.net.Cost == nil { // it is new
		s.in = p.in
	}
	ctx = wpmerr.Context(ctx)
	if err := s.in.setSource(source, support); err != nil {
		r.empty()
		return err
	}
	if err := s.load(ctx, p.costs, p.memory); err != nil {
		s.unread(r)
		return err
	}
	return s.run(ctx, p.settings, r)
}

// All projects n distributions with as many workers as there are processors; the calling goroutine is one of them. All
// calls get once for every index below n, from several goroutines. The slices that get returns must not change until
// emit has been called for this index. All calls emit for every index in ascending order, from the goroutine that
// called All. emit may use r only until it returns, and err is the error of Project for this distribution (a bad
// distribution does not stop the others). The calling goroutine also calls get for later indices. So get must not wait
// for emit, and a get that blocks delays results that are ready.
//
// All stops early if emit returns an error, and returns this error, or if the context ends, and returns
// ErrNotConverged. emit is then not called for the remaining indices. All returns when all workers have stopped. If it
// has not stopped early and some distributions failed, the error is a *projection.BatchError, even if emit returned nil for them.
// A panic of get or emit becomes a panic of All.
func (p *Projector) All(ctx context.Context, n int, get func(i int) (source []float64, support []int),
	emit func(i int, r *Result, err error) error) error {
	ctx = wpmerr.Context(ctx)
	if get == nil || emit == nil {
		return fmt.Errorf("%w: All needs get and emit", wpmerr.ErrShape)
	}
	return projection.Stream(ctx, n, min(4*runtime.GOMAXPROCS(0), n), func(ctx context.Context, i int, r *Result) error {
		source, support := get(i)
		return p.Project(ctx, source, support, r)
	}, emit)
}
