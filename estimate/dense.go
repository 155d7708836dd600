package estimate

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

var (
	blasOf   blasgonum.Implementation
	lapackOf lapack.Implementation
)

// assembly says that gonum has products of vectors in assembly, for several numbers at once. They take 0.4 of the time of
// the compiler's for X X', and half for a factor of 400 rows. In WebAssembly, where gonum has none, byRows takes a quarter
// of the time of gonum's factor.
const assembly = runtime.GOARCH == "amd64"

// Products of several rows at once: a value that is read is used several times.

// dot4 returns the products of four rows with y.
func dot4(x0, x1, x2, x3, y []float64) (a, b, c, d float64) {
	x0, x1, x2, x3 = x0[:len(y)], x1[:len(y)], x2[:len(y)], x3[:len(y)]
	for p, v := range y {
		a += x0[p] * v
		b += x1[p] * v
		c += x2[p] * v
		d += x3[p] * v
	}
	return a, b, c, d
}

// dot42 returns the products of four rows with two: of row n with y in out[2n], with z in out[2n+1].
func dot42(x0, x1, x2, x3, y, z []float64, out *[8]float64) {
	x0, x1, x2, x3, z = x0[:len(y)], x1[:len(y)], x2[:len(y)], x3[:len(y)], z[:len(y)]
	var a0, a1, b0, b1, c0, c1, d0, d1 float64
	for p, v := range y {
		w, x := z[p], x0[p]
		a0 += x * v
		a1 += x * w
		x = x1[p]
		b0 += x * v
		b1 += x * w
		x = x2[p]
		c0 += x * v
		c1 += x * w
		x = x3[p]
		d0 += x * v
		d1 += x * w
	}
	*out = [8]float64{a0, a1, b0, b1, c0, c1, d0, d1}
}

// symmetric sets y = s A x for a k x k matrix A that is symmetric.
func symmetric(s float64, a, x, y []float64) {
	k, i := len(x), 0
	for ; i+4 <= k; i += 4 {
		r := a[i*k : (i+4)*k]
		s0, s1, s2, s3 := dot4(r, r[k:], r[2*k:], r[3*k:], x)
		y[i], y[i+1], y[i+2], y[i+3] = s*s0, s*s1, s*s2, s*s3
	}
	for ; i < k; i++ {
		y[i] = s * dot(a[i*k:][:k], x)
	}
}

// grams adds X X' to the lower triangle of out, r x r, for X of r rows.
func grams(x []float64, r int, out []float64) {
	switch {
	case len(x) == 0:
	case assembly:
		n := len(x) / r
		blasOf.Dsyrk(blas.Lower, blas.NoTrans, r, n, 1, x, n, 1, out, r)
	default:
		gramsByRows(x, r, out)
	}
}

// gramsByRows is grams.
func gramsByRows(x []float64, r int, out []float64) {
	var d [8]float64
	n, i := len(x)/r, 0
	row := func(i int) []float64 { return x[i*n:][:n] }
	for ; i+4 <= r; i += 4 {
		for j := 0; j < i; j += 2 {
			dot42(row(i), row(i+1), row(i+2), row(i+3), row(j), row(j+1), &d)
			for a := range 4 {
				out[(i+a)*r+j] += d[2*a]
				out[(i+a)*r+j+1] += d[2*a+1]
			}
		}
		for a := i; a < i+4; a++ {
			for j := i; j <= a; j++ {
				out[a*r+j] += dot(row(a), row(j))
			}
		}
	}
	for ; i < r; i++ {
		for j := range i + 1 {
			out[i*r+j] += dot(row(i), row(j))
		}
	}
}

// cholesky replaces the lower triangle of a positive definite matrix, n x n, by its factor L, A = L L', and returns
// false if there is none. The rest of the matrix is neither read nor written.
func cholesky(a []float64, n int) bool {
	if !assembly {
		return byRows(a, n)
	}
	ok := lapackOf.Dpotrf(blas.Lower, n, a, max(n, 1))
	for i := range n {
		ok = ok && a[i*n+i] <= math.MaxFloat64
	}
	return ok
}

// byRows is cholesky.
func byRows(a []float64, n int) bool {
	var d [8]float64
	for i := 0; i < n; i += 4 {
		j, to := 0, min(i+4, n)
		if to == i+4 {
			r := a[i*n : to*n]
			for ; j < i; j += 2 { // four rows and two columns
				u, v := a[j*n:][:j], a[(j+1)*n:][:j+2]
				dot42(r, r[n:], r[2*n:], r[3*n:], u, v, &d)
				s, t, mixed := a[j*n+j], v[j+1], v[j]
				for b := range 4 {
					row := r[b*n+j:][:2]
					row[0] = (row[0] - d[2*b]) / s
					row[1] = (row[1] - d[2*b+1] - row[0]*mixed) / t
				}
			}
		}
		for h := i; h < to; h++ {
			row := a[h*n:][:h+1]
			for c := j; c < h; c++ {
				row[c] = (row[c] - dot(row[:c], a[c*n:][:c])) / a[c*n+c]
			}
			v := row[h] - dot(row[:h], row[:h])
			if !(v > 0 && v <= math.MaxFloat64) {
				return false
			}
			row[h] = math.Sqrt(v)
		}
	}
	return true
}

// add sets y += s x.
func add(s float64, x, y []float64) { blasOf.Daxpy(len(x), s, x, 1, y, 1) }

func dot(x, y []float64) float64 { return blasOf.Ddot(len(x), x, 1, y, 1) }

// toSum divides x, which is not negative, by its sum.
func toSum(x []float64) {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	for i := range x {
		x[i] /= sum
	}
}

// argmax returns the place of the first of the largest entries.
func argmax(x []float64) int {
	at := 0
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// bisect returns, after so many halvings, the largest t from 0 to 1 for which ok held, or 0. ok holds up to some t.
func bisect(halvings int, ok func(t float64) bool) float64 {
	low, high := 0.0, 1.0
	for range halvings {
		if t := (low + high) / 2; ok(t) {
			low = t
		} else {
			high = t
		}
	}
	return low
}
