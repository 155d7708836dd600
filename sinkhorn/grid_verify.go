package sinkhorn

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection/verify"
)

// This file verifies the evidence of the method for grids, Result.Flow, and the proofs of grids with too many
// pairs of cells to look at each. It shares no code with the solvers.

// exactPairs is the number of pairs up to which every one is looked at, and all arithmetic is exact.
const exactPairs = 1e8

// axis is one of the two directions of a grid: lines of n cells, start apart. Neighbours in a line are stride apart in
// memory, and (dx, dy) in the unit square.
type axis struct {
	lines, start int
	n, stride    int
	dx, dy       float64
	squares      []float64 // squared distances over the line
}

// axes returns the two directions: along rows, and along columns.
func (v *verifier) axes() [2]axis {
	rows, cols := v.grid.Size()
	return [2]axis{
		{rows, cols, cols, 1, 1 / float64(cols), 0, squares(cols)},
		{cols, 1, rows, cols, 0, 1 / float64(rows), squares(rows)},
	}
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

func gap(a, b int) int { return max(a-b, b-a) }

// each calls f for every cell, number c of the line that begins at start.
func (a axis) each(f func(at, start, c int)) {
	for l := range a.lines {
		for c := range a.n {
			f(l*a.start+c*a.stride, l*a.start, c)
		}
	}
}

// least returns min_j (in_j + squared distance) over the cells j of the same line.
func (a axis) least(in []float64) []float64 {
	out := make([]float64, len(in))
	a.each(func(at, start, c int) {
		out[at] = math.Inf(1)
		for j := range a.n {
			out[at] = min(out[at], in[start+j*a.stride]+a.squares[gap(c, j)])
		}
	})
	return out
}

// lower proves the lower bound: p is feasible, and its dual value is exact. Feasibility on a grid of more than
// exactPairs pairs is proved with floats: the least of C_ij - G_j over the cells j is found axis by axis, and F_i must
// be below it by more than the rounding errors.
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
	least := make([]float64, v.Kv)
	size := 0.0
	for j, x := range p.G {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return nil, refuse("G[%d] = %v", j, x)
		}
		size = math.Max(size, math.Abs(x))
		least[j] = -x
	}
	for _, a := range v.axes() {
		least = a.least(least)
	}
	// (C - G) is formed with three roundings of numbers up to size + 2; C itself is rounded from an
	// integer fraction, and the squares are twice.
	slack := 16 * 0x1p-53 * (size + 2)
	pairs := float64(exactPairs)
	for i, x := range least {
		if p.F[i] <= x-slack {
			continue
		}
		// Too close for floats. There may be a few of these, such as the only rows with mass.
		if pairs -= float64(v.Kv); pairs < 0 || math.IsNaN(p.F[i]) {
			return nil, refuse("F[%d] = %v is not below %v, the least C - G, by the rounding error %v", i, p.F[i], x, slack)
		}
		if err := v.feasible(i, p); err != nil {
			return nil, err
		}
	}
	bound := v.Dual(p)
	if bound == nil {
		return nil, refuse("F is not finite")
	}
	return bound, nil
}

// feasible checks one row in exact numbers.
func (v *verifier) feasible(i int, p Potentials) error {
	row, err := v.Row(i)
	if err != nil {
		return err
	}
	for j, x := range row {
		// A rounded difference above F says that the exact one is; otherwise the exact one decides.
		if d := x - p.G[j]; d <= p.F[i] && num.NewDyadic(x).Minus(num.NewDyadic(p.G[j])).Cmp(num.NewDyadic(p.F[i])) < 0 {
			return refuse("F[%d] + G[%d] = %v + %v is above the cost %v", i, j, p.F[i], p.G[j], x)
		}
	}
	return nil
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

// way is a direction of a flow: so many cells on, and so far in the unit square.
type way struct {
	cells  int
	dx, dy float64
}

// ways returns those to the right and the left, down and up.
func (v *verifier) ways() (w [4]way) {
	for n, a := range v.axes() {
		w[2*n], w[2*n+1] = way{a.stride, a.dx, a.dy}, way{-a.stride, -a.dx, -a.dy}
	}
	return w
}

// shares are what a step of a flow takes from every cell, as parts of what is there, in the order of ways.
type shares [][4]float64

// shares follows the flow from the column sums and returns its steps and the column sums in the end. No
// cell gives more than it has; what the flow asks for beyond that is cut.
func (v *verifier) shares(f *Flow, sums []float64) ([]shares, []float64) {
	ways := v.ways()
	steps := make([]shares, f.Steps)
	for t := range steps {
		s := make(shares, v.Kv)
		for n, flow := range [][]float64{f.Right, f.Down} {
			for i, x := range flow {
				if x > 0 {
					s[i][2*n] = x / float64(f.Steps)
				} else if x < 0 {
					s[i+ways[2*n].cells][2*n+1] = -x / float64(f.Steps)
				}
			}
		}
		next := slices.Clone(sums)
		for i, m := range sums {
			all := s[i][0] + s[i][1] + s[i][2] + s[i][3]
			if all == 0 {
				continue
			}
			scale := 0.0
			if m > 0 {
				scale = 1 / math.Max(m, all*(1+0x1p-40))
			}
			for n, x := range s[i] {
				if x > 0 {
					s[i][n] = x * scale
					next[i+ways[n].cells] += x * scale * m
					next[i] -= x * scale * m
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
	ways := v.ways()
	reach := ways[2].cells // of a step, in memory
	return func(sums []float64) ([]float64, func(p []float64)) {
		steps, after := v.shares(f, sums)
		mixings, after := v.mixings(f, after)
		next := make([]float64, v.Kv)
		return after, func(p []float64) {
			from, to := 0, len(p) // the part that is not zero
			for from < to && p[from] == 0 {
				from++
			}
			for to > from && p[to-1] == 0 {
				to--
			}
			for _, s := range steps {
				low, high := max(0, from-reach), min(len(p), to+reach)
				clear(next[low:high])
				for i := from; i < to; i++ {
					x, rest := p[i], 1.0
					for n, y := range s[i] {
						if y > 0 {
							next[i+ways[n].cells] += x * y
							rest -= y
						}
					}
					next[i] += x * math.Max(0, rest)
				}
				from, to = low, high
				copy(p[from:to], next[from:to])
			}
			for _, m := range mixings {
				m.row(p)
			}
		}
	}
}

// mixing is what Flow.Mix does in blocks of one size: what every cell gives of what is there, and takes of what its block
// is given.
type mixing struct {
	side, cols int
	give, take []float64
	pool       []float64 // by block
}

// mixings follows Flow.Mix from the column sums and returns its steps and the column sums in the end.
func (v *verifier) mixings(f *Flow, sums []float64) ([]mixing, []float64) {
	if f == nil || !f.Mix {
		return nil, sums
	}
	var all []mixing
	rows, cols := v.grid.Size()
	sums = slices.Clone(sums)
	for side := 2; side < 2*max(rows, cols); side *= 2 {
		m := mixing{side: side, cols: cols, give: make([]float64, v.Kv), take: make([]float64, v.Kv)}
		blocks := m.block(v.Kv-1) + 1
		over, under := make([]float64, blocks), make([]float64, blocks)
		for i, x := range sums {
			over[m.block(i)] += math.Max(0, x-v.Q[i])
			under[m.block(i)] += math.Max(0, v.Q[i]-x)
		}
		for i, x := range sums {
			switch a, b := over[m.block(i)], under[m.block(i)]; {
			case a == 0 || b == 0:
			case x > v.Q[i]:
				m.give[i] = (x - v.Q[i]) / x * math.Min(1, b/a)
			case x < v.Q[i]:
				m.take[i] = (v.Q[i] - x) / b
			}
		}
		m.pool = make([]float64, blocks)
		m.row(sums)
		all = append(all, m)
	}
	return all, sums
}

// block returns the block that cell i is in.
func (m mixing) block(i int) int {
	return i/m.cols/m.side*((m.cols+m.side-1)/m.side) + i%m.cols/m.side
}

// row does that to a row of the plan, or to the column sums.
func (m mixing) row(p []float64) {
	clear(m.pool)
	for i, x := range p {
		if give := m.give[i] * x; give > 0 {
			m.pool[m.block(i)] += give
			p[i] -= give
		}
	}
	for i, take := range m.take {
		if take > 0 {
			p[i] += take * m.pool[m.block(i)]
		}
	}
}

// mix does all of that to columns. Moments about a corner of the grid move with their mass.
func (v *verifier) mix(mixings []mixing, c []arrivals, mass []float64) {
	axes, cols := v.axes(), mixings[0].cols
	x, y, square := make([]float64, v.Kv), make([]float64, v.Kv), make([]float64, v.Kv)
	at := func(i int) (x, y float64) { return float64(i%cols) * axes[0].dx, float64(i/cols) * axes[1].dy }
	for i, m := range mass {
		a, b := at(i)
		x[i], y[i] = m*(c[i].x+a), m*(c[i].y+b)
		square[i] = m * (c[i].square + 2*(c[i].x*a+c[i].y*b) + a*a + b*b)
	}
	for _, m := range mixings {
		for _, p := range [][]float64{mass, x, y, square} {
			m.row(p)
		}
	}
	for i, m := range mass {
		if a, b := at(i); m > 0 {
			c[i].square = math.Max(0, (square[i]-2*(a*x[i]+b*y[i]))/m+a*a+b*b)
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
	none := math.Inf(-1)
	size := 0.0
	start := make([]arrivals, n)
	for j, x := range r.LogV {
		if math.IsNaN(x) || math.IsInf(x, 1) || x == none && v.Hi[j] > 0 {
			return nil, refuse("LogV[%d] = %v", j, x)
		}
		if x > none {
			size = math.Max(size, math.Abs(x))
		}
		if start[j].log = x; v.Hi[j] == 0 {
			start[j].log = none
		}
	}
	axes := v.axes()
	gather := func(in []arrivals) []arrivals { return axes[1].gather(axes[0].gather(in, r.Reg), r.Reg) }
	f := gather(start)
	w := slices.Repeat([]arrivals{{log: none}}, n)
	_ = v.Masses(func(i int, _, mu float64) error {
		if mu > 0 {
			w[i].log = math.Log(mu) - f[i].log
			size = math.Max(size, math.Abs(w[i].log))
		}
		return nil
	})
	c := gather(w)
	mass := make([]float64, n)
	for j := range mass {
		mass[j] = math.Exp(c[j].log + start[j].log)
	}
	most := (axes[0].squares[cols-1] + axes[1].squares[rows-1]) * (1 + 0x1p-48)
	transport, residual := v.cost(c, mass, r.Q)
	if err := claimed(r, transport/most, residual, most); err != nil {
		return nil, err
	}
	steps := 0
	if r.Flow != nil {
		steps = r.Flow.Steps
		all, _ := v.shares(r.Flow, mass)
		for _, s := range all {
			mass = v.follow(s, c, mass)
		}
	}
	slack := gridSlack(rows, cols, size+4*most/r.Reg, steps)
	if mixings, _ := v.mixings(r.Flow, mass); mixings != nil {
		v.mix(mixings, c, mass)
		slack += float64(len(mixings)) * gridSlack(rows, cols, 0, 1)
	}
	upper, off := v.cost(c, mass, r.Q)
	upper = math.Min(upper+most*(off+slack), most)
	if !(upper >= 0) {
		return nil, refuse("the plan costs %v", upper)
	}
	return num.Rat(upper), nil
}

// cost returns what a plan costs whose columns hold mass, and how far they are off q.
func (v *verifier) cost(c []arrivals, mass, q []float64) (cost, off float64) {
	for j, m := range mass {
		cost += m * c[j].square
		off += math.Abs(m - q[j])
	}
	return cost, off
}

// follow takes the columns along one step of a flow, and returns their masses. What comes from (x, y) away and goes on
// by (dx, dy) is (x - dx, y - dy) away.
func (v *verifier) follow(s shares, c []arrivals, mass []float64) []float64 {
	ways := v.ways()
	next, to := make([]float64, len(mass)), make([]arrivals, len(mass))
	for i, m := range mass {
		rest := 1.0
		move := func(w way, share float64) {
			j, part := i+w.cells, share*m
			next[j] += part
			to[j].x += part * (c[i].x - w.dx)
			to[j].y += part * (c[i].y - w.dy)
			to[j].square += part * (c[i].square - 2*(c[i].x*w.dx+c[i].y*w.dy) + w.dx*w.dx + w.dy*w.dy)
			rest -= share
		}
		for n, share := range s[i] {
			if share > 0 {
				move(ways[n], share)
			}
		}
		move(way{}, math.Max(0, rest))
	}
	for j, m := range next {
		if m > 0 {
			c[j] = arrivals{x: to[j].x / m, y: to[j].y / m, square: math.Max(0, to[j].square/m)}
		}
	}
	return next
}

// gridSlack bounds the rounding errors of gridUpper over the largest cost. Exponents of at most size
// are rounded a few times in each of four passes, each log-sum-exp twice more, and so every mass is off
// by less than 60 units of 2^-53 times size; sums of n = rows + cols terms four times, and of all cells
// once, in the order of the cells, by as many units as there are terms; moves by less than 40 a step.
func gridSlack(rows, cols int, size float64, steps int) float64 {
	n := float64(rows + cols)
	return 2 * 0x1p-53 * (60*size + 8*n + float64(rows)*float64(cols) + 40*float64(steps) + 100)
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
