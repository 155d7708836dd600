package cost

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Ring is the cost between n points on a circle: C_ij = d^p with d = min(|i-j|, n-|i-j|), k = kv = n.
// Distances are exact integers; p = 1 and 2 give exact costs (n <= 2^24), any other integer p gives
// exact costs as long as they are below 2^53.
type Ring struct {
	n     int
	p     power
	table []float64 // table[d] = d^p, d = 0..n/2
}

// NewRing returns the ring of n points, 1 <= n <= MaxPoints. It takes O(n) time and memory. The
// error is ErrShape, ErrTooLarge, ErrExponent, or ErrNotFinite when the power overflows.
func NewRing(n int, p float64) (*Ring, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	if err := checkCount("n", n); err != nil {
		return nil, err
	}
	r := &Ring{n: n, p: w, table: make([]float64, n/2+1)}
	for d := range r.table {
		r.table[d] = w.of(float64(d))
	}
	if !(r.table[n/2] <= math.MaxFloat64) { // the largest
		return nil, fmt.Errorf("%w: a ring of %d points has a distance %d, whose power %v overflows", wpmerr.ErrNotFinite, n, n/2, p)
	}
	return r, nil
}

// checkCount refuses a number of points outside [1, MaxPoints].
func checkCount(what string, n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %s = %d, need at least 1", wpmerr.ErrShape, what, n)
	}
	if n > MaxPoints {
		return fmt.Errorf("%w: %s = %d, at most %d", wpmerr.ErrTooLarge, what, n, MaxPoints)
	}
	return nil
}

// N returns the number of points.
func (r *Ring) N() int { return r.n }

// P returns the exponent.
func (r *Ring) P() float64 { return r.p.p }

// Dims returns n, n.
func (r *Ring) Dims() (k, kv int) {
	if r == nil {
		return 0, 0
	}
	return r.n, r.n
}

// Row returns row i in buf; see Matrix. It is row 0 turned by i.
func (r *Ring) Row(i int, buf []float64) []float64 {
	if i < 0 || i >= r.n {
		panic(fmt.Sprintf("cost: row %d of a ring of %d points", i, r.n))
	}
	buf = buffer(buf, r.n)
	for j := range buf {
		d := i - j
		if d < 0 {
			d = -d
		}
		buf[j] = r.table[min(d, r.n-d)]
	}
	return buf
}

// Grid is the Euclidean cost between the centres of rows x cols equal cells of the unit square:
// cell (r, c) has index r*cols + c and centre ((c+1/2)/cols, (r+1/2)/rows); k = kv = rows*cols.
//
// Distances are formed from integers. With L = lcm(rows, cols), d² = N/L² for an exact integer N,
// so p = 2 is correctly rounded, p = 1 is off by at most two roundings, and cells at equal
// displacement, or at equal distance, have equal costs bit for bit.
type Grid struct {
	rows, cols int
	p          power
	table      []float64 // table[dr*cols+dc]: the cost at displacement (dr, dc)
	sorted     bool      // it falls nowhere, along rows or columns
}

// NewGrid returns the grid of rows x cols cells, 1 <= rows*cols <= MaxPoints. It takes O(rows*cols)
// time and memory. Errors as NewRing.
func NewGrid(rows, cols int, p float64) (*Grid, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	if err := checkCount("rows", rows); err != nil {
		return nil, err
	}
	if err := checkCount("cols", cols); err != nil {
		return nil, err
	}
	if rows > MaxPoints/cols {
		return nil, fmt.Errorf("%w: %d rows of %d cells, at most %d cells", wpmerr.ErrTooLarge, rows, cols, MaxPoints)
	}
	g := &Grid{rows: rows, cols: cols, p: w, table: make([]float64, rows*cols)}
	// L <= rows*cols <= 2^24, and dc*(L/cols), dr*(L/rows) < L, so N < 2^49: exact in int64 and
	// in float64, as is L² <= 2^48. int64 because int has 32 bits on some machines.
	a, b := int64(rows), int64(cols)
	l := a / gcd(a, b) * b
	fl := float64(l)
	for dr := range int64(rows) {
		y := dr * (l / a)
		for dc := range int64(cols) {
			x := dc * (l / b)
			n := float64(x*x + y*y)
			var c float64
			if w.p == 2 || w.half != 0 {
				c = w.ofSquare(n / (fl * fl))
			} else {
				c = w.of(math.Sqrt(n) / fl)
			}
			g.table[dr*b+dc] = c
		}
	}
	g.sorted = true
	for at, c := range g.table {
		if at%cols > 0 && c < g.table[at-1] || at >= cols && c < g.table[at-cols] {
			g.sorted = false
		}
	}
	// Distances are below sqrt(2), so only a huge p can overflow.
	if c := maxOf(g.table); !(c <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: the diagonal of a %d x %d grid to the power %v overflows", wpmerr.ErrNotFinite, rows, cols, p)
	}
	return g, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Size returns the numbers of rows and columns of cells (Dims gives those of the cost matrix).
func (g *Grid) Size() (rows, cols int) { return g.rows, g.cols }

// P returns the exponent.
func (g *Grid) P() float64 { return g.p.p }

// Dims returns rows*cols twice.
func (g *Grid) Dims() (k, kv int) {
	if g == nil {
		return 0, 0
	}
	return g.rows * g.cols, g.rows * g.cols
}

// Row returns row i in buf; see Matrix.
func (g *Grid) Row(i int, buf []float64) []float64 {
	if i < 0 || i >= g.rows*g.cols {
		panic(fmt.Sprintf("cost: row %d of a grid of %d cells", i, g.rows*g.cols))
	}
	buf = buffer(buf, g.rows*g.cols)
	r0, c0 := i/g.cols, i%g.cols
	for r := range g.rows {
		dr := r - r0
		if dr < 0 {
			dr = -dr
		}
		t := g.table[dr*g.cols : (dr+1)*g.cols]
		dst := buf[r*g.cols : (r+1)*g.cols]
		copy(dst[c0:], t)
		for c := range c0 {
			dst[c] = t[c0-c]
		}
	}
	return buf
}
