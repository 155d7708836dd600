package grid

import (
	"fmt"
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestLines compares the transforms of a line with sums over all sources, with weights and sharpnesses for which blocks
// share exponentials and for which they cannot.
func TestLines(t *testing.T) {
	const (
		n     = 40
		scale = 0.25
		tol   = 1e-11 // terms below e^-36 of the largest, and exponentials of sums with errors of 1e-13
	)
	shared, single := 0, 0
	for _, kappa := range []float64{1e-3, 0.5, 5, 60, 400} {
		for _, spread := range []float64{1, 100, 1e5} {
			r := numtest.NewSplitMix64(uint64(spread))
			in := moments{log: make([]float64, n), across: make([]float64, n), square: make([]float64, n)}
			for j := range in.log {
				in.log[j], in.across[j], in.square[j] = spread*r.Float64(), r.Float64(), r.Float64()
				if j%7 == 3 {
					in.log[j] = math.Inf(-1)
				}
			}
			line := newLineTable(n, kappa)
			var s lineScratch
			sums := make([]float64, n)
			out := moments{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
			line.sum(sums, in.log, &s)
			line.means(out, in, scale, &s)
			for c0 := 0; c0 < n; c0 += line.targets {
				if _, _, _, _, _, ok := line.block(in.log, c0, min(c0+line.targets, n), &s); ok {
					shared++
				} else {
					single++
				}
			}
			for c := range n {
				top := math.Inf(-1)
				for j, w := range in.log {
					top = max(top, w-kappa*float64((c-j)*(c-j)))
				}
				var total, here, across, square float64
				for j, w := range in.log {
					d := float64(j - c)
					p := math.Exp(w - kappa*d*d - top)
					total += p
					here += p * d
					across += p * in.across[j]
					square += p * (in.square[j] + scale*d*d)
				}
				what := fmt.Sprintf("kappa %v, spread %v, target %d", kappa, spread, c)
				want := top + math.Log(total)
				near := numtest.Tol{Abs: tol * (1 + math.Abs(want)), Why: "a part of the exponents"}
				numtest.Near(t, what+": sum", sums[c], want, near)
				numtest.Near(t, what+": log", out.log[c], want, near)
				mean := numtest.Tol{Abs: 1e-9 * n * n, Why: "exponents up to 1e6 with a rounding error, times distances up to n"}
				numtest.Near(t, what+": here", out.here[c], here/total, mean)
				numtest.Near(t, what+": across", out.across[c], across/total, mean)
				numtest.Near(t, what+": square", out.square[c], square/total, mean)
			}
		}
	}
	if shared == 0 || single == 0 {
		t.Errorf("%d blocks share exponentials, %d do not: both are to be tested", shared, single)
	}
}

// TestLineTable: the windows of a line are as narrow, and the range of a block as wide, as their exponents allow; the
// sources that windows begin with are the best ones.
func TestLineTable(t *testing.T) {
	const same = 1e-12 // exponents of up to 600
	g := newGenerator(95)
	for _, n := range []int{1, 7, 40} {
		for _, kappa := range []float64{1e-4, 0.02, 0.3, 2, 30, 500} {
			l := newLineTable(n, kappa)
			mid := float64(l.targets-1) / 2
			cut := func(r int) float64 { return 2 * kappa * float64(r) * float64(r) }
			if r := l.reach; r > n || r < n && cut(r) < lineCut || r > 1 && cut(r-1) >= lineCut {
				t.Errorf("%d cells, sharpness %v: reach %d", n, kappa, r)
			}
			span := func(h int) float64 { return 2 * kappa * mid * float64(h) }
			if h := l.half; h > n-1 || span(h) > lineRange || h < n-1 && span(h+1) <= lineRange {
				t.Errorf("%d cells, sharpness %v: half %d", n, kappa, h)
			}
			for d := range l.targets {
				for i := -l.half; i <= l.half; i++ {
					want := math.Exp(2 * kappa * (float64(d) - mid) * float64(i))
					if got := l.rho[d*(2*l.half+1)+l.half+i]; !(math.Abs(got-want) <= same*want) {
						t.Errorf("%d cells, sharpness %v: factor (%d, %d) is %v, want %v", n, kappa, d, i, got, want)
					}
				}
			}
			w := make([]float64, n)
			for j := range w {
				if w[j] = 20 * g.float(); j%5 == 3 {
					w[j] = math.Inf(-1)
				}
			}
			var s lineScratch
			if !l.windows(w, &s) || len(s.arg) != n+2*l.reach {
				t.Fatalf("%d cells: %d windows", n, len(s.arg))
			}
			for i, j := range s.arg {
				at := func(j int) float64 { d := float64(i - l.reach - j); return w[j] - kappa*d*d }
				for k := range w {
					if at(k) > at(j)+same*(1+math.Abs(at(k))) {
						t.Errorf("%d cells, sharpness %v: source %d is better at %d than %d", n, kappa, k, i-l.reach, j)
					}
				}
			}
		}
	}
	var s lineScratch
	if newLineTable(3, 1).windows([]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}, &s) {
		t.Error("windows of nothing")
	}
}
