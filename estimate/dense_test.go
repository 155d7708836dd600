package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDense holds products of several rows at once against sums of single terms, for all remainders of their blocks.
// A sum of n terms below 1 is off by n^2 2^-53 at most, in whatever order: below 1e-13 for 13.
func TestDense(t *testing.T) {
	const slack = 1e-13
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		return x
	}
	near := func(what string, n int, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= slack) {
			t.Errorf("%s of %d: %v, want %v", what, n, got, want)
		}
	}
	for n := range 14 {
		a := random(n * n)
		for i := range n {
			for j := range i {
				a[j*n+i] = a[i*n+j]
			}
		}
		x, y := random(n), random(n)
		symmetric(.5, a, x, y)
		for i := range n {
			of := 0.0
			for j := range n {
				of += a[i*n+j] * x[j] / 2
			}
			near("symmetric", n, y[i], of)
		}
		for _, wide := range []int{0, 1, 5} {
			rows, out, same := random(n*wide), make([]float64, n*n), make([]float64, n*n)
			grams(rows, n, out)
			if n > 0 {
				gramsByRows(rows, n, same)
			}
			for i := range n {
				for j := range n {
					want := 0.0
					for c := 0; c < wide && j <= i; c++ { // nothing above the diagonal
						want += rows[i*wide+c] * rows[j*wide+c]
					}
					near("grams", n, out[i*n+j], want)
					near("gramsByRows", n, same[i*n+j], want)
				}
			}
		}
	}
}

// TestCholesky holds L L' = A, and that a matrix with no factor is refused at whatever row it shows. An entry of L L'
// is off by (n+1) 2^-53 of the diagonal, n + 4 at most: see Higham, Accuracy and Stability, theorem 10.3.
func TestCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 14 {
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = math.NaN() // above the diagonal: not read
				if j < i {
					a[i*n+j] = 2*r.Float64() - 1
				}
			}
			a[i*n+i] = float64(n) + 4*r.Float64() // above the sum of the others
		}
		for how, factor := range map[string]func([]float64, int) bool{"cholesky": cholesky, "byRows": byRows} {
			l := slices.Clone(a)
			if !factor(l, n) {
				t.Fatalf("%s, %d: no factor", how, n)
			}
			for i := range n {
				for j := range i + 1 {
					if got := dot(l[i*n:][:j+1], l[j*n:][:j+1]); !(math.Abs(got-a[i*n+j]) <= 1e-13) {
						t.Errorf("%d: entry %d, %d is %v, want %v", n, i, j, got, a[i*n+j])
					}
				}
				for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
					b := slices.Clone(a)
					if b[i*n+i] = v; factor(b, n) {
						t.Errorf("%d: a factor with %v in row %d", n, v, i)
					}
				}
			}
		}
	}
}
