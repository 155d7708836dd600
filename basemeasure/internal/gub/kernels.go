package gub

import (
	"math"

	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/gonum"
)

// The loops that the simplex spends its time in. They run on one processor: shared among two, their rows save less than
// goroutines cost.

// ge has the loops of gonum.
var ge gonumblas.Implementation

// dot returns a.b; len(b) >= len(a).
func dot(a, b []float64) float64 { return ge.Ddot(len(a), a, 1, b, 1) }

// axpy adds w*x to y; len(x) >= len(y).
func axpy(w float64, x, y []float64) { ge.Daxpy(len(y), w, x, 1, y, 1) }

// times computes y = M x; rows of M are a stride apart.
func times(m []float64, stride int, x, y []float64) {
	if len(x) > 0 && len(y) > 0 {
		ge.Dgemv(blas.NoTrans, len(y), len(x), 1, m, stride, x, 1, 0, y, 1)
	}
}

// addTimes adds weight x M to y; rows of M are a stride apart.
func addTimes(weight float64, x, m []float64, stride int, y []float64) {
	if len(x) > 0 && len(y) > 0 {
		ge.Dgemv(blas.Trans, len(x), len(y), weight, m, stride, x, 1, 1, y, 1)
	}
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
