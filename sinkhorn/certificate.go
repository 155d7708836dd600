package sinkhorn

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// iterate is what bounds are computed from: scaled costs, live rows and columns. Its plan is P_ij = u_i M_ij v_j or
// that of logs.
type iterate struct {
	g       []float64 // reg * (log v - theta)
	logU    []float64 // P_ij = u_i v_j exp(-C_ij/reg)
	logV    []float64
	q       []float64 // the projected distribution
	cols    []float64 // column sums of the plan
	reg     float64
	m, u, v []float64
	logs    *logPlan
	// first, if not nil, is what the first pass of this iterate knows; g is then constant.
	first *sweep
	// noise bounds the relative difference between entries of that plan and those that Verify makes
	// from logV, beyond a few roundings.
	noise float64
}

// row writes row i of the plan, of sum mu_i up to rounding.
func (it *iterate) row(i int, dst []float64) {
	if it.m == nil {
		it.logs.row(i, dst)
		return
	}
	n := len(dst)
	m, u := it.m[i*n:(i+1)*n], it.u[i]
	for j, v := range it.v {
		dst[j] = float64(u*m[j]) * v
	}
}

// certificate is what an iterate proves: bounds on the exact problem, with the potentials f and b behind the lower one,
// in scaled costs, and what else a sweep over plan and cost yields. upper is the cost of the repaired plan plus slack
// times the largest cost.
type certificate struct {
	*iterate
	f, b         []float64
	upper, lower float64
	slack        float64 // roundoff, and four times the noise of the entries of the plan
	roundoff     float64 // of sums
	transport    float64
	objective    float64 // <C, P> + reg sum P log P
	posterior    float64
	residual     float64
}

// unproved is what is left of a run that was cut: nothing but its last q.
func unproved(q []float64) *certificate { return &certificate{iterate: &iterate{q: q}} }

// coarse is the residual from which on the plan is repaired for the upper bound: below, charging
// the repair at the largest cost adds less than this times half the largest cost.
const coarse = 1e-8

// proof is a certificate in the making.
//
// Lower bound. With f_i = min_j (C_ij - g_j), b_j = min_i (C_ij - f_i) >= g_j is a better potential than g;
// rounded down, f_i + b_j <= C_ij holds exactly for the floats. A shift f + t, b - t by the best t follows.
//
// Upper bound. The plan P has rows mu and columns c. Scale column j by t_j = min(1, q_j/c_j); this leaves r_i = mu_i -
// sum_j P_ij t_j to be moved from the rows and d_j = (q_j - c_j)_+ to be put in the columns, both of sum D = |q - c|_1
// / 2, and r_i d_j / D does it (Altschuler, Weed and Rigollet 2017). When D is small its cost is not worth a second
// look and D times the largest cost is charged.
type proof struct {
	*certificate
	c *core

	repair, known  bool      // known: a first pass has done the sweep
	t, d           []float64 // what scales the columns of the plan, and what they lack
	left           float64   // the sum of d
	carried, moved []float64 // by row: the cost of the plan, and of its repaired form
	low            []float64 // by chunk of rows: least C_ij - f_i
}

// certify finds the bounds of an iterate.
func (c *core) certify(it *iterate) *certificate {
	p := &proof{certificate: &certificate{iterate: it}, c: c}
	m := loops.Chunks(c.k, c.n)
	if p.open(m); !p.known {
		buf := make([]float64, m*c.n)
		c.rows(func(ch, i int) { p.sweep(ch, i, buf[ch*c.n:(ch+1)*c.n]) })
	}
	if c.cut() { // nothing is proved
		return &certificate{iterate: it, f: p.f, b: make([]float64, c.n), upper: c.most}
	}
	p.close()
	return p.certificate
}

// open is what comes before the sweep: what a repair has to do.
func (p *proof) open(m int) {
	c, n := p.c, p.c.n
	p.f, p.b = make([]float64, c.k), make([]float64, n)
	p.t, p.d = make([]float64, n), make([]float64, n)
	p.carried, p.moved, p.low = make([]float64, c.k), make([]float64, c.k), make([]float64, m*n)
	var left num.Twofold
	bare := false
	for _, x := range c.mass {
		bare = bare || x == 0
	}
	for j, q := range p.q {
		lack := q - p.cols[j]
		p.residual += math.Abs(lack)
		p.t[j], p.d[j] = 1, max(0, lack)
		if lack < 0 {
			p.t[j] = q / p.cols[j]
		}
		left = left.Add(p.d[j])
	}
	p.left = left.Float()
	p.repair = !(p.residual <= coarse)
	if p.known = p.first != nil && !p.repair && !bare; p.known {
		copy(p.f, c.min) // g is constant, and f the least cost of a row but for that
		copy(p.low, p.first.low)
		for i, u := range p.u {
			p.carried[i] = u * p.first.carried[i]
		}
		return
	}
	for l := range p.low {
		p.low[l] = math.Inf(1)
	}
}

// sweep goes over row i, of chunk ch. A row without mass leaves the columns nothing: it would only make the bound worse.
// What the plan costs is, where it needs no repair, u times a product of v with the matrix M_ij C_ij.
func (p *proof) sweep(ch, i int, buf []float64) {
	c, n, row := p.c, p.c.n, p.c.row[i]
	p.f[i] = loops.MinDiff(row, p.g)
	if c.mass[i] > 0 {
		loops.MinInto(p.low[ch*n:(ch+1)*n], row, p.f[i])
	}
	if p.m == nil || p.repair {
		p.carry(i, row, buf)
		return
	}
	for j, x := range p.m[i*n : (i+1)*n] {
		buf[j] = x * row[j]
	}
	p.carried[i] = p.u[i] * ge.Ddot(n, buf, 1, p.v, 1)
}

// carry finds what row i of the plan costs, and of its repaired form.
func (p *proof) carry(i int, row, buf []float64) {
	n := len(buf)
	p.row(i, buf)
	p.carried[i] = ge.Ddot(n, buf, 1, row, 1)
	if !p.repair {
		return
	}
	for j, t := range p.t {
		buf[j] *= t
	}
	// The row may have lost, by rounding, a little more than it had.
	rest := max(0, p.c.mass[i]-num.Sum(buf))
	p.moved[i] = ge.Ddot(n, buf, 1, row, 1)
	if p.left > 0 {
		p.moved[i] += rest / p.left * ge.Ddot(n, p.d, 1, row, 1)
	}
}

// close makes the bounds of what the sweep has found.
func (p *proof) close() {
	c, n := p.c, p.c.n
	loops.JoinMinima(p.b, p.low)
	for j, x := range p.b {
		// Rounding may have raised C_ij - f_i by half a unit.
		p.b[j] = math.Nextafter(x, math.Inf(-1))
	}
	plain := num.Dot(c.mass, p.f) // dual value of the plan itself
	if !p.known {
		plain += num.Dot(p.cols, p.g)
	}
	if p.lower = p.shift(); p.lower == 0 && c.base != nil {
		// Reduced costs are not negative, which prices of 0 prove, and those that were given are not by as much.
		copy(p.f, c.min)
		clear(p.b)
		p.lower = p.shift()
	}
	p.transport = num.Sum(p.carried)
	p.objective = p.reg * (dot(c.mass, p.logU) + dot(p.cols, p.logV)) // log P_ij = log u_i + log v_j - C_ij/reg
	upper := p.transport + c.most*p.left
	if p.repair {
		upper = min(upper, num.Sum(p.moved))
	}
	// Verify's plan has other rounding errors, and charges for them at the largest cost: each of its
	// sums is off by an ulp for every term at most, its entries are cut to multiples of 2^-62, and
	// they differ by the noise from those here.
	p.roundoff = float64(c.k+n+64)*0x1p-52 + float64(c.k)*float64(n)*0x1p-62 + float64(c.tiny)*tinyMass
	p.slack = p.roundoff + 4*p.noise
	charge := c.most * p.slack
	if charge < 0x1p-1022 { // where products lose bits, or all of them
		charge += math.SmallestNonzeroFloat64
	}
	p.upper = min(upper+charge, c.most)
	p.posterior = max(0, p.transport-plain)
}

// dot is the product of masses with logarithms, which are -Inf only where a mass is next to nothing.
func dot(mass, logs []float64) (sum float64) {
	for i, y := range logs {
		if y > math.Inf(-1) {
			sum += mass[i] * y
		}
	}
	return sum
}

// shift moves f up and b down by the best constant, such that the sums do not grow, and returns the dual value,
// rounded down.
func (p *proof) shift() float64 {
	f, b := p.f, p.b
	if t := kl.BestShift(b, p.c.lo, p.c.hi); t != 0 {
		for i, x := range f {
			f[i] = math.Nextafter(x+t, math.Inf(-1))
		}
		for j, x := range b {
			b[j] = math.Nextafter(x-t, math.Inf(-1))
		}
	}
	value, off := kl.Dual(p.c.mass, f, b, p.c.lo, p.c.hi)
	// Columns that take no part have g_j >= -max f, and enter with hi_j g_j at least.
	for _, x := range f {
		off = max(off, float64(p.c.tiny)*0x1p-50*x)
	}
	return max(0, value-off-0x1p-1000)
}
