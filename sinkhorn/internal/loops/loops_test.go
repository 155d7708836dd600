package loops

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestLoops runs every loop on lengths around those that it unrolls, with entries after the end that must not matter,
// and compares with the plain form.
func TestLoops(t *testing.T) {
	g := numtest.NewSplitMix64(1)
	sum := numtest.Tol{Rel: 70 * 0x1p-53, Why: "sums of at most 67 positive terms, each rounded twice"}
	for n := 1; n < 67; n++ {
		x, y, z := make([]float64, n+3), make([]float64, n+3), make([]float64, n+3)
		for i := range x {
			x[i], y[i], z[i] = g.Float64(), g.Float64(), g.Float64()
			if i >= n {
				x[i], y[i], z[i] = math.NaN(), math.NaN(), math.NaN()
			}
		}
		x, y, z = x[:n], y[:n], z[:n]
		lo, hi, ok := Extent(x)
		if lo != slices.Min(x) || hi != slices.Max(x) || !ok {
			t.Errorf("extent of %d: %v %v %v, want %v %v", n, lo, hi, ok, slices.Min(x), slices.Max(x))
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-300} {
			for i := range x {
				keep := x[i]
				x[i] = bad
				if _, _, ok := Extent(x); ok {
					t.Errorf("extent of %d accepts %v at %d", n, bad, i)
				}
				x[i] = keep
			}
		}
		least := math.Inf(1)
		lower := make([]float64, n)
		for j := range x {
			least = min(least, x[j]-y[j])
			lower[j] = min(z[j], x[j]-0.3)
		}
		if got := MinDiff(x, y); got != least {
			t.Errorf("MinDiff of %d: %v, want %v", n, got, least)
		}
		b := append([]float64(nil), z...)
		MinInto(b, x, 0.3)
		numtest.SameBits(t, "MinInto", b, lower)
		for rows := 1; rows < 10; rows++ {
			m := make([]float64, rows*n)
			u := make([]float64, rows)
			for i := range m {
				m[i] = g.Float64()
			}
			for i := range u {
				u[i] = g.Float64()
			}
			a, s := make([]float64, rows), append([]float64(nil), z...)
			for i := range a {
				a[i] = math.NaN()
			}
			Times(m, n, x, a)
			AddColumns(m, n, u, s)
			for i := range a {
				var want float64
				for j := range n {
					want += m[i*n+j] * x[j]
				}
				numtest.Near(t, "Times", a[i], want, sum)
			}
			for j := range s {
				want := z[j]
				for i := range rows {
					want += m[i*n+j] * u[i]
				}
				numtest.Near(t, "AddColumns", s[j], want, sum)
			}
		}
	}
}

// TestExp compares with 30-digit values on a sweep, and with math.Exp everywhere.
func TestExp(t *testing.T) {
	check := func(x float64, want *big.Float) {
		t.Helper()
		var y [1]float64
		Exp(y[:], []float64{-x}, []float64{0}, 0, ExpScale)
		w, _ := want.Float64()
		tol := (3 + math.Abs(x)) * 0x1p-52 // as documented
		if !(math.Abs(y[0]-w) <= tol*w) {
			t.Errorf("exp(%v) = %v, want %v, relative difference %g, allowed %g", x, y[0], w, math.Abs(y[0]-w)/w, tol)
		}
	}
	// e^(-n/64) by repeated multiplication at 200 bits.
	exact := new(big.Float).SetPrec(200).SetInt64(1)
	step := new(big.Float).SetPrec(200).SetInt64(1) // e^(-1/64) by its series
	term := new(big.Float).SetPrec(200).SetInt64(1)
	for n := 1; n < 40; n++ {
		term.Quo(term, new(big.Float).SetPrec(200).SetInt64(int64(-64*n)))
		step.Add(step, term)
	}
	for n := range 64 * 707 {
		check(-float64(n)/64, exact)
		exact.Mul(exact, step)
	}
	g := numtest.NewSplitMix64(2)
	for range 100_000 {
		x := 1400*g.Float64() - 700
		check(x, new(big.Float).SetFloat64(math.Exp(x)))
	}
	for _, x := range []float64{-708.5, -709, -745, -800, -1e4, -1e9, -1e10} {
		var y [4]float64
		Exp(y[:], []float64{-x, -x, -x, -x}, make([]float64, 4), 0, ExpScale)
		if y != [4]float64{} {
			t.Errorf("exp(%v) = %v, want 0", x, y)
		}
	}
}

// TestChunkRows checks that chunks are the rows, each once and in order, and that their partial sums are few beside the
// rows.
func TestChunkRows(t *testing.T) {
	for _, n := range []int{1, 3, 250, 1000, 4000, 100_000} {
		for _, k := range []int{1, 2, 15, 16, 17, 250, 999, 1000, 1346, 4000, 4001, 20_000} {
			m := Chunks(k, n)
			if m < 1 || m > 64 || m > k || m > 16 && k/m < fullRows {
				t.Errorf("%d x %d: %d chunks", k, n, m)
			}
			if k*n > 64*chunkCells && k >= 16 && m < 16 {
				t.Errorf("%d x %d: %d chunks are too few for many threads", k, n, m)
			}
			next := 0
			for c := range m {
				from, to := ChunkRows(k, m, c)
				if from != next || to <= from {
					t.Fatalf("%d x %d: chunk %d of %d is rows %d to %d, want from %d", k, n, c, m, from, to, next)
				}
				next = to
			}
			if next != k {
				t.Errorf("%d x %d: %d rows in chunks", k, n, next)
			}
		}
	}
}
