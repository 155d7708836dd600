package grid

import (
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
)

// level is a projection on a grid of rows x cols equal cells of the unit square at squared
// distance, the problem itself or a coarser image of it.
type level struct {
	rows, cols   int
	mu, lo, hi   []float64
	logMu        []float64
	logLo, logHi []float64
}

func newLevel(rows, cols int, mu, lo, hi []float64) *level {
	l := &level{rows: rows, cols: cols, mu: mu, lo: lo, hi: hi}
	l.logMu, l.logLo, l.logHi = logs(mu), logs(lo), logs(hi)
	return l
}

func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}

// spacing returns the distances between neighbouring columns and rows.
func (l *level) spacing() (dx, dy float64) { return 1 / float64(l.cols), 1 / float64(l.rows) }

// finest returns the least spacing along an axis of more than one cell.
func (l *level) finest() float64 {
	dx, dy := l.spacing()
	switch {
	case l.cols == 1:
		return dy
	case l.rows == 1:
		return dx
	}
	return min(dx, dy)
}

// leastSide is the least number of cells that an axis is halved from.
const leastSide = 16

// coarser returns the level with the cells of the finer axis, or of both, joined in pairs, or nil if there
// is nothing left to join.
func (l *level) coarser() *level {
	dx, dy := l.spacing()
	byX := l.cols >= leastSide && (dx < 1.5*dy || l.rows < leastSide)
	byY := l.rows >= leastSide && (dy < 1.5*dx || l.cols < leastSide)
	if !byX && !byY {
		return nil
	}
	rows, cols := l.rows, l.cols
	if byX {
		cols = (cols + 1) / 2
	}
	if byY {
		rows = (rows + 1) / 2
	}
	n := rows * cols
	mu, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
	for r := range l.rows {
		for c := range l.cols {
			i, j := r*l.cols+c, joined(r, byY)*cols+joined(c, byX)
			mu[j] += l.mu[i]
			lo[j] += l.lo[i]
			hi[j] += l.hi[i]
		}
	}
	return newLevel(rows, cols, mu, lo, hi)
}

func joined(i int, halve bool) int {
	if halve {
		return i / 2
	}
	return i
}

// refine interpolates prices from a coarser level. Cells are matched by position.
func (l *level) refine(from *level, g []float64) []float64 {
	ci, ct := nodes(l.cols, from.cols)
	ri, rt := nodes(l.rows, from.rows)
	out := make([]float64, l.rows*l.cols)
	for r := range l.rows {
		top := g[ri[r]*from.cols:]
		low := g[min(ri[r]+1, from.rows-1)*from.cols:]
		for c := range l.cols {
			a, b := ci[c], min(ci[c]+1, from.cols-1)
			s, t := ct[c], rt[r]
			x, y := lerp(top[a], top[b], s), lerp(low[a], low[b], s)
			out[r*l.cols+c] = lerp(x, y, t)
		}
	}
	return out
}

// lerp interpolates where both ends are finite, and takes the finite one otherwise.
func lerp(x, y, t float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return y
	case math.IsInf(y, -1):
		return x
	}
	return x + t*(y-x)
}

// nodes places n fine cells among m coarse ones: the left neighbour and the way from it to the next.
func nodes(n, m int) (at []int, t []float64) {
	at, t = make([]int, n), make([]float64, n)
	for i := range at {
		x := (float64(i)+0.5)*float64(m)/float64(n) - 0.5
		a := min(max(int(math.Floor(x)), 0), max(m-2, 0))
		at[i] = a
		t[i] = min(max(x-float64(a), -0.5), 1.5)
	}
	return at, t
}

// kernel applies exp(-C/Reg) on a level, axis by axis, in the log domain.
type kernel struct {
	l       *level
	reg     float64
	x, y    *lineTable
	one     []float64
	scratch []lineScratch
}

func newKernel(l *level) *kernel {
	n := l.rows * l.cols
	return &kernel{
		l: l, one: make([]float64, n),
		scratch: make([]lineScratch, min(runtime.GOMAXPROCS(0), max(l.rows, l.cols))),
	}
}

// setReg prepares the tables for another Reg.
func (k *kernel) setReg(reg float64) {
	if k.reg == reg {
		return
	}
	dx, dy := k.l.spacing()
	k.reg = reg
	k.x, k.y = newLineTable(k.l.cols, dx*dx/reg), newLineTable(k.l.rows, dy*dy/reg)
}

// lines runs f on n lines. Each line is independent of the others, so that any number of workers
// gives the same bits.
func (k *kernel) lines(n int, f func(line int, s *lineScratch)) {
	workers := min(len(k.scratch), n)
	_ = parallel.For(context.Background(), workers, func(w int) {
		for i := w; i < n; i += workers { // neighbours cost the same
			f(i, &k.scratch[w])
		}
	})
}

// transpose sets dst (cols x rows) to src (rows x cols) transposed.
func (k *kernel) transpose(dst, src []float64, rows, cols int) {
	const tile = 16
	k.lines((rows+tile-1)/tile, func(t int, _ *lineScratch) {
		for c0 := 0; c0 < cols; c0 += tile {
			for r := t * tile; r < min((t+1)*tile, rows); r++ {
				for c := c0; c < min(c0+tile, cols); c++ {
					dst[c*rows+r] = src[r*cols+c]
				}
			}
		}
	})
}

// columns runs f on the columns of src, and makes columns of dst of what it puts out.
func (k *kernel) columns(dst, src []float64, f func(out, in []float64, s *lineScratch)) {
	const tile = 8 // columns that share the lines of a cache
	rows, cols := k.l.rows, k.l.cols
	k.lines((cols+tile-1)/tile, func(t int, s *lineScratch) {
		c0, n := t*tile, min(tile, cols-t*tile)
		s.in, s.out = slices.Grow(s.in[:0], n*rows)[:n*rows], slices.Grow(s.out[:0], n*rows)[:n*rows]
		for r := range rows {
			for c, x := range src[r*cols+c0:][:n] {
				s.in[c*rows+r] = x
			}
		}
		for c := range n {
			f(s.out[c*rows:(c+1)*rows], s.in[c*rows:(c+1)*rows], s)
		}
		for r := range rows {
			line := dst[r*cols+c0:][:n]
			for c := range line {
				line[c] = s.out[c*rows+r]
			}
		}
	})
}

// sum sets out_i = log sum_j exp(w_j - C_ij/Reg).
func (k *kernel) sum(out, w []float64) {
	cols := k.l.cols
	k.lines(k.l.rows, func(r int, s *lineScratch) {
		k.x.sum(k.one[r*cols:(r+1)*cols], w[r*cols:(r+1)*cols], s)
	})
	k.columns(out, k.one, k.y.sum)
}

// cellMeans are, for every cell, the log of its total weight and means over the weights: the way
// from the cell to the source, in x and y, and the squared distance.
type cellMeans struct{ log, x, y, square []float64 }

// moments computes them for the weights exp(w_j - C_ij/Reg).
func (k *kernel) moments(w []float64) cellMeans {
	rows, cols := k.l.rows, k.l.cols
	n := rows * cols
	dx, dy := k.l.spacing()
	fresh := func() []float64 { return make([]float64, n) }
	a := moments{log: fresh(), here: fresh(), across: fresh(), square: fresh()}
	part := func(m moments, from, to int) moments {
		p := moments{log: m.log[from:to], here: m.here[from:to]}
		if m.across != nil {
			p.across = m.across[from:to]
		}
		if m.square != nil {
			p.square = m.square[from:to]
		}
		return p
	}
	k.lines(rows, func(r int, s *lineScratch) {
		from, to := r*cols, (r+1)*cols
		k.x.means(part(a, from, to), moments{log: w[from:to]}, dx*dx, s)
	})
	b := moments{log: fresh(), here: fresh(), across: fresh(), square: fresh()}
	k.transpose(b.log, a.log, rows, cols)
	k.transpose(b.across, a.here, rows, cols)
	k.transpose(b.square, a.square, rows, cols)
	k.lines(cols, func(c int, s *lineScratch) {
		from, to := c*rows, (c+1)*rows
		k.y.means(part(a, from, to), part(b, from, to), dy*dy, s)
	})
	k.transpose(b.log, a.log, cols, rows)
	k.transpose(b.here, a.here, cols, rows)
	k.transpose(b.across, a.across, cols, rows)
	k.transpose(b.square, a.square, cols, rows)
	for i := range n {
		b.across[i] *= dx
		b.here[i] *= dy
	}
	return cellMeans{log: b.log, x: b.across, y: b.here, square: b.square}
}
