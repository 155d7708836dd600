package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/estimate"
)

const (
	// moved is the share of the prior that a world has elsewhere.
	moved = 0.3
	// seed starts the generators of worlds and of counts.
	seed = 0x77706d20706c616e
	// sources is how many places a generic map is a sum around.
	sources = 64
)

// The generic maps: every pair of a length, of the mean distance of two places, and of a standard deviation of the logarithm.
var (
	lengths     = [...]float64{0.15, 0.4}
	roughnesses = [Worlds / len(lengths)]float64{0.75, 1.5, 2.25, 3, 4}
)

// generator is that of a world, for a purpose.
func generator(world int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed+purpose, uint64(world)))
}

// around returns the worlds of a prior over k places.
func around(prior []float64, k int) ([][]float64, error) {
	if len(prior) != k {
		return nil, fmt.Errorf("%w: a prior of %d entries for %d inputs", ErrShape, len(prior), k)
	}
	largest := 0.0
	for i, v := range prior {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: Prior[%d] = %v", ErrShape, i, v)
		}
		largest = max(largest, v)
	}
	if largest == 0 {
		return nil, fmt.Errorf("%w: the prior sums to 0", ErrShape)
	}
	p := make([]float64, k)
	for i, v := range prior {
		p[i] = v / largest
	}
	normalize(p)
	out := make([][]float64, Worlds)
	for n := range out {
		r := generator(n, 0)
		w, left := slices.Clone(p), moved
		for _, i := range r.Perm(k) {
			part := min(p[i], left)
			w[i] -= part
			w[r.IntN(k)] += part
			left -= part
		}
		normalize(w)
		out[n] = w
	}
	return out, nil
}

// generic returns maps exp(f), where f is a sum of normal amounts around some places, each falling with the distance as exp(-d/l), put to a
// standard deviation.
func generic(g *estimate.Geometry) [][]float64 {
	k := g.K()
	out := make([][]float64, Worlds)
	buf := make([]float64, k)
	for n := range out {
		r := generator(n, 0)
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
					f[j] += amount * math.Exp(-d/mean/lengths[n%len(lengths)])
				}
			}
		}
		standardize(f)
		for j, v := range f {
			f[j] = math.Exp(roughnesses[n/len(lengths)] * v)
		}
		normalize(f)
		out[n] = f
	}
	return out
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

// quarter is the region of which an interval is predicted: the quarter of the places nearest to one at an end, which is a place
// farthest from the first.
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
