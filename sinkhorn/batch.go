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
	"github.com/wpm-go/wpm/internal/num"
)

// Projector projects one distribution after the other with the same cost, box and Reg. What depends
// on these alone is done once: the cost is read, checked and kept, and the rows are sorted.
//
// Distributions on at most 64 points, when Settings asks for a Gap and not for a residual, are solved in the potentials of
// their rows alone, in time proportional to the points times kv: a few annealed Newton steps, and then paths on a graph of
// the rows that lead to a plan of the exact problem as good as asked for, or to an optimum if the Gap is tiny (batch_round.go).
// Such a Result has a Plan, LogV is read off the prices, and Reg matters for nothing but LogV and what is computed from it. Its Iterations, which
// Settings.MaxIterations limits, are steps and paths.
//
// Distributions on at least half of the rows, but on more than 64, share one kernel, which is made, and kept, when the first of them
// comes. All takes them in stacks, if the kernel is too large for the cache: what is read from memory then serves several (batch_stack.go).
// All other distributions are solved as by Project, and so are those for which a start at Reg itself is not the way.
//
// In the long run the first two ways allocate nothing, provided the Result has been filled before.
//
// A result depends on nothing but the distribution: not on earlier ones, nor on the number of workers.
// All methods may be called from several goroutines at once.
type Projector struct {
	c        *cost.Dense
	lo, hi   []float64
	reg      float64
	settings Settings
	box      instance  // with the box read, and no source
	radius   []float64 // k x (radii + 1): see radii
	max, rng []float64 // of each row, over columns with room
	near     []int32   // the nearest columns of each row, by cost
	nearest  int       // how many
	ordinary bool      // the costs need no scaling, and no column may hold less than counts

	common  common
	stacked int // how many distributions All puts in a stack

	mu      sync.Mutex
	free    []*rowSolver
	members []*member
}

// radii is the number of parts in which the room of a box is cut: radius[i*(radii+1)+l] is the cost up to
// which the columns around row i have room, beyond their lower bounds, for l/radii of everything that lies there.
const radii = 32

// nearest is how many columns are kept for every row in the order of their costs.
const nearest = 256

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
	p.box.matrix = p.c
	p.stacked = 1
	if len(p.c.Data) >= stackCells {
		p.stacked = stackSize
	}
	p.survey()
	return p, nil
}

// survey reads the rows.
func (p *Projector) survey() {
	k, n := p.c.K, p.box.live()
	p.max, p.rng = make([]float64, k), make([]float64, k)
	p.radius = make([]float64, k*(radii+1))
	lo, hi := p.box.compact(p.box.lo), p.box.compact(p.box.hi)
	p.nearest = min(n, nearest)
	p.near = make([]int32, k*p.nearest)
	m := chunks(k, n)
	parallel(m, func(ch int) {
		from, to := chunkRows(k, m, ch)
		type spot struct {
			c, room float64
			j       int
		}
		spots := make([]spot, n)
		for i := from; i < to; i++ {
			row := p.box.compact(p.c.Row(i, nil))
			least, most, _ := extent(row)
			p.max[i], p.rng[i] = most, most-least
			var all float64
			for j, c := range row {
				spots[j] = spot{c, hi[j] - lo[j], j}
				all += hi[j] - lo[j]
			}
			slices.SortFunc(spots, func(a, b spot) int {
				switch {
				case a.c < b.c:
					return -1
				case a.c > b.c:
					return 1
				}
				return a.j - b.j
			})
			for l := range p.nearest {
				p.near[i*p.nearest+l] = int32(spots[l].j)
			}
			out := p.radius[i*(radii+1) : (i+1)*(radii+1)]
			var sum float64
			l := 0
			for _, s := range spots {
				for ; l <= radii && sum >= all*float64(l)/radii; l++ {
					out[l] = s.c
				}
				sum += s.room
			}
			for ; l <= radii; l++ {
				out[l] = most
			}
		}
	})
	top, bottom := slices.Max(p.max), math.Inf(1)
	for _, x := range p.max {
		if x > 0 {
			bottom = min(bottom, x)
		}
	}
	// Rows of costs between 2^-200 and 2^200 and a Reg likewise; others go the general way, and so do boxes with columns that
	// take no part and yet may hold some mass.
	p.ordinary = len(p.box.tiny) == 0 && top < 0x1p200 && bottom > 0x1p-200 && p.reg < 0x1p200 && p.reg > 0x1p-200
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
func (p *Projector) project(ctx context.Context, s *rowSolver, source []float64, support []int, r *Result) error {
	if err := s.read(source, support); err != nil {
		r.empty()
		return err
	}
	if p.shared(&s.in) {
		if s.stack == nil {
			s.stack, s.member = p.newStack(1), new(member)
		}
		return s.stack.alone(ctx, s, source, support, r)
	}
	return p.unshared(ctx, s, source, support, r)
}

// read makes s.in the distribution.
func (s *rowSolver) read(source []float64, support []int) error {
	s.in.rows, s.in.mass = s.in.rows[:0], s.in.mass[:0]
	return s.in.source(source, support)
}

// unshared projects the distribution that s has read without the shared kernel.
func (p *Projector) unshared(ctx context.Context, s *rowSolver, source []float64, support []int, r *Result) error {
	in := &s.in
	if p.settings.Gap > 0 && p.settings.Tolerance == 0 && p.settings.Method == Fast &&
		len(in.rows) <= fewRows && p.ordinary && in.level == 0 && ctx.Err() == nil {
		rng := 0.0
		for _, i := range in.rows {
			rng = max(rng, p.rng[i])
		}
		if p.reg < minRelReg*rng {
			r.empty()
			return fmt.Errorf("%w: Reg = %v is below %v of the range %v of the cost", ErrReg, p.reg, minRelReg, rng)
		}
		if s.solve(ctx, p, r) {
			return r.err(ctx)
		}
	}
	return p.general(ctx, source, support, r)
}

// general projects as Project does.
func (p *Projector) general(ctx context.Context, source []float64, support []int, r *Result) error {
	res, err := Project(ctx, Problem{Cost: p.c, Source: source, Support: support, Lo: p.lo, Hi: p.hi, Reg: p.reg}, p.settings)
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
		LogV: r.LogV[:0], Plan: r.Plan[:0],
	}
}

// All projects n distributions with as many workers as there are processors. It calls get once for
// every index below n, from several goroutines; what get returns must stay as it is until emit has been
// called for this index. It calls emit for every index in ascending order, from the goroutine that
// called All; r belongs to emit only until it returns, and err is what Project says about this distribution
// (a bad one does not stop the others).
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
	var wg, feeders sync.WaitGroup
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
			} else if p.shared(&s.in) {
				m := p.member()
				m.load(inner, p, &s.in)
				m.source, m.support, m.out, m.slot = source, support, &at.r, at
				queue <- m
				continue
			} else {
				at.err = p.unshared(inner, s, source, support, &at.r)
			}
			at.ready <- struct{}{}
		}
	}
	feeders.Add(workers)
	for range workers {
		wg.Go(func() {
			defer feeders.Done()
			work()
		})
	}
	for range stacks {
		wg.Go(func() {
			if first := <-queue; first != nil {
				p.newStack(size).serve(first, queue)
			}
		})
	}
	wg.Go(func() {
		feeders.Wait()
		close(queue)
	})
	defer wg.Wait()
	defer close(stop) // also when emit panics
	defer cancel()
	for i := range n {
		at := &slots[i%len(slots)]
		<-at.ready
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w after %d of %d distributions", ErrNotConverged, context.Cause(ctx), i, n)
		}
		if err := emit(i, &at.r, at.err); err != nil {
			return err
		}
		at.taken <- struct{}{}
	}
	return nil
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
func (p *Projector) take() *rowSolver {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	s := &rowSolver{in: p.box}
	s.lo, s.hi = p.box.compact(p.box.lo), p.box.compact(p.box.hi)
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
func (p *Projector) give(s *rowSolver) {
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// rowSolver works on one distribution with few rows, in the potentials f of the rows.
type rowSolver struct {
	in     instance
	lo, hi []float64 // live columns
	m, n   int
	row    [][]float64 // costs of the rows on live columns
	packed []float64   // for row, when some columns take nothing
	f      []float64
	b      []float64   // min_i (C_ij - f_i)
	own    []int32     // and the rows that it comes from
	e      [][]float64 // exp((f_i + b_j - C_ij) / reg)
	store  []float64
	sum    []float64 // of e over the rows
	w, x   []float64
	zero   []float64 // always
	h      []float64 // Hessian, m x m
	d      []float64
	r      []float64 // row sums
	free   []float64 // and their parts in columns strictly inside their bounds
	order  []int32
	smooth smoothing
	round  rounding
	stack  *stack // with member, for distributions on many rows
	member *member
}

// rowSlack is how much longer than the shortest a path may be, over the gap asked for: more saves no time, but can end too far off.
const rowSlack = 10

// solve finds a plan as good as asked for and fills r, or stops when it has to, with a plan that is not. It reports false, for the general
// method to take over, if it cannot.
func (s *rowSolver) solve(ctx context.Context, p *Projector, r *Result) bool {
	s.load(p)
	size, width := s.start(p)
	limit := p.settings.MaxIterations
	passes := 0
	if s.m > 1 && width > 0 {
		passes = s.anneal(ctx, width, limit)
	}
	paths := 0
	filled := false
	// Paths need not be shortest as long as that costs no more than half the gap. If it did, after all, the plan is made once more, of shortest ones.
	gap := p.settings.Gap * size
	for _, spend := range [...]float64{gap, 0} {
		s.scan()
		t := s.level()
		copy(s.round.f, s.f)
		s.round.reset(s.in.mass, t, s.b, s.own)
		done := s.round.run(ctx, min(100*(s.m+s.n), limit-passes-paths), rowSlack*spend, spend/2)
		paths += s.round.paths
		why := Converged
		if ctx.Err() != nil {
			why = Cancelled
		} else if passes+paths >= limit {
			why = IterationLimit
		}
		if done || why != Converged && !filled { // a plan that is not done has holes, and is better than none
			filled = s.result(p, r, passes, !done)
		}
		if filled {
			r.Iterations = passes + paths
			if r.Status == Converged || done && spend == 0 {
				return true
			}
			if why != Converged {
				r.Status = why
				return true
			}
		}
		copy(s.f, s.round.f[:s.m])
	}
	return false
}

// load reads the rows of the distribution.
func (s *rowSolver) load(p *Projector) {
	in := &s.in
	m, n := len(in.rows), in.live()
	s.m, s.n = m, n
	s.row, s.e = grow(s.row, m), grow(s.e, m)
	s.store = grow(s.store, m*n)
	if in.cols != nil {
		s.packed = grow(s.packed, m*n)
	}
	for a, i := range in.rows {
		s.row[a] = p.c.Data[i*p.c.Kv : (i+1)*p.c.Kv]
		if in.cols != nil {
			dst := s.packed[a*n : (a+1)*n]
			for l, j := range in.cols {
				dst[l] = s.row[a][j]
			}
			s.row[a] = dst
		}
		s.e[a] = s.store[a*n : (a+1)*n : (a+1)*n]
	}
	for _, v := range []*[]float64{&s.f, &s.d, &s.r, &s.free} {
		*v = grow(*v, m)
	}
	sm := &s.smooth
	for _, v := range []*[]float64{&s.b, &s.sum, &s.w, &s.x, &sm.sum} {
		*v = grow(*v, n)
	}
	sm.at, sm.e, sm.x = grow(sm.at, m*n+m), grow(sm.e, m*n+m), grow(sm.x, m*n+m)
	s.own = grow(s.own, n)
	clear(s.own)
	sm.end = grow(sm.end, n)
	if len(s.zero) < n {
		s.zero = make([]float64, n)
	}
	s.h = grow(s.h, m*m)
	s.round.load(m, n, s.row, s.lo, s.hi)
	s.round.near = s.round.near[:0]
	for _, i := range in.rows {
		s.round.near = append(s.round.near, p.near[i*p.nearest:(i+1)*p.nearest])
	}
}

// start sets f to the cost up to which each row alone would fill the room around it, and returns its mean and that of what it is above the
// least cost of the row.
func (s *rowSolver) start(p *Projector) (size, width float64) {
	var low, room, rng float64
	for j, x := range s.lo {
		low += x
		room += s.hi[j] - x
	}
	for a, i := range s.in.rows {
		part := s.in.mass[a] * max(0, 1-low) / room * radii
		l := min(int(part), radii-1)
		t := min(part-float64(l), 1)
		tab := p.radius[i*(radii+1):]
		s.f[a] = tab[l] + t*(tab[l+1]-tab[l])
		size += s.in.mass[a] * s.f[a]
		width += s.in.mass[a] * (s.f[a] - tab[0])
		rng = max(rng, p.rng[i])
	}
	if width > 0 {
		width = max(width, smoothLeast*rng)
	}
	return size, width
}

// cholesky solves h x = d for the lower triangle h, in place. It reports false if h is not positive definite.
func cholesky(h, d []float64) bool {
	m := len(d)
	for i := range m {
		for j := range i + 1 {
			s := h[i*m+j]
			for k, x := range h[i*m : i*m+j] {
				s -= x * h[j*m+k]
			}
			if i == j {
				if !(s > 0) {
					return false
				}
				h[i*m+i] = math.Sqrt(s)
			} else {
				h[i*m+j] = s / h[j*m+j]
			}
		}
	}
	for i := range m {
		s := d[i]
		for k := range i {
			s -= h[i*m+k] * d[k]
		}
		d[i] = s / h[i*m+i]
	}
	for i := m - 1; i >= 0; i-- {
		s := d[i]
		for k := i + 1; k < m; k++ {
			s -= h[k*m+i] * d[k]
		}
		d[i] = s / h[i*m+i]
	}
	return true
}

// level is the threshold for the present b.
func (s *rowSolver) level() float64 {
	s.order = grow(s.order, s.n)
	return threshold(s.b, s.lo, s.hi, s.order)
}

// threshold finds t such that lo where b > t and hi where b < t leave no more than one column in doubt. It uses order, one for every column.
func threshold(b, lo, hi []float64, order []int32) float64 {
	mass := 0.0 // of the settled columns
	for j := range order {
		order[j] = int32(j)
		mass += lo[j]
	}
	need := 1 - mass // to be found in hi - lo of the least b
	open := order
	t := 0.0
	for len(open) > 0 {
		t = median3(b[open[0]], b[open[len(open)/2]], b[open[len(open)-1]])
		// Partition into < t, = t, > t.
		l, z := 0, len(open)
		var less, same float64
		for i := 0; i < z; {
			j := open[i]
			switch x := b[j]; {
			case x < t:
				less += hi[j] - lo[j]
				open[i], open[l] = open[l], j
				l++
				i++
			case x > t:
				z--
				open[i], open[z] = open[z], j
			default:
				same += hi[j] - lo[j]
				i++
			}
		}
		switch {
		case need < less:
			open = open[:l]
		case need <= less+same:
			return t
		default:
			need -= less + same
			open = open[z:]
		}
	}
	return t
}

// result fills r from the plan, whose paths are all made unless it was stopped. It reports false if that is no proof.
func (s *rowSolver) result(p *Projector, r *Result, passes int, stopped bool) bool {
	in, rd, m, n := &s.in, &s.round, s.m, s.n
	logV, q, plan, f, g := grow(r.LogV, in.kv), grow(r.Q, in.kv), r.Plan[:0], grow(r.Potentials.F, in.k), grow(r.Potentials.G, in.kv)

	// The plan, and its largest cost.
	top := 0.0
	for _, i := range in.rows {
		top = max(top, p.max[i])
	}
	repairMass(rd.q, s.lo, s.hi)
	var upper, mass, off num2
	for j := range n {
		s.x[j] = rd.q[j] // less what arrives
	}
	for a := range m {
		holds := rd.holds[a]
		slices.Sort(holds)
		var sum num2
		for _, j := range holds {
			x := rd.held(a, int(j))
			plan = append(plan, Entry{I: in.rows[a], J: in.col(int(j)), Mass: x})
			upper.add(float64(x * s.row[a][j]))
			sum.add(x)
			s.x[j] -= x
		}
		mass.add(sum.value())
		off.add(math.Abs(sum.value() - in.mass[a]))
	}
	for _, x := range s.x {
		off.add(math.Abs(x))
	}
	if !stopped && !(off.value() <= 1e-9) {
		return false // a path was missing
	}
	// Column by column up to m subtractions, an ulp of q_j each; row sums and the total are compensated,
	// and so is the sum of q. With products and normalised masses, that is m + 16 ulps of the whole mass.
	slack := float64(m+16) * 0x1p-52
	up := min((upper.value()+top*(off.value()+math.Abs(1-mass.value())+slack))*(1+0x1p-50), top)

	copy(s.f, rd.f[:m])
	low := s.dual(-rd.f[m])

	// The plan of LogV = b / Reg, for the record.
	reg := p.reg
	clear(s.sum)
	var transport, logs float64
	for i, row := range s.row {
		e := s.e[i][:n]
		expRow(e, row, s.b, s.f[i], expScale/reg)
		var z float64
		for _, x := range e {
			z += x
		}
		if !(z > 0) {
			return false // a mass so small that no column is held for it
		}
		mu := in.mass[i]
		scale := mu / z
		transport += scale * ge.Ddot(n, e, 1, row, 1)
		ge.Daxpy(n, scale, e, 1, s.sum, 1)
		logs += mu * (math.Log(mu) - math.Log(z)) // a tiny mu over z may be 0
	}
	var priced, residual float64
	for j, c := range s.sum {
		priced += c * s.b[j]
		residual += math.Abs(rd.q[j] - c)
	}
	rows := num.Dot(in.mass, s.f)

	for j := range q {
		q[j], logV[j], g[j] = 0, math.Inf(-1), math.Inf(1)
	}
	for l := range n {
		j := in.col(l)
		q[j], logV[j], g[j] = rd.q[l], s.b[l]/reg, s.b[l]
	}
	if in.cols != nil {
		s.spread(p, g)
	}
	s.potentials(p, f, g)
	*r = Result{
		Q: q, Potentials: Potentials{F: f, G: g}, LogV: logV, Reg: reg, Plan: plan,
		Transport: transport, Objective: reg*logs + rows + priced,
		Lower: low, Upper: max(up, low), Posterior: max(0, transport-rows-priced),
		Prior: reg * lambertW0(float64(n-1)/math.E), Residual: residual,
		Iterations: passes + rd.paths, Stats: Stats{Passes: passes, Newton: passes}, Settings: p.settings,
	}
	if margin := top * (slack + float64(m+n)*roundNoise); !p.settings.met(r.Gap(), r.Upper, margin, top) {
		r.Status = Stalled
	}
	return true
}

// spread sets g to b, and to the largest potential that will do in columns that take no part.
func (s *rowSolver) spread(p *Projector, g []float64) {
	in := &s.in
	l := 0
	for j := range g {
		if l < s.n && in.cols[l] == j {
			g[j] = s.b[l]
			l++
			continue
		}
		g[j] = math.Inf(1)
		for a, i := range in.rows {
			g[j] = min(g[j], p.c.Data[i*in.kv+j]-s.f[a])
		}
		g[j] = math.Nextafter(g[j], math.Inf(-1))
	}
}

// potentials fills in those of all rows.
func (s *rowSolver) potentials(p *Projector, f, g []float64) {
	in := &s.in
	least := math.Inf(1)
	if p.settings.SupportOnly {
		least = -max(0, slices.Max(g))
	}
	a := 0
	for i := range f {
		switch {
		case a < len(in.rows) && in.rows[a] == i:
			f[i] = s.f[a]
			a++
		case p.settings.SupportOnly:
			f[i] = least
		default:
			f[i] = math.Nextafter(minDiff(p.c.Data[i*in.kv:(i+1)*in.kv], g), math.Inf(-1))
		}
	}
}
