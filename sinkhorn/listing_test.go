package sinkhorn

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestListing follows method Paper with plain loops in logarithms, iterate by iterate: the residual, the step in
// Hilbert's metric, the divergence of one q from the last, and the bounds that the iterate proves alone; and the answer
// is the last of them.
func TestListing(t *testing.T) {
	const (
		same = 1e-10 // exponents of up to 50
		most = 6
	)
	g := newGenerator(71)
	for n := range 30 {
		p := g.problem(2+g.intn(7), 2+g.intn(9), []float64{1, 0.1, 0.03}[n%3])
		s := Settings{Method: Paper, History: true, MaxIterations: most, Tolerance: 1e-300}
		d := p.Cost.(*cost.Dense)
		logV := make([]float64, d.Kv)
		if n%2 == 1 {
			s.Initial = make([]float64, d.Kv)
			for j := range logV {
				logV[j] = 4 * g.float()
				s.Initial[j] = logV[j]
			}
		}
		r := solvedOrStopped(t, p, s)
		for j, x := range p.Hi {
			if x <= tinyMass {
				logV[j] = math.Inf(-1)
			}
		}
		var total float64
		for _, m := range p.Source {
			total += m
		}
		var old, q []float64
		for it, h := range r.History {
			logU, logS, cols := make([]float64, d.K), make([]float64, d.Kv), make([]float64, d.Kv)
			for i := range logU {
				e := make([]float64, d.Kv)
				for j := range e {
					e[j] = logV[j] - d.Data[i*d.Kv+j]/p.Reg
				}
				logU[i] = math.Log(p.Source[i]/total) - logSumExp(e)
			}
			for j := range logS {
				e := make([]float64, d.K)
				for i := range e {
					e[i] = logU[i] - d.Data[i*d.Kv+j]/p.Reg
				}
				logS[j] = logSumExp(e)
				cols[j] = math.Exp(logS[j] + logV[j])
				if p.Hi[j] <= tinyMass {
					cols[j] = 0
				}
			}
			var theta float64
			var err error
			if q, theta, err = kl.Project(logS, p.Lo, p.Hi); err != nil {
				t.Fatal(err)
			}
			var residual, kl float64
			next, low, high := make([]float64, d.Kv), math.Inf(1), math.Inf(-1)
			for j, x := range q {
				residual += math.Abs(x - cols[j])
				next[j] = math.Log(x) - logS[j]
				if x == 0 {
					next[j] = theta
				}
				if p.Hi[j] <= tinyMass {
					next[j] = math.Inf(-1)
				} else {
					low, high = min(low, next[j]-logV[j]), max(high, next[j]-logV[j])
				}
				if old != nil && x > 0 {
					kl += x * math.Log(x/old[j])
				}
			}
			if !(math.Abs(h.Residual-residual) <= same) || !(math.Abs(h.Step-(high-low)) <= same*(1+high-low)) ||
				!(math.Abs(h.KL-kl) <= same) {
				t.Errorf("number %d, iterate %d: residual %v, step %v, KL %v; want %v, %v, %v", n, it, h.Residual, h.Step, h.KL,
					residual, high-low, kl)
			}
			one := Result{Q: q, LogV: append([]float64(nil), logV...), Reg: p.Reg}
			rep := reportOf(p, one)
			upper := rep.charged
			if rep.residual > coarse {
				upper = min(upper, rep.repaired)
			}
			if !(math.Abs(h.Lower-rep.lower) <= same*rep.most) || !(math.Abs(h.Upper-min(upper, rep.most)) <= same*rep.most) {
				t.Errorf("number %d, iterate %d: [%v, %v], want [%v, %v]", n, it, h.Lower, h.Upper, rep.lower, upper)
			}
			old, logV = q, next
		}
		if d := distance1(q, r.Q); !(d <= same) {
			t.Errorf("number %d: the answer is off the last q by %v", n, d)
		}
		if len(r.History) != r.Iterations {
			t.Fatalf("number %d: %d iterates of %d", n, len(r.History), r.Iterations)
		}
	}
}

// TestScales: multiplying back by a power of two is exact where that is a float, else off by two of the least floats at
// most, to the side asked for, and what would be infinite is the largest float.
func TestScales(t *testing.T) {
	const tiny, most = math.SmallestNonzeroFloat64, math.MaxFloat64
	for _, tt := range []struct {
		x    float64
		exp  int
		want float64
	}{{3, 0, 3}, {3, 1, 1.5}, {3, -2, 12}, {-5, 3, -0.625}, {0x1p-1000, 60, 0x1p-1060}, {most, -1, most},
		{-most, -1, -most}} {
		for dir := -1; dir <= 1; dir++ {
			if got := unscale(tt.x, tt.exp, dir); got != tt.want && !math.IsInf(2*tt.x, 0) || math.IsInf(got, 0) ||
				got/tt.want < 0.999 {
				t.Errorf("%v / 2^%d towards %d: %v, want %v", tt.x, tt.exp, dir, got, tt.want)
			}
		}
	}
	for n := -9; n <= 9; n += 2 {
		for dir := -1; dir <= 1; dir++ {
			// In units of the least float, n/2 is exact.
			if off := unscale(float64(n)*tiny, 1, dir)/tiny - float64(n)/2; float64(dir)*off < 0 || math.Abs(off) > 2 {
				t.Errorf("%d / 2 towards %d is off by %v", n, dir, off)
			}
		}
	}
}
