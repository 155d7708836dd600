package estimate

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
)

// Geometry holds the distances between the k inputs of a problem, and keeps what Map computes of them alone, so that a
// second map of the same places is cheaper. It is safe for concurrent use.
type Geometry struct {
	dist    cost.Matrix // k x k distances
	unit    float64     // the median distance of a place to its nearest other one
	kernels [len(lengths)]kernel
}

// kernel is a factor of a covariance of the logarithm of a map, computed when it is first asked for.
type kernel struct {
	once sync.Once
	root basis
	err  error
}

// basis is a k x rank matrix L, row-major, with L L' = H exp(-D/l) H, where H takes the mean away: the columns are
// eigenvectors, times the roots of their eigenvalues, largest first. Those below kernelCut of the largest are left out.
type basis struct {
	rank int
	l    []float64
}

// kernelCut is the share of the largest eigenvalue below which a direction is left out. It also makes a matrix of
// distances usable that are those of no Euclidean space, whose kernel has negative eigenvalues.
const kernelCut = 1e-4

// NewGeometry returns the distances between the inputs of a cost C = d^p: C^(1/p). A cost of places has them between
// its inputs, whatever its outputs are; of a cost.Cosine they are the chords of unit vectors, sqrt(2 C). p is ignored
// for a cost that knows its own.
//
// Any other cost must be square and symmetric with a zero diagonal, and have finite distances, or the error is
// ErrNoGeometry; p is then the power that its entries have, finite and > 0 (else ErrShape). Two entries are equal if
// they differ by symmetryTol at most, relative to the larger, and zero is what is that small beside the largest entry:
// a file of six digits or more passes. The other errors are those of cost.Validate.
//
// A cost of places takes O(k) memory, any other 8 k^2 bytes.
func NewGeometry(c cost.Matrix, p float64) (*Geometry, error) {
	if err := cost.Validate(c); err != nil {
		return nil, err
	}
	dist, err := distances(c, p)
	if err != nil {
		return nil, err
	}
	g := &Geometry{dist: dist}
	g.unit = g.nearest()
	return g, nil
}

// symmetryTol is the rounding of a number written with six digits, twice over: both entries of a pair are rounded.
const symmetryTol = 1e-5

// distances returns the distances of NewGeometry.
func distances(c cost.Matrix, p float64) (cost.Matrix, error) {
	switch c.(type) {
	case *cost.Points, *cost.GreatCircle, *cost.Grid, *cost.Ring, *cost.Cosine:
		s, err := cost.SpecOf(c)
		if err != nil {
			return nil, err
		}
		s.V = nil
		if s.Kind != "cosine" {
			s.P = 1
		}
		d, err := s.Build()
		if s.Kind == "cosine" && err == nil {
			d = chords{d}
		}
		return d, err
	}
	if !(p > 0 && p <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: power %v", ErrShape, p)
	}
	k, kv := c.Dims()
	if k != kv {
		return nil, fmt.Errorf("%w: the cost is %d x %d", ErrNoGeometry, k, kv)
	}
	d := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
	for i := range k {
		row := d.Data[i*k:][:k:k]
		copy(row, c.Row(i, row))
	}
	largest := slices.Max(d.Data)
	for i := range k {
		if v := d.Data[i*k+i]; v > symmetryTol*largest {
			return nil, fmt.Errorf("%w: C[%d][%d] = %v, not 0", ErrNoGeometry, i, i, v)
		}
		d.Data[i*k+i] = 0
		for j := range i {
			a, b := d.Data[i*k+j], d.Data[j*k+i]
			if !(math.Abs(a-b) <= symmetryTol*max(a, b)) {
				return nil, fmt.Errorf("%w: C[%d][%d] = %v and C[%d][%d] = %v", ErrNoGeometry, i, j, a, j, i, b)
			}
			v := math.Pow(a/2+b/2, 1/p)
			if v > math.MaxFloat64 {
				return nil, fmt.Errorf("%w: C[%d][%d] = %v is too large for the power %v of a distance", ErrNoGeometry, i, j, a, p)
			}
			d.Data[i*k+j], d.Data[j*k+i] = v, v
		}
	}
	return d, nil
}

// chords are the distances of unit vectors with costs 1 - cos. A zero vector, of cost 1 to all, is as far as a right
// angle.
type chords struct{ cost.Matrix }

func (c chords) Row(i int, buf []float64) []float64 {
	row := c.Matrix.Row(i, buf)
	for j, v := range row {
		row[j] = math.Sqrt(2 * v)
	}
	row[i] = 0
	return row
}

// K returns the number of places.
func (g *Geometry) K() int { k, _ := g.dist.Dims(); return k }

// Row returns the distances of place i, 0 <= i < K, from all places, which must not be changed. buf, of length K, may be
// used for them.
func (g *Geometry) Row(i int, buf []float64) []float64 { return g.dist.Row(i, buf) }

// nearest returns the median over the places of the distance to the nearest other one, or 1 if all are at one point. Places
// at the same point, or within 1e-12 of the largest distance, where rounding decides, are no neighbours.
func (g *Geometry) nearest() float64 {
	k := g.K()
	largest := cost.Max(g.dist)
	if c, ok := g.dist.(chords); ok {
		largest = math.Sqrt(2 * cost.Max(c.Matrix))
	}
	var near []float64
	buf := make([]float64, k)
	for i := range k {
		least := math.Inf(1)
		for _, d := range g.dist.Row(i, buf) {
			if d > 1e-12*largest {
				least = min(least, d)
			}
		}
		if least <= math.MaxFloat64 {
			near = append(near, least)
		}
	}
	n := len(near)
	if n == 0 {
		return 1
	}
	slices.Sort(near)
	return near[(n-1)/2]/2 + near[n/2]/2
}

// root returns the factor for a length of lengths[n].
func (g *Geometry) root(n int) (basis, error) {
	c := &g.kernels[n]
	c.once.Do(func() {
		all, size := make([]int, g.K()), make([]float64, g.K())
		for i := range all {
			all[i], size[i] = i, 1
		}
		c.root, c.err = g.factor(n, all, size)
	})
	return c.root, c.err
}

// factor computes a root for a length of lengths[n].
func (g *Geometry) factor(n int, places []int, size []float64) (basis, error) {
	return g.factorOf(lengths[n], places, size)
}

// factorOf computes a root for a length, in units of g.unit, for places that stand for groups of some size each: H takes away the mean over
// all. It takes the O(k^3) of an eigenvalue problem and 16 k^2 bytes for k groups.
//
// With S the sizes, the eigenvectors are those of S^1/2 H K H S^1/2, so that columns are orthogonal over all places.
func (g *Geometry) factorOf(length float64, places []int, size []float64) (basis, error) {
	k := len(places)
	a := make([]float64, k*k)
	buf := make([]float64, g.K())
	total := 0.0
	for x, i := range places {
		row := g.dist.Row(i, buf)
		for y, j := range places {
			a[x*k+y] = math.Exp(-row[j] / g.unit / length)
		}
		total += size[x]
	}
	center(a, size, total)
	for x := range k {
		for y := range k {
			a[x*k+y] *= math.Sqrt(size[x] * size[y])
		}
	}
	values := make([]float64, k)
	work := make([]float64, 1)
	lapackOf.Dsyev('V', 'U', k, a, k, values, work, -1)
	work = make([]float64, int(work[0]))
	if !lapackOf.Dsyev('V', 'U', k, a, k, values, work, len(work)) {
		return basis{}, fmt.Errorf("%w: eigenvectors of the kernel of length %v", ErrNotConverged, length)
	}
	// Rounding leaves eigenvalues of k epsilon where there is nothing: all places at one point, or k = 1.
	cut := max(kernelCut*values[k-1], 1e-13*total)
	rank := 0
	for rank < k && values[k-1-rank] > cut {
		rank++
	}
	l := make([]float64, k*rank)
	for b := range rank {
		s := math.Sqrt(values[k-1-b])
		for x := range k {
			l[x*rank+b] = s * a[x*k+k-1-b] / math.Sqrt(size[x])
		}
	}
	return basis{rank: rank, l: l}, nil
}

// center replaces a symmetric matrix A by H A H, where H takes the mean away by the weights size, of the given sum.
func center(a, size []float64, total float64) {
	k := len(size)
	mean := make([]float64, k)
	all := 0.0
	for i := range k {
		s := 0.0
		for j, v := range a[i*k:][:k] {
			s += v * size[j]
		}
		mean[i] = s / total
		all += mean[i] * size[i] / total
	}
	for i := range k {
		row := a[i*k:][:k]
		for j := range row {
			row[j] += all - mean[i] - mean[j]
		}
	}
}
