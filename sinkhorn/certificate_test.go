package sinkhorn

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestBestShift compares with trying every break.
func TestBestShift(t *testing.T) {
	g := newGenerator(14)
	for range 2000 {
		n := 1 + g.intn(12)
		b := make([]float64, n)
		for j := range b {
			b[j] = float64(g.intn(7)-3) / 2
			if g.intn(2) == 0 {
				b[j] = g.float() - 0.5
			}
		}
		lo, hi := box(g.mass(n), 2*g.float())
		value := func(t float64) float64 {
			v := t
			for j, x := range b {
				v += math.Min(lo[j]*(x-t), hi[j]*(x-t))
			}
			return v
		}
		got := value(kl.BestShift(b, lo, hi))
		for _, x := range append([]float64{0}, b...) {
			if v := value(x); v > got+1e-14 { // sums of at most 12 terms of size 1
				t.Fatalf("bestShift(%v, %v, %v) reaches %v, but %v gives %v", b, lo, hi, got, x, v)
			}
		}
	}
}

// TestSharpBoundAttained is the case where the sharp bound holds with equality: one row, no bound active, one cost 0,
// and the others Reg (1 + W0((n-1)/e)).
func TestSharpBoundAttained(t *testing.T) {
	for _, n := range []int{2, 5, 30, 1000} {
		const reg = 0.25
		sharp := reg * w0(float64(n-1)/math.E)
		row := make([]float64, n)
		for j := 1; j < n; j++ {
			row[j] = reg * (1 + w0(float64(n-1)/math.E))
		}
		lo, hi := make([]float64, n), make([]float64, n)
		for j := range hi {
			hi[j] = 1
		}
		p := Problem{Problem: projection.Problem{Cost: dense(t, row), Source: []float64{1}, Lo: lo, Hi: hi}, Reg: reg}
		for _, m := range methods {
			r := mustProject(t, p, Settings{Method: m})
			tol := numtest.Tol{Rel: 1e-12, Why: "sums of up to 1000 terms"}
			numtest.Near(t, "Transport", r.Transport, sharp, tol) // the optimum is 0
			numtest.Near(t, "Posterior", r.Posterior, sharp, tol)
			if r.Lower != 0 || r.Upper < r.Transport {
				t.Errorf("n = %d: bounds [%v, %v], Transport %v", n, r.Lower, r.Upper, r.Transport)
			}
		}
	}
}

// TestRelativeReg covers the scale, the fallback for constant rows, and the errors.
func TestRelativeReg(t *testing.T) {
	if got, err := RelativeReg(context.Background(), dense(t, []float64{1, 3}, []float64{5, 5}), 0.5); got != 1 || err != nil {
		t.Errorf("range 2: %v, %v", got, err)
	}
	if got, err := RelativeReg(context.Background(), dense(t, []float64{4, 4}, []float64{1, 1}), 0.5); got != 2 || err != nil {
		t.Errorf("constant rows: %v, %v", got, err)
	}
	for _, c := range []struct {
		c    []float64
		rho  float64
		want error
	}{
		{[]float64{0, 0}, 1, wpmerr.ErrReg}, {[]float64{0, 1}, 0, wpmerr.ErrReg}, {[]float64{0, 1}, nan, wpmerr.ErrReg},
		{[]float64{0, 1}, inf, wpmerr.ErrReg},
		{[]float64{0, 1e300}, 1e300, wpmerr.ErrReg}, {[]float64{0, 1e-300}, 1e-300, wpmerr.ErrReg},
	} {
		if _, err := RelativeReg(context.Background(), dense(t, c.c), c.rho); !is(err, c.want) {
			t.Errorf("RelativeReg(%v, %v): error %v, want %v", c.c, c.rho, err, c.want)
		}
	}
	if _, err := RelativeReg(context.Background(), nil, 1); !is(err, wpmerr.ErrShape) {
		t.Errorf("RelativeReg(nil): %v", err)
	}
}
