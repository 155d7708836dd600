package movielens

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"

	"github.com/wpm-go/wpm/cost"
)

// projector is Algorithm 1 with a fixed number of rounds, in the kernel domain: half a million projections are needed,
// on one kernel, and package sinkhorn's Method Paper, which works on logarithms, would take hours. Costs are in [0, 2],
// so that with lambda = 0.01 no entry of the kernel is below e^-200. TestProjectorIsAlgorithmOne compares the two.
type projector struct {
	k, kv  int
	kernel []float64 // exp(-C/lambda), each row over its largest entry: a factor of u alone
	rounds int
	eps    float64
}

func newProjector(c *cost.Dense, cfg Config, eps float64) *projector {
	p := &projector{k: c.K, kv: c.Kv, kernel: make([]float64, len(c.Data)), rounds: cfg.Rounds, eps: eps}
	for i := range c.K {
		row := c.Data[i*c.Kv : (i+1)*c.Kv]
		least := floats.Min(row)
		for j, x := range row {
			p.kernel[i*c.Kv+j] = math.Exp((least - x) / cfg.Lambda)
		}
	}
	return p
}

// withMass is the rule of the uniform base measure of this mass.
func (p *projector) withMass(mass float64) (rule, error) {
	lo, hi := math.Exp(-p.eps/2)*mass/float64(p.kv), math.Exp(p.eps/2)*mass/float64(p.kv)
	n := float64(p.kv)
	if lo*n >= 1 || hi*n <= 1 { // an end of the sweep: the box is one point
		return func(user) ([]float64, error) {
			q := make([]float64, p.kv)
			for j := range q {
				q[j] = 1 / n
			}
			return q, nil
		}, nil
	}
	return func(u user) ([]float64, error) {
		// The user's rows in one block: the two products of a round then read it once each, at the speed of the cache.
		rows := len(u.support)
		block := make([]float64, 0, rows*p.kv)
		for _, i := range u.support {
			block = append(block, p.kernel[i*p.kv:(i+1)*p.kv]...)
		}
		left := make([]float64, rows)
		v, s, q := make([]float64, p.kv), make([]float64, p.kv), make([]float64, p.kv)
		for j := range v {
			v[j] = 1
		}
		t := 0.0
		var engine gonum.Implementation
		for range p.rounds {
			engine.Dgemv(blas.NoTrans, rows, p.kv, 1, block, p.kv, v, 1, 0, left, 1)
			for n, x := range left {
				left[n] = u.source[n] / x
			}
			engine.Dgemv(blas.Trans, rows, p.kv, 1, block, p.kv, left, 1, 0, s, 1)
			t = clip(s, lo, hi, t, q)
			for j, x := range s {
				v[j] = q[j] / x
			}
		}
		for j, x := range q {
			if !(x >= lo && x <= hi) {
				return nil, fmt.Errorf("movielens: Algorithm 1 left the floats at output %d: lambda is too small for this cost", j)
			}
		}
		return q, nil
	}, nil
}

// unbounded is the rule of the box [0, 1], the limit eps = infinity: every round of Algorithm 1 is the first, and q_j
// the sum of mu_i K_ij / sum_l K_il.
func (p *projector) unbounded() rule {
	return func(u user) ([]float64, error) {
		q := make([]float64, p.kv)
		for n, i := range u.support {
			row := p.kernel[i*p.kv : (i+1)*p.kv]
			floats.AddScaled(q, u.source[n]/floats.Sum(row), row)
		}
		return q, nil
	}
}

// clip fills q with t s clamped to [lo, hi], of mass 1, and returns t: the KL projection of s. Newton's method on the
// mass, which is piecewise linear in t and increasing, kept in a bracket, from a guess (0: none).
func clip(s []float64, lo, hi, guess float64, q []float64) float64 {
	below, above := lo/floats.Max(s), hi/floats.Min(s) // everything at lo, everything at hi
	t := guess
	if !(t > below && t < above) {
		t = 1 / floats.Sum(s)
	}
	if !(t > below && t < above) {
		t = math.Sqrt(below) * math.Sqrt(above)
	}
	for range 200 { // some five in practice
		var mass, free float64
		for _, x := range s {
			y := t * x
			switch {
			case y <= lo:
				mass += lo
			case y >= hi:
				mass += hi
			default:
				mass += y
				free += x
			}
		}
		if mass < 1 {
			below = t
		} else {
			above = t
		}
		next := t + (1-mass)/free
		if !(next > below && next < above) { // no free entry, or a kink
			next = below + (above-below)/2
		}
		if math.Abs(next-t) <= 1e-15*t {
			break
		}
		t = next
	}
	for j, x := range s {
		q[j] = min(max(t*x, lo), hi)
	}
	return t
}
