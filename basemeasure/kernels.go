package basemeasure

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/wpm-go/wpm/internal/parallel"
)

// The loops that the simplex spends its time in. Each row is computed by one goroutine in one order, so the
// bits do not depend on how rows are shared out. Several rows at a time, because loading the common vector
// costs as much as the arithmetic.

// dot returns a.b; the lengths agree.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dots writes rows[i].a to out[i].
func dots(rows [][]float64, a, out []float64) {
	n := len(a)
	i := 0
	for ; i+4 <= len(rows); i += 4 {
		r0, r1, r2, r3 := rows[i][:n], rows[i+1][:n], rows[i+2][:n], rows[i+3][:n]
		var d0, d1, d2, d3 float64
		for j, x := range a {
			d0 += x * r0[j]
			d1 += x * r1[j]
			d2 += x * r2[j]
			d3 += x * r3[j]
		}
		out[i], out[i+1], out[i+2], out[i+3] = d0, d1, d2, d3
	}
	for ; i < len(rows); i++ {
		out[i] = dot(rows[i][:n], a)
	}
}

// axpy adds w*x to y; len(x) >= len(y).
func axpy(w float64, x, y []float64) {
	x = x[:len(y)]
	for len(y) >= 4 && len(x) >= 4 {
		y[0] += w * x[0]
		y[1] += w * x[1]
		y[2] += w * x[2]
		y[3] += w * x[3]
		x, y = x[4:], y[4:]
	}
	for i := range y {
		y[i] += w * x[i]
	}
}

// term is one row of a combination.
type term struct {
	weight float64
	row    []float64
}

// combine adds sum_t weight_t * row_t to y, which starts at entry from of the rows.
func combine(terms []term, from int, y []float64) {
	n, to := len(y), from+len(y)
	for len(terms) >= 4 {
		w0, w1, w2, w3 := terms[0].weight, terms[1].weight, terms[2].weight, terms[3].weight
		r0, r1, r2, r3 := terms[0].row[from:to], terms[1].row[from:to], terms[2].row[from:to], terms[3].row[from:to]
		r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
		for j := range y {
			y[j] += (w0*r0[j] + w1*r1[j]) + (w2*r2[j] + w3*r3[j])
		}
		terms = terms[4:]
	}
	for _, t := range terms {
		axpy(t.weight, t.row[from:to], y)
	}
}

// spread adds weights[i]*x to the beginning of rows[i], for every i.
func spread(weights, x []float64, rows [][]float64) {
	n := len(x)
	var w [4]float64
	var at [4]int
	found := 0
	for i, weight := range weights {
		if weight == 0 {
			continue
		}
		w[found], at[found] = weight, i
		if found++; found < 4 {
			continue
		}
		found = 0
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		y0, y1, y2, y3 := rows[at[0]][:n], rows[at[1]][:n], rows[at[2]][:n], rows[at[3]][:n]
		for j, v := range x {
			y0[j] += w0 * v
			y1[j] += w1 * v
			y2[j] += w2 * v
			y3[j] += w3 * v
		}
	}
	for i := range found {
		axpy(w[i], x, rows[at[i]][:n])
	}
}

// spreadAll is spread, on several goroutines if there is enough to do.
func spreadAll(weights, x []float64, rows [][]float64) {
	share(len(weights), len(weights)*len(x), func(from, to int) { spread(weights[from:to], x, rows[from:to]) })
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

// invert writes the inverse of the square matrix a, row after row, to the rows inv, and destroys a. It reports false if
// a is singular to working precision.
func invert(a []float64, inv [][]float64) bool {
	n := len(inv)
	if n == 0 {
		return true
	}
	swaps, work := make([]int, n), make([]float64, 32*n)
	var lapack gonum.Implementation
	if !lapack.Dgetrf(n, n, a, n, swaps) {
		return false
	}
	for p := range n {
		if !(math.Abs(a[p*n+p]) > tinyPivot) {
			return false
		}
	}
	if !lapack.Dgetri(n, a, n, swaps, work, len(work)) {
		return false
	}
	for i, row := range inv {
		copy(row, a[i*n:])
	}
	return true
}

// tinyPivot is where a pivot counts as zero: entries of the working basis are of the size of 1 to e^(eps/2).
const tinyPivot = 1e-13
