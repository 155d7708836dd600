package plan

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/estimate"
)

const (
	// moved is the share of an even prior that a world has elsewhere, and tilted that of one on few places.
	moved = 0.3
	// Every itself-th world is the prior itself: the counts are others each time.
	itself = 5
	tilted = 0.15
	// seed starts the generators of worlds and of counts.
	seed = 0x77706d20706c616e
	// chance is the purpose of the generator of counts; that of a world's map is 0.
	chance = 1
	// sources is how many places a field is a sum around.
	sources = 64
	// tiltLength is that of the field by which mass moves between regions, and steepest how much of it is tried.
	tiltLength = 0.4
	steepest   = 64.0
)

// The generic maps: every pair of a length, of the mean distance of two places, and of a standard deviation of the
// logarithm.
var (
	lengths     = [...]float64{0.15, 0.4}
	roughnesses = [...]float64{0.2, 1, 2, 3, 4}
)

// generator is that of a world, for a purpose.
func generator(world int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed+purpose, uint64(world)))
}

// around returns the worlds of a prior. How mass moves depends on the share by which the prior differs from the even
// map. A map that is nearly even would be another one with regions, and one on few places with people everywhere.
func around(g *estimate.Geometry, prior []float64) ([][]float64, error) {
	p, err := estimate.Guess(prior, g.K())
	if err != nil {
		return nil, err
	}
	even, err := estimate.Guess(nil, g.K())
	if err != nil {
		return nil, err
	}
	uneven := apart(p, even)
	out := make([][]float64, Worlds)
	for n := range out {
		if n%itself == itself-1 {
			out[n] = p
			continue
		}
		out[n] = disperse(tilt(p, field(g, generator(n, 0), tiltLength), tilted*uneven), moved*(1-uneven))
	}
	return out, nil
}

// tilt returns p exp(a f), with sum 1, for the a > 0 that moves a share of it, or as much as can be moved so.
func tilt(p, f []float64, share float64) []float64 {
	top := math.Inf(-1)
	for i, v := range p {
		if v > 0 {
			top = max(top, f[i])
		}
	}
	at := func(a float64) []float64 {
		w := make([]float64, len(p))
		for i, v := range p {
			if v > 0 {
				w[i] = v * math.Exp(a*(f[i]-top))
			}
		}
		normalize(w)
		return w
	}
	low, high := 0.0, steepest
	for range 50 {
		if middle := (low + high) / 2; apart(at(middle), p) > share {
			high = middle
		} else {
			low = middle
		}
	}
	return at(low)
}

// disperse moves a share from everywhere to all places alike.
func disperse(w []float64, share float64) []float64 {
	for i := range w {
		w[i] = (1-share)*w[i] + share/float64(len(w))
	}
	return w
}

// apart is the share of mass that differs: the total variation.
func apart(a, b []float64) (off float64) {
	for i := range a {
		off += max(0, a[i]-b[i])
	}
	return off
}

// generic returns log-Gaussian maps.
func generic(g *estimate.Geometry) [][]float64 {
	out := make([][]float64, Worlds)
	for n := range out {
		f := field(g, generator(n, 0), lengths[n%len(lengths)])
		for j, v := range f {
			f[j] = math.Exp(roughnesses[n/len(lengths)%len(roughnesses)] * v)
		}
		normalize(f)
		out[n] = f
	}
	return out
}

// field returns a sum of normal amounts around places drawn uniformly, each falling as exp(-d/l) with the distance,
// put to mean 0 and standard deviation 1. l is in units of the mean distance of two places.
func field(g *estimate.Geometry, r *rand.Rand, length float64) []float64 {
	k := g.K()
	buf := make([]float64, k)
	at := r.Perm(k)[:min(k, sources)]
	mean := 0.0
	for _, i := range at {
		for _, d := range g.Row(i, buf) {
			mean += d / float64(k) / float64(len(at))
		}
	}
	f := make([]float64, k)
	if mean > 0 {
		for _, i := range at {
			amount := r.NormFloat64()
			for j, d := range g.Row(i, buf) {
				f[j] += amount * math.Exp(-d/mean/length)
			}
		}
	}
	standardize(f)
	return f
}

// standardize gives f mean 0 and standard deviation 1, if it has any.
func standardize(f []float64) {
	mean, square := 0.0, 0.0
	for _, v := range f {
		mean += v / float64(len(f))
	}
	for j := range f {
		f[j] -= mean
		square += f[j] * f[j] / float64(len(f))
	}
	if square > 0 {
		for j := range f {
			f[j] /= math.Sqrt(square)
		}
	}
}

func normalize(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}

// quarter is the region of which an interval is predicted: the quarter of the places nearest to one at an end, which
// is a place farthest from the first.
func quarter(g *estimate.Geometry) []float64 {
	k := g.K()
	buf := make([]float64, k)
	end := 0
	first := g.Row(0, buf)
	for j, d := range first {
		if d > first[end] {
			end = j
		}
	}
	row := slices.Clone(g.Row(end, buf))
	order := make([]int, k)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
	region := make([]float64, k)
	for _, j := range order[:(k+3)/4] {
		region[j] = 1
	}
	return region
}
