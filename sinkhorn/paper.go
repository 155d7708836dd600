package sinkhorn

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// This file is Algorithm 1 as the paper prints it, in logarithms: every quantity of the listing is here
// under its own name with log in front, and nothing is absorbed, annealed or accelerated.

// algorithm1 holds the quantities of the listing, for the rows with mass and the columns with room.
type algorithm1 struct {
	in     *instance
	c      *costs
	reg    float64
	lo, hi []float64
	// K_ij = exp(-(C_ij - min_j C_ij) / reg): a factor for every row changes u and nothing else.
	logV, logU, logS, q []float64
	next                []float64 // log of the next v
	cols                []float64 // column sums v_j s_j of the plan
	work                kl.Workspace
	g                   []float64 // reg * log v
	f                   []float64 // f_i = min_j (C_ij - g_j)
	part                []float64
}

func newAlgorithm1(in *instance, c *costs, initial []float64) *algorithm1 {
	a := &algorithm1{in: in, c: c, reg: c.reg, lo: append([]float64(nil), in.compact(in.lo)...), hi: in.compact(in.hi)}
	for _, p := range []*[]float64{&a.logV, &a.logS, &a.q, &a.next, &a.cols, &a.g} {
		*p = make([]float64, c.n)
	}
	for _, p := range []*[]float64{&a.logU, &a.f} {
		*p = make([]float64, c.k)
	}
	if initial != nil {
		copy(a.logV, in.compact(initial))
		tameLogs(a.logV)
	}
	return a
}

// logRange is the largest difference of log v in a start that is taken as it is. Converged ones stay
// below 2 R/Reg <= 2e9.
const logRange = 1e10

// tameLogs brings logarithms of any size into range: a shift for all, which changes no iterate but by
// that factor, and then a floor.
func tameLogs(x []float64) []float64 {
	hi := math.Inf(-1)
	for _, y := range x {
		hi = math.Max(hi, y)
	}
	if math.Abs(hi) <= 100 { // costs no digit that counts
		hi = 0
	}
	for j, y := range x {
		x[j] = math.Max(y-hi, -logRange)
	}
	return x
}

// thin is a column sum below which terms may be missing from it, which are flushed to zero below
// e^-707: such columns are summed again with exponents of their own.
const thin = 1e-200

// step computes u = mu / K v, s = K' u, q = the projection of s, and the next v = q / s.
//
// With f_i = min_j (C_ij - g_j), g = reg log v, the sum K v of row i is exp(-(f_i - min_j C_ij) / reg) times
// z_i = sum_j exp((f_i - C_ij + g_j) / reg), whose largest term is 1. Its terms over z_i, times mu_i,
// are the plan u_i K_ij v_j, and so they serve for K' u, too: s_j = (column sum of the plan) / v_j. One
// exponential for each entry does both products.
func (a *algorithm1) step() (residual, theta float64) {
	c := a.c
	for j, x := range a.logV {
		a.g[j] = a.reg * x
	}
	m := chunks(c.k, c.n)
	a.part = grow(a.part, m*c.n)
	scale := expScale / a.reg
	c.loop(m, func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		p := make([]float64, c.n)
		sum := a.part[ch*c.n : (ch+1)*c.n]
		clear(sum)
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && c.ended() {
				return
			}
			// u = mu / K v
			f := minDiff(c.row[i], a.g)
			expRow(p, c.row[i], a.g, f, scale)
			var z float64
			for _, x := range p {
				z += x
			}
			a.f[i] = f
			a.logU[i] = num.Log(a.in.mass[i]) - math.Log(z) + (f-c.min[i])/a.reg
			// s = K' u
			z = a.in.mass[i] / z
			for j, x := range p {
				sum[j] += float64(z * x)
			}
		}
	})
	if c.cut() {
		return math.Inf(1), 0
	}
	copy(a.cols, a.part[:c.n])
	for ch := 1; ch < m; ch++ {
		for j, x := range a.part[ch*c.n : (ch+1)*c.n] {
			a.cols[j] += x
		}
	}
	for j, x := range a.cols {
		if x > thin {
			a.logS[j] = math.Log(x) - a.logV[j]
		} else {
			a.logS[j] = a.column(j)
		}
	}
	// q = Proj(s), v = q / s
	theta, _ = a.work.Project(a.logS, a.lo, a.hi, a.q)
	for j, q := range a.q {
		residual += math.Abs(q - a.cols[j])
		switch {
		case q > a.lo[j] && q < a.hi[j] || q == 0:
			a.next[j] = theta // q/s = e^theta
		default:
			a.next[j] = num.Log(q) - a.logS[j]
		}
	}
	return residual, theta
}

// column returns log s_j summed with the largest exponent taken out.
func (a *algorithm1) column(j int) float64 {
	x := make([]float64, a.c.k)
	for i, row := range a.c.row {
		x[i] = a.logU[i] - (row[j]-a.c.min[i])/a.reg
	}
	return num.LogSumExp(x)
}

// objective returns <C, P> + reg sum P log P, since log P_ij = log u_i + log v_j + log K_ij.
func (a *algorithm1) objective() float64 {
	var s float64
	for i, m := range a.in.mass {
		if m > 0 {
			s += m * (a.reg*a.logU[i] + a.c.min[i])
		}
	}
	for j, x := range a.cols {
		if x > 0 {
			s += x * (a.reg * a.logV[j])
		}
	}
	return s
}

// row writes row i of the plan.
func (a *algorithm1) row(i int, dst []float64) {
	row, least := a.c.row[i], a.c.min[i]
	top := math.Inf(-1)
	for j := range dst {
		dst[j] = a.logV[j] - (row[j]-least)/a.reg
		top = math.Max(top, dst[j])
	}
	var z float64
	for j, x := range dst {
		dst[j] = math.Exp(x - top)
		z += dst[j]
	}
	z = a.in.mass[i] / z
	for j := range dst {
		dst[j] *= z
	}
}

// iterate describes the present iterate, with potentials such that free columns are at 0.
func (a *algorithm1) iterate(theta float64, g []float64) *iterate {
	var top float64
	for j, x := range a.logV {
		g[j] = a.reg * (x - theta)
		top = max(top, math.Abs(x), math.Abs(a.logS[j]))
	}
	// The column sums exp(log v + log s) carry the rounding of both logarithms.
	return &iterate{g: g, logV: a.logV, q: a.q, cols: a.cols, reg: a.reg, row: a.row, noise: 0x1p-51 * top}
}

// columns replaces the column sums by those of the rows that row writes.
func (a *algorithm1) columns(it *iterate) {
	c := a.c
	m := chunks(c.k, c.n)
	part := make([]float64, m*c.n)
	c.loop(m, func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		p := make([]float64, c.n)
		sum := part[ch*c.n : (ch+1)*c.n]
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && c.ended() {
				return
			}
			a.row(i, p)
			for j, x := range p {
				sum[j] += x
			}
		}
	})
	copy(it.cols, part[:c.n])
	for ch := 1; ch < m; ch++ {
		for j, x := range part[ch*c.n : (ch+1)*c.n] {
			it.cols[j] += x
		}
	}
	it.noise = 0
}

// paper runs Algorithm 1.
func (in *instance) paper(ctx context.Context, c *costs, set Settings) (*Result, *bounds, *iterate) {
	a := newAlgorithm1(in, c, set.Initial)
	r := &Result{Settings: set, Reg: in.reg}
	floor := residualFloor * c.rng / c.reg
	g := make([]float64, c.n)
	var old []float64 // q before
	var it *iterate
	var b *bounds
	check := 1
	best := math.Inf(1)
	since := 0
	for {
		residual, theta := a.step()
		if c.cut() {
			return r, nil, &iterate{q: a.q}
		}
		r.Iterations++
		it, b = nil, nil
		if set.History || set.Gap > 0 && r.Iterations >= check {
			it = a.iterate(theta, g)
			b = in.certify(c, it)
			check = r.Iterations + 1 + r.Iterations/8
		}
		if set.History {
			h := Iterate{Residual: residual}
			h.Upper, h.Lower = b.original(c)
			h.Step, _ = hilbert.LogDistance(a.next, a.logV)
			if old != nil {
				h.KL = divergence(a.q, old)
			}
			old = append(old[:0], a.q...)
			r.History = append(r.History, h)
		}
		// A residual that has not improved for long is at the level of rounding.
		if residual < 0.9*best {
			best, since = residual, 0
		} else {
			since++
		}
		switch {
		case set.Tolerance > 0 && residual <= math.Max(set.Tolerance, floor), set.Gap > 0 && b != nil && b.small(set.Gap, c):
			r.Status = Converged
		case set.Tolerance == 0 && residual <= math.Max(floor, DefaultTolerance), residual <= 1e-6 && since > 100_000:
			r.Status = Stalled
			if set.Gap > 0 && b == nil {
				it = a.iterate(theta, g)
				if b = in.certify(c, it); b.small(set.Gap, c) {
					r.Status = Converged
				}
			}
		case ctx.Err() != nil:
			r.Status = Cancelled
		case r.Iterations >= set.MaxIterations:
			r.Status = IterationLimit
		default:
			a.logV, a.next = a.next, a.logV
			continue
		}
		r.Residual = residual
		if b == nil {
			it = a.iterate(theta, g)
			b = in.certify(c, it)
		}
		b.objective = a.objective()
		r.Stats.Passes = r.Iterations
		if set.History {
			r.Rate = in.rate(ctx, c, r.History)
		}
		return r, b, it
	}
}

// residualFloor times R / Reg is a residual that rounding of the exponents alone can leave; below it, an
// iterate counts as converged.
const residualFloor = 0x1p-50

// small reports whether the bounds prove a relative gap, or one that is all rounding; see Settings.met.
func (b *bounds) small(gap float64, c *costs) bool {
	return Settings{Gap: gap}.met(b.upper-b.lower, b.upper+c.shift, c.most*b.slack, c.max+c.shift)
}

// divergence returns KL(p || q).
func divergence(p, q []float64) float64 {
	var s float64
	for j, x := range p {
		if x > 0 {
			// Sum of x log(x/y) - x + y, whose terms are not negative.
			s += x*math.Log(x/q[j]) - x + q[j]
		} else {
			s += q[j]
		}
	}
	return math.Max(0, s)
}
