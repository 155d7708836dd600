package estimate

import (
	"context"
	"math"

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

// group makes n groups, small where theta has mass. Centers are chosen one after another, each the place with the
// largest d w^(1/3): d is the distance to the nearest center, and w the mean of the prior and of theta. In the plane
// this is the density of points from which a distribution w is least far, in W_1 (the exponent is (1/dim)/(1+1/dim)
// there).
func (f *fit) group(ctx context.Context, g *Geometry, theta []float64, n int) (groups, error) {
	k := len(f.prior)
	weight := make([]float64, k)
	for i, t := range theta {
		weight[i] = math.Cbrt(t/2 + f.prior[i]/2)
	}
	out := groups{of: make([]int, k)}
	near, row := make([]float64, k), make([]float64, k)
	for i := range near {
		near[i] = math.Inf(1)
	}
	next := 0
	for i, w := range weight {
		if w > weight[next] {
			next = i
		}
	}
	for len(out.centers) < n {
		if ctx.Err() != nil {
			return groups{}, wpmerr.Ended(ctx)
		}
		for i, d := range g.dist.Row(next, row) {
			if d < near[i] {
				near[i], out.of[i] = d, len(out.centers)
			}
		}
		out.centers = append(out.centers, next)
		next = 0
		for i, w := range weight {
			if near[i]*w > near[next]*weight[next] {
				next = i
			}
		}
		if near[next] == 0 { // all others are at the point of a center
			break
		}
	}
	out.size = make([]float64, len(out.centers))
	for _, a := range out.of {
		out.size[a]++
	}
	return out, nil
}

// rough returns a map after a few steps of EM.
func (f *fit) rough(ctx context.Context) ([]float64, error) {
	k, kv := f.channel.Dims()
	theta := append([]float64(nil), f.prior...)
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
		sum := 0.0
		for i := range theta {
			theta[i] *= g[i]
			sum += theta[i]
		}
		for i := range theta {
			theta[i] /= sum
		}
	}
	return theta, nil
}

// coarse returns the problem for groups: their prior masses, and as rows the means of their places' rows, by the prior.
// It is exact for maps that are the prior within each group.
func (f *fit) coarse(by groups) *fit {
	k, kv := f.channel.Dims()
	out := *f
	n := len(by.centers)
	out.prior = by.sum(f.prior)
	rows, share := make([]float64, n*kv), make([]float64, k)
	for i, a := range by.of {
		if out.prior[a] > 0 {
			share[i] = f.prior[i] / out.prior[a]
		} else { // any mean will do where no mass can be
			share[i] = 1 / by.size[a]
		}
		if share[i] > 0 {
			add(share[i], f.channel.row(i), rows[a*kv:][:kv])
		}
	}
	out.channel = &Channel{k: n, kv: kv, rows: rows, parts: &parts{f.channel, by.of, share}}
	return &out
}

// sum adds what the places of each group have.
func (by groups) sum(x []float64) []float64 {
	out := make([]float64, len(by.centers))
	for i, a := range by.of {
		out[a] += x[i]
	}
	return out
}

// spread is the map of the places for one of groups. The mass of a group goes to its places by the prior times a
// density, whose logarithm is the mean of those of all groups, by the inverse fourth power of the distance to their
// centers.
func (by groups) spread(g *Geometry, theta, prior []float64) []float64 {
	k := len(prior)
	mass := by.sum(prior)
	up, down, row := make([]float64, k), make([]float64, k), make([]float64, k)
	for a, c := range by.centers {
		if mass[a] == 0 {
			continue
		}
		density := min(max(math.Log(theta[a]/mass[a]), -leastLog), leastLog)
		for i, d := range g.dist.Row(c, row) {
			d = max(d/g.unit, leastDistance)
			w := 1 / (d * d * d * d)
			up[i] += w * density
			down[i] += w
		}
	}
	out := make([]float64, k)
	for i, u := range prior {
		if u > 0 {
			out[i] = u / mass[by.of[i]] * math.Exp(up[i]/down[i])
		}
	}
	sums := by.sum(out)
	for i, a := range by.of {
		if sums[a] > 0 {
			out[i] *= theta[a] / sums[a]
		}
	}
	return out
}
