package gridproof

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection/verify"
)

// Plan proves an upper bound with floats: that of the plan with rows mu that logV describes at reg, then moved along
// the flow, if there is one, and the largest cost for what is off Q then; rounded outward by slack of the largest cost.
//
// Everything is a sum over an axis at a time, of all its cells, with the largest term taken out.
func (c *Case) Plan(logV []float64, reg float64, flow *Flow) (verify.Found, error) {
	var found verify.Found
	n := c.Kv
	if len(logV) != n || !(reg > 0) || math.IsInf(reg, 0) {
		return found, refuse("LogV has %d entries, want %d; Reg = %v", len(logV), n, reg)
	}
	none := math.Inf(-1)
	size := 0.0
	start := make([]arrivals, n)
	for j, x := range logV {
		if math.IsNaN(x) || math.IsInf(x, 1) || x == none && c.Hi[j] > 0 {
			return found, refuse("LogV[%d] = %v", j, x)
		}
		if x > none {
			size = math.Max(size, math.Abs(x))
		}
		if start[j].log = x; c.Hi[j] == 0 {
			start[j].log = none
		}
	}
	axes := c.axes()
	gather := func(in []arrivals) []arrivals { return axes[1].gather(axes[0].gather(in, reg), reg) }
	f := gather(start)
	w := slices.Repeat([]arrivals{{log: none}}, n)
	_ = c.Masses(func(i int, _, mu float64) error {
		if mu > 0 {
			w[i].log = math.Log(mu) - f[i].log
			size = math.Max(size, math.Abs(w[i].log))
		}
		return nil
	})
	m := moments{c: c}
	m.mass, m.x, m.y, m.square = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for j, p := range gather(w) {
		m.put(j, math.Exp(p.log+start[j].log), p)
	}
	found.Most = (axes[0].squares[c.cols-1] + axes[1].squares[c.rows-1]) * (1 + 0x1p-48)
	cost, off := m.cost()
	found.Transport, found.Residual = cost/found.Most, off
	steps, mixings := 0, 0
	if flow != nil {
		c.follow(flow, m.mass, func(step move) {
			for _, p := range [][]float64{m.x, m.y, m.square} {
				step(p, 0, n)
			}
			mixings++
		})
		cost, off = m.cost()
		steps, mixings = flow.Steps, mixings-flow.Steps
	}
	margin := slack(c.rows, c.cols, size+4*found.Most/reg, steps, mixings)
	upper := math.Min(cost+found.Most*(off+margin), found.Most)
	if !(upper >= 0) {
		return found, refuse("the plan costs %v", upper)
	}
	found.Upper = num.Rat(upper)
	return found, nil
}

// moments are what is known of a plan: by column, its mass, and sums over it of where in the unit square it came from,
// and of the square of that. These move with the mass, by the same shares.
type moments struct {
	c                  *Case
	mass, x, y, square []float64
}

// at returns where cell i is. The first one is at (0, 0).
func (m *moments) at(i int) (x, y float64) {
	return float64(i%m.c.cols) / float64(m.c.cols), float64(i/m.c.cols) / float64(m.c.rows)
}

// put says that mass has arrived in column j as p says.
func (m *moments) put(j int, mass float64, p arrivals) {
	a, b := m.at(j)
	m.mass[j], m.x[j], m.y[j] = mass, mass*(p.x+a), mass*(p.y+b)
	m.square[j] = mass * (p.square + 2*(p.x*a+p.y*b) + a*a + b*b)
}

// cost returns what the plan costs, and how far its columns are off Q.
func (m *moments) cost() (cost, off float64) {
	for j, mass := range m.mass {
		a, b := m.at(j)
		cost += math.Max(0, m.square[j]-2*(a*m.x[j]+b*m.y[j])+(a*a+b*b)*mass)
		off += math.Abs(mass - m.c.Q[j])
	}
	return cost, off
}

// slack bounds the rounding errors of Plan over the largest cost. Exponents of at most size are rounded a few times in
// each of four passes, each log-sum-exp twice more, and so every mass is off by less than 60 units of 2^-53 times size;
// sums of n = rows + cols terms four times, and of all cells once, in the order of the cells, by as many units as there
// are terms; moments by less than 40 a step. A mixing sums what a block is given, in mass and moments, and what it
// lacks, which makes six sums of at most all cells.
func slack(rows, cols int, size float64, steps, mixings int) float64 {
	n, cells := float64(rows+cols), float64(rows)*float64(cols)
	return 2 * 0x1p-53 * (60*size + 8*n + cells + 3*float64(mixings)*cells + 40*float64(steps+mixings) + 100)
}

// arrivals is what a cell has gathered from others: the log of the weight, and means over it of the way from here to
// there, and of its square.
type arrivals struct{ log, x, y, square float64 }

// gather gathers along one axis.
func (a axis) gather(in []arrivals, reg float64) []arrivals {
	out := make([]arrivals, len(in))
	a.each(func(at, start, c int) {
		top := math.Inf(-1)
		for j := range a.n {
			top = math.Max(top, in[start+j*a.stride].log-a.squares[gap(c, j)]/reg)
		}
		out[at].log = top
		if math.IsInf(top, -1) {
			return
		}
		var z, x, y, square float64
		for j := range a.n {
			from, away := in[start+j*a.stride], a.squares[gap(c, j)]
			e := from.log - away/reg - top
			if e < -60 {
				continue
			}
			p, d := math.Exp(e), float64(j-c)
			z += p
			x += p * (from.x + d*a.dx)
			y += p * (from.y + d*a.dy)
			square += p * (from.square + away)
		}
		out[at] = arrivals{top + math.Log(z), x / z, y / z, square / z}
	})
	return out
}
