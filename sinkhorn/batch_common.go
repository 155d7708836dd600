package sinkhorn

import (
	"context"
	"sync"
)

// common is what distributions on many rows share at one Reg: the kernel with the row minima absorbed, exponentiated once, its row sums, and
// what the certificate of a first iterate needs. For a start at the final Reg, which is what most of them come to (see
// probe), each then costs its own products alone. The numbers are those that Project computes for itself.
//
// Passes for several distributions at once, a block of the kernel at a time, would save reading it from memory, which is 0.2 of 0.5 ns a
// cell at 4000 x 4000 and nothing up to 1000 x 1000, where it stays in cache; a matrix product of gonum is slower than both.
type common struct {
	once sync.Once
	c    *costs
	m, a []float64 // kernel and row sums
	w    *sweep
	rows []int // all
}

// commonCells is the number of cells up to which a kernel is kept: half a gigabyte.
const commonCells = 1 << 26

// prepare does what is done once, and reports whether there is a kernel to share.
func (s *common) prepare(p *Projector) bool {
	s.once.Do(func() {
		in := p.box
		in.rows = make([]int, in.k)
		in.mass = make([]float64, in.k)
		for i := range in.rows {
			in.rows[i], in.mass[i] = i, 1
		}
		c, err := load(&in)
		if err != nil || c.base != nil || c.exp != 0 || c.reg*probeRange < c.rng || c.k < probeRows && c.reg*annealStart >= c.rng {
			return
		}
		k := &kernel{c: c, ch: chunks(c.k, c.n), m: make([]float64, c.k*c.n), part: make([]float64, chunks(c.k, c.n)*c.n), f: c.min, g: make([]float64, c.n)}
		v := make([]float64, c.n)
		for j := range v {
			v[j] = 1
		}
		s.a = make([]float64, c.k)
		s.w = k.open(c.reg, in.mass, v, s.a, make([]float64, c.k), make([]float64, c.n))
		s.c, s.m, s.rows = c, k.m, in.rows
	})
	return s.c != nil
}

// open is that of the kernel k, which is the shared one.
func (s *common) open(k *kernel, mu, a, u, out []float64) *sweep {
	n := k.c.n
	k.reg = k.c.reg
	copy(a, s.a)
	block := max(1, blockCells/n)
	parallel(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		part := k.partial(ch, out)
		clear(part)
		for i := from; i < to; i += block {
			b := min(block, to-i)
			for r := i; r < i+b; r++ {
				u[r] = mu[r] / a[r]
			}
			addColumns(k.m[i*n:(i+b)*n], n, u[i:i+b], part)
		}
	})
	k.join(out)
	return s.w
}

// shared projects a distribution on at least half of the rows with the shared kernel. Rows without mass are in it, with none. It reports
// false if that is not the way.
func (p *Projector) shared(ctx context.Context, in *instance, r *Result) bool {
	if p.settings.Method != Fast || !p.ordinary || 2*len(in.rows) < p.c.K || len(p.c.Data) > commonCells || !p.common.prepare(p) {
		return false
	}
	c := p.common.c
	all := *in
	if len(in.rows) < c.k {
		all.rows, all.mass = p.common.rows, make([]float64, c.k)
		for a, i := range in.rows {
			all.mass[i] = in.mass[a]
		}
	}
	k := &kernel{c: c, ch: chunks(c.k, c.n), m: p.common.m, f: make([]float64, c.k), g: make([]float64, c.n)}
	k.part = make([]float64, k.ch*c.n)
	s := newFast(ctx, &all, c, p.settings, k)
	s.common = &p.common
	if !s.probe() {
		return false
	}
	res, b, it := s.finish()
	if all.complete(c, res, b, it) != nil {
		return false
	}
	*r = *res
	return true
}
