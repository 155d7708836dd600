package gub

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

func TestInvert(t *testing.T) {
	rnd := numtest.NewSplitMix64(1)
	for _, n := range []int{0, 1, 2, 5, 17, 60} {
		a, b, inv := square(n), square(n), square(n)
		for i := range a {
			for j := range a {
				a[i][j] = rnd.Float64() - 0.5
				b[i][j] = a[i][j]
			}
		}
		if n == 5 { // a zero where the first pivot would be
			a[0][0], b[0][0] = 0, 0
		}
		flat := slices.Concat(b...)
		ok := invert(flat, n, max(n, 1))
		for i := range inv {
			copy(inv[i], flat[i*n:])
		}
		if !ok {
			t.Fatalf("n = %d: singular", n)
		}
		worst := 0.0
		for i := range a {
			for j := range a {
				sum := 0.0
				for p := range a {
					sum += a[i][p] * inv[p][j]
				}
				if i == j {
					sum--
				}
				worst = max(worst, math.Abs(sum))
			}
		}
		const tol = 1e-11 // random matrices of this size have a condition of a few thousand
		if !(worst <= tol) {
			t.Errorf("n = %d: A * inverse is off by %.3g", n, worst)
		}
	}
	singular := [][]float64{{1, 2}, {2, 4}}
	if invert(slices.Concat(singular...), 2, 2) {
		t.Error("a singular matrix was inverted")
	}
	if invert([]float64{math.NaN()}, 1, 1) {
		t.Error("NaN was inverted")
	}
}

func square(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}

// TestKernels compares the loops with the plain ones, at lengths around their block sizes.
func TestKernels(t *testing.T) {
	rnd := numtest.NewSplitMix64(2)
	tol := numtest.Tol{Abs: 1e-14, Why: "sums of at most 40 products below one in another order"}
	vector := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.Float64() - 0.5
		}
		return x
	}
	for n := range 12 {
		for rows := range 10 {
			a := vector(n)
			var list [][]float64
			want, sum := make([]float64, rows), vector(n)
			got := append([]float64(nil), sum...)
			for r := range rows {
				list = append(list, vector(n+r%2)) // rows may be longer
				weight := rnd.Float64()
				for j, x := range a {
					want[r] += x * list[r][j]
					sum[j] += weight * list[r][j]
				}
				axpy(weight, list[r], got)
			}
			out := make([]float64, rows)
			for r, row := range list {
				out[r] = dot(a, row)
			}
			numtest.NearSlice(t, "dot", out, want, tol)
			numtest.NearSlice(t, "axpy", got, sum, tol)
		}
	}
}
