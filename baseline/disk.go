package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Disk is the Disk Area Mechanism of Du, Cheng, Zheng, Xiang, Chen, Xi and Ni (Numerical Estimation of Spatial
// Distributions under Differential Privacy, arXiv 2412.06541) on a grid of square cells, as in the authors' program. It
// draws a cell from mu. It reports each cell of the disk around this cell with probability e^eps low, and each other
// cell of the area with probability low. The area extends beyond the grid by the radius on every side. A cell on the
// rim of the disk has the share of its area in the disk as its weight: 1 if its centre (x, y) is inside, otherwise 4
// (1/2 - x + c x) (1/2 - y + c y), where c is the radius over the distance of the centre, and 0 if a factor is not
// positive.
//
// As a Sampler its outputs are the cells of the grid: a report from outside is moved to the nearest cell, which costs
// no privacy. Row gives the reports themselves, for the map that the authors estimate from them by
// expectation-maximization.
//
// The rows of a disk are those that Wasserstein projection has for a point mass with a base measure that is constant
// over the larger area, up to the rim: a box of ratio e^eps, full around the point up to some distance. The disk of
// the mechanism has a radius by a formula in eps and the side of the grid; that of Wasserstein projection follows from
// the transport cost.
type Disk struct {
	rows, cols, radius int
	eps, low           float64
	area               []float64 // of the cell at offset (y, x), (2 radius + 1)^2 of them
	index              []int32   // of the reports: (rows + 2 radius)(cols + 2 radius), -1 out of reach
	reports            int
	folded             []float64 // number of reports that are moved to each cell of the grid
}

// maxDisk bounds the cells of the larger area.
const maxDisk = 1 << 24

// DiskRadius returns the radius in cells that the authors' program takes for a square grid of side cells: side times
// (2 s + sqrt(4 s^2 + pi e^eps s))/(pi e^eps), s = (1 - (1 - eps) e^eps)/(e^eps - 1 - eps), rounded down. For eps = 0
// it is the limit. It is -1 for a side below 1 or eps out of range.
func DiskRadius(side int, eps float64) int {
	if side < 1 || checkEps(eps) != nil {
		return -1
	}
	s := 0.0
	if eps > 1 {
		s = (eps*math.Exp(eps) - math.Expm1(eps)) / (math.Expm1(eps) - eps)
	} else { // both by their series, over eps^2: sum (n-1) eps^(n-2)/n!, and sum eps^(n-2)/n!
		up, down, term := 0.0, 0.0, 0.5
		for n := 2.0; n < 20; n++ { // the next term is below 1/20!
			up += (n - 1) * term
			down += term
			term *= eps / (n + 1)
		}
		s = up / down
	}
	e := math.Exp(eps)
	return int(math.Floor(float64(side) * (2*(s/e) + math.Sqrt(4*(s/e)*(s/e)+math.Pi*(s/e))) / math.Pi))
}

// DiskRadii returns the radii that a sweep in favour of the mechanism tries, ascending: 0.4, 0.6, 0.8 and 1 of
// DiskRadius, rounded and at least 1. It is nil where DiskRadius is -1.
func DiskRadii(side int, eps float64) (radii []int) {
	full := DiskRadius(side, eps)
	for _, share := range []float64{0.4, 0.6, 0.8, 1} {
		if r := max(1, int(math.Round(share*float64(full)))); full >= 0 && !slices.Contains(radii, r) {
			radii = append(radii, r)
		}
	}
	return radii
}

// NewDisk returns the mechanism on a grid of rows x cols equal square cells, in row-major order, with a disk of the
// given radius in cells; 0 is randomised response. Errors: ErrShape, also for an area of more than 2^24 cells;
// ErrEpsilon.
func NewDisk(rows, cols, radius int, eps float64) (*Disk, error) {
	if rows < 1 || cols < 1 || radius < 0 || rows > maxDisk || cols > maxDisk || radius > maxDisk ||
		int64(rows+2*radius)*int64(cols+2*radius) > maxDisk {
		return nil, fmt.Errorf("%w: a disk of radius %d on %d x %d cells", wpmerr.ErrShape, radius, rows, cols)
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	d := &Disk{rows: rows, cols: cols, radius: radius, eps: eps}
	side := 2*radius + 1
	d.area = make([]float64, side*side)
	total := 0.0
	for y := -radius; y <= radius; y++ {
		for x := -radius; x <= radius; x++ {
			a := diskArea(radius, math.Abs(float64(x)), math.Abs(float64(y)))
			d.area[(y+radius)*side+x+radius] = a
			total += a // dyadic up to the rim: exact but for at most 8 radius terms
		}
	}
	width, height := cols+2*radius, rows+2*radius
	d.index = make([]int32, width*height)
	d.folded = make([]float64, rows*cols)
	for y := range height {
		for x := range width {
			at := &d.index[y*width+x]
			cell := d.nearest(y-radius, x-radius)
			if !reach(radius, y-radius-cell/cols, x-radius-cell%cols) {
				*at = -1
				continue
			}
			*at = int32(d.reports)
			d.reports++
			d.folded[cell]++
		}
	}
	d.low = 1 / (float64(d.reports) + math.Expm1(eps)*total)
	return d, nil
}

// nearest returns the cell of the grid nearest to (y, x), which may be outside.
func (d *Disk) nearest(y, x int) int {
	return min(max(y, 0), d.rows-1)*d.cols + min(max(x, 0), d.cols-1)
}

// reach reports whether the square of the cell at the offset meets the open disk.
func reach(radius, y, x int) bool {
	dx, dy := max(math.Abs(float64(x))-0.5, 0), max(math.Abs(float64(y))-0.5, 0)
	return x == 0 && y == 0 || dx*dx+dy*dy < float64(radius)*float64(radius)
}

// diskArea is the weight of the cell with its centre at (x, y), both at least 0.
func diskArea(radius int, x, y float64) float64 {
	b, distance := float64(radius), math.Hypot(x, y)
	if distance <= b {
		return 1
	}
	c := b/distance - 1
	u, v := float64(c*x)+0.5, float64(c*y)+0.5
	if u <= 0 || v <= 0 {
		return 0
	}
	return 4 * u * v
}

// Dims returns rows * cols, twice.
func (d *Disk) Dims() (k, kv int) { return d.rows * d.cols, d.rows * d.cols }

// Reports returns the number of cells that may be reported, those outside of the grid among them.
func (d *Disk) Reports() int { return d.reports }

// Measure returns the base measure of the law over the cells of the grid.
func (d *Disk) Measure() []float64 {
	m := make([]float64, len(d.folded))
	for j, n := range d.folded {
		m[j] = math.Exp(d.eps/2) * d.low * n
	}
	return m
}

// Law writes the law over the cells of the grid. Cost: O(k + n radius^2) for n cells with mass. Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrMass.
func (d *Disk) Law(dst, mu []float64) error {
	sum, err := checkDistribution("mu", mu, d.rows*d.cols)
	if err != nil {
		return err
	}
	if len(dst) != len(mu) {
		return fmt.Errorf("%w: len(dst) = %d, want %d", wpmerr.ErrShape, len(dst), len(mu))
	}
	clear(dst)
	side := 2*d.radius + 1
	for i, w := range mu {
		if w == 0 {
			continue
		}
		for y := -d.radius; y <= d.radius; y++ {
			for x := -d.radius; x <= d.radius; x++ {
				if a := d.area[(y+d.radius)*side+x+d.radius]; a > 0 {
					dst[d.nearest(i/d.cols+y, i%d.cols+x)] += w / sum * a
				}
			}
		}
	}
	for j := range dst {
		dst[j] = d.low * (d.folded[j] + math.Expm1(d.eps)*dst[j])
	}
	return nil
}

// Row writes to dst, Reports() numbers, the law of the report of a user at cell i: the reports of the larger area in
// row-major order. It panics if i or the length is out of range.
func (d *Disk) Row(i int, dst []float64) {
	if i < 0 || i >= d.rows*d.cols || len(dst) != d.reports {
		panic(fmt.Sprintf("baseline: row %d of %d, %d reports of %d", i, d.rows*d.cols, len(dst), d.reports))
	}
	for j := range dst {
		dst[j] = d.low
	}
	side, width := 2*d.radius+1, d.cols+2*d.radius
	for y := range side {
		for x := range side {
			if a := d.area[y*side+x]; a > 0 {
				dst[d.index[(i/d.cols+y)*width+i%d.cols+x]] += d.low * (math.Expm1(d.eps) * a)
			}
		}
	}
}
