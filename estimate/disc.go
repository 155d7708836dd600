package estimate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// discPlaces is the number of places that Disc looks at: its matrices have that side.
	discPlaces = 400
	// discLength is the length of the kernel of its prior, of the mean distance of two places.
	discLength = 0.4
	// The largest share that it tries, and how many it has to choose from; the smallest is one place.
	largestDisc = 0.6
	discShares  = 33
)

// Disc returns the share of outputs that a release should favour, those nearest to the device, for the best map from a
// number of devices. The more devices there are, the smaller the disc, because they average out the noise that a
// smaller disc adds.
//
// It is the share f that minimizes the Bayes risk of a linear estimate of the map theta, to second order around the
// even one,
//
//	trace(W (N I_f + S^-1)^-1),   W = -H D H
//
// where I_f is the Fisher information of a release from a channel whose rows are e^eps times likelier within the disc
// than out of it, S = H exp(-D/l) H / k^2 the covariance of theta under the prior of Map at roughness 1, and l is 0.4
// times the mean distance. With W the risk is the mean squared energy distance to the truth, which stands for W_1. The
// outputs are taken to be the inputs. Above 400 places, 400 places that are far from each other stand for all, and the
// disc has at least two of them.
//
// The rule assumes a map that is spread out. If nearly all devices are at one place, a larger disc makes a better map,
// because its rim locates the place.
//
// c and p are as for NewGeometry, with the same errors, but Disc does not take O(k^2). An eps that is not from 0 to 700 is
// ErrEpsilon, and devices below 0 are ErrSettings. The time is that of about 15 products of 400 x 400 matrices; ctx is checked in between.
func Disc(ctx context.Context, c cost.Matrix, p, eps float64, devices int) (share float64, err error) {
	if !(eps >= 0 && eps <= 700) {
		return 0, fmt.Errorf("%w: %v", wpmerr.ErrEpsilon, eps)
	}
	if devices < 0 {
		return 0, fmt.Errorf("%w: %d devices", wpmerr.ErrSettings, devices)
	}
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, c); err != nil {
		return 0, err
	}
	dist, err := distances(ctx, c, p)
	if err != nil {
		return 0, err
	}
	d, err := newDiscFit(ctx, &Geometry{dist: dist, unit: 1})
	if err != nil {
		return 0, err
	}
	least := d.size[0] / d.total
	if len(d.size) < int(d.total) {
		least = 2 / float64(len(d.size))
	}
	shareOf := func(t int) float64 {
		return largestDisc * math.Pow(min(1, least/largestDisc), float64(t)/(discShares-1))
	}
	at := leastOf(discShares, func(t int) float64 {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		return d.risk(shareOf(t), eps, float64(devices))
	})
	if ctx.Err() != nil {
		return 0, wpmerr.Ended(ctx)
	}
	return shareOf(at), nil
}

// leastOf returns where a smooth function of 0 to n-1 is least: at the best of every fourth, or at what is between its
// neighbours.
func leastOf(n int, f func(t int) float64) (at int) {
	best := math.Inf(1)
	try := func(t int) {
		if y := f(t); y < best {
			best, at = y, t
		}
	}
	for t := 0; t < n; t += 4 {
		try(t)
	}
	for _, step := range []int{2, 1} {
		for _, t := range []int{at - step, at + step} {
			if t >= 0 && t < n {
				try(t)
			}
		}
	}
	return at
}

// discFit holds the places that Disc looks at, with what does not depend on the disc.
type discFit struct {
	size  []float64 // places that each stands for
	total float64   // of them
	order [][]int   // for each place, all by their distance
	rank  int
	root  []float64 // R with S = R R': n x rank
	weigh []float64 // R' W R
}

func newDiscFit(ctx context.Context, g *Geometry) (*discFit, error) {
	k := g.K()
	by := groups{centers: make([]int, k), size: make([]float64, k)}
	for i := range k {
		by.centers[i], by.size[i] = i, 1
	}
	if k > discPlaces {
		even := slices.Repeat([]float64{1}, k)
		var err error
		if by, err = (&fit{within: even}).group(ctx, g, even, discPlaces); err != nil {
			return nil, err
		}
	}
	n := len(by.centers)
	d := &discFit{size: by.size, total: float64(k), order: make([][]int, n)}
	dist, row := make([]float64, n*n), make([]float64, k)
	mean := 0.0
	for a, i := range by.centers {
		all := g.dist.Row(i, row)
		d.order[a] = make([]int, n)
		for b, j := range by.centers {
			dist[a*n+b], d.order[a][b] = all[j], b
			mean += all[j] * (by.size[a] / d.total) * (by.size[b] / d.total)
		}
		slices.SortStableFunc(d.order[a], func(x, y int) int { return cmp.Compare(dist[a*n+x], dist[a*n+y]) })
	}
	if !(mean > 0) { // all at one point
		return d, nil
	}
	g.unit = mean
	r, err := factorOf(g.exponential(discLength, 0, dist, len(by.size)), by.size)
	if err != nil {
		return nil, err
	}
	d.rank, d.root = r.rank, r.l
	for a := range n {
		blasOf.Dscal(r.rank, by.size[a]/d.total, d.root[a*r.rank:], 1)
	}
	// The columns of R sum to 0, so H changes nothing.
	half := make([]float64, n*r.rank)
	d.weigh = make([]float64, r.rank*r.rank)
	if r.rank > 0 {
		blasOf.Dscal(n*n, -1/mean, dist, 1)
		blasOf.Dgemm(blas.NoTrans, blas.NoTrans, n, r.rank, n, 1, dist, n, d.root, r.rank, 0, half, r.rank)
		blasOf.Dgemm(blas.Trans, blas.NoTrans, r.rank, r.rank, n, 1, d.root, r.rank, half, r.rank, 0, d.weigh, r.rank)
	}
	return d, nil
}

// risk is trace(R' W R (1 + N R' I_f R)^-1).
func (d *discFit) risk(share, eps, devices float64) float64 {
	n, r := len(d.size), d.rank
	if r == 0 {
		return 0
	}
	rows := d.channel(share, eps)
	q, info := make([]float64, n), make([]float64, n*r)
	for a := range n {
		add(d.size[a]/d.total, rows[a*n:][:n], q)
	}
	blasOf.Dgemm(blas.Trans, blas.NoTrans, n, r, n, 1, rows, n, d.root, r, 0, info, r)
	for j := range n {
		blasOf.Dscal(r, math.Sqrt(devices/max(q[j], leastShare)), info[j*r:], 1)
	}
	gram := make([]float64, r*r)
	blasOf.Dsyrk(blas.Lower, blas.Trans, r, n, 1, info, r, 0, gram, r)
	for b := range r {
		gram[b*r+b]++
	}
	if !lapackOf.Dpotrf(blas.Lower, r, gram, r) {
		return math.Inf(1) // rounding: so many devices that the prior does not count
	}
	x := slices.Clone(d.weigh)
	lapackOf.Dpotrs(blas.Lower, r, r, gram, r, x, r)
	trace := 0.0
	for b := range r {
		trace += x[b*r+b]
	}
	return trace
}

// channel returns the rows of a disc: every output has e^eps or 1 times its size, and one at the rim something between.
func (d *discFit) channel(share, eps float64) []float64 {
	n := len(d.size)
	low, more := math.Exp(-eps), -math.Expm1(-eps)
	rows := make([]float64, n*n)
	for a, order := range d.order {
		row, left := rows[a*n:][:n], share*d.total
		for _, j := range order {
			high := min(d.size[j], left)
			left -= high
			row[j] = low*d.size[j] + more*high
		}
		blasOf.Dscal(n, 1/(low*d.total+more*share*d.total), row, 1)
	}
	return rows
}
