package sinkhorn

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// The loops over rows of the cost and of the kernel: Go, and gonum's matrix-vector products. Built with the tag
// simd, they run four numbers at a time in assembly (simd_amd64.s) on amd64 processors with AVX2 and FMA; the Go
// forms are the reference then, and serve for the ends of rows. Minima and exponentials have the same bits in
// both forms, sums differ in rounding. None depends on the number of threads.

var ge gonum.Implementation

// extent returns the least and the largest entry; ok is false if one is not a cost.
func extent(row []float64) (lo, hi float64, ok bool) {
	if hasAVX && len(row) >= 16 {
		n := len(row) &^ 15
		var bad float64
		lo, hi, bad = extentAVX(&row[0], n)
		ok = bad == 0 && lo >= 0
		if n < len(row) {
			lo2, hi2, ok2 := extentGo(row[n:])
			lo, hi, ok = math.Min(lo, lo2), math.Max(hi, hi2), ok && ok2
		}
		return lo + 0, hi, ok
	}
	return extentGo(row)
}

// minDiff returns min_j (c_j - g_j).
func minDiff(c, g []float64) float64 {
	if hasAVX && len(c) >= 16 {
		n := len(c) &^ 15
		m := minDiffAVX(&c[0], &g[:n][0], n)
		if n < len(c) {
			m = math.Min(m, minDiffGo(c[n:], g[n:]))
		}
		return m
	}
	return minDiffGo(c, g)
}

// minInto sets b_j to the least of b_j and c_j - f.
func minInto(b, c []float64, f float64) {
	n := 0
	if hasAVX && len(c) >= 8 {
		n = len(c) &^ 7
		minIntoAVX(&b[:n][0], &c[0], n, f)
	}
	minIntoGo(b[n:], c[n:], f)
}

// dot3 returns sum_j x_j y_j z_j.
func dot3(x, y, z []float64) float64 {
	n := 0
	var s float64
	if hasAVX && len(x) >= 16 {
		n = len(x) &^ 15
		s = dot3AVX(&x[0], &y[:n][0], &z[:n][0], n)
	}
	return s + dot3Go(x[n:], y[n:], z[n:])
}

// timesRows sets a = M v for the len(a) x n matrix m.
func timesRows(m []float64, n int, v, a []float64) {
	b := len(a)
	if !hasAVX || n < 8 {
		ge.Dgemv(blas.NoTrans, b, n, 1, m, n, v, 1, 0, a, 1)
		return
	}
	whole := n &^ 7
	v = v[:n]
	r := 0
	var four [4]float64
	for ; r+4 <= b; r += 4 {
		gemvN4AVX(&m[r*n : (r+4)*n][0], n, &v[0], whole, &four)
		for i, x := range four {
			row := m[(r+i)*n : (r+i+1)*n]
			for j := whole; j < n; j++ {
				x += row[j] * v[j]
			}
			a[r+i] = x
		}
	}
	for ; r < b; r++ {
		a[r] = ge.Ddot(n, m[r*n:(r+1)*n], 1, v, 1)
	}
}

// addColumns adds M' u to s for the len(u) x n matrix m.
func addColumns(m []float64, n int, u, s []float64) {
	b := len(u)
	if !hasAVX || n < 8 {
		ge.Dgemv(blas.Trans, b, n, 1, m, n, u, 1, 1, s, 1)
		return
	}
	whole := n &^ 7
	s = s[:n]
	r := 0
	for ; r+4 <= b; r += 4 {
		four := (*[4]float64)(u[r : r+4])
		gemvT4AVX(&m[r*n : (r+4)*n][0], n, four, whole, &s[0])
		for j := whole; j < n; j++ {
			s[j] += (four[0]*m[r*n+j] + four[2]*m[(r+2)*n+j]) + (four[1]*m[(r+1)*n+j] + four[3]*m[(r+3)*n+j])
		}
	}
	for ; r < b; r++ {
		ge.Daxpy(n, u[r], m[r*n:(r+1)*n], 1, s, 1)
	}
}

// extentGo returns the least and the largest entry; ok is false if one is not a cost. NaN is not below the largest so far, either.
func extentGo(row []float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	ok = true
	for _, x := range row {
		if x < lo {
			lo = x
		}
		if !(x <= hi) {
			if x != x {
				ok = false
				continue
			}
			hi = x
		}
	}
	return lo + 0, hi, ok && lo >= 0 && hi <= math.MaxFloat64
}

// minDiffGo returns min_j (c_j - g_j).
func minDiffGo(c, g []float64) float64 {
	g = g[:len(c)]
	w, x, y, z := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for ; len(c) >= 4; c, g = c[4:], g[4:] {
		if d := c[0] - g[0]; d < w {
			w = d
		}
		if d := c[1] - g[1]; d < x {
			x = d
		}
		if d := c[2] - g[2]; d < y {
			y = d
		}
		if d := c[3] - g[3]; d < z {
			z = d
		}
	}
	for j, e := range c {
		if d := e - g[j]; d < w {
			w = d
		}
	}
	return math.Min(math.Min(w, x), math.Min(y, z))
}

// minIntoGo sets b_j to the least of b_j and c_j - f.
func minIntoGo(b, c []float64, f float64) {
	b = b[:len(c)]
	for j, x := range c {
		if d := x - f; d < b[j] {
			b[j] = d
		}
	}
}

// minIntoDot is minInto, and returns sum_j m_j v_j c_j.
func minIntoDot(b, c []float64, f float64, m, v []float64) float64 {
	if hasAVX {
		minInto(b, c, f)
		return dot3(m, v, c)
	}
	b, m, v = b[:len(c)], m[:len(c)], v[:len(c)]
	var w, x, y, z float64
	for ; len(c) >= 4; c, b, m, v = c[4:], b[4:], m[4:], v[4:] {
		c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
		if d := c0 - f; d < b[0] {
			b[0] = d
		}
		w += float64(float64(m[0]*v[0]) * c0)
		if d := c1 - f; d < b[1] {
			b[1] = d
		}
		x += float64(float64(m[1]*v[1]) * c1)
		if d := c2 - f; d < b[2] {
			b[2] = d
		}
		y += float64(float64(m[2]*v[2]) * c2)
		if d := c3 - f; d < b[3] {
			b[3] = d
		}
		z += float64(float64(m[3]*v[3]) * c3)
	}
	for j, e := range c {
		if d := e - f; d < b[j] {
			b[j] = d
		}
		w += float64(float64(m[j]*v[j]) * e)
	}
	return (w + x) + (y + z)
}

// dot3Go returns sum_j m_j v_j c_j.
func dot3Go(m, v, c []float64) float64 {
	v, c = v[:len(m)], c[:len(m)]
	var w, x, y, z float64
	for ; len(m) >= 4; m, v, c = m[4:], v[4:], c[4:] {
		w += float64(float64(m[0]*v[0]) * c[0])
		x += float64(float64(m[1]*v[1]) * c[1])
		y += float64(float64(m[2]*v[2]) * c[2])
		z += float64(float64(m[3]*v[3]) * c[3])
	}
	for j, e := range m {
		w += float64(float64(e*v[j]) * c[j])
	}
	return (w + x) + (y + z)
}
