package mincostflow

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/rowcache"
)

// Projector projects one distribution after the other with the same cost into the same box. What depends on these alone is
// done once: the costs are checked and read, and the box is brought to units of flow. Every distribution then starts from
// that, and from nothing that an earlier one has left: results are those of Project, bit for bit, whatever came before and
// however many workers there are.
//
// Memory is that of one Project for every call that runs at the same time, and some 40 bytes for every column. Costs that are
// computed are held as a whole if they fit into Settings.Memory; if not, every call holds rows, and as many calls as there are
// processors share that budget. In the long run no call allocates, provided the Result that it fills has been filled before; AllRows
// allocates.
//
// All methods may be called from several goroutines at once.
type Projector struct {
	matrix   cost.Matrix
	k, kv    int
	limits   limits
	most     []float64 // largest cost of every row among columns with room
	settings Settings
	whole    [][]float64 // all rows, if they are computed and fit into memory
	memory   int64       // of a workspace

	mu   sync.Mutex
	free []*solver
}

// NewProjector checks the costs, the bounds and the settings, as Project does. It copies the
// bounds; the cost matrix is kept and must not change. When ctx ends, the error is that of ctx.
func NewProjector(ctx context.Context, c cost.Matrix, lo, hi []float64, settings Settings) (*Projector, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	var in instance
	if err := in.setMatrix(c); err != nil {
		return nil, err
	}
	p := &Projector{matrix: c, k: in.k, kv: in.kv}
	if err := p.limits.setBox(p.kv, slices.Clone(lo), slices.Clone(hi)); err != nil {
		return nil, err
	}
	var err error
	if p.settings, err = settings.resolve(p.k + p.kv); err != nil {
		return nil, err
	}
	p.most = make([]float64, p.k)
	all := make([]int, p.k)
	for i := range all {
		all[i] = i
	}
	var whole [][]float64
	if _, ok := c.(*cost.Dense); !ok && rowcache.Fit(p.settings.Memory, p.k, p.kv) == p.k {
		whole = make([][]float64, p.k)
	}
	err = rowcache.Read(ctx, c, all, whole, func(i int, row []float64) (err error) {
		p.most[i], err = checkRow(i, row, p.kv, p.limits.mask)
		return err
	})
	if err != nil && err == ctx.Err() {
		return nil, fmt.Errorf("mincostflow: costs not read: %w", err)
	}
	if err != nil {
		return nil, err
	}
	p.whole = whole
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

// Settings returns the settings in force.
func (p *Projector) Settings() Settings { return p.settings }

// Project projects one distribution, given as in Problem, and fills r, reusing its slices. Bad input is one of the errors
// of this package, and r is then empty. ErrNotConverged comes with a feasible result whose bounds hold. Verify it with the Problem that
// the distribution makes together with the cost and the bounds.
func (p *Projector) Project(ctx context.Context, source []float64, support []int, r *Result) error {
	if r == nil {
		return fmt.Errorf("%w: no Result to fill", ErrShape)
	}
	s := p.take()
	defer p.give(s)
	return p.project(ctx, s, source, support, r)
}

// All projects n distributions with as many workers as there are processors; the calling goroutine is one of them. It calls
// get once for every index below n, from several goroutines; what get returns must stay as it is until emit has been
// called for this index. It calls emit for every index in ascending order, from the goroutine that
// called All; r belongs to emit only until it returns, and err is what Project says about this distribution
// (a bad one does not stop the others). Since that goroutine calls get for later indices, too, get must not wait for emit, and
// a get that blocks holds results back that are ready.
//
// All stops early if emit returns an error, with that, or if the context ends, with ErrNotConverged;
// emit is then not called for the rest. All returns when no worker is running any more. If it has not stopped early and some
// distributions failed, the error is a *BatchError, whatever emit made of theirs. A panic of get or emit is one of All.
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
	q := queue{end: n, slots: make([]slot, 4*workers)}
	q.changed.L = &q.mu
	project := func(s *solver, i int, to *slot) {
		source, support := get(i)
		to.err = p.project(ctx, s, source, support, &to.r)
		q.done(to)
	}
	var others parallel.Group
	for range workers - 1 {
		others.Go(func() {
			back := false
			defer func() {
				if !back { // get has panicked, and its slot will never be full
					q.stop()
				}
			}()
			s := p.take()
			defer p.give(s)
			for {
				i, to := q.claim()
				if to == nil {
					back = true
					return
				}
				project(s, i, to)
			}
		})
	}
	defer others.Wait() // and panic if one of them has
	defer q.stop()      // also when emit panics
	batch := BatchError{Users: n}
	s := p.take()
	defer p.give(s)
	for i := range n {
		// One worker is this goroutine: it projects while there is nothing to emit.
		j, at := q.turn(i)
		for ; at != nil && !at.full; j, at = q.turn(i) {
			project(s, j, at)
		}
		if at == nil {
			return nil // others.Wait panics
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w after %d of %d distributions", ErrNotConverged, err, i, n)
		}
		if at.err != nil {
			if batch.Failed++; batch.Failed == 1 {
				batch.First, batch.Err = i, at.err
			}
		}
		if err := emit(i, &at.r, at.err); err != nil {
			return err
		}
		q.release(at)
	}
	if batch.Failed > 0 {
		return &batch
	}
	return nil
}

// BatchError says how many of the distributions given to All failed.
type BatchError struct {
	Failed int   // how many
	Users  int   // of how many
	First  int   // the lowest index among them
	Err    error // and what was wrong with it
}

// Error says how many failed, and why the first did.
func (e *BatchError) Error() string {
	return fmt.Sprintf("mincostflow: %d of %d distributions failed, the first at index %d: %v", e.Failed, e.Users, e.First, e.Err)
}

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }

// queue hands indices out and takes results in, in order, a few slots ahead of emit at most.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	next    int // index to be claimed
	out     int // index to be emitted
	end     int
	stopped bool
	slots   []slot
}

type slot struct {
	r    Result
	err  error
	full bool
}

// claim returns the next index and its slot, or nil at the end.
func (q *queue) claim() (int, *slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.next < q.end && q.next-q.out >= len(q.slots) {
		q.changed.Wait()
	}
	if q.next >= q.end {
		return 0, nil
	}
	return q.take()
}

// turn returns index i and its slot if that is full. If not, it claims the next index like claim, or waits for either. The
// slot is nil if the queue was stopped.
func (q *queue) turn(i int) (int, *slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if at := q.slot(i); at.full {
			return i, at
		}
		if q.stopped {
			return 0, nil
		}
		if q.next < q.end && q.next-q.out < len(q.slots) {
			return q.take()
		}
		q.changed.Wait()
	}
}

// take hands out the next index. The queue is locked, and a slot is free.
func (q *queue) take() (int, *slot) {
	i := q.next
	q.next++
	return i, q.slot(i)
}

// slot is that of index i.
func (q *queue) slot(i int) *slot { return &q.slots[i%len(q.slots)] }

// done marks a slot as ready for emit.
func (q *queue) done(to *slot) {
	q.mu.Lock()
	to.full = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

// release makes the slot that was waited for last free for another index.
func (q *queue) release(at *slot) {
	q.mu.Lock()
	at.full = false
	q.out++
	q.mu.Unlock()
	q.changed.Broadcast()
}

// stop lets no more indices be claimed.
func (q *queue) stop() {
	q.mu.Lock()
	q.end, q.stopped = q.next, true
	q.mu.Unlock()
	q.changed.Broadcast()
}

// take returns a workspace.
func (p *Projector) take() *solver {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	s := newSolver()
	s.rows.whole = p.whole
	s.own.matrix, s.own.k, s.own.kv, s.own.limits = p.matrix, p.k, p.kv, &p.limits
	return s
}

// give takes a workspace back.
func (p *Projector) give(s *solver) {
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// largest returns the largest cost of a row with mass.
func (in *instance) largest(most []float64) float64 {
	x := 0.0
	for _, i := range in.rows {
		x = max(x, most[i])
	}
	return x
}

// project is Project with a workspace.
func (p *Projector) project(ctx context.Context, s *solver, source []float64, support []int, r *Result) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := s.own.setSource(source, support); err != nil {
		r.empty()
		return err
	}
	s.watch = watch{ctx: ctx}
	s.in = &s.own
	if s.rows.loadKnown(&s.watch, s.in, p.most, p.memory) != nil {
		s.unread(r, p.settings, s.own.largest(p.most))
		return stopped(ctx, r)
	}
	return s.run(ctx, p.settings, r)
}
