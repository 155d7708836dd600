package sinkhorn

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/wpmerr"
)

// Projector projects one distribution after the other with the same cost, box and Reg. What depends on these alone is
// done once: the cost is read, checked and kept, and so is the kernel at Reg where distributions share it.
//
// A result is that of the function Project for the same problem and settings, bit for bit, with one exception:
// distributions that share a kernel. These have more than 64 points, and at least half of the rows, and are solved by a
// start at Reg itself. Rows without mass then take part, with none, so that sums are added in another order, and numbers
// differ by rounding. If the rounding decides for one iteration more or less, numbers differ within the goal.
//
// A result depends on nothing but the distribution. All methods may be called from several goroutines at once.
type Projector struct {
	problem  Problem  // without a source
	box      instance // of the problem
	c        *cost.Dense
	settings Settings
	ordinary bool // the costs need no scaling, and no column may hold less than counts

	mu     sync.Mutex
	tried  bool
	shared *sharedKernel // nil if there is none
}

// sharedKernel is what distributions on many rows share: the kernel at Reg with the row minima absorbed, on all rows.
// Each then costs its own products alone.
type sharedKernel struct {
	k    *kernel
	open *sweep
	rows []int
	rng  []float64 // range of each
}

// sharedCells is the number of cells up to which a kernel is kept: half a gigabyte.
const sharedCells = 1 << 26

// NewProjector checks the cost, the bounds, Reg and the settings, as Project does. It copies the bounds, and the cost
// unless it is a *cost.Dense, which must not change. Settings.Initial and History are for a single distribution, and
// give ErrSettings here. If ctx ends while the cost is read, the error is ErrNotConverged.
func NewProjector(ctx context.Context, c cost.Matrix, lo, hi []float64, reg float64, s Settings) (*Projector, error) {
	p := &Projector{box: instance{matrix: c, reg: reg}}
	if err := p.box.SetCost(c); err != nil {
		return nil, err
	}
	lo, hi = slices.Clone(lo), slices.Clone(hi)
	if err := p.box.Box.Set(p.box.Kv, lo, hi); err != nil {
		return nil, err
	}
	p.box.chooseColumns()
	if err := checkReg("Reg", reg); err != nil {
		return nil, err
	}
	if s.Initial != nil || s.History {
		return nil, fmt.Errorf("%w: Initial and History are not for a Projector", wpmerr.ErrSettings)
	}
	var err error
	if p.settings, err = s.resolve(&p.box); err != nil {
		return nil, err
	}
	if p.c, err = cost.Materialize(ctx, c); err != nil {
		return nil, err
	}
	if cost.Separable(c) == nil { // a grid has ways of its own, by its type
		c, p.box.matrix = p.c, p.c
	}
	p.problem.Cost, p.problem.Lo, p.problem.Hi, p.problem.Reg = c, lo, hi, reg
	p.ordinary = reg < 0x1p200 && reg > 0x1p-200 && len(p.box.tiny) == 0
	return p, nil
}

// Project projects one distribution, given as in Problem, and fills r. Bad input gives one of the errors of package wpmerr
// and an empty r. ErrNotConverged comes with a feasible result whose bounds hold. To verify the result, pass Verify a
// Problem of this distribution with the cost, the bounds and Reg.
func (p *Projector) Project(ctx context.Context, source []float64, support []int, r *Result) (err error) {
	if r == nil {
		return fmt.Errorf("%w: no Result to fill", wpmerr.ErrShape)
	}
	ctx = wpmerr.Context(ctx)
	*r = Result{}
	in := p.box
	if err := in.Source.Set(in.K, source, support); err != nil {
		return err
	}
	in.weigh()
	if s := p.start(ctx, &in); s != nil && s.probe() {
		found, b := s.finish()
		*r, err = in.finish(ctx, s.c, found, b)
		return err
	}
	problem := p.problem
	problem.Source, problem.Support = source, support
	*r, err = Project(ctx, problem, p.settings)
	return err
}

// start returns a workspace of method Fast on the shared kernel, and spreads the masses of the instance over all rows. It
// returns nil if the distribution is not one for it: one on at least half of the rows, for which Project would start at
// Reg itself.
func (p *Projector) start(ctx context.Context, in *instance) *fast {
	if len(in.Rows) <= fewRows || 2*len(in.Rows) < p.c.K || p.settings.Method != Fast ||
		!p.ordinary || len(p.c.Data) > sharedCells || in.separable(p.settings) != nil {
		return nil
	}
	shared := p.kernel(ctx)
	if shared == nil {
		return nil
	}
	rng := 0.0
	for _, i := range in.Rows {
		rng = max(rng, shared.rng[i])
	}
	if !probes(len(in.Rows), in.reg, rng) {
		return nil
	}
	mass := make([]float64, p.c.K)
	for a, i := range in.Rows {
		mass[i] = in.mass[a]
	}
	in.matrix, in.Rows, in.mass = p.c, shared.rows, mass
	c := *shared.k.c
	c.watch, c.mass = newWatch(ctx), mass
	c.patient(c.k * c.n)
	k := *shared.k
	k.c, k.part, k.f, k.g = &c, make([]float64, k.ch*c.n), make([]float64, len(k.f)), make([]float64, c.n)
	s := newFast(&c, p.settings, &k)
	s.opened = shared.open
	return s
}

// kernel returns the shared kernel, made by the first call, or nil if there is none to share. If the context ends on the
// way, the next call begins again.
func (p *Projector) kernel(ctx context.Context) *sharedKernel {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tried {
		p.shared, p.tried = p.share(ctx)
	}
	return p.shared
}

// share makes the shared kernel, if there is one. It reports false if the context has ended.
func (p *Projector) share(ctx context.Context) (*sharedKernel, bool) {
	in := p.box
	in.matrix = p.c
	in.Rows, in.mass = make([]int, in.K), slices.Repeat([]float64{1}, in.K)
	for i := range in.Rows {
		in.Rows[i] = i
	}
	c, err := load(ctx, &in)
	if err != nil { // of a row that a distribution may not use: each is on its own
		return nil, ctx.Err() == nil
	}
	if c.cut() || c.base != nil || c.exp != 0 || !probes(c.k, c.reg, c.rng) {
		return nil, !c.cut()
	}
	k := newKernel(c)
	copy(k.f, c.min)
	shared := &sharedKernel{k: k, rows: in.Rows, rng: make([]float64, c.k)}
	shared.open = k.open(c.reg, in.mass, make([]float64, c.k), make([]float64, c.k), make([]float64, c.n))
	for i, row := range c.row {
		_, high, _ := loops.Extent(row)
		shared.rng[i] = high - c.min[i]
	}
	if c.cut() {
		return nil, false
	}
	k.part, c.watch = nil, nil // it outlives the call
	return shared, true
}
