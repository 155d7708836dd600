package sinkhorn

import (
	"math"
	"sync"
)

// kernel is the Gibbs kernel with absorbed potentials,
//
//	M_ij = exp((f_i + g_j - C_ij) / reg),
//
// so that the plan is P_ij = u_i M_ij v_j with u and v near the masses and near 1.
type kernel struct {
	c    *costs
	reg  float64
	f, g []float64 // in units of (scaled) cost
	m    []float64 // k x n, row-major
	ch   int       // number of chunks
	part []float64 // ch x n: partial column sums
	// sparse, if not nil, holds the entries that count; spare is the last one, for its memory.
	sparse, spare *sparseKernel
}

func newKernel(c *costs) *kernel {
	k := &kernel{c: c, ch: chunks(c.k, c.n)}
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
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && k.c.ended() {
				return
			}
			expRow(k.m[i*n:(i+1)*n], k.c.row[i], k.g, k.f[i], expScale/reg)
		}
	})
}

// sweep holds what the certificate of the first iterate needs.
type sweep struct {
	low     []float64 // ch x n: least C_ij - f_i of the rows of a chunk
	carried []float64 // sum_j M_ij C_ij
}

// open is build and normalise for v = 1 in one pass over the cost. While a row is in cache, it also computes what a
// certificate needs if this iterate is the last, which is much less work now than later.
func (k *kernel) open(reg float64, mu, v, a, u, s []float64) *sweep {
	k.reg = reg
	n := k.c.n
	w := &sweep{low: make([]float64, k.ch*n), carried: make([]float64, k.c.k)}
	for j := range w.low {
		w.low[j] = math.Inf(1)
	}
	block := max(1, blockCells/n)
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		low := w.low[ch*n : (ch+1)*n]
		part := k.partial(ch, s)
		clear(part)
		for i := from; i < to; i += block {
			if k.c.ended() {
				return
			}
			b := min(block, to-i)
			for r := i; r < i+b; r++ {
				row := k.m[r*n : (r+1)*n]
				a[r], w.carried[r] = expOpen(row, k.c.row[r], low, k.f[r], expScale/reg)
			}
			m := k.m[i*n : (i+b)*n]
			for r := i; r < i+b; r++ {
				u[r] = mu[r] / a[r]
			}
			addColumns(m, n, u[i:i+b], part)
		}
	})
	k.join(s)
	return w
}

// blockCells is how many cells of a matrix stay in the second-level cache between two products: 256 KB. Smaller
// blocks cost calls, larger ones leave the cache.
const blockCells = 1 << 15

// normalise does the two products of an iteration of Algorithm 1 in one pass over the kernel, a
// block of rows at a time while it is in cache:
//
//	a = M v,  u = mu / a,  s = M' u.
func (k *kernel) normalise(mu, v, a, u, s []float64) {
	n := k.c.n
	block := max(1, blockCells/n)
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		part := k.partial(ch, s)
		clear(part)
		for i := from; i < to; i += block {
			if k.c.ended() {
				return
			}
			b := min(block, to-i)
			m := k.m[i*n : (i+b)*n]
			timesRows(m, n, v, a[i:i+b])
			for r := i; r < i+b; r++ {
				u[r] = mu[r] / a[r]
			}
			addColumns(m, n, u[i:i+b], part)
		}
	})
	k.join(s)
}

// partial returns where chunk ch sums its columns: s itself if there is one chunk.
func (k *kernel) partial(ch int, s []float64) []float64 {
	if k.ch == 1 {
		return s
	}
	return k.part[ch*k.c.n : (ch+1)*k.c.n]
}

// joinColumns is how many columns make a unit of work when partial sums are added.
const joinColumns = 512

// join adds the partial sums in order.
func (k *kernel) join(s []float64) {
	if k.ch == 1 {
		return
	}
	n := k.c.n
	k.c.loop((n+joinColumns-1)/joinColumns, func(c int) {
		from, to := c*joinColumns, min(n, (c+1)*joinColumns)
		s := s[from:to]
		copy(s, k.part[from:to])
		for ch := 1; ch < k.ch; ch++ {
			ge.Daxpy(to-from, 1, k.part[ch*n+from:ch*n+to], 1, s, 1)
		}
	})
}

// rowMinima sets f_i = min_j (C_ij - g_j) and returns true if it is finite throughout.
func (c *costs) rowMinima(g, f []float64) bool {
	m := chunks(c.k, c.n)
	c.loop(m, func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && c.ended() {
				return
			}
			f[i] = minDiff(c.row[i], g)
		}
	})
	for _, x := range f {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return false
		}
	}
	return true
}

// columnMinima sets b_j = min_i (C_ij - f_i).
func (c *costs) columnMinima(f, b []float64) {
	m := chunks(c.k, c.n)
	part := make([]float64, m*c.n)
	for j := range part {
		part[j] = math.Inf(1)
	}
	c.loop(m, func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && c.ended() {
				return
			}
			minInto(part[ch*c.n:(ch+1)*c.n], c.row[i], f[i])
		}
	})
	copy(b, part[:c.n])
	for ch := 1; ch < m; ch++ {
		for j, x := range part[ch*c.n : (ch+1)*c.n] {
			b[j] = math.Min(b[j], x)
		}
	}
}
