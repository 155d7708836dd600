package sinkhorn

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection/verify"
)

// This file verifies the evidence of the method for grids, Result.Flow, and the proofs of grids with too many
// pairs of cells to look at each. It shares no code with the solvers.

// exactPairs is the number of pairs up to which every one is looked at, and all arithmetic is exact.
const exactPairs = 1e8

// lower proves the lower bound: p is feasible, and its dual value is exact. Feasibility on a grid of more than exactPairs pairs is proved with floats: the least of
// C_ij - G_j over the cells j is found axis by axis, and F_i must be below it by more than the rounding errors.
func (v *verifier) lower(p Potentials) (*big.Rat, error) {
	if v.grid == nil || float64(v.K)*float64(v.Kv) <= exactPairs {
		if _, err := v.Lower(p); err != nil {
			return nil, err
		}
		return v.Dual(p), nil
	}
	if len(p.F) != v.K || len(p.G) != v.Kv {
		return nil, refuse("potentials have %d and %d entries, want %d and %d", len(p.F), len(p.G), v.K, v.Kv)
	}
	rows, cols := v.grid.Size()
	pairs := float64(exactPairs)
	size := 0.0
	for j, x := range p.G {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return nil, refuse("G[%d] = %v", j, x)
		}
		size = math.Max(size, math.Abs(x))
	}
	x2, y2 := squares(cols), squares(rows)
	// (C - G) is formed with three roundings of numbers up to size + 2; C itself is rounded from an
	// integer fraction, and the squares are twice.
	slack := 16 * 0x1p-53 * (size + 2)
	part := make([]float64, v.Kv) // part[r*cols+c] = min over columns of row r
	for r := range rows {
		line := p.G[r*cols : (r+1)*cols]
		for c := range cols {
			least := math.Inf(1)
			for j, x := range line {
				least = math.Min(least, x2[gap(c, j)]-x)
			}
			part[r*cols+c] = least
		}
	}
	best := make([]float64, cols)
	for r := range rows {
		for c := range best {
			best[c] = math.Inf(1)
		}
		for r2 := range rows {
			y := y2[gap(r, r2)]
			for c, x := range part[r2*cols : (r2+1)*cols] {
				best[c] = math.Min(best[c], x+y)
			}
		}
		for c, x := range best {
			i := r*cols + c
			if p.F[i] <= x-slack {
				continue
			}
			// Too close for floats. There may be a few of these, such as the only rows with mass.
			if pairs -= float64(v.Kv); pairs < 0 || math.IsNaN(p.F[i]) {
				return nil, refuse("F[%d] = %v is not below %v, the least C - G, by the rounding error %v", i, p.F[i], x, slack)
			}
			row, err := v.Row(i)
			if err != nil {
				return nil, err
			}
			for j, x := range row {
				// A rounded difference above F says that the exact one is; otherwise the exact one decides.
				if d := x - p.G[j]; d <= p.F[i] && num.NewDyadic(x).Minus(num.NewDyadic(p.G[j])).Cmp(num.NewDyadic(p.F[i])) < 0 {
					return nil, refuse("F[%d] + G[%d] = %v + %v is above the cost %v", i, j, p.F[i], p.G[j], x)
				}
			}
		}
	}
	bound := v.Dual(p)
	if bound == nil {
		return nil, refuse("F is not finite")
	}
	return bound, nil
}

// squares returns (d/n)^2 for d = 0..n-1.
func squares(n int) []float64 {
	s := make([]float64, n)
	for d := range s {
		x := float64(d) / float64(n)
		s[d] = x * x
	}
	return s
}

func gap(a, b int) int {
	if a < b {
		return b - a
	}
	return a - b
}

// upper proves the upper bound.
func (v *verifier) upper(r Result) (*big.Rat, error) {
	if err := v.checkFlow(r.Flow); err != nil {
		return nil, err
	}
	live := 0.0
	_ = v.Masses(func(int, float64, float64) error {
		live++
		return nil
	})
	if v.grid == nil || live*float64(v.Kv) <= exactPairs {
		return v.dense(r)
	}
	return v.gridUpper(r)
}

// checkFlow checks the form of a flow.
func (v *verifier) checkFlow(f *Flow) error {
	if f == nil {
		return nil
	}
	if v.grid == nil {
		return refuse("a flow between cells, but the cost is not a grid")
	}
	if len(f.Right) != v.Kv || len(f.Down) != v.Kv || f.Steps < 1 || f.Steps > 1000 {
		return refuse("a flow of %d and %d cells in %d steps, want %d", len(f.Right), len(f.Down), f.Steps, v.Kv)
	}
	rows, cols := v.grid.Size()
	for i := range v.Kv {
		if !(math.Abs(f.Right[i]) <= 2 && math.Abs(f.Down[i]) <= 2) {
			return refuse("the flow from cell %d is %v and %v", i, f.Right[i], f.Down[i])
		}
		if f.Right[i] != 0 && i%cols == cols-1 || f.Down[i] != 0 && i/cols == rows-1 {
			return refuse("the flow from cell %d leaves the grid", i)
		}
	}
	return nil
}

// shares are what a step of a flow takes from every cell, as parts of what is there: to the left, the right, up
// and down.
type shares struct{ left, right, up, down []float64 }

// shares follows the flow from the column sums and returns its steps and the column sums in the end. No
// cell gives more than it has; what the flow asks for beyond that is cut.
func (v *verifier) shares(f *Flow, sums []float64) ([]shares, []float64) {
	_, cols := v.grid.Size()
	n := v.Kv
	sums = append([]float64(nil), sums...)
	steps := make([]shares, f.Steps)
	for t := range steps {
		s := shares{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
		for i := range n {
			if x := f.Right[i] / float64(f.Steps); x > 0 {
				s.right[i] = x
			} else if x < 0 {
				s.left[i+1] = -x
			}
			if x := f.Down[i] / float64(f.Steps); x > 0 {
				s.down[i] = x
			} else if x < 0 {
				s.up[i+cols] = -x
			}
		}
		next := append([]float64(nil), sums...)
		for i := range n {
			all := s.left[i] + s.right[i] + s.up[i] + s.down[i]
			if all == 0 {
				continue
			}
			scale := 0.0
			if sums[i] > 0 {
				scale = 1 / math.Max(sums[i], all*(1+0x1p-40))
			}
			for _, to := range []struct {
				x *float64
				j int
			}{{&s.left[i], i - 1}, {&s.right[i], i + 1}, {&s.up[i], i - cols}, {&s.down[i], i + cols}} {
				if *to.x > 0 {
					*to.x *= scale
					next[to.j] += *to.x * sums[i]
					next[i] -= *to.x * sums[i]
				}
			}
		}
		steps[t], sums = s, next
	}
	return steps, sums
}

// moves returns what takes a plan along the flow, or nil without one.
func (v *verifier) moves(f *Flow) verify.Moves {
	if f == nil {
		return nil
	}
	return func(sums []float64) ([]float64, func(p []float64)) {
		steps, after := v.shares(f, sums)
		_, cols := v.grid.Size()
		next := make([]float64, v.Kv)
		return after, func(p []float64) {
			from, to := 0, len(p) // the part that is not zero, by rows of the grid
			for from < to && p[from] == 0 {
				from++
			}
			for to > from && p[to-1] == 0 {
				to--
			}
			for _, s := range steps {
				for i := max(0, from-cols); i < min(len(p), to+cols); i++ {
					next[i] = 0
				}
				for i := from; i < to; i++ {
					x := p[i]
					if x == 0 {
						continue
					}
					rest := 1.0
					if y := s.left[i]; y > 0 {
						next[i-1] += x * y
						rest -= y
					}
					if y := s.right[i]; y > 0 {
						next[i+1] += x * y
						rest -= y
					}
					if y := s.up[i]; y > 0 {
						next[i-cols] += x * y
						rest -= y
					}
					if y := s.down[i]; y > 0 {
						next[i+cols] += x * y
						rest -= y
					}
					next[i] += x * math.Max(0, rest)
				}
				from, to = max(0, from-cols), min(len(p), to+cols)
				copy(p[from:to], next[from:to])
			}
		}
	}
}

// gridUpper proves the upper bound on a grid with floats: the plan of r.LogV with rows mu, the flow, and the
// largest cost for what is missing then; rounded outward by gridSlack of the largest cost.
//
// Everything is a sum over an axis at a time, of all its cells, with the largest term taken out.
func (v *verifier) gridUpper(r Result) (*big.Rat, error) {
	rows, cols := v.grid.Size()
	n := v.Kv
	if len(r.LogV) != n || !(r.Reg > 0) || math.IsInf(r.Reg, 0) {
		return nil, refuse("LogV has %d entries, want %d; Reg = %v", len(r.LogV), n, r.Reg)
	}
	size := 0.0
	for j, x := range r.LogV {
		if math.IsNaN(x) || math.IsInf(x, 1) || math.IsInf(x, -1) && v.Hi[j] > 0 {
			return nil, refuse("LogV[%d] = %v", j, x)
		}
		if !math.IsInf(x, -1) {
			size = math.Max(size, math.Abs(x))
		}
	}
	x2, y2 := squares(cols), squares(rows)
	logV := append([]float64(nil), r.LogV...)
	for j, h := range v.Hi {
		if h == 0 {
			logV[j] = math.Inf(-1)
		}
	}
	none := carried{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	pass := func(w []float64) carried {
		none.log = w
		a := none.along(rows, cols, cols, 1, x2, r.Reg, 1/float64(cols), true)
		return a.along(cols, rows, 1, cols, y2, r.Reg, 1/float64(rows), false)
	}
	f := pass(logV).log
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Inf(-1)
	}
	_ = v.Masses(func(i int, _, mu float64) error {
		if mu > 0 {
			w[i] = math.Log(mu) - f[i]
			size = math.Max(size, math.Abs(w[i]))
		}
		return nil
	})
	c := pass(w)
	mass := make([]float64, n)
	var transport, residual float64
	for j := range mass {
		mass[j] = math.Exp(c.log[j] + logV[j])
		transport += mass[j] * c.square[j]
		residual += math.Abs(mass[j] - r.Q[j])
	}
	most := (x2[cols-1] + y2[rows-1]) * (1 + 0x1p-48)
	if err := claimed(r, transport/most, residual, most); err != nil {
		return nil, err
	}
	steps := 0
	if r.Flow != nil {
		steps = r.Flow.Steps
		all, _ := v.shares(r.Flow, mass)
		dx, dy := 1/float64(cols), 1/float64(rows)
		for _, s := range all {
			next := make([]float64, n)
			var to carried
			to.x, to.y, to.square = make([]float64, n), make([]float64, n), make([]float64, n)
			for i, m := range mass {
				rest := 1.0
				// A part y of cell i goes on by (a, b).
				go1 := func(j int, y, a, b float64) {
					if y == 0 {
						return
					}
					rest -= y
					part := y * m
					next[j] += part
					to.x[j] += part * (c.x[i] - a)
					to.y[j] += part * (c.y[i] - b)
					to.square[j] += part * (c.square[i] - 2*(c.x[i]*a+c.y[i]*b) + a*a + b*b)
				}
				go1(i-1, s.left[i], -dx, 0)
				go1(i+1, s.right[i], dx, 0)
				go1(i-cols, s.up[i], 0, -dy)
				go1(i+cols, s.down[i], 0, dy)
				go1(i, math.Max(0, rest), 0, 0)
			}
			for j, m := range next {
				if m > 0 {
					c.x[j], c.y[j], c.square[j] = to.x[j]/m, to.y[j]/m, math.Max(0, to.square[j]/m)
				}
			}
			mass = next
		}
	}
	var upper, off float64
	for j, m := range mass {
		upper += m * c.square[j]
		off += math.Abs(m - r.Q[j])
	}
	slack := gridSlack(rows, cols, size+4*most/r.Reg, steps)
	upper = math.Min(upper+most*(off+slack), most)
	if !(upper >= 0) {
		return nil, refuse("the plan costs %v", upper)
	}
	return num.Rat(upper), nil
}

// gridSlack bounds the rounding errors of gridUpper over the largest cost. Exponents of at most size
// are rounded a few times in each of four passes, each log-sum-exp twice more, and so every mass is off
// by less than 60 units of 2^-53 times size; sums of n = rows + cols terms four times, and of all cells
// once, in the order of the cells, by as many units as there are terms; moves by less than 40 a step.
func gridSlack(rows, cols int, size float64, steps int) float64 {
	n := float64(rows + cols)
	return 2 * 0x1p-53 * (60*size + 8*n + float64(rows)*float64(cols) + 40*float64(steps) + 100)
}

// carried is what cells have gathered from others: the log of the weight, and means over it of the way
// from here to there, and of its square.
type carried struct{ log, x, y, square []float64 }

// along gathers along one axis: lines of n cells, stride apart, each line start apart from the next.
func (in carried) along(lines, n, start, stride int, squares []float64, reg, unit float64, horizontal bool) carried {
	m := len(in.log)
	out := carried{make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m)}
	for l := range lines {
		for c := range n {
			at := l*start + c*stride
			top := math.Inf(-1)
			for j := range n {
				top = math.Max(top, in.log[l*start+j*stride]-squares[gap(c, j)]/reg)
			}
			out.log[at] = top
			if math.IsInf(top, -1) {
				continue
			}
			var z, x, y, sq float64
			for j := range n {
				i := l*start + j*stride
				e := in.log[i] - squares[gap(c, j)]/reg - top
				if e < -60 {
					continue
				}
				p := math.Exp(e)
				d := float64(j-c) * unit
				z += p
				if horizontal {
					x += p * (in.x[i] + d)
					y += p * in.y[i]
				} else {
					x += p * in.x[i]
					y += p * (in.y[i] + d)
				}
				sq += p * (in.square[i] + squares[gap(c, j)])
			}
			out.log[at] += math.Log(z)
			out.x[at], out.y[at], out.square[at] = x/z, y/z, sq/z
		}
	}
	return out
}
