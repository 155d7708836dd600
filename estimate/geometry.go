package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// maxFeatures is the most directions that Signal looks at.
const maxFeatures = 12

// Geometry holds the distances between the k inputs of a problem. It keeps what Map computes from the distances alone,
// so that a second map of the same places takes less time. It is safe for concurrent use.
type Geometry struct {
	dist    cost.Matrix // k x k distances
	unit    float64     // the median distance of a place to its nearest other one
	once    sync.Once
	table   []float64              // of all distances, for the kernels of all places
	kernels [len(kernels)]struct { // computed when first asked for
		once sync.Once
		kernel
		err error
	}
}

// kernels are what Map's prior has. Lengths are in units of Geometry.unit. A place has the share alone of its variance to
// itself: without that of the shortest kernel, places at one point would have the same density, whatever they reported.
var kernels = [...]struct {
	length, alone float64
	smooth        bool
}{{0.5, 0.2, false}, {1.5, 0, false}, {6, 0, false}, {48, 0, false}, {2, 0, true}, {6, 0, true}, {15, 0, true}}

// longest is the kernel of the largest features of a map.
const longest = 3

// walked is the order of the kernels in which each begins near the last. The first is one that suits many maps: what is
// known to be likely lets others be left early.
var walked = [len(kernels)]int{longest, 2, 1, 0, 4, 5, 6}

// kernel is the covariance of the logarithm of a map of roughness 1, H K H, where H takes the mean away. K is exp(-D/l), or
// the square of H exp(-D/l) H. Shares do not depend on a constant in their logarithms, so that K may stand for H K H.
type kernel struct {
	cov     []float64 // H K H, k x k
	root    []float64 // the factor of K, lower triangle; above it are zeros
	inverse []float64 // of K, lower triangle
	det     float64   // its logarithm, of K
	smooth  basis     // the largest directions, of the longest kernel only
}

// basis is a k x rank matrix L, row-major. Its columns are eigenvectors, times the roots of their eigenvalues, largest
// first.
type basis struct {
	rank int
	l    []float64
}

// kernelCut is the share of the largest eigenvalue below which a direction is left out. It also makes a matrix of
// distances usable that are those of no Euclidean space, whose kernel has negative eigenvalues.
const kernelCut = 1e-4

const (
	// indefinite is how far below zero the eigenvalues of a kernel may be, of 1, and the least variance of a place by itself:
	// inverses are accurate then, and logarithms of shares move by 0.001 or less.
	indefinite = 1e-7
	// noKernel is rounding of a centered kernel, beside the sum of the sizes.
	noKernel = 1e-13
	// pivots is the number of places whose columns stand for a kernel when its largest directions are wanted.
	pivots = 64
)

// NewGeometry returns the distances C^(1/p) between the inputs of a cost C = d^p. A cost.Metric has distances between
// its inputs, whatever its outputs are, and p is ignored. For a cost.Cosine these are the chords of unit vectors, sqrt(2
// C).
//
// Any other cost must be square and symmetric with a zero diagonal, and have finite distances, or the error is
// ErrNoGeometry; p is then the power that its entries have, finite and > 0 (else cost.ErrExponent). Two entries count as equal
// if they differ by at most symmetryTol relative to the larger, and an entry counts as zero if it is at most
// symmetryTol times the largest entry. So a file with six digits or more passes. The other errors are those of
// cost.Validate, and of Distances of a cost.Metric, and wpmerr.ErrNotConverged if ctx ends, after which no more than 16
// rows are read.
//
// A cost of places takes O(k) memory, any other 8 k^2 bytes. The first Map adds 176 k^2 bytes, with up to 1,000 places.
func NewGeometry(ctx context.Context, c cost.Matrix, p float64) (*Geometry, error) {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, c); err != nil {
		return nil, err
	}
	dist, err := distances(ctx, c, p)
	if err != nil {
		return nil, err
	}
	g := &Geometry{dist: dist}
	if err := g.measure(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// symmetryTol is the rounding of a number written with six digits, twice over: both entries of a pair are rounded.
const symmetryTol = 1e-5

// looks rows are read between two looks at the context.
const looks = 16

// distances returns the distances of NewGeometry.
func distances(ctx context.Context, c cost.Matrix, p float64) (cost.Matrix, error) {
	if m, ok := c.(cost.Metric); ok {
		return m.Distances()
	}
	if !(p > 0 && p <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: power %v", cost.ErrExponent, p)
	}
	k, kv := c.Dims()
	if k != kv {
		return nil, fmt.Errorf("%w: the cost is %d x %d", ErrNoGeometry, k, kv)
	}
	d := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
	for i := range k {
		if i%looks == 0 && ctx.Err() != nil {
			return nil, wpmerr.Ended(ctx)
		}
		row := d.Data[i*k:][:k:k]
		copy(row, c.Row(i, row))
	}
	largest := slices.Max(d.Data)
	for i := range k {
		if i%looks == 0 && ctx.Err() != nil {
			return nil, wpmerr.Ended(ctx)
		}
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

// K returns the number of places; 0 for the zero Geometry.
func (g *Geometry) K() int {
	if g.dist == nil {
		return 0
	}
	k, _ := g.dist.Dims()
	return k
}

// Row returns the distances of place i, 0 <= i < K, from all places, which must not be changed. buf, of length K, may
// be used for them.
func (g *Geometry) Row(i int, buf []float64) []float64 { return g.dist.Row(i, buf) }

// sampled is the number of places of which measure looks at all: of more, it takes every second, every third, and so on.
const sampled = 1000

// measure makes the unit the median over the places of the distance to the nearest other one, or 1 if all are at one point.
// Places at the same point, or within 1e-12 of the largest distance, where rounding decides, are no neighbours.
func (g *Geometry) measure(ctx context.Context) error {
	k := g.K()
	largest, err := cost.Bound(ctx, g.dist)
	if err != nil {
		return err
	}
	var near []float64
	buf := make([]float64, k)
	step := (k-1)/sampled + 1
	for i := 0; i < k; i += step {
		if i/step%looks == 0 && ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
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
	if g.unit = 1; n > 0 {
		slices.Sort(near)
		g.unit = near[(n-1)/2]/2 + near[n/2]/2
	}
	return nil
}

// kernel returns that of kernels[n].
func (g *Geometry) kernel(n int) (kernel, error) {
	c := &g.kernels[n]
	c.once.Do(func() {
		all, size := make([]int, g.K()), make([]float64, g.K())
		for i := range all {
			all[i], size[i] = i, 1
		}
		g.once.Do(func() { g.table = g.Among(all) })
		c.kernel, c.err = g.kernelOf(n, g.table, size)
	})
	return c.kernel, c.err
}

// kernelOf returns kernels[n] for places at distances dist that stand for groups of some size each: H takes away the mean over all. It
// takes 24 k^2 bytes for k groups, and the time of a Cholesky factor and an inverse, and of a product of matrices for a
// square.
func (g *Geometry) kernelOf(n int, dist, size []float64) (kernel, error) {
	k := len(size)
	length, total := kernels[n].length, blasOf.Dasum(k, size, 1)
	out := kernel{cov: g.exponential(length, kernels[n].alone, dist, k)}
	if kernels[n].smooth {
		center(out.cov, size, total)
		square(out.cov, size, total)
	}
	if !out.invert() { // not a covariance: the nearest one takes its place
		root, err := factorOf(g.exponential(length, kernels[n].alone, dist, k), size)
		if err != nil {
			return kernel{}, err
		}
		blasOf.Dgemm(blas.NoTrans, blas.Trans, k, k, root.rank, 1, root.l, root.rank, root.l, root.rank, 0, out.cov, k)
		out.invert()
	}
	center(out.cov, size, total)
	if n == longest {
		out.smooth = largest(out.cov, size, total)
	}
	return out, nil
}

// invert makes what needs a factor of K, for K in cov, or returns false if there is none. It adds to the variances what
// rounding may take.
func (c *kernel) invert() bool {
	k := int(math.Sqrt(float64(len(c.cov))))
	for x := range k {
		c.cov[x*k+x] += indefinite
	}
	c.root = slices.Clone(c.cov)
	if !cholesky(c.root, k) {
		return false
	}
	for x := range k {
		clear(c.root[x*k+x+1 : (x+1)*k])
	}
	c.inverse, c.det = slices.Clone(c.root), logdet(c.root, k)
	return lapackOf.Dpotri(blas.Lower, k, c.inverse, k)
}

// square replaces a kernel C by C S C, with S the sizes, of mean variance 1 if it has any. It is a covariance whatever C is.
func square(c, size []float64, total float64) {
	k := len(size)
	half := make([]float64, k*k)
	for x := range k {
		for y := range k {
			half[x*k+y] = math.Sqrt(size[y]) * c[x*k+y]
		}
	}
	blasOf.Dsyrk(blas.Lower, blas.NoTrans, k, k, 1, half, k, 0, c, k)
	variance := 0.0
	for x := range k {
		variance += size[x] / total * c[x*k+x]
		for y := range x {
			c[y*k+x] = c[x*k+y]
		}
	}
	if variance > noKernel {
		blasOf.Dscal(k*k, 1/variance, c, 1)
	}
}

// Among returns the distances between some places, row-major.
func (g *Geometry) Among(places []int) []float64 { return cost.Among(g.dist, places).Data }

// exponential returns exp(-D/l) for the distances of k places, and a length l in units of g.unit; but places have the share
// alone of their variance to themselves.
func (g *Geometry) exponential(length, alone float64, dist []float64, k int) []float64 {
	a := make([]float64, len(dist))
	for n, d := range dist {
		a[n] = (1 - alone) * math.Exp(-d/g.unit/length)
	}
	for x := range k {
		a[x*k+x] += alone
	}
	return a
}

// largest returns the eigenvectors of K of the maxFeatures largest eigenvalues, orthogonal by size, by those of its
// best approximation from the columns of some places.
//
// With S the sizes, the pivots of S^1/2 K S^1/2 give F with S^1/2 K S^1/2 = F F', nearly, which has the eigenvectors F
// x for those x of F' F.
func largest(cov, size []float64, total float64) basis {
	k := len(size)
	columns, r := pivotColumns(cov, size, total)
	if r == 0 {
		return basis{}
	}
	gram, values := make([]float64, r*r), make([]float64, r)
	blasOf.Dgemm(blas.NoTrans, blas.Trans, r, r, k, 1, columns, k, columns, k, 0, gram, r)
	if !lapackOf.Dsyev('V', 'U', r, gram, r, values, make([]float64, 3*r), 3*r) {
		return basis{}
	}
	out := basis{rank: min(r, maxFeatures)}
	out.l = make([]float64, k*out.rank)
	for b := range out.rank {
		for c := range r {
			for i, v := range columns[c*k:][:k] {
				out.l[i*out.rank+b] += gram[c*r+r-1-b] * v / math.Sqrt(size[i])
			}
		}
	}
	return out
}

// pivotColumns returns F' of largest, and its number of rows.
func pivotColumns(cov, size []float64, total float64) (columns []float64, r int) {
	k := len(size)
	left := make([]float64, k)
	for i := range left {
		left[i] = size[i] * cov[i*k+i]
	}
	columns = make([]float64, min(k, pivots)*k) // each a row
	for ; r < min(k, pivots); r++ {
		p := argmax(left)
		if !(left[p] > noKernel*total+2*indefinite*size[p]) { // what invert adds is no direction
			break
		}
		row := columns[r*k:][:k]
		for i := range row {
			row[i] = math.Sqrt(size[i]*size[p]) * cov[p*k+i]
		}
		for b := range r {
			before := columns[b*k:][:k]
			add(-before[p], before, row)
		}
		blasOf.Dscal(k, 1/math.Sqrt(left[p]), row, 1)
		for i, v := range row {
			left[i] -= v * v
		}
	}
	return columns, r
}

// factorOf returns L with L L' = H A H for a symmetric A, which it takes, for places that stand for groups of some size
// each: H takes away the mean over all. Eigenvalues below kernelCut of the largest are left out. It takes the
// O(k^3) of an eigenvalue problem and 16 k^2 bytes for k groups.
//
// With S the sizes, the eigenvectors are those of S^1/2 H K H S^1/2, so that columns are orthogonal over all places.
func factorOf(a, size []float64) (basis, error) {
	k := len(size)
	total := blasOf.Dasum(k, size, 1)
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
		return basis{}, fmt.Errorf("%w: eigenvectors of a kernel", wpmerr.ErrNotConverged)
	}
	// Rounding leaves eigenvalues of k epsilon where there is nothing: all places at one point, or k = 1.
	cut := max(kernelCut*values[k-1], noKernel*total)
	rank := 0
	for rank < k && values[k-1-rank] > cut {
		rank++
	}
	if rank == 0 { // a column of zeros
		return basis{rank: 1, l: make([]float64, k)}, nil
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
