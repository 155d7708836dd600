package sinkhorn

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// logPlan is the plan of v by its logarithms alone, as Verify makes it:
//
//	P_ij = mu_i v_j exp(-C_ij/reg) / sum_l v_l exp(-C_il/reg).
//
// No scaling of it can leave the range of floats. It serves where those of the kernel have done so, and where the
// rounding of absorbed potentials is more than the gap.
type logPlan struct {
	c    *core
	reg  float64
	logV []float64
	logU []float64 // P_ij = u_i v_j exp(-C_ij/reg)
	cols []float64 // column sums
}

// newLogPlan makes one pass over the cost.
func newLogPlan(c *core, reg float64, logV []float64) *logPlan {
	p := &logPlan{c: c, reg: reg, logV: logV, logU: make([]float64, c.k), cols: make([]float64, c.n)}
	m := loops.Chunks(c.k, c.n)
	part, rows := make([]float64, m*c.n), make([]float64, m*c.n)
	c.rows(func(ch, i int) {
		row, sum := rows[ch*c.n:(ch+1)*c.n], part[ch*c.n:(ch+1)*c.n]
		p.logU[i] = p.row(i, row)
		for j, x := range row {
			sum[j] += x
		}
	})
	for ch := range m {
		for j, x := range part[ch*c.n : (ch+1)*c.n] {
			p.cols[j] += x
		}
	}
	return p
}

// row writes row i of the plan and returns log u_i.
func (p *logPlan) row(i int, dst []float64) float64 {
	row, least := p.c.row[i], p.c.min[i]
	top := math.Inf(-1)
	for j := range dst {
		dst[j] = p.logV[j] - (row[j]-least)/p.reg
		top = math.Max(top, dst[j])
	}
	var z float64
	for j, x := range dst {
		dst[j] = math.Exp(x - top)
		z += dst[j]
	}
	share := p.c.mass[i] / z
	for j := range dst {
		dst[j] *= share
	}
	return num.Log(p.c.mass[i]) - math.Log(z) - top + least/p.reg
}

// thin is a column sum below which terms may be missing from it, which exponentials below e^-745 flush to zero: such
// columns are summed again with exponents of their own.
const thin = 1e-200

// logS returns log s, s_j = sum_i u_i exp(-C_ij/reg) = c_j / v_j. If the context ends, or has cut the column sums short,
// the sums of thin columns that are left are 0.
func (p *logPlan) logS() []float64 {
	s := make([]float64, p.c.n)
	var few []int
	for j, y := range p.cols {
		if y > thin {
			s[j] = math.Log(y) - p.logV[j]
		} else {
			few = append(few, j)
		}
	}
	if p.c.cut() { // all columns may look thin
		return s
	}
	p.c.loop(len(few), func(n int) {
		j := few[n]
		x := make([]float64, p.c.k)
		for i, row := range p.c.row {
			x[i] = p.logU[i] - row[j]/p.reg
		}
		s[j] = num.LogSumExp(x)
	})
	return s
}

// project sets q to the projection of s, and returns log s and the multiplier.
func (p *logPlan) project(lo, hi, q []float64) (logS []float64, theta float64) {
	logS = p.logS()
	var w kl.Workspace
	theta, _ = w.Project(logS, lo, hi, q)
	return logS, theta
}

// iterate describes the plan beside a q of that multiplier, with potentials such that free columns are at 0.
func (p *logPlan) iterate(theta float64, q []float64) *iterate {
	g := make([]float64, p.c.n)
	for j, x := range p.logV {
		g[j] = p.reg * (x - theta)
	}
	return &iterate{g: g, logU: p.logU, logV: p.logV, q: q, cols: p.cols, reg: p.reg, logs: p}
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
