package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// roughSteps of EM show where the mass is, for a first partition.
const roughSteps = 30

// leastDistance, in units of the distance between neighbours, is next to nothing. Its fourth power is no underflow.
const leastDistance = 1e-3

// groups is a partition of the places.
type groups struct {
	of      []int // group of each place
	centers []int // a place of each group
	size    []float64
}

// Groups makes up to n groups of places, small where there is weight, and returns the group of each place and a place
// in the middle of each group. weight has an entry for each place, finite and not negative. Centers are chosen one
// after another, each the place with the largest d w^(1/3): d is the distance to the nearest center, and w the weight.
// In the plane this is the density of points from which a distribution w is least far, in W_1 (the exponent is
// (1/dim)/(1+1/dim) there). There are fewer groups if the others would be at the points of their centers. It takes
// O(n k) at most, and a small part of that for points and places on a sphere. The errors are ErrShape, ErrNotFinite,
// ErrNegative and that of ctx.
func (g *Geometry) Groups(ctx context.Context, weight []float64, n int) (of, centers []int, err error) {
	ctx = wpmerr.Context(ctx)
	k := g.K()
	if len(weight) != k || n < 1 {
		return nil, nil, fmt.Errorf("%w: %d groups of %d places, with %d weights", wpmerr.ErrShape, n, k, len(weight))
	}
	if err := wpmerr.Masses("weight", weight); err != nil {
		return nil, nil, err
	}
	c := newClusters(g.dist, weight)
	for len(c.centers) < n {
		next := c.next()
		if c.near[next] == 0 {
			break
		}
		if ctx.Err() != nil {
			return nil, nil, wpmerr.Ended(ctx)
		}
		c.add(next)
	}
	return c.of, c.centers, nil
}

// clusters are groups in the making.
type clusters struct {
	dist    cost.Matrix
	of      []int // group of each place
	centers []int
	root    []float64 // third root of the weight of each place
	near    []float64 // its distance to the center of its group
	groups  []cluster

	// Distances between places have the triangle inequality, but for errors: few of them are computed then.
	spaced   bool
	rel, abs float64
}

// cluster is a group: its places, the largest distance of one, and the one that would be the next center, with its score.
type cluster struct {
	places []int
	radius float64
	next   int
	score  float64
}

// newClusters makes one group.
func newClusters(dist cost.Matrix, weight []float64) *clusters {
	k := len(weight)
	c := &clusters{dist: dist, of: make([]int, k), root: make([]float64, k), groups: make([]cluster, 1)}
	for i, w := range weight {
		c.root[i] = math.Cbrt(w)
		c.groups[0].places = append(c.groups[0].places, i)
	}
	c.centers = []int{argmax(c.root)}
	c.near = slices.Clone(dist.Row(c.centers[0], make([]float64, k)))
	c.measure(0)
	if s := cost.SpaceOf(dist); s.Power == 1 && s.Scale == 1 && cost.Part(dist, nil, nil) != nil {
		c.spaced, c.rel, c.abs = true, 8*s.Rel, 8*s.Abs+8*math.SmallestNonzeroFloat64
	}
	return c
}

// add makes a group around a place. A place is no nearer to the new center than to its own if the two centers are at least
// twice as far from each other as it is from its own (Elkan, Using the triangle inequality to accelerate k-means, 2003).
func (c *clusters) add(center int) {
	half := slices.Repeat([]float64{-1}, len(c.centers)) // so near to its center, a place stays
	if c.spaced {
		for a, d := range cost.Part(c.dist, []int{center}, c.centers).Row(0, half) {
			half[a] = (d*(1-c.rel) - c.abs) / 2
		}
	}
	var list, from []int // places that may be nearer, and their groups
	for a, g := range c.groups {
		if g.radius <= half[a] {
			continue
		}
		from = append(from, a)
		for _, i := range g.places {
			if c.near[i] > half[a] {
				list = append(list, i)
			}
		}
	}
	var own []int
	for n, d := range c.distances(center, list) {
		if i := list[n]; d < c.near[i] {
			c.near[i], c.of[i] = d, len(c.centers)
			own = append(own, i)
		}
	}
	for _, a := range from {
		c.groups[a].places = slices.DeleteFunc(c.groups[a].places, func(i int) bool { return c.of[i] != a })
		c.measure(a)
	}
	c.centers, c.groups = append(c.centers, center), append(c.groups, cluster{places: own})
	c.measure(len(c.groups) - 1)
}

// distances returns those of a place from some places.
func (c *clusters) distances(i int, list []int) []float64 {
	out := make([]float64, len(list))
	if c.spaced {
		return cost.Part(c.dist, []int{i}, list).Row(0, out)
	}
	row := c.dist.Row(i, make([]float64, len(c.of)))
	for n, j := range list {
		out[n] = row[j]
	}
	return out
}

// measure looks at a group anew.
func (c *clusters) measure(a int) {
	g := &c.groups[a]
	g.radius, g.score, g.next = 0, -1, len(c.of)
	for _, i := range g.places {
		g.radius = max(g.radius, c.near[i])
		if score := c.near[i] * c.root[i]; score > g.score || score == g.score && i < g.next {
			g.score, g.next = score, i
		}
	}
}

// next returns the place of the largest score, the first of those.
func (c *clusters) next() int {
	best := c.groups[0]
	for _, g := range c.groups[1:] {
		if g.score > best.score || g.score == best.score && g.next < best.next {
			best = g
		}
	}
	return best.next
}

// group makes n groups for a map and the prior.
func (f *fit) group(ctx context.Context, g *Geometry, theta []float64, n int) (groups, error) {
	weight := make([]float64, len(theta))
	for i, t := range theta {
		weight[i] = t/2 + f.within[i]/2
	}
	of, centers, err := g.Groups(ctx, weight, n)
	by := groups{of: of, centers: centers, size: make([]float64, len(centers))}
	for _, a := range of {
		by.size[a]++
	}
	return by, err
}

// rough returns a map after a few steps of EM.
func (f *fit) rough(ctx context.Context) ([]float64, error) {
	k, kv := f.channel.Dims()
	theta := slices.Clone(f.within)
	q, g := make([]float64, kv), make([]float64, k)
	for range roughSteps {
		if ctx.Err() != nil {
			return nil, wpmerr.Ended(ctx)
		}
		f.channel.forward(theta, q)
		for j, c := range f.counts {
			q[j] = c / f.n / max(q[j], leastShare)
		}
		f.channel.back(q, g)
		for i := range theta {
			theta[i] *= g[i]
		}
		toSum(theta)
	}
	return theta, nil
}

// coarse returns the problem for groups of places, and of outputs: prior masses of places, and as rows the means of
// their places' rows, by the prior, summed over the outputs of a group. It is exact for maps that are the prior within
// each group; outputs are counted by groups, which loses what they tell apart within one.
func (f *fit) coarse(by groups, outputs groups) *fit {
	out := *f
	n, m := len(by.centers), len(outputs.centers)
	out.prior, out.counts, out.guess = by.sum(f.prior), outputs.sum(f.counts), make([]float64, m)
	if f.even != nil {
		out.even = by.sum(f.even)
	}
	if f.first != nil {
		out.first = by.sum(f.first)
	}
	rows := make([]float64, 0, n*m)
	f.channel.means(by, f.within, func(_ int, law []float64) { rows = append(rows, outputs.sum(law)...) })
	out.channel = &Channel{k: n, kv: m, rows: rows}
	out.channel.findLow()
	out.channel.forward(out.prior, out.guess)
	return &out
}

// means calls each with the mean row of every group, by a prior; any mean will do where that has no mass.
func (c *Channel) means(by groups, prior []float64, each func(a int, law []float64)) {
	share, law, mass := make([]float64, c.k), make([]float64, c.kv), by.sum(prior)
	for a, places := range by.members() {
		for _, i := range places {
			if share[i] = prior[i] / mass[a]; mass[a] == 0 {
				share[i] = 1 / float64(len(places))
			}
		}
		c.forward(share, law)
		each(a, law)
		for _, i := range places {
			share[i] = 0
		}
	}
}

// Merge returns the channel of n groups of inputs, with the group of each in of: a device in a group is at its places as
// a public prior has them, nil for all alike. So it is where a group has no mass, too. It takes 8 n kv bytes, or less.
// The errors are ErrShape, for a group without places, too.
func (c *Channel) Merge(of []int, n int, prior []float64) (*Channel, error) {
	u, err := Guess(prior, c.k)
	if err != nil {
		return nil, err
	}
	size, err := sizes(of, n, c.k)
	if err != nil {
		return nil, err
	}
	by := groups{of: of, centers: make([]int, n), size: size}
	rows := make([]float64, 0, n*c.kv)
	c.means(by, u, func(_ int, law []float64) { rows = append(rows, law...) })
	return &Channel{k: n, kv: c.kv, rows: rows}, nil
}

// MergeOutputs returns the channel with m groups of outputs, with the group of each in of: of a release, the group is
// seen. So it says less, and what it contradicts, the release contradicts. It takes 8 k m bytes. The errors are ErrShape,
// for a group without outputs, too, and that of ctx.
func (c *Channel) MergeOutputs(ctx context.Context, of []int, m int) (*Channel, error) {
	if _, err := sizes(of, m, c.kv); err != nil {
		return nil, err
	}
	out := &Channel{k: c.k, kv: m, rows: make([]float64, c.k*m)}
	low := make([]float64, m)
	for n, v := range c.low {
		low[of[c.output(n)]] += v
	}
	ctx = wpmerr.Context(ctx)
	if err := parallel.For(ctx, c.k, func(i int) { c.sum(i, of, low, out.rows[i*m:][:m]) }); err != nil {
		return nil, wpmerr.Ended(ctx)
	}
	return out, nil
}

// sum sets law to the sums of row i over groups of outputs; low are those of what is low.
func (c *Channel) sum(i int, of []int, low, law []float64) {
	if c.rows != nil {
		for j, v := range c.row(i) {
			law[of[j]] += v
		}
		return
	}
	add(c.scale[i], low, law)
	for _, r := range c.runsOf(i) {
		for n := int(r.from); n < int(r.to); n++ {
			law[of[c.output(n)]] += c.scale[i] * c.step[n]
		}
	}
	for _, o := range c.oddOf(i) {
		law[of[o.j]] += o.extra
	}
}

// sizes counts the members of n groups of all k, which must be there. The error is ErrShape.
func sizes(of []int, n, k int) ([]float64, error) {
	size := make([]float64, max(n, 0))
	for i, a := range of {
		if a < 0 || a >= n {
			return nil, fmt.Errorf("%w: %d of %d in group %d of %d", wpmerr.ErrShape, i, k, a, n)
		}
		size[a]++
	}
	if a := slices.Index(size, 0); a >= 0 || len(of) != k {
		return nil, fmt.Errorf("%w: %d in groups, of %d, and none in group %d of %d", wpmerr.ErrShape, len(of), k, a, n)
	}
	return size, nil
}

// grain is the mean distance of a place to the center of its group.
func (by groups) grain(g *Geometry) (mean float64) {
	row := make([]float64, len(by.of))
	for a, c := range by.centers {
		for i, d := range g.dist.Row(c, row) {
			if by.of[i] == a {
				mean += d / float64(len(by.of))
			}
		}
	}
	return mean
}

// members returns the places of each group.
func (by groups) members() [][]int {
	out := make([][]int, len(by.centers))
	for i, a := range by.of {
		out[a] = append(out[a], i)
	}
	return out
}

// sum adds what the places of each group have.
func (by groups) sum(x []float64) []float64 {
	out := make([]float64, len(by.centers))
	for i, a := range by.of {
		out[a] += x[i]
	}
	return out
}

// expand returns the maps of the places for some of groups. The mass of a group goes to its places by the prior times a
// density, whose logarithm is the mean of those of all groups, by the inverse fourth power of the distance to their
// centers.
func (by groups) expand(g *Geometry, prior []float64, list ...[]float64) [][]float64 {
	k, n := len(prior), len(list)
	mass := by.sum(prior)
	up, down, row := make([]float64, k*n), make([]float64, k), make([]float64, k)
	density := make([]float64, n)
	for a, c := range by.centers {
		if mass[a] == 0 {
			continue
		}
		for m, theta := range list {
			density[m] = min(max(math.Log(theta[a]/mass[a]), -leastLog), leastLog)
		}
		for i, d := range g.dist.Row(c, row) {
			d = max(d/g.unit, leastDistance)
			w := 1 / (d * d * d * d)
			add(w, density, up[i*n:][:n])
			down[i] += w
		}
	}
	out := make([][]float64, n)
	for m, theta := range list {
		x := make([]float64, k)
		for i, u := range prior {
			if u > 0 {
				x[i] = u / mass[by.of[i]] * math.Exp(up[i*n+m]/down[i])
			}
		}
		by.fit(x, theta)
		out[m] = x
	}
	return out
}

// fit scales x within each group to the mass that theta has for it.
func (by groups) fit(x, theta []float64) {
	sums := by.sum(x)
	for i, a := range by.of {
		if sums[a] > 0 {
			x[i] *= theta[a] / sums[a]
		}
	}
}
