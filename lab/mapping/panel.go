package mapping

import (
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/cost"
)

// panel makes the maps that predictions are compared on: one of each kind, drawn from the seed with its size, so that
// another seed gives other maps. Each takes the numbers of devices in turn.
func panel(seed uint64) ([]world, error) {
	kinds := []struct {
		name string
		make func(name string, r *rand.Rand) (world, error)
	}{
		{"a narrow centre", onGrid(func(side float64, r *rand.Rand) density { return hills(side, r, 1, 0.6, 1.5, 1e-5) })},
		{"a wide centre", onGrid(func(side float64, r *rand.Rand) density { return hills(side, r, 1, 2, 5, 1e-3) })},
		{"centres", onGrid(func(side float64, r *rand.Rand) density { return hills(side, r, 3+r.IntN(4), 0.6, 2.5, 1e-4) })},
		{"roads", onGrid(streets)},
		{"smooth", onGrid(func(side float64, r *rand.Rand) density { return waves(side, r, 1) })},
		{"nearly even", onGrid(func(side float64, r *rand.Rand) density { return waves(side, r, 0.15) })},
		{"coastline", onGrid(coastline)},
		{"few places", onGrid(func(side float64, r *rand.Rand) density { return single(side, r, 3+r.IntN(5)) })},
		{"independent masses", onGrid(func(_ float64, r *rand.Rand) density {
			sd := 0.5 + 1.5*r.Float64()
			return func(_, _ float64) float64 { return math.Exp(sd * r.NormFloat64()) }
		})},
		{"towns, spread", func(name string, r *rand.Rand) (world, error) { return towns(name, r, 0.15) }},
		{"towns, concentrated", func(name string, r *rand.Rand) (world, error) { return towns(name, r, 0.03) }},
		{"ring", ringOf},
		{"films", func(name string, r *rand.Rand) (world, error) {
			w, err := filmsOf(r, 100+r.IntN(100))
			w.name = name
			return w, err
		}},
		{"one place", onGrid(func(side float64, r *rand.Rand) density { return single(side, r, 1) })},
	}
	out := make([]world, len(kinds))
	for n, kind := range kinds {
		var err error
		if out[n], err = kind.make(kind.name, rand.New(rand.NewPCG(seed, uint64(n)))); err != nil {
			return nil, err
		}
		out[n].turn = n + 1
	}
	return out, nil
}

// density of a map at a place.
type density func(x, y float64) float64

// onGrid makes a map of 12 x 12 to 20 x 20 cells, more often of few.
func onGrid(of func(side float64, r *rand.Rand) density) func(string, *rand.Rand) (world, error) {
	return func(name string, r *rand.Rand) (world, error) {
		n := 12 + min(r.IntN(9), r.IntN(9))
		c, err := cost.NewGrid(n, n, 1)
		if err != nil {
			return world{}, err
		}
		t, at := make([]float64, n*n), of(float64(n), r)
		for i := range t {
			t[i] = at(float64(i%n), float64(i/n))
		}
		return world{name: name, unit: "cells", scale: float64(n), cost: c, truth: shares(t)}, nil
	}
}

// hills are n centres of unequal weight on a floor, whose widths are between low and high, on a log scale.
func hills(side float64, r *rand.Rand, n int, low, high, floor float64) density {
	x, y, sd, weight := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = side*r.Float64(), side*r.Float64()
		sd[i] = low * math.Pow(high/low, r.Float64())
		weight[i] = (0.1 + r.ExpFloat64()) / (sd[i] * sd[i])
	}
	return func(u, v float64) float64 {
		sum := floor
		for i := range x {
			sum += weight[i] * math.Exp(-((u-x[i])*(u-x[i])+(v-y[i])*(v-y[i]))/(2*sd[i]*sd[i]))
		}
		return sum
	}
}

// streets are two to four straight lines on a floor.
func streets(side float64, r *rand.Rand) density {
	lines := make([][3]float64, 2+r.IntN(3)) // cos, sin, distance from the middle
	for i := range lines {
		sin, cos := math.Sincos(math.Pi * r.Float64())
		lines[i] = [3]float64{cos, sin, side / 3 * (2*r.Float64() - 1)}
	}
	return func(x, y float64) float64 {
		sum := 0.01
		for _, l := range lines {
			d := (x-side/2)*l[0] + (y-side/2)*l[1] - l[2]
			sum += math.Exp(-2 * d * d)
		}
		return sum
	}
}

// waves are exp of a sum of four long waves of one amplitude.
func waves(side float64, r *rand.Rand, amplitude float64) density {
	of := make([][3]float64, 4)
	for i := range of {
		of[i] = [3]float64{3 * r.NormFloat64() / side, 3 * r.NormFloat64() / side, 2 * math.Pi * r.Float64()}
	}
	return func(x, y float64) float64 {
		sum := 0.0
		for _, w := range of {
			sum += amplitude * math.Sin(x*w[0]+y*w[1]+w[2])
		}
		return math.Exp(sum)
	}
}

// coastline is land that thins out from a wavy shore, with some towns on it, beside a sea without anyone.
func coastline(side float64, r *rand.Rand) density {
	shore, depth, phase := side*(0.2+0.4*r.Float64()), side*(0.05+0.2*r.Float64()), 2*math.Pi*r.Float64()
	inland := hills(side, r, 3, 0.7, 2, 0.1)
	return func(x, y float64) float64 {
		d := y - shore - side/8*math.Sin(2*math.Pi*x/side+phase)
		if d < 0 {
			return 0
		}
		return math.Exp(-d/depth) * inland(x, y)
	}
}

// single is n places that have everything.
func single(side float64, r *rand.Rand, n int) density {
	weight := map[[2]float64]float64{}
	for range n {
		weight[[2]float64{math.Floor(side * r.Float64()), math.Floor(side * r.Float64())}] += 0.2 + r.ExpFloat64()
	}
	return func(x, y float64) float64 { return weight[[2]float64{x, y}] }
}

// towns are irregular places, denser towards the middle of a country. Their masses fall with the distance from a city,
// in degrees, and are unequal besides.
func towns(name string, r *rand.Rand, reach float64) (world, error) {
	at, t := make([][2]float64, 150+r.IntN(100)), make([]float64, 250)
	x, y := 0.1*r.NormFloat64(), 0.1*r.NormFloat64()
	narrow := math.Cos(48 * math.Pi / 180)
	for i := range at {
		u, v := 0.12*r.NormFloat64(), 0.12*r.NormFloat64()
		at[i] = [2]float64{48 + v, 11 + u/narrow}
		t[i] = (1e-3 + math.Exp(-math.Hypot(u-x, v-y)/reach)) * math.Exp(0.5*r.NormFloat64())
	}
	c, err := cost.NewGreatCircle(at, nil, 1)
	return world{name: name, unit: "km", scale: 1, cost: c, truth: shares(t[:len(at)])}, err
}

// ringOf has two to four peaks on a floor.
func ringOf(name string, r *rand.Rand) (world, error) {
	t := make([]float64, 100+r.IntN(100))
	n := float64(len(t))
	for range 2 + r.IntN(3) {
		at, width, weight := n*r.Float64(), 1+10*r.Float64(), 0.2+r.ExpFloat64()
		for i := range t {
			d := math.Abs(float64(i) - at)
			t[i] += 0.002 + weight*math.Exp(-min(d, n-d)/width)
		}
	}
	c, err := cost.NewRing(len(t), 1)
	return world{name: name, unit: "steps", scale: 1, cost: c, truth: shares(t)}, err
}
