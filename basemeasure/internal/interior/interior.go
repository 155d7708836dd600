package interior

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/parallel"
)

// Problem is a problem, in the units of the caller: a cost c of a row is (c - Base) * Unit here.
type Problem struct {
	Rows        [][]float64 // of equal length; views, which do not change
	Alpha, Beta float64
	Base, Unit  float64
}

// Rules of thumb. They decide how many steps it takes.
const (
	startWidth  = 0.1  // of the smoothing at the start, relative to the value
	widthFactor = 0.1  // afterwards, w/value = widthFactor * sqrt(complementarity/value)
	startSlack  = 0.1  // z is above all phi by this much at the start, relative to the value
	boundary    = 0.95 // of the way to the boundary, at most
	massFactor  = 0.9  // the same for the mass, which has no barrier
	firstFall   = 0.2  // of mu, in the first step
	leastFall   = 0.1  // and in others, at least
	errorFactor = 5    // mu stays while residuals are so many times the complementarity
	etaTol      = 1e-5 // by how much the masses of a row may miss 1: a Newton step of eta is left
	etaSteps    = 40   // Newton steps for one threshold, at most
	etaMove     = 0.1  // the step of the search for a bracket, in units of the largest cost
)

// Phase is a run of the method. One goroutine at a time may use it.
type Phase struct {
	p     Problem
	k, kv int
	value float64 // of the largest phi at the start

	m, y         []float64 // by output
	lam, s       []float64 // by input
	eta, phi     []float64
	kappa        []float64
	z, w, mu     float64
	sigma        float64   // mu is to be so many times the mean complementarity
	g, a         []float64 // k x kv
	primal, dual []float64 // residuals

	sys system
}

// New starts at a measure m of positive entries, with a threshold for each row at which to look for its own first.
func New(p Problem, m, thresholds []float64) *Phase {
	k, kv := len(p.Rows), len(m)
	v := &Phase{
		p: p, k: k, kv: kv, sigma: firstFall,
		m: append([]float64(nil), m...), y: make([]float64, kv),
		lam: make([]float64, k), s: make([]float64, k), eta: make([]float64, k), phi: make([]float64, k),
		kappa: make([]float64, k), primal: make([]float64, k), dual: make([]float64, kv),
		g: make([]float64, k*kv), a: make([]float64, k*kv),
	}
	for i, t := range thresholds {
		v.eta[i] = (t - p.Base) * p.Unit
		v.value = max(v.value, v.eta[i])
	}
	v.sys.init(v)
	v.open()
	return v
}

// open gives all variables their first values: lam_i s_i and m_j y_j are all equal.
func (v *Phase) open() {
	v.w = startWidth * v.value
	v.smooth()
	v.value = 0
	for _, phi := range v.phi {
		v.value = max(v.value, phi)
	}
	v.z = v.value * (1 + startSlack)
	sum := 0.0
	for i, phi := range v.phi {
		v.s[i] = v.z - phi
		sum += 1 / v.s[i]
	}
	v.mu = 1 / sum
	for i, s := range v.s {
		v.lam[i] = v.mu / s
	}
	for j, m := range v.m {
		v.y[j] = v.mu / m
	}
	v.residuals()
}

// Measure is the measure reached. The next step overwrites it.
func (v *Phase) Measure() []float64 { return v.m }

// Weights are those of the rows, which sum to one but for rounding. The next step overwrites them.
func (v *Phase) Weights() []float64 { return v.lam }

// Threshold is that of a row, in the units of the caller.
func (v *Phase) Threshold(i int) float64 { return v.eta[i]/v.p.Unit + v.p.Base }

// smooth computes eta, phi, g, a and kappa of every row.
func (v *Phase) smooth() {
	_ = parallel.For(context.Background(), v.k, func(i int) { v.smoothRow(i) })
}

// smoothRow finds the threshold of a row by Newton's method, inside a bracket.
func (v *Phase) smoothRow(i int) {
	eta := v.eta[i]
	lo, hi := math.Inf(-1), math.Inf(1)
	for range etaSteps {
		short := 1 - v.rowAt(i, eta) // falls as eta rises
		if !(math.Abs(short) >= etaTol) {
			break
		}
		if short > 0 {
			lo = eta
		} else {
			hi = eta
		}
		next := eta + short/v.kappa[i]
		if !(next > lo && next < hi) {
			move := max(2*v.w, etaMove)
			switch {
			case math.IsInf(lo, -1):
				next = eta - move
			case math.IsInf(hi, 1):
				next = eta + move
			default:
				next = lo + (hi-lo)/2
			}
		}
		if next == eta {
			break
		}
		eta = next
	}
	v.eta[i] = eta
}

// rowAt fills in what belongs to row i at a threshold, and returns the mass that it hands out there.
func (v *Phase) rowAt(i int, eta float64) (mass float64) {
	mid, half, w2 := (v.p.Alpha+v.p.Beta)/2, (v.p.Beta-v.p.Alpha)/2, v.w*v.w
	row := v.p.Rows[i]
	g, a := v.g[i*v.kv:][:len(row)], v.a[i*v.kv:][:len(row)]
	base, unit := v.p.Base, v.p.Unit
	kappa, phi := 0.0, eta
	for j, m := range v.m[:len(row)] {
		x := (row[j]-base)*unit - eta
		inv := 1 / math.Sqrt(x*x+w2)
		u := x * inv
		slope := mid - half*u
		rise := mid*x - half*(x*u+w2*inv)
		a[j], g[j] = slope, rise
		mass += m * slope
		phi += m * rise
		kappa += m * (1 - u*u) * inv
	}
	v.kappa[i], v.phi[i] = kappa*half, phi
	return mass
}

// residuals computes residuals, the width of the smoothing and the mu to aim at, at the present point.
func (v *Phase) residuals() {
	for j, y := range v.y {
		v.dual[j] = -y
	}
	for i, lam := range v.lam {
		blasImpl.Daxpy(v.kv, lam, v.g[i*v.kv:], 1, v.dual, 1)
	}
	gap, off, mass := 0.0, 0.0, 0.0
	for i, phi := range v.phi {
		v.primal[i] = phi + v.s[i] - v.z
		off = max(off, math.Abs(v.primal[i]))
		gap += v.lam[i] * v.s[i]
	}
	for j, m := range v.m {
		mass += m
		gap += m * v.y[j]
	}
	for _, d := range v.dual {
		off = max(off, math.Abs(d)*mass)
	}
	v.w = widthFactor * math.Sqrt(gap*v.value)
	if off > errorFactor*gap {
		v.sigma = 1
	}
	v.mu = v.sigma * gap / float64(v.k+v.kv)
}

// Step takes one Newton step. It reports false if rounding has got in the way, and then changes nothing; or the error
// of ctx.
func (v *Phase) Step(ctx context.Context) (ok bool, err error) {
	d := &v.sys
	d.build(v)
	if ok, err := d.solve(ctx, v); err != nil || !ok {
		return false, err
	}
	step := v.length()
	if !(step > 0 && step <= 1) {
		return false, nil
	}
	for j := range v.m {
		v.m[j] += step * d.dm[j]
		v.y[j] += step * d.dy[j]
	}
	v.z += step * d.dz
	for i := range v.s {
		v.s[i] += step * d.ds[i]
		v.lam[i] += step * d.dlam[i]
		v.eta[i] += step * d.deta[i]
	}
	v.sigma = max(leastFall, 1-step) // mu falls less after a short step
	v.smooth()
	v.residuals()
	return true, nil
}

// length is the longest step that keeps all variables positive, and the mass of m in its range.
func (v *Phase) length() float64 {
	d := &v.sys
	most := boundary
	for i, s := range v.s {
		most = max(most, -d.ds[i]/s, -d.dlam[i]/v.lam[i])
	}
	mass, dmass := 0.0, 0.0
	for j, m := range v.m {
		most = max(most, -d.dm[j]/m, -d.dy[j]/v.y[j])
		mass += m
		dmass += d.dm[j]
	}
	step := boundary / most
	if dmass > 0 {
		return min(step, massFactor*(1/v.p.Alpha-mass)/dmass)
	}
	if dmass < 0 {
		return min(step, massFactor*(1/v.p.Beta-mass)/dmass)
	}
	return step
}
