package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
)

// Projector projects one distribution after the other with the same cost, box and Reg. What depends
// on these alone is done once: the cost is read, checked and kept, and the rows are sorted.
//
// A result is that of the function Project for the same problem and settings. It is so bit for bit, but for the distributions that
// share a kernel, which is made and kept when the first of them comes: those on more than 64 points and at least half of the rows, where a
// start at Reg itself is the way. (All takes them in stacks, if the kernel is too large for the cache: what is read from memory then serves
// several.) Sums are added in another order there: numbers differ by their rounding, and where that
// decides for one iteration more or less, by what the goal leaves open.
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

// NewProjector checks the cost, the bounds, Reg and the settings, as Project does. It copies the bounds, and the
// cost unless it is a *cost.Dense, which must not change. Settings.Initial and History are not for many
// distributions: ErrSettings.
func NewProjector(c cost.Matrix, lo, hi []float64, reg float64, s Settings) (*Projector, error) {
	k, kv, err := dims(c)
	if err != nil {
		return nil, err
	}
	p := &Projector{lo: slices.Clone(lo), hi: slices.Clone(hi), reg: reg}
	p.box = instance{k: k, kv: kv, reg: reg}
	if err := p.box.box(p.lo, p.hi); err != nil {
		return nil, err
	}
	if !(reg > 0) || math.IsInf(reg, 0) {
		return nil, fmt.Errorf("%w: Reg = %v, want a finite number > 0", ErrReg, reg)
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

// Settings returns the settings in force.
func (p *Projector) Settings() Settings { return p.settings }

// Reg returns the regularisation.
func (p *Projector) Reg() float64 { return p.reg }

// Project projects one distribution, given as in Problem, and fills r, reusing its slices. Bad input is one of
// the errors of this package, and r is then empty. ErrNotConverged comes with a feasible result whose bounds
// hold. Verify it with the Problem that the distribution makes together with the rest.
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
	if err := s.read(source, support); err != nil {
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

// read makes s.in the distribution.
func (s *workspace) read(source []float64, support []int) error {
	s.in.rows, s.in.mass = s.in.rows[:0], s.in.mass[:0]
	return s.in.source(source, support)
}

// general projects by Project.
func (p *Projector) general(ctx context.Context, source []float64, support []int, r *Result) error {
	res, err := Project(ctx, Problem{Cost: p.box.matrix, Source: source, Support: support, Lo: p.lo, Hi: p.hi, Reg: p.reg}, p.settings)
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

// All projects n distributions with as many workers as there are processors. It calls get once for
// every index below n, from several goroutines; what get returns must stay as it is until emit has been
// called for this index. It calls emit for every index in ascending order, from the goroutine that
// called All; r belongs to emit only until it returns, and err is what Project says about this distribution.
// A bad one does not stop the others, but All then returns a *BatchError.
//
// All stops early if emit returns an error, with that, or if the context ends, with ErrNotConverged;
// emit is then not called for the rest. All returns when no worker is running any more. Up to some thirty distributions are under way
// at a time, on few processors, and more on many.
func (p *Projector) All(ctx context.Context, n int, get func(i int) (source []float64, support []int), emit func(i int, r *Result, err error) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if get == nil || emit == nil {
		return fmt.Errorf("%w: All needs get and emit", ErrShape)
	}
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 1 {
		return nil
	}
	// Slots go from the workers to emit and back, in rounds: slot i%len serves index i.
	size, stacks := p.stacked, 0
	places := 4 * workers
	if size > 1 {
		stacks = max(1, workers/chunks(p.box.k, p.box.live())) // each keeps as many threads busy as it has chunks of rows
		places += 3 * size * stacks                            // at work, waiting for a certificate, and for a place
	}
	slots := make([]batchSlot, min(places, n))
	for i := range slots {
		slots[i].ready, slots[i].taken = make(chan struct{}, 1), make(chan struct{}, 1)
		slots[i].taken <- struct{}{}
	}
	stop := make(chan struct{})
	inner, cancel := context.WithCancel(ctx) // ends when nobody wants the rest
	queue := make(chan *member, len(slots))
	var next batchCounter
	var group parallel.Group
	var feeders sync.WaitGroup
	var once sync.Once
	broken := make(chan struct{}) // a worker has panicked: Wait says so
	run := func(f func()) {
		group.Go(func() {
			whole := false
			defer func() {
				if !whole {
					once.Do(func() { close(broken) })
				}
			}()
			f()
			whole = true
		})
	}
	work := func() {
		s := p.take()
		defer p.give(s)
		for {
			i, ok := next.take(slots, n, stop)
			if !ok {
				return
			}
			at := &slots[i%len(slots)]
			source, support := get(i)
			if size == 1 {
				at.err = p.project(inner, s, source, support, &at.r)
			} else if at.err = s.read(source, support); at.err != nil {
				at.r.empty()
			} else if p.shared(inner, &s.in) {
				m := p.member()
				m.load(inner, p, &s.in)
				m.source, m.support, m.out, m.slot = source, support, &at.r, at
				queue <- m
				continue
			} else {
				at.err = p.general(inner, source, support, &at.r)
			}
			at.ready <- struct{}{}
		}
	}
	feeders.Add(workers)
	for range workers {
		run(func() {
			defer feeders.Done()
			work()
		})
	}
	for range stacks {
		run(func() {
			if first := <-queue; first != nil {
				p.newStack(size).serve(inner, first, queue)
			}
		})
	}
	run(func() {
		feeders.Wait()
		close(queue)
	})
	defer group.Wait()
	defer close(stop) // also when emit panics
	defer cancel()
	failed := BatchError{Users: n}
	for i := range n {
		at := &slots[i%len(slots)]
		select {
		case <-at.ready:
		case <-broken:
			return nil // no: Wait panics
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w after %d of %d distributions", ErrNotConverged, context.Cause(ctx), i, n)
		}
		failed.add(i, at.err)
		if err := emit(i, &at.r, at.err); err != nil {
			return err
		}
		at.taken <- struct{}{}
	}
	return failed.orNil()
}

type batchSlot struct {
	r            Result
	err          error
	ready, taken chan struct{}
}

// batchCounter hands out the indices below n, each with its slot: in order, lest the next round takes a slot before this one.
type batchCounter struct {
	mu sync.Mutex
	n  int
}

func (c *batchCounter) take(slots []batchSlot, n int, stop <-chan struct{}) (i int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == n {
		return 0, false
	}
	select {
	case <-stop:
		return 0, false
	case <-slots[c.n%len(slots)].taken:
	}
	c.n++
	return c.n - 1, true
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
	s := &workspace{in: p.box}
	return s
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
