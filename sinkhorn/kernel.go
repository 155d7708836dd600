package sinkhorn

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// ge has the products of gonum that are not over rows.
var ge gonum.Implementation

// kernel is the Gibbs kernel with absorbed potentials,
//
//	M_ij = exp((f_i + g_j - C_ij) / reg),
//
// so that the plan is P_ij = u_i M_ij v_j with u and v near the masses and near 1.
type kernel struct {
	c    *core
	reg  float64
	f, g []float64 // in units of (scaled) cost
	m    []float64 // k x n, row-major
	ch   int       // number of chunks
	part []float64 // ch x n: partial column sums
	kept sparse    // the entries that count, where few do
}

func newKernel(c *core) *kernel {
	k := &kernel{c: c, ch: loops.Chunks(c.k, c.n)}
	k.m = lease(c.k * c.n)
	k.part = make([]float64, k.ch*c.n)
	k.f, k.g = make([]float64, c.k), make([]float64, c.n)
	return k
}

func (k *kernel) free() { release(k.m) }

// leased keeps large matrices between calls: fresh memory costs more than the kernel that goes into it.
var leased sync.Pool

// lease returns n numbers of any content.
func lease(n int) []float64 {
	if p, ok := leased.Get().(*[]float64); ok && cap(*p) >= n && cap(*p)/2 <= n {
		return (*p)[:n]
	}
	x := make([]float64, n)
	return x
}

// release gives back what lease returned. Small ones are left to the collector.
func release(x []float64) {
	if cap(x) >= 1<<12 {
		x = x[:0]
		leased.Put(&x)
	}
}

// build exponentiates for k.reg, k.f and k.g. All exponents must be at most 700.
func (k *kernel) build(reg float64) {
	k.reg = reg
	n := k.c.n
	k.c.rows(func(_, i int) {
		loops.Exp(k.m[i*n:(i+1)*n], k.c.row[i], k.g, k.f[i], loops.ExpScale/reg)
	})
}

// blockCells is how many cells of a matrix stay in the second-level cache between two products: 256 KB. Smaller
// blocks cost calls, larger ones leave the cache.
const blockCells = 1 << 15

// blocks sets s to the sum of what f adds to part for all blocks of rows. A block stays in cache for what f does to it.
func (k *kernel) blocks(s []float64, f func(from, to, chunk int, part []float64)) {
	block := max(1, blockCells/k.c.n)
	k.c.loop(k.ch, func(ch int) {
		from, to := loops.ChunkRows(k.c.k, k.ch, ch)
		part := k.part[ch*k.c.n : (ch+1)*k.c.n]
		clear(part)
		for i := from; i < to; i += block {
			if k.c.ended() {
				return
			}
			f(i, min(i+block, to), ch, part)
		}
	})
	k.join(s)
}

// times sets a = M v for rows from to to, with the entries in w alone if it is not nil.
func (k *kernel) times(w *sparse, from, to int, v, a []float64) {
	if w == nil {
		loops.Times(k.m[from*k.c.n:to*k.c.n], k.c.n, v, a[from:to])
		return
	}
	for i := from; i < to; i++ {
		idx, val := w.row(i)
		a[i] = loops.DotSparse(idx, val, v)
	}
}

// add adds M' u to s for the same rows.
func (k *kernel) add(w *sparse, from, to int, u, s []float64) {
	if w == nil {
		loops.AddColumns(k.m[from*k.c.n:to*k.c.n], k.c.n, u[from:to], s)
		return
	}
	for i := from; i < to; i++ {
		idx, val := w.row(i)
		loops.AddSparse(idx, val, u[i], s)
	}
}

// few returns the entries that serve passes, or nil for all.
func (k *kernel) few() *sparse {
	if k.kept.passes {
		return &k.kept
	}
	return nil
}

// whole makes passes use all entries again.
func (k *kernel) whole() { k.kept.passes = false }

// normalise does the two products of an iteration of Algorithm 1 in one pass over the kernel, or the entries w of it:
//
//	a = M v,  u = mu / a,  s = M' u.
func (k *kernel) normalise(w *sparse, mu, v, a, u, s []float64) {
	k.blocks(s, func(from, to, _ int, part []float64) {
		k.times(w, from, to, v, a)
		for i := from; i < to; i++ {
			u[i] = mu[i] / a[i]
		}
		k.add(w, from, to, u, part)
	})
}

// curvature sets out = M' diag(row) M x, of the kernel or the entries w of it. y is scratch space.
func (k *kernel) curvature(w *sparse, x, y, row, out []float64) {
	k.blocks(out, func(from, to, _ int, part []float64) {
		k.times(w, from, to, x, y)
		for i := from; i < to; i++ {
			y[i] *= row[i]
		}
		k.add(w, from, to, y, part)
	})
}

// squares sets out_j = sum_i row_i M_ij^2, of the kernel or the entries w of it.
func (k *kernel) squares(w *sparse, row, out []float64) {
	n := k.c.n
	k.blocks(out, func(from, to, _ int, part []float64) {
		for i := from; i < to; i++ {
			if w == nil {
				part, y := part[:n], row[i]
				for j, x := range k.m[i*n : (i+1)*n][:n] {
					part[j] += float64(y * float64(x*x))
				}
				continue
			}
			idx, val := w.row(i)
			for l, j := range idx {
				part[j] += float64(row[i] * float64(val[l]*val[l]))
			}
		}
	})
}

// sweep holds what the certificate of the first iterate needs.
type sweep struct {
	low     []float64 // ch x n: least C_ij - f_i of the rows of a chunk
	carried []float64 // sum_j M_ij C_ij
	sums    []float64 // sum_j M_ij
}

// open is build and normalise for v = 1 in one pass over the cost. While a row is in cache, it also computes what a
// certificate needs if this iterate is the last, which is much less work now than later.
func (k *kernel) open(reg float64, mu, a, u, s []float64) *sweep {
	k.reg = reg
	n := k.c.n
	w := &sweep{low: slices.Repeat([]float64{math.Inf(1)}, k.ch*n), carried: make([]float64, k.c.k), sums: make([]float64, k.c.k)}
	k.blocks(s, func(from, to, ch int, part []float64) {
		low := w.low[ch*n : (ch+1)*n]
		for i := from; i < to; i++ {
			w.sums[i], w.carried[i] = loops.ExpOpen(k.m[i*n:(i+1)*n], k.c.row[i], low, k.f[i], loops.ExpScale/reg)
		}
		w.normalise(k, from, to, mu, a, u, part)
	})
	return w
}

// reopen is open for a kernel that is there.
func (k *kernel) reopen(w *sweep, mu, a, u, s []float64) {
	k.blocks(s, func(from, to, _ int, part []float64) { w.normalise(k, from, to, mu, a, u, part) })
}

// normalise is that of kernel at v = 1.
func (w *sweep) normalise(k *kernel, from, to int, mu, a, u, part []float64) {
	for i := from; i < to; i++ {
		a[i] = w.sums[i]
		u[i] = mu[i] / a[i]
	}
	k.add(nil, from, to, u, part)
}

// join adds the partial sums in order.
func (k *kernel) join(s []float64) {
	n := len(s)
	copy(s, k.part)
	for ch := 1; ch < k.ch; ch++ {
		ge.Daxpy(n, 1, k.part[ch*n:(ch+1)*n], 1, s, 1)
	}
}

// rows calls f for every row.
func (c *core) rows(f func(ch, i int)) { c.watch.rows(c.k, c.n, f) }

// rowMinima sets f_i = min_j (C_ij - g_j).
func (c *core) rowMinima(g, f []float64) {
	c.rows(func(_, i int) { f[i] = loops.MinDiff(c.row[i], g) })
}
