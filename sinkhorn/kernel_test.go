package sinkhorn

import (
	"context"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// TestNormalise compares both products of a pass with plain loops, on a matrix in one chunk and on some in several,
// with rows and columns left over everywhere; and any two numbers of threads bit for bit.
func TestNormalise(t *testing.T) {
	const k, n = 1051, 2003
	if k < 2*blockCells/n || loops.Chunks(k, n) < 2 {
		t.Fatal("the largest matrix is not large")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	tol := numtest.Tol{Rel: 4 * n * 0x1p-53,
		Why: "sums of sums of at most n positive terms, each rounded twice, here and there"}
	for _, shape := range [][2]int{{1, 1}, {3, 7}, {250, 131}, {517, 1030}, {k, n}} {
		k, n := shape[0], shape[1]
		g := newGenerator(uint64(k))
		c := &core{watch: newWatch(context.Background()), k: k, n: n}
		m := newKernel(c)
		v, mu := make([]float64, n), make([]float64, k)
		for _, x := range [][]float64{m.m, v, mu} {
			for i := range x {
				x[i] = 0.5 + g.float()
			}
		}
		wantA, wantU, wantS := make([]float64, k), make([]float64, k), make([]float64, n)
		for i := range k {
			row := m.m[i*n : (i+1)*n]
			for j, x := range row {
				wantA[i] += x * v[j]
			}
			wantU[i] = mu[i] / wantA[i]
			for j, x := range row {
				wantS[j] += x * wantU[i]
			}
		}
		var first [3][]float64
		for _, threads := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(threads)
			got := [3][]float64{make([]float64, k), make([]float64, k), make([]float64, n)}
			m.normalise(nil, mu, v, got[0], got[1], got[2])
			if first[0] == nil {
				first = got
				for i := range k {
					numtest.Near(t, "a", got[0][i], wantA[i], tol)
					numtest.Near(t, "u", got[1][i], wantU[i], tol)
				}
				for j := range n {
					numtest.Near(t, "s", got[2][j], wantS[j], tol)
				}
				continue
			}
			for i, name := range []string{"a", "u", "s"} {
				numtest.SameBits(t, name, got[i], first[i])
			}
		}
		m.free()
	}
}
