package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// Projector projects one distribution after the other with the same cost, box and Reg. What depends
// on these alone is done once: the cost is read, checked and kept, and the rows are sorted.
//
// A result is that of the function Project for the same problem and settings, bit for bit, with one exception:
// distributions that share a kernel. These have more than 64 points, and at least half of the rows, and are solved by a
// start at Reg itself. The kernel is made for the first of them and kept. (If the kernel is too large for the cache,
// All takes several such distributions at a time, so that one read from memory serves all of them.) Their sums are
// added in another order, so numbers differ by rounding. If the rounding decides for one iteration more or less,
// numbers differ within the goal.
//
// A result depends on nothing but the distribution: not on earlier ones, nor on the number of workers.
// All methods may be called from several goroutines at once.
type Projector struct {
	c        *cost.Dense
	lo, hi   []float64
	reg      float64
	settings Settings
	box      instance // with the box read, and no source
	ordinary bool     // the costs need no scaling, and no column may hold less than counts

	common  common
	stacked int // how many distributions All puts in a stack

	mu      sync.Mutex
	free    []*workspace
	members []*member
}

// NewProjector checks the cost, the bounds, Reg and the settings, as Project does. It copies the bounds, and the cost
// unless it is a *cost.Dense, which must not change. Settings.Initial and History are for a single distribution, and
// give ErrSettings here.
func NewProjector(c cost.Matrix, lo, hi []float64, reg float64, s Settings) (*Projector, error) {
	k, kv, err := projection.Dims(c)
	if err != nil {
		return nil, err
	}
	p := &Projector{lo: slices.Clone(lo), hi: slices.Clone(hi), reg: reg}
	p.box = instance{k: k, kv: kv, reg: reg}
	if err := p.box.setBox(p.lo, p.hi); err != nil {
		return nil, err
	}
	if err := checkReg("Reg", reg); err != nil {
		return nil, err
	}
	if s.Initial != nil || s.History {
		return nil, fmt.Errorf("%w: Initial and History are not for a Projector", ErrSettings)
	}
	if p.settings, err = s.resolve(&p.box); err != nil {
		return nil, err
	}
	if p.c, err = cost.Materialize(context.Background(), c); err != nil {
		if errors.Is(err, cost.ErrTooLarge) {
			return nil, fmt.Errorf("%w: %w", ErrShape, err)
		}
		return nil, fmt.Errorf("%w: %w", class(err), err)
	}
	p.box.matrix = c // a grid has ways of its own, by its type
	if _, ok := c.(*cost.Grid); !ok {
		p.box.matrix = p.c
	}
	p.stacked = 1
	if len(p.c.Data) >= stackCells {
		p.stacked = stackSize
	}
	p.ordinary = p.reg < 0x1p200 && p.reg > 0x1p-200 && len(p.box.tiny) == 0
	return p, nil
}

// Settings returns the settings used, with defaults filled in.
func (p *Projector) Settings() Settings { return p.settings }

// Reg returns the regularisation.
func (p *Projector) Reg() float64 { return p.reg }

// Project projects one distribution, given as in Problem, and fills r, reusing its slices. Bad input gives one of the
// errors of this package and an empty r. ErrNotConverged comes with a feasible result whose bounds hold. To verify the
// result, pass Verify a Problem of this distribution with the cost, the bounds and Reg.
func (p *Projector) Project(ctx context.Context, source []float64, support []int, r *Result) error {
	if r == nil {
		return fmt.Errorf("%w: no Result to fill", ErrShape)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	s := p.take()
	defer p.give(s)
	return p.project(ctx, s, source, support, r)
}

// project projects one distribution in the way that suits it.
func (p *Projector) project(ctx context.Context, s *workspace, source []float64, support []int, r *Result) error {
	if err := s.in.setSource(source, support); err != nil {
		r.empty()
		return err
	}
	if !p.shared(ctx, &s.in) {
		return p.general(ctx, source, support, r)
	}
	if s.stack == nil {
		s.stack, s.member = p.newStack(1), new(member)
	}
	return s.stack.alone(ctx, s, source, support, r)
}

// general projects by Project.
func (p *Projector) general(ctx context.Context, source []float64, support []int, r *Result) error {
	res, err := Project(ctx, Problem{Cost: p.box.matrix, Source: source, Support: support, Lo: p.lo, Hi: p.hi, Reg: p.reg},
		p.settings)
	if err != nil && !errors.Is(err, ErrNotConverged) {
		r.empty()
		return err
	}
	*r = res
	return err
}

// empty clears r but for the memory of its slices.
func (r *Result) empty() {
	*r = Result{
		Q: r.Q[:0], Potentials: Potentials{F: r.Potentials.F[:0], G: r.Potentials.G[:0]},
		LogV: r.LogV[:0],
	}
}

// All projects n distributions with as many workers as there are processors; the calling goroutine is one of them. All
// calls get once for every index below n, from several goroutines. The slices that get returns must not change until
// emit has been called for this index. All calls emit for every index in ascending order, from the goroutine that
// called All. emit may use r only until it returns, and err is the error of Project for this distribution. A bad
// distribution does not stop the others, but All then returns a *BatchError. The calling goroutine also calls get for
// later indices, so get must not wait for emit.
//
// All stops early if emit returns an error, and returns this error, or if the context ends, and returns
// ErrNotConverged. emit is then not called for the remaining indices. All returns when all workers have stopped. Up to
// about thirty distributions are in progress at a time, and more on many processors.
func (p *Projector) All(ctx context.Context, n int, get func(i int) (source []float64, support []int),
	emit func(i int, r *Result, err error) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if get == nil || emit == nil {
		return fmt.Errorf("%w: All needs get and emit", ErrShape)
	}
	places, stacks := 4*runtime.GOMAXPROCS(0), 0
	if p.stacked > 1 {
		// Each keeps as many threads busy as it has chunks of rows.
		stacks = max(1, min(runtime.GOMAXPROCS(0), n)/loops.Chunks(p.box.k, p.box.live()))
		places += 3 * p.stacked * stacks // at work, waiting for a certificate, and for a place
	}
	places = min(places, n)
	stream := projection.NewStream[Result](places)
	queue := make(chan *member, places) // to the stacks
	inner, cancel := context.WithCancel(ctx)
	var group parallel.Group
	for range stacks {
		group.Go(func() {
			defer stream.Stop() // nobody waits for the members of a stack that has panicked
			if first := <-queue; first != nil {
				p.newStack(p.stacked).serve(inner, first, queue)
			}
		})
	}
	defer group.Wait()
	defer close(queue)
	defer cancel() // nobody wants the rest
	return stream.Run(ctx, n, func(ctx context.Context, i int, at *slot) {
		source, support := get(i)
		if m := p.stack(ctx, source, support, at); m != nil {
			queue <- m
			return
		}
		at.Err = p.Project(ctx, source, support, &at.Result)
		at.Done()
	}, emit)
}

// slot is the place of a result of All.
type slot = projection.Slot[Result]

// stack returns the distribution as a member for a stack, or nil if it is not one for All to stack.
func (p *Projector) stack(ctx context.Context, source []float64, support []int, at *slot) *member {
	if p.stacked == 1 {
		return nil
	}
	s := p.take()
	defer p.give(s)
	if s.in.setSource(source, support) != nil || !p.shared(ctx, &s.in) {
		return nil
	}
	m := p.member()
	m.load(ctx, p, &s.in)
	m.source, m.support, m.out, m.slot = source, support, &at.Result, at
	return m
}

// take returns a workspace.
func (p *Projector) take() *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	return &workspace{in: p.box}
}

// member returns a workspace for a place in a stack.
func (p *Projector) member() *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.members); n > 0 {
		m := p.members[n-1]
		p.members = p.members[:n-1]
		return m
	}
	return new(member)
}

// give takes a workspace back.
func (p *Projector) give(s *workspace) {
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// workspace is what one call of Project needs.
type workspace struct {
	in     instance
	stack  *stack // with member, for distributions on many rows
	member *member
}
