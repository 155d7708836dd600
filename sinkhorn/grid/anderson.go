package grid

const (
	// depth is the number of earlier steps that the next one is extrapolated from.
	depth = 5
	// ridge keeps the equations regular, relative to the mean of their diagonal.
	ridge = 1e-10
)

// anderson extrapolates the prices of Algorithm 1, a fixed point g = T(g), by Anderson's method (J. ACM 12, 1965;
// Walker and Ni, SIAM J. Numer. Anal. 49, 2011). Of the last images T(g), it takes the affine combination whose change
// T(g) - g is least, in the mean square under the column sums. Far from the answer, that may lead farther away: the
// solver looks at the dual value, which T never lowers. A step costs some 30 operations for each cell.
type anderson struct {
	weight []float64            // column sums of the first step
	last   move                 // the step before
	past   []move               // differences of two steps each, in a ring
	count  int                  // steps since the start; 0 makes the next one the first
	rows   [][2 * depth]float64 // inner products along a row of cells: of the new difference, and of the last change
	gram   [depth][depth]float64
}

// move is what a step makes of prices, and by how much it changes them.
type move struct{ image, change []float64 }

func newMove(n int) move { return move{make([]float64, n), make([]float64, n)} }

// mix moves the prices g, the image of the prices reg w, whose column sums are given, and reports whether it did.
// Columns without mass keep the price that the step gave them.
func (a *anderson) mix(k *kernel, g, w, sums []float64) bool {
	if a.count == 0 {
		if a.weight == nil {
			a.weight, a.last, a.rows = make([]float64, len(g)), newMove(len(g)), make([][2 * depth]float64, k.l.rows)
		}
		copy(a.weight, sums)
	}
	known := min(a.count, depth)
	if known > len(a.past) {
		a.past = append(a.past, newMove(len(g)))
	}
	at := (a.count + depth - 1) % depth // of the new difference
	a.count++
	cols := k.l.cols
	k.lines(k.l.rows, func(r int, _ *lineScratch) {
		var p [2 * depth]float64
		for j := r * cols; j < (r+1)*cols; j++ {
			if a.weight[j] == 0 {
				continue
			}
			image, change := g[j], g[j]-k.reg*w[j]
			if known > 0 {
				d := a.past[at]
				d.image[j], d.change[j] = image-a.last.image[j], change-a.last.change[j]
				for i := range known {
					x := a.weight[j] * a.past[i].change[j]
					p[i] += x * d.change[j]
					p[depth+i] += x * change
				}
			}
			a.last.image[j], a.last.change[j] = image, change
		}
		a.rows[r] = p
	})
	if known == 0 {
		return false
	}
	var total [2 * depth]float64
	for _, p := range a.rows {
		for i, x := range p {
			total[i] += x
		}
	}
	for i := range known {
		a.gram[at][i], a.gram[i][at] = total[i], total[i]
	}
	c := a.coefficients(total[depth:][:known])
	k.lines(k.l.rows, func(r int, _ *lineScratch) {
		for j := r * cols; j < (r+1)*cols; j++ {
			for i, x := range c {
				if a.weight[j] > 0 {
					g[j] -= x * a.past[i].image[j]
				}
			}
		}
	})
	return true
}

// undo takes back what mix has done, and starts anew.
func (a *anderson) undo(g []float64) {
	for j, w := range a.weight {
		if w > 0 {
			g[j] = a.last.image[j]
		}
	}
	a.count = 0
}

// coefficients are those of the differences in the least change, by Gauss's elimination. x are the inner products of
// the differences and the change.
func (a *anderson) coefficients(x []float64) []float64 {
	n, m, trace := len(x), a.gram, 0.0
	for i := range n {
		trace += m[i][i]
	}
	if !(trace > 0) { // the prices no longer move
		return nil
	}
	for i := range n {
		m[i][i] += ridge * trace / float64(n)
	}
	for i := range n {
		for h := i + 1; h < n; h++ {
			f := m[h][i] / m[i][i]
			x[h] -= f * x[i]
			for j := i; j < n; j++ {
				m[h][j] -= f * m[i][j]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x
}
