package grid

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

var ge gonum.Implementation

// A plan on a grid is known by its columns: how much mass arrives, from how far on average, and at
// which squared distance. That is enough to follow what happens to its cost when mass is moved on from column to
// column, each share in the proportions of all that is there: going on by d from a source at x (relative to
// the column) changes |x|^2 to |x - d|^2 = |x|^2 - 2 x.d + |d|^2. So the defect of the column sums
// of a plan that has not converged can be repaired by moves between neighbours at a true cost that is known,
// instead of being charged at the largest cost.

// columnPlan is a plan seen from its columns; x, y and square are sums over the mass, not means.
type columnPlan struct {
	mass, x, y, square []float64
}

// Flow is mass moved between neighbouring columns on a grid: Right[i] from cell i to the next in its row,
// Down[i] to the one below; negative the other way. It goes in Steps equal parts, one after the other; in each,
// all cells give at the same time, and each gives the same share of everything that has arrived there. What
// remains off Q in the end is charged at the largest cost.
type Flow struct {
	Right, Down []float64
	Steps       int
}

// maxFlowSteps bounds the work of a repair. A plan that needs more is far from converged.
const maxFlowSteps = 64

// balance finds the flow that takes the column sums mass to q: least squares with weights near the masses,
// so that cells without mass are not passed through. It solves a Poisson equation by conjugate gradients
// with a multigrid cycle.
func (l *level) balance(mass, q []float64) Flow {
	rows, cols := l.rows, l.cols
	n := rows * cols
	w := make([]float64, n)
	for i := range w {
		w[i] = min(mass[i], q[i])
	}
	fl := Flow{Right: make([]float64, n), Down: make([]float64, n), Steps: 1}
	dx, dy := l.spacing()
	// Conductances of edges: cross-section over length, up to a common factor.
	link := func(a, b, ratio float64) float64 {
		if a == 0 || b == 0 {
			return 0
		}
		return ratio * 2 * (a / (a + b)) * b
	}
	for r := range rows {
		for c := range cols {
			i := r*cols + c
			if c+1 < cols {
				fl.Right[i] = link(w[i], w[i+1], dy/dx)
			}
			if r+1 < rows {
				fl.Down[i] = link(w[i], w[i+cols], dx/dy)
			}
		}
	}
	e := make([]float64, n)
	for i := range e {
		e[i] = mass[i] - q[i]
	}
	d := newPoisson(rows, cols, fl.Right, fl.Down).solve(e)
	out := make([]float64, n)
	for r := range rows {
		for c := range cols {
			i := r*cols + c
			if c+1 < cols {
				f := (d[i] - d[i+1]) * fl.Right[i]
				fl.Right[i] = f
				out[i] += max(f, 0)
				out[i+1] += max(-f, 0)
			}
			if r+1 < rows {
				f := (d[i] - d[i+cols]) * fl.Down[i]
				fl.Down[i] = f
				out[i] += max(f, 0)
				out[i+cols] += max(-f, 0)
			}
		}
	}
	// The mass of a cell stays between mass and q on the way, up to rounding. No more than half of it may leave in a
	// step.
	worst := 0.0
	for i, x := range out {
		if x > 0 {
			worst = max(worst, x/w[i])
		}
	}
	if !(worst <= maxFlowSteps/2) {
		clear(fl.Right)
		clear(fl.Down)
		return fl
	}
	fl.Steps = max(1, int(math.Ceil(2*worst)))
	return fl
}

// apply moves the plan along the flow. It reports false, and leaves the plan in ruins, if a cell would run out of mass.
func (fl Flow) apply(l *level, p columnPlan) bool {
	rows, cols := l.rows, l.cols
	n := rows * cols
	dx, dy := l.spacing()
	d := columnPlan{mass: make([]float64, n), x: make([]float64, n), y: make([]float64, n), square: make([]float64, n)}
	part := 1 / float64(fl.Steps)
	for range fl.Steps {
		clear(d.mass)
		clear(d.x)
		clear(d.y)
		clear(d.square)
		move := func(i, j int, m, dx, dy float64) {
			if m < 0 {
				i, j, m, dx, dy = j, i, -m, -dx, -dy
			}
			if m == 0 {
				return
			}
			share := m / p.mass[i]
			x, y, sq := share*p.x[i], share*p.y[i], share*p.square[i]
			d.mass[i] -= m
			d.x[i] -= x
			d.y[i] -= y
			d.square[i] -= sq
			d.mass[j] += m
			d.x[j] += x - m*dx
			d.y[j] += y - m*dy
			d.square[j] += sq - 2*(x*dx+y*dy) + m*(dx*dx+dy*dy)
		}
		for r := range rows {
			for c := range cols {
				i := r*cols + c
				if c+1 < cols {
					move(i, i+1, fl.Right[i]*part, dx, 0)
				}
				if r+1 < rows {
					move(i, i+cols, fl.Down[i]*part, 0, dy)
				}
			}
		}
		for i := range n {
			p.mass[i] += d.mass[i]
			p.x[i] += d.x[i]
			p.y[i] += d.y[i]
			p.square[i] += d.square[i]
			if !(p.mass[i] >= 0) || !(p.square[i] >= 0) {
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
}

func newPoisson(rows, cols int, right, down []float64) *poisson {
	n := rows * cols
	p := &poisson{
		rows: rows, cols: cols, right: append([]float64(nil), right...), down: append([]float64(nil), down...),
		diagonal: make([]float64, n), x: make([]float64, n), b: make([]float64, n), r: make([]float64, n),
	}
	for r := range rows {
		for c := range cols {
			i := r*cols + c
			if c+1 < cols {
				p.diagonal[i] += right[i]
				p.diagonal[i+1] += right[i]
			}
			if r+1 < rows {
				p.diagonal[i] += down[i]
				p.diagonal[i+cols] += down[i]
			}
		}
	}
	if rows <= 2 && cols <= 2 {
		return p
	}
	// Cells are joined in pairs. The conductance between two joined cells is the sum over the edges
	// between them, halved on an axis whose cells have become twice as long.
	h, w := (rows+1)/2, (cols+1)/2
	cr, cd := make([]float64, h*w), make([]float64, h*w)
	byX, byY := 0.5, 0.5
	if cols == 1 {
		byX = 1
	}
	if rows == 1 {
		byY = 1
	}
	for r := range rows {
		for c := range cols {
			i, j := r*cols+c, r/2*w+c/2
			if c+1 < cols && c%2 == 1 {
				cr[j] += byX * right[i]
			}
			if r+1 < rows && r%2 == 1 {
				cd[j] += byY * down[i]
			}
		}
	}
	p.next = newPoisson(h, w, cr, cd)
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
	rows, cols := p.rows, p.cols
	for r := range rows {
		for c := range cols {
			i := r*cols + c
			s := p.diagonal[i] * x[i]
			if c > 0 {
				s -= p.right[i-1] * x[i-1]
			}
			if c+1 < cols {
				s -= p.right[i] * x[i+1]
			}
			if r > 0 {
				s -= p.down[i-cols] * x[i-cols]
			}
			if r+1 < rows {
				s -= p.down[i] * x[i+cols]
			}
			dst[i] = s
		}
	}
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
				p.next.b[r/2*p.next.cols+c/2] += p.b[i] - p.r[i]
			}
		}
		p.next.cycle()
		for r := range p.rows {
			for c := range p.cols {
				p.x[r*p.cols+c] += p.next.x[r/2*p.next.cols+c/2]
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
)

// solve returns x with Laplacian b, by conjugate gradients. The Laplacian has a kernel (the constants of
// every connected part); what of b lies outside its range stays in the residual, and the best x so far is returned.
func (p *poisson) solve(b []float64) []float64 {
	n := len(b)
	x, best := make([]float64, n), make([]float64, n)
	r, dir, image := append([]float64(nil), b...), make([]float64, n), make([]float64, n)
	first := l1(r)
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
		left := l1(r)
		if left < least {
			least = left
			copy(best, x)
		}
		if !(left > poissonGoal*first) || !(left < 4*least) {
			break
		}
	}
	return best
}

func l1(xs []float64) float64 {
	var s float64
	for _, x := range xs {
		s += math.Abs(x)
	}
	return s
}
