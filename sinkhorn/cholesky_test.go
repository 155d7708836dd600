package sinkhorn

import (
	"math"
	"testing"
)

// TestCholesky: the solution of a system is one, and a matrix that is not positive definite is refused.
func TestCholesky(t *testing.T) {
	const tol = 1e-12 // roundings, times a condition number below 100
	for m := 1; m <= 6; m++ {
		h, d, want := make([]float64, m*m), make([]float64, m), make([]float64, m)
		for i := range m {
			want[i] = float64(i) - 1.5
			for j := range m { // Hilbert's matrix on a heavy diagonal
				h[i*m+j] = 1 / float64(i+j+1)
				if i == j {
					h[i*m+j] += 0.25
				}
			}
		}
		for i := range m {
			for j := range m {
				d[i] += h[i*m+j] * want[j]
			}
		}
		if !cholesky(h, d) {
			t.Fatalf("%d: refused", m)
		}
		for i := range d {
			if !(math.Abs(d[i]-want[i]) <= tol) {
				t.Errorf("%d: x[%d] = %v, want %v", m, i, d[i], want[i])
			}
		}
	}
	for _, h := range [][]float64{{0}, {-1}, {math.NaN()}} {
		if cholesky(h, []float64{1}) {
			t.Errorf("%v is taken", h)
		}
	}
	if cholesky([]float64{1, 2, 2, 1}, []float64{1, 1}) {
		t.Error("an indefinite matrix is taken")
	}
}
