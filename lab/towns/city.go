// Package towns has made-up cities, each with a truth, and draws reports from it: what studies of maps share.
//
// The cities are grids, clumps, a line, places on the globe and films (sets of genres, with cosine costs).
package towns

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/wpm-go/wpm/cost"
)

// City is a set of places with a truth.
type City struct {
	Name, Family string
	Cost         cost.Matrix
	Truth        []float64
}

// Blobs is another truth of the city, around n of its places.
func (c City) Blobs(seed uint64, n int) []float64 {
	return builder{generator(seed, 2000), c.Cost}.blobs(n, 0.12)
}

// builder makes places in a plane, and truths over any places.
type builder struct {
	*rand.Rand
	cost cost.Matrix
}

func generator(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// blobs is a truth around n places: each holds a share that falls with the distance, at a length relative to the mean
// distance. A tenth is everywhere.
func (b builder) blobs(n int, length float64) []float64 {
	k, _ := b.cost.Dims()
	out := make([]float64, k)
	for i := range out {
		out[i] = 0.1 / float64(k)
	}
	shares, total := make([]float64, n), 0.0
	for m := range shares {
		shares[m] = b.ExpFloat64()
		total += shares[m]
	}
	for _, s := range shares {
		row := b.cost.Row(b.IntN(k), make([]float64, k))
		mean, sum, w := 0.0, 0.0, make([]float64, k)
		for _, d := range row {
			mean += d / float64(k)
		}
		for i, d := range row {
			w[i] = math.Exp(-d / (length * mean))
			sum += w[i]
		}
		for i, v := range w {
			out[i] += 0.9 * s / total * v / sum
		}
	}
	return out
}

// zipf is a truth without a pattern: shares by rank, to a power, in random order.
func (b builder) zipf(power float64) []float64 {
	k, _ := b.cost.Dims()
	out, sum := make([]float64, k), 0.0
	for r, i := range b.Perm(k) {
		out[i] = math.Pow(float64(r+1), -power)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// clumps are points of the plane around centres of several widths.
func clumps(r *rand.Rand, centers, each int) [][]float64 {
	var out [][]float64
	for c := range centers {
		x, y, s := 100*r.Float64(), 100*r.Float64(), math.Pow(8, float64(c)/float64(centers))
		for range each {
			out = append(out, []float64{x + s*r.NormFloat64(), y + s*r.NormFloat64()})
		}
	}
	return out
}

// Cities are those of the study.
func Cities(seed uint64) ([]City, error) {
	var out []City
	var fault error
	add := func(name, family string, c cost.Matrix, err error, truth func(b builder) []float64) {
		if err != nil {
			fault = err
			return
		}
		b := builder{generator(seed, uint64(1000+len(out))), c}
		out = append(out, City{name, family, c, truth(b)})
	}
	points := func(x [][]float64) (cost.Matrix, error) { return cost.NewPoints(x, nil, 1) }
	grid := func(n int) (cost.Matrix, error) { return cost.NewGrid(n, n, 1) }
	c, err := grid(10)
	add("grid 10, blobs", "plane", c, err, func(b builder) []float64 { return b.blobs(5, 0.2) })
	add("grid 10, rough", "plane", c, err, func(b builder) []float64 { return b.zipf(1) })
	c, err = grid(14)
	add("grid 14, blobs", "plane", c, err, func(b builder) []float64 { return b.blobs(5, 0.15) })
	c, err = grid(20)
	add("grid 20, blobs", "plane", c, err, func(b builder) []float64 { return b.blobs(8, 0.12) })
	c, err = points(clumps(generator(seed, 1), 9, 17))
	add("clumps 153, blobs", "plane", c, err, func(b builder) []float64 { return b.blobs(6, 0.15) })
	c, err = points(clumps(generator(seed, 2), 12, 10))
	add("clumps 120, rough", "plane", c, err, func(b builder) []float64 { return b.zipf(0.8) })
	r, x, line := generator(seed, 3), 0.0, [][]float64(nil)
	for range 40 {
		x += r.ExpFloat64()
		line = append(line, []float64{x})
	}
	c, err = points(line)
	add("line 40, blobs", "line", c, err, func(b builder) []float64 { return b.blobs(4, 0.1) })
	add("line 40, rough", "line", c, err, func(b builder) []float64 { return b.zipf(0.8) })
	r = generator(seed, 4)
	var globe [][2]float64
	var at [2]float64
	for n := range 150 {
		if n%15 == 0 {
			at = [2]float64{math.Asin(1.8*r.Float64()-0.9) * 180 / math.Pi, 340*r.Float64() - 170}
		}
		if n%2 == 0 {
			globe = append(globe, [2]float64{at[0] + r.NormFloat64(), at[1] + r.NormFloat64()})
		} else {
			globe = append(globe, [2]float64{math.Asin(1.8*r.Float64()-0.9) * 180 / math.Pi, 340*r.Float64() - 170})
		}
	}
	c, err = cost.NewGreatCircle(globe, nil, 1)
	add("globe 150, lumpy", "globe", c, err, func(b builder) []float64 { return b.blobs(8, 0.1) })
	add("globe 150, smooth", "globe", c, err, func(b builder) []float64 { return b.blobs(3, 0.5) })
	r = generator(seed, 5)
	var films [][]float64
	for range 150 {
		f := make([]float64, 20)
		for range 1 + r.IntN(4) {
			f[r.IntN(20)] = 1
		}
		films = append(films, f)
	}
	c, err = cost.NewCosine(films, nil)
	add("films 150, popular", "films", c, err, func(b builder) []float64 { return b.zipf(0.8) })
	return out, fault
}

// Draw returns counts with the law of n releases, as a chain of binomial ones.
func Draw(law []float64, n int, seed uint64) []uint64 {
	r := generator(seed, uint64(n))
	counts, rest := make([]uint64, len(law)), make([]float64, len(law)+1)
	for j := len(law) - 1; j >= 0; j-- {
		rest[j] = rest[j+1] + law[j]
	}
	left := float64(n)
	for j, q := range law {
		c := left
		if p := q / rest[j]; p < 1 && j < len(law)-1 {
			c = distuv.Binomial{N: left, P: p, Src: r}.Rand()
		}
		counts[j] = uint64(c)
		if left -= c; left == 0 {
			break
		}
	}
	return counts
}
