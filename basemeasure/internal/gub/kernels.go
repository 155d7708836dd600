package gub

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/wpm-go/wpm/internal/parallel"
)

// The loops that the simplex spends its time in. Each row is computed by one goroutine in one order, so the
// bits do not depend on how rows are shared out.

// dot returns a.b; len(b) >= len(a).
func dot(a, b []float64) float64 { return ge.Ddot(len(a), a, 1, b, 1) }

// axpy adds w*x to y; len(x) >= len(y).
func axpy(w float64, x, y []float64) { ge.Daxpy(len(y), w, x, 1, y, 1) }

// term is one row of a combination.
type term struct {
	weight float64
	row    []float64
}

// combine adds sum_t weight_t * row_t to y, which starts at entry from of the rows.
func combine(terms []term, from int, y []float64) {
	share(len(y), len(y)*len(terms), func(a, b int) {
		for _, t := range terms {
			axpy(t.weight, t.row[from+a:from+b], y[a:b])
		}
	})
}

// ge has matrices times vectors, of gonum.
var ge gonumblas.Implementation

// times computes y = M x; rows of M are a stride apart. The product of a group of four rows has bits of its
// own, so that groups are not parted.
func times(m []float64, stride int, x, y []float64) {
	rows, cols := len(y), len(x)
	if rows == 0 || cols == 0 {
		return
	}
	share((rows+3)/4, rows*cols, func(from, to int) {
		from, to = 4*from, min(4*to, rows)
		ge.Dgemv(blas.NoTrans, to-from, cols, 1, m[from*stride:], stride, x, 1, 0, y[from:], 1)
	})
}

// addTimes adds weight x M to y; rows of M are a stride apart. Columns stay in groups of eight.
func addTimes(weight float64, x, m []float64, stride int, y []float64) {
	rows, cols := len(x), len(y)
	if rows == 0 || cols == 0 {
		return
	}
	share((cols+7)/8, rows*cols, func(from, to int) {
		from, to = 8*from, min(8*to, cols)
		ge.Dgemv(blas.Trans, rows, to-from, weight, m[from:], stride, x, 1, 1, y[from:], 1)
	})
}

// parallelWork is the number of multiplications below which starting a goroutine costs more than it saves.
const parallelWork = 1 << 16

// share calls f on disjoint ranges that cover [0, n), on several goroutines if work is large enough.
func share(n, work int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n, 1+work/parallelWork)
	if parts <= 1 {
		f(0, n)
		return
	}
	_ = parallel.For(context.Background(), parts, func(p int) { f(p*n/parts, (p+1)*n/parts) })
}

// invert replaces the n x n matrix a, whose rows are a stride apart, by its inverse. It reports false, and leaves a
// undefined, if a is singular to working precision.
func invert(a []float64, n, stride int) bool {
	if n == 0 {
		return true
	}
	swaps, work := make([]int, n), make([]float64, 32*n)
	var lapack gonum.Implementation
	if !lapack.Dgetrf(n, n, a, stride, swaps) {
		return false
	}
	for p := range n {
		if !(math.Abs(a[p*stride+p]) > tinyPivot) {
			return false
		}
	}
	return lapack.Dgetri(n, a, stride, swaps, work, len(work))
}

// tinyPivot is where a pivot counts as zero: entries of the working basis are of the size of 1 to e^(eps/2).
const tinyPivot = 1e-13
