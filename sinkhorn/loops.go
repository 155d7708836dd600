package sinkhorn

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// The loops over rows of the cost and of the kernel, and gonum's matrix-vector products.

var ge gonum.Implementation

// timesRows sets a = M v for the len(a) x n matrix m.
func timesRows(m []float64, n int, v, a []float64) {
	ge.Dgemv(blas.NoTrans, len(a), n, 1, m, n, v, 1, 0, a, 1)
}

// addColumns adds M' u to s for the len(u) x n matrix m.
func addColumns(m []float64, n int, u, s []float64) {
	ge.Dgemv(blas.Trans, len(u), n, 1, m, n, u, 1, 1, s, 1)
}

// extent returns the least and the largest entry; ok is false if one is not a cost. NaN is not below the largest so far, either.
func extent(row []float64) (lo, hi float64, ok bool) {
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

// minDiff returns min_j (c_j - g_j).
func minDiff(c, g []float64) float64 {
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

// minInto sets b_j to the least of b_j and c_j - f.
func minInto(b, c []float64, f float64) {
	b = b[:len(c)]
	for j, x := range c {
		if d := x - f; d < b[j] {
			b[j] = d
		}
	}
}

// minIntoDot is minInto, and returns sum_j m_j v_j c_j.
func minIntoDot(b, c []float64, f float64, m, v []float64) float64 {
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

// grow returns a slice of length n, reusing s if it is large enough. Its content is arbitrary.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
