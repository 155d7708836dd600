package newton

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNewtonStepSolves compares a Newton step of the start with Gaussian elimination.
func TestNewtonStepSolves(t *testing.T) {
	const same = 1e-9 // the shift keeps the condition below 100
	for k := 1; k <= 9; k++ {
		d := rand.New(rand.NewPCG(31, uint64(k)))
		w := new(work)
		w.resize(k)
		// A Laplacian with a little more on the diagonal, as measure makes it.
		full := make([]float64, k*k)
		trace := 0.0
		for i := range k {
			full[i*k+i] += 0.1 * d.Float64()
			for j := range i {
				x := d.Float64()
				full[i*k+j] -= x
				full[j*k+i] -= x
				full[i*k+i] += x
				full[j*k+j] += x
			}
			w.left[i] = d.Float64() - 0.5
		}
		for i := range k {
			trace += full[i*k+i]
			w.slope[i*k+i] = full[i*k+i]
			for j := range i { // shared at random
				x := d.Float64()
				w.slope[i*k+j], w.slope[j*k+i] = x*full[i*k+j], (1-x)*full[i*k+j]
			}
		}
		slope := append([]float64(nil), w.slope...)
		for _, most := range []float64{100, 0.01} {
			shifted := append([]float64(nil), full...)
			for i := range k {
				shifted[i*k+i] += damping*trace/float64(k) + 0.01*w.unserved()/most
			}
			want := eliminate(shifted, append([]float64(nil), w.left...))
			largest := 0.0
			for _, x := range want {
				largest = max(largest, math.Abs(x))
			}
			copy(w.slope, slope)
			size := w.newtonStep(most)
			if !(math.Abs(size-min(largest, most)) <= same*largest) {
				t.Errorf("%d rows: size %v, want %v", k, size, min(largest, most))
			}
			for i, x := range w.step {
				if y := min(max(want[i], -most), most); !(math.Abs(x-y) <= same*largest) {
					t.Errorf("%d rows, at most %v: step[%d] = %v, want %v", k, most, i, x, y)
				}
			}
		}
	}
}

// eliminate solves a x = b by Gaussian elimination with pivots on the diagonal, in place.
func eliminate(a, b []float64) []float64 {
	k := len(b)
	for p := range k {
		for i := p + 1; i < k; i++ {
			by := a[i*k+p] / a[p*k+p]
			for j := p; j < k; j++ {
				a[i*k+j] -= by * a[p*k+j]
			}
			b[i] -= by * b[p]
		}
	}
	for p := k - 1; p >= 0; p-- {
		for j := p + 1; j < k; j++ {
			b[p] -= a[p*k+j] * b[j]
		}
		b[p] /= a[p*k+p]
	}
	return b
}
