package sinkhorn

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/hilbert"
)

// exactDiameter is up to how many steps k * kv * min(k, kv) the diameter is computed exactly for a
// history; above, its upper bound serves.
const exactDiameter = 1 << 32

// rate finds the linear rate of the theorem and enters its bounds in the history.
func (in *instance) rate(ctx context.Context, c *costs, h []Iterate) *Rate {
	data := make([]float64, 0, c.k*c.n)
	for _, row := range c.row {
		data = append(data, row...)
	}
	d := &cost.Dense{K: c.k, Kv: c.n, Data: data}
	r := &Rate{Exact: float64(c.k)*float64(c.n)*float64(min(c.k, c.n)) <= exactDiameter && ctx.Err() == nil}
	var err error
	if r.Exact {
		r.Diameter, err = hilbert.GibbsDiameter(d, c.reg)
	} else {
		r.Diameter, err = hilbert.GibbsBound(d, c.reg)
	}
	if err != nil { // costs and reg are valid
		r.Diameter, r.Exact = math.Inf(1), false
	}
	r.Tau, _ = hilbert.Contraction(r.Diameter)
	r.C, r.OneMinusC = hilbert.Rate(r.Diameter)
	if len(h) == 0 {
		return r
	}
	r.Start = h[0].Step / r.OneMinusC
	if h[0].Step == 0 {
		r.Start = 0
	}
	for t := range h {
		now, then := power(r, t), power(r, t+1)
		h[t].DistanceBound = times(now, r.Start)
		h[t].KLBound = 2 * times(then, r.Start)
	}
	return r
}

// power returns C^t.
func power(r *Rate, t int) float64 {
	if t == 0 {
		return 1
	}
	if r.OneMinusC > 0.5 {
		return math.Pow(r.C, float64(t))
	}
	return math.Exp(float64(t) * math.Log1p(-r.OneMinusC))
}

// times is x*y with 0 * Inf = Inf: a bound that says nothing.
func times(x, y float64) float64 {
	if math.IsInf(y, 1) {
		return y
	}
	return x * y
}
