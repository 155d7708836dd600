package sinkhorn

import (
	"context"
	"sync"

	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// common is what distributions on many rows share at one Reg: the kernel with the row minima absorbed, exponentiated
// once, its row sums, and what the certificate of a first iterate needs. For a start at the final Reg, which is what
// most of them come to (see probe), each then costs its own products alone (batch_stack.go).
type common struct {
	mu     sync.Mutex
	tried  bool
	k      *kernel
	a      []float64 // its row sums
	w      *sweep
	rows   []int     // all of them
	rng    []float64 // range of each
	lo, hi []float64 // bounds of the live columns
}

// commonCells is the number of cells up to which a kernel is kept: half a gigabyte.
const commonCells = 1 << 26

// prepare does what is done once, and reports whether there is a kernel to share. If the context ends on the way, the
// next distribution begins again.
func (s *common) prepare(ctx context.Context, p *Projector) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tried {
		s.tried = s.make(ctx, p)
	}
	return s.k != nil
}

// make makes the kernel, if there is one to share. It reports false if the context has ended.
func (s *common) make(ctx context.Context, p *Projector) bool {
	in := p.box
	in.matrix = p.c
	in.rows = make([]int, in.k)
	in.mass = make([]float64, in.k)
	for i := range in.rows {
		in.rows[i], in.mass[i] = i, 1
	}
	c, err := load(ctx, &in)
	if err != nil { // of a row that a distribution may not use: each is on its own
		return ctx.Err() == nil
	}
	if c.cut() || c.base != nil || c.exp != 0 || !probes(c.k, c.reg, c.rng) {
		return !c.cut()
	}
	k := &kernel{c: c, ch: loops.Chunks(c.k, c.n), m: lease(c.k * c.n), f: c.min, g: make([]float64, c.n)}
	k.part = make([]float64, k.ch*c.n)
	s.a = make([]float64, c.k)
	s.w = k.open(c.reg, in.mass, s.a, make([]float64, c.k), make([]float64, c.n))
	k.part = nil
	if c.cut() {
		return false
	}
	c.ctx = nil // it outlives the call
	s.rng = make([]float64, c.k)
	for i, row := range c.row {
		_, high, _ := loops.Extent(row)
		s.rng[i] = high - c.min[i]
	}
	s.rows, s.k = in.rows, k
	s.lo, s.hi = in.compact(in.lo), in.compact(in.hi)
	return true
}

// shared reports whether a distribution is one for the shared kernel: it is on at least half of the rows, and Project
// would start at the final Reg. Rows without mass are then in it, with none.
func (p *Projector) shared(ctx context.Context, in *instance) bool {
	if len(in.faint) > 0 || len(in.rows) <= fewRows || 2*len(in.rows) < p.c.K || p.settings.Method != Fast ||
		!p.ordinary ||
		len(p.c.Data) > commonCells || in.separable(p.settings) != nil || !p.common.prepare(ctx, p) {
		return false
	}
	rng := 0.0
	for _, i := range in.rows {
		rng = max(rng, p.common.rng[i])
	}
	return probes(len(in.rows), p.reg, rng)
}
