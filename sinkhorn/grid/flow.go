package grid

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"
)

var ge gonum.Implementation

// A plan on a grid is known by its columns: how much mass arrives, from how far on average, and at
// which squared distance. That is enough to follow what happens to its cost when mass is moved on from column to
// column, each share in the proportions of all that is there: going on by d from a source at x (relative to
// the column) changes |x|^2 to |x - d|^2 = |x|^2 - 2 x.d + |d|^2. So the defect of the column sums
// of a plan that has not converged can be repaired by moves between neighbours at a true cost that is known,
// instead of being charged at the largest cost.

// column is what arrives in a column of a plan: the mass, and sums over it, not means, of the way that it has come and
// of its square.
type column struct{ mass, x, y, square float64 }

func (c *column) add(d column) {
	c.mass += d.mass
	c.x += d.x
	c.y += d.y
	c.square += d.square
}

// Flow is mass moved between neighbouring columns on a grid: Right[i] from cell i to the next in its row, Down[i] to
// the one below; negative the other way. The flow is applied in Steps equal parts, one after the other. In each part
// all cells give at the same time, and a cell gives the same share of everything that has arrived there. With Mix, the
// remaining difference from Q is then moved from cells with an excess to cells with a deficit, in blocks of 2 x 2
// cells, then 4 x 4, and so on up to the whole grid. In a block, each cell gives the same share of its excess, the
// given mass is mixed, and each cell takes the same share of its deficit. The difference from Q that remains in the end
// is charged at the largest cost.
type Flow struct {
	Right, Down []float64
	Steps       int
	Mix         bool
}

// maxFlowSteps bounds the work of a repair. A plan that needs more is far from converged.
const maxFlowSteps = 64

// leaks are tried in turn: shares of its mass, over the square of the longer side in cells, by which a cell may stay
// off for every unit of the potential of the flow. Between masses with next to nothing between them, no flow will do,
// and with the last one the flow goes only some 1/60 of a side before it is settled otherwise.
var leaks = [...]float64{0, 1, 16, 256, 4096}

// leftOver is the share of the defect that a flow may leave beside a leak. It is charged at the largest cost or mixed
// in blocks, and a hundredth of the defect is then less than what the flow itself costs.
const leftOver = 0.01

// edges calls f for every pair of neighbours on a grid: axis 0 with cell j to the right of cell i, and axis 1 with j
// below i.
func edges(rows, cols int, f func(axis, i, j int)) {
	for r := range rows {
		for c := range cols {
			i := r*cols + c
			if c+1 < cols {
				f(0, i, i+1)
			}
			if r+1 < rows {
				f(1, i, i+cols)
			}
		}
	}
}

// balance finds the flow that takes the column sums mass to q: least squares with weights near the masses,
// so that cells without mass are not passed through. It solves a Poisson equation by conjugate gradients
// with a multigrid cycle.
func (l *level) balance(mass, q []float64) Flow {
	rows, cols := l.rows, l.cols
	n := rows * cols
	w, e := make([]float64, n), make([]float64, n)
	for i := range w {
		w[i], e[i] = min(mass[i], q[i]), mass[i]-q[i]
	}
	fl := Flow{Right: make([]float64, n), Down: make([]float64, n), Steps: 1}
	flow := [2][]float64{fl.Right, fl.Down}
	dx, dy := l.spacing()
	// Conductances of edges: cross-section over length, up to a common factor.
	ratio := [2]float64{dy / dx, dx / dy}
	edges(rows, cols, func(axis, i, j int) {
		if a, b := w[i], w[j]; a > 0 && b > 0 {
			flow[axis][i] = ratio[axis] * 2 * (a / (a + b)) * b
		}
	})
	link := [2][]float64{slices.Clone(fl.Right), slices.Clone(fl.Down)}
	leak, out := make([]float64, n), make([]float64, n)
	for _, share := range leaks {
		for i, x := range w {
			leak[i] = share * x / float64(max(rows, cols)*max(rows, cols))
		}
		d, left := newPoisson(rows, cols, dx, dy, link[0], link[1], leak).solve(e)
		clear(out)
		edges(rows, cols, func(axis, i, j int) {
			f := (d[i] - d[j]) * link[axis][i]
			flow[axis][i] = f
			out[i] += max(f, 0)
			out[j] += max(-f, 0)
		})
		// Without a leak, the mass of a cell stays between mass and q on the way, up to rounding. No more than half of it
		// may leave in a step.
		fl.Mix = share > 0
		worst := 0.0
		for i, x := range out {
			if x > 0 {
				worst = max(worst, x/w[i])
			}
		}
		if worst <= maxFlowSteps/2 && left <= leftOver {
			fl.Steps = max(1, int(math.Ceil(2*worst)))
			return fl
		}
	}
	return l.still()
}

// still is no flow, only mixing.
func (l *level) still() Flow {
	n := l.rows * l.cols
	return Flow{Right: make([]float64, n), Down: make([]float64, n), Steps: 1, Mix: true}
}

// apply moves the plan along the flow. It reports false, and leaves the plan in ruins, if a cell would run out of mass.
func (fl Flow) apply(l *level, p []column) bool {
	dx, dy := l.spacing()
	flow, way := [2][]float64{fl.Right, fl.Down}, [2][2]float64{{dx, 0}, {0, dy}}
	d := make([]column, len(p))
	for range fl.Steps {
		clear(d)
		edges(l.rows, l.cols, func(axis, i, j int) {
			m, dx, dy := flow[axis][i]/float64(fl.Steps), way[axis][0], way[axis][1]
			if m < 0 {
				i, j, m, dx, dy = j, i, -m, -dx, -dy
			}
			if m == 0 {
				return
			}
			share := m / p[i].mass
			x, y, square := share*p[i].x, share*p[i].y, share*p[i].square
			d[i].add(column{-m, -x, -y, -square})
			d[j].add(column{m, x - m*dx, y - m*dy, square - 2*(x*dx+y*dy) + m*(dx*dx+dy*dy)})
		})
		for i := range p {
			p[i].add(d[i])
			if !(p[i].mass >= 0) || !(p[i].square >= 0) {
				return false
			}
		}
	}
	return true
}

// poisson is a weighted graph Laplacian on a grid with the coarser ones of its multigrid cycle.
type poisson struct {
	rows, cols  int
	right, down []float64 // conductances
	diagonal    []float64
	x, b, r     []float64
	next        *poisson
	sx, sy      int // by how many bits it has fewer columns and rows
}

// newPoisson makes one for cells of dx x dy.
func newPoisson(rows, cols int, dx, dy float64, right, down, leak []float64) *poisson {
	n := rows * cols
	p := &poisson{
		rows: rows, cols: cols, right: append([]float64(nil), right...), down: append([]float64(nil), down...),
		diagonal: slices.Clone(leak), x: make([]float64, n), b: make([]float64, n), r: make([]float64, n),
	}
	links := [2][]float64{right, down}
	edges(rows, cols, func(axis, i, j int) {
		p.diagonal[i] += links[axis][i]
		p.diagonal[j] += links[axis][i]
	})
	if rows <= 2 && cols <= 2 {
		return p
	}
	// Cells are joined in pairs, along the finer axis or both: across cells that are much longer than wide, little couples
	// them. The conductance between two joined cells is the sum over the edges between them, halved on an axis whose
	// cells have become twice as long.
	length, factor := [2]float64{dx, dy}, [2]float64{1, 1}
	if rows <= 2 || cols > 2 && dx < 1.5*dy {
		p.sx, length[0], factor[0] = 1, 2*dx, 0.5
	}
	if cols <= 2 || rows > 2 && dy < 1.5*dx {
		p.sy, length[1], factor[1] = 1, 2*dy, 0.5
	}
	h, w := (rows+p.sy)>>p.sy, (cols+p.sx)>>p.sx
	joined := [2][]float64{make([]float64, h*w), make([]float64, h*w)}
	at := func(i int) int { return i/cols>>p.sy*w + i%cols>>p.sx }
	coarseLeak := make([]float64, h*w)
	for i, x := range leak {
		coarseLeak[at(i)] += x
	}
	edges(rows, cols, func(axis, i, j int) {
		if a := at(i); a != at(j) {
			joined[axis][a] += factor[axis] * links[axis][i]
		}
	})
	p.next = newPoisson(h, w, length[0], length[1], joined[0], joined[1], coarseLeak)
	return p
}

// relax is one half-sweep of Gauss and Seidel over the cells of one colour.
func (p *poisson) relax(colour int) {
	rows, cols := p.rows, p.cols
	for r := range rows {
		for c := (r + colour) & 1; c < cols; c += 2 {
			i := r*cols + c
			if p.diagonal[i] == 0 {
				continue
			}
			s := p.b[i]
			if c > 0 {
				s += p.right[i-1] * p.x[i-1]
			}
			if c+1 < cols {
				s += p.right[i] * p.x[i+1]
			}
			if r > 0 {
				s += p.down[i-cols] * p.x[i-cols]
			}
			if r+1 < rows {
				s += p.down[i] * p.x[i+cols]
			}
			p.x[i] = s / p.diagonal[i]
		}
	}
}

// apply sets dst to the Laplacian of x.
func (p *poisson) apply(dst, x []float64) {
	for i, d := range p.diagonal {
		dst[i] = d * x[i]
	}
	edges(p.rows, p.cols, func(axis, i, j int) {
		w := p.right[i]
		if axis == 1 {
			w = p.down[i]
		}
		dst[i] -= w * x[j]
		dst[j] -= w * x[i]
	})
}

// cycle solves for p.b roughly, in p.x: a symmetric V-cycle, as a preconditioner has to be.
func (p *poisson) cycle() {
	clear(p.x)
	sweeps := 1
	if p.next == nil {
		sweeps = 8
	}
	for range sweeps {
		p.relax(0)
		p.relax(1)
	}
	if p.next != nil {
		p.apply(p.r, p.x)
		clear(p.next.b)
		for r := range p.rows {
			for c := range p.cols {
				i := r*p.cols + c
				p.next.b[r>>p.sy*p.next.cols+c>>p.sx] += p.b[i] - p.r[i]
			}
		}
		p.next.cycle()
		for r := range p.rows {
			for c := range p.cols {
				p.x[r*p.cols+c] += p.next.x[r>>p.sy*p.next.cols+c>>p.sx]
			}
		}
	}
	for range sweeps {
		p.relax(1)
		p.relax(0)
	}
}

const (
	// poissonGoal is the relative residual to solve to. What is left of a defect is charged at the
	// largest cost, and so should be far below the first.
	poissonGoal = 1e-9
	// poissonSteps is a safety net; ten to twenty steps are normal.
	poissonSteps = 60
	// poissonLost is how far the residual, which conjugate gradients do not bring down step by step, may rise above the
	// least: on 100 x 300 cells, the first step makes it 4.4 times the defect.
	poissonLost = 1000
)

// solve returns x with Laplacian b, by conjugate gradients, and what is left of b. The Laplacian has a kernel (the
// constants of every connected part); what of b lies outside its range stays in the residual, and the best x so far is
// returned.
func (p *poisson) solve(b []float64) (found []float64, left float64) {
	n := len(b)
	x, best := make([]float64, n), make([]float64, n)
	r, dir, image := append([]float64(nil), b...), make([]float64, n), make([]float64, n)
	first := ge.Dasum(n, r, 1)
	least := first
	rz := 0.0
	for range poissonSteps {
		copy(p.b, r)
		p.cycle()
		z := p.x
		next := ge.Ddot(n, r, 1, z, 1)
		beta := 0.0
		if rz > 0 {
			beta = next / rz
		}
		rz = next
		for i, y := range z {
			dir[i] = y + beta*dir[i]
		}
		p.apply(image, dir)
		curve := ge.Ddot(n, dir, 1, image, 1)
		if !(curve > 0) || !(rz > 0) {
			break
		}
		a := rz / curve
		for i := range x {
			x[i] += a * dir[i]
			r[i] -= a * image[i]
		}
		left := ge.Dasum(n, r, 1)
		if left < least {
			least = left
			copy(best, x)
		}
		if !(left > poissonGoal*first) || !(left < poissonLost*least) {
			break
		}
	}
	return best, least / first
}
