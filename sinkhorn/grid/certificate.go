package grid

import (
	"math"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// answer is what one set of prices proves, and the prices.
type answer struct {
	reg                  float64
	logV, q              []float64
	f, g                 []float64 // potentials of the exact problem
	flow                 Flow
	upper, lower         float64
	transport, objective float64
	posterior, residual  float64
	priceSum             float64 // sum of column sums times prices
}

// rounding bounds, relative to the masses, how much the column sums of a plan and what goes with them
// are off: exponents of size v are rounded some 30 times on the way from the prices to a column sum and
// back, sums of up to rows and cols terms are taken twice each, and as often terms below e^-36 are left out.
func (l *level) rounding(v float64, steps int) float64 {
	n := float64(l.rows + l.cols)
	cells := float64(l.rows) * float64(l.cols)
	return 0x1p-53*(64*v+16*n+1024*float64(steps)+cells) + 4*n*0x1p-51
}

// certify finds what the prices g (-Inf where hi = 0) prove at Reg = k.reg. in is nil on coarse levels.
//
// Upper bound. The plan has the rows mu exactly: P_ij = mu_i v_j K_ij / sum_j' v_j' K_ij'. Its columns and
// their moments are sums over the grid. A flow between neighbouring cells takes its column sums to q, the
// cost follows, and what the flow leaves is charged at the largest cost.
//
// Lower bound. f_i = min_j (C_ij - g_j), b_j = min over rows with mass of (C_ij - f_i), a shift of b
// by the best constant, and f again, rounded down so that f_i + b_j <= C_ij for every i and j.
func (s *solver) certify() *answer {
	l, k, n := s.l, s.k, len(s.g)
	a := &answer{reg: k.reg, logV: make([]float64, n), q: make([]float64, n)}
	for j, x := range s.g {
		a.logV[j] = x / k.reg
	}
	f := make([]float64, n)
	k.sum(f, a.logV)
	w := make([]float64, n)
	size := 0.0 // the largest exponent
	for i := range w {
		w[i] = l.logMu[i] - f[i]
		if !math.IsInf(w[i], -1) {
			size = max(size, math.Abs(w[i]))
		}
		if x := a.logV[i]; !math.IsInf(x, -1) {
			size = max(size, math.Abs(x))
		}
	}
	m := k.moments(w)
	var exact kl.Workspace
	exact.Project(m.log, l.lo, l.hi, a.q)
	p := make([]column, n)
	mass, costs := m.log, m.square
	var entropy, rows num.Twofold // sum c log v and sum mu w
	for j, x := range m.log {
		c := math.Exp(x + a.logV[j])
		if c > 0 {
			entropy = entropy.Add(c * a.logV[j])
		}
		p[j] = column{c, c * m.x[j], c * m.y[j], c * m.square[j]}
		mass[j], costs[j] = c, p[j].square
	}
	a.residual, a.transport = distance(a.q, mass), num.Sum(costs)
	for i, mu := range l.mu {
		if mu > 0 {
			rows = rows.Add(mu * w[i])
		}
	}
	a.objective = k.reg * rows.Plus(entropy).Float()

	top := l.largest()
	a.upper = a.transport + top*a.residual
	start := slices.Clone(p)
	if a.flow = l.balance(mass, a.q); !a.flow.apply(l, p) {
		a.flow, p = l.still(), start
	}
	if a.flow.Mix {
		l.mix(p, a.q)
	}
	for j, c := range p {
		mass[j], costs[j] = c.mass, c.square
	}
	a.upper = min(a.upper, num.Sum(costs)+top*distance(mass, a.q))
	dx, dy := l.spacing()
	noise := l.rounding(size+2*(dx*dx+dy*dy+top)/k.reg, a.flow.Steps)
	if a.flow.Mix {
		noise += float64(bits.Len(uint(max(l.rows, l.cols)))) * l.rounding(0, 1)
	}
	a.upper = min(a.upper+16*noise*top, top)

	a.priceSum = k.reg * entropy.Float()
	s.potentials(a)
	return a
}

// distance returns |a - b|_1.
func distance(a, b []float64) float64 {
	var s num.Twofold
	for i, x := range a {
		s = s.Add(math.Abs(x - b[i]))
	}
	return s.Float()
}

// largest returns a bound on the largest cost: that of a corner to the opposite one, rounded up.
func (l *level) largest() float64 {
	dx, dy := l.spacing()
	x, y := dx*float64(l.cols-1), dy*float64(l.rows-1)
	return (x*x + y*y) * (1 + 0x1p-48)
}

// potentials fills in f, g, lower and posterior.
func (s *solver) potentials(a *answer) {
	l, k, n := s.l, s.k, len(s.g)
	v, f, b := make([]float64, n), make([]float64, n), make([]float64, n)
	for j, x := range s.g {
		v[j] = -x
	}
	k.transform(f, v)
	for i, mu := range l.mu {
		v[i] = math.Inf(1)
		if mu > 0 {
			v[i] = -f[i]
		}
	}
	// The potentials of the plan itself: see Result.
	a.posterior = max(0, a.transport-num.Dot(l.mu, f)-a.priceSum)
	k.transform(b, v)
	t := kl.BestShift(b, l.lo, l.hi)
	for j := range b {
		b[j] -= t
	}
	k.rowPotentials(f, b)
	value, off := kl.Dual(l.mu, f, b, l.lo, l.hi)
	a.lower = max(0, value-off-0x1p-1000)
	a.f, a.g = f, b
}

// RowPotentials returns the largest f with f_i + g_j <= C_ij for all cells i and j, up to rounding, to the safe side.
func RowPotentials(c *cost.Grid, g []float64) []float64 {
	rows, cols := c.Size()
	f := make([]float64, len(g))
	newKernel(&level{rows: rows, cols: cols}).rowPotentials(f, g)
	return f
}

// rowPotentials is RowPotentials for a level.
func (k *kernel) rowPotentials(f, g []float64) {
	v := make([]float64, len(g))
	size := 0.0
	for j, x := range g {
		v[j] = -x
		size = max(size, math.Abs(x))
	}
	k.transform(f, v)
	down := 2 * transformError(k.l.rows, k.l.cols, size)
	for i := range f {
		f[i] -= down
	}
}
