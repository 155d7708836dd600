package loops

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// The loops over rows of the cost and of the kernel, and gonum's matrix-vector products.

var ge gonum.Implementation

// Times sets a = M v for the len(a) x n matrix m.
func Times(m []float64, n int, v, a []float64) {
	ge.Dgemv(blas.NoTrans, len(a), n, 1, m, n, v, 1, 0, a, 1)
}

// AddColumns adds M' u to s for the len(u) x n matrix m.
func AddColumns(m []float64, n int, u, s []float64) {
	ge.Dgemv(blas.Trans, len(u), n, 1, m, n, u, 1, 1, s, 1)
}

// Extent returns the least and the largest entry; ok is false if one is not a cost. NaN is not below the largest so
// far, either.
func Extent(row []float64) (lo, hi float64, ok bool) {
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

// MinDiff returns min_j (c_j - g_j).
func MinDiff(c, g []float64) float64 {
	g = g[:len(c)]
	least := math.Inf(1)
	for j, x := range c {
		if d := x - g[j]; d < least {
			least = d
		}
	}
	return least
}

// MinInto sets b_j to the least of b_j and c_j - f.
func MinInto(b, c []float64, f float64) {
	b = b[:len(c)]
	for j, x := range c {
		if d := x - f; d < b[j] {
			b[j] = d
		}
	}
}

// JoinMinima sets b to the least of part, which holds the minima of one chunk after the other.
func JoinMinima(b, part []float64) {
	n := len(b)
	copy(b, part)
	for ; len(part) >= n && n > 0; part = part[n:] {
		for j, x := range part[:n] {
			b[j] = min(b[j], x)
		}
	}
}

// DotSparse returns the product of v with a row of a sparse matrix: val in columns idx.
func DotSparse(idx []int32, val, v []float64) (sum float64) {
	val = val[:len(idx)]
	for m, j := range idx {
		sum += float64(val[m] * v[j])
	}
	return sum
}

// AddSparse adds u times such a row to s.
func AddSparse(idx []int32, val []float64, u float64, s []float64) {
	val = val[:len(idx)]
	for m, j := range idx {
		s[j] += float64(u * val[m])
	}
}
