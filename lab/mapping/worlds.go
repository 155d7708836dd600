package mapping

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/lab/gowalla"
)

// world is a map with its places.
type world struct {
	name  string
	unit  string  // of distances
	scale float64 // units per unit of the cost
	cost  cost.Matrix
	truth []float64
	users [][]float64 // of the check-ins: each user releases once, from a distribution of their own
	sizes []int       // numbers of devices, or nil for those of the Config
	large bool        // also with Config.Large devices
	turn  int         // if not 0, one number of devices for each eps: the one at this place for the first, and so on
}

const (
	side   = 20  // cells on a side of the grids
	places = 300 // irregular places, and films
	coast  = 200 // points of the ring
	genres = 18
)

// worlds makes the nine maps.
func worlds(seed uint64) ([]world, error) {
	grid, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return nil, err
	}
	cells := func(name string, large bool, density func(x, y float64) float64) world {
		t := make([]float64, side*side)
		for i := range t {
			t[i] = density(float64(i%side), float64(i/side))
		}
		return world{name: name, unit: "cells", scale: side, cost: grid, truth: shares(t), large: large}
	}
	bump := func(x, y, cx, cy, sd float64) float64 {
		return math.Exp(-((x-cx)*(x-cx)+(y-cy)*(y-cy))/(2*sd*sd)) / (sd * sd)
	}
	road := func(d float64) float64 { return math.Exp(-d * d / 0.5) }
	out := []world{
		cells("spread", true, func(x, y float64) float64 { return 0.01 + bump(x, y, 7, 8, 6) + bump(x, y, 14, 13, 5) }),
		cells("concentrated", false, func(x, y float64) float64 { return 1e-5 + bump(x, y, 12, 7, 1.2) }),
		cells("several centres", true, func(x, y float64) float64 {
			return 2e-4 + .4*bump(x, y, 5, 5, 1.5) + .3*bump(x, y, 14, 6, 1) + .2*bump(x, y, 9, 15, 2) + .1*bump(x, y, 17, 17, 1)
		}),
		cells("roads", false, func(x, y float64) float64 {
			return 0.005 + road(x-6) + road((y-12)*.9) + .7*road((x-y)/math.Sqrt2) + 3*bump(x, y, 6, 12, 1.5)
		}),
	}
	people, err := city.Generate(seed, 500, side, side)
	if err != nil {
		return nil, err
	}
	out = append(out, world{name: "check-ins of a made city", unit: "cells", scale: side, cost: grid,
		truth: people.Truth(), large: true})
	r := rand.New(rand.NewPCG(seed, 0x6d617073)) // "maps": a stream of its own
	irregular, err := irregularPlaces(r)
	if err != nil {
		return nil, err
	}
	ring, err := cost.NewRing(coast, 1)
	if err != nil {
		return nil, err
	}
	shore := make([]float64, coast)
	for i := range shore {
		wave := func(at, width float64) float64 {
			d := math.Abs(float64(i) - at)
			return math.Exp(-min(d, coast-d) / width)
		}
		shore[i] = .003 + wave(30, 4) + .6*wave(110, 12) + .3*wave(160, 2)
	}
	films, err := filmsOf(r, places)
	if err != nil {
		return nil, err
	}
	return append(append(out, irregular...), films,
		world{name: "coast", unit: "steps", scale: 1, cost: ring, truth: shares(shore)}), nil
}

// irregularPlaces are places denser towards a centre, with a truth that is spread and one that is concentrated.
func irregularPlaces(r *rand.Rand) ([]world, error) {
	at := make([][2]float64, places)
	spread, dense := make([]float64, places), make([]float64, places)
	for i := range at {
		d := 0.15 * math.Sqrt(r.ExpFloat64()) // degrees of latitude
		turn := 2 * math.Pi * r.Float64()
		at[i] = [2]float64{52.5 + d*math.Cos(turn), 13.4 + d*math.Sin(turn)/math.Cos(52.5*math.Pi/180)}
		spread[i] = math.Exp(0.7 * r.NormFloat64())
		far := math.Hypot(at[i][0]-52.55, (at[i][1]-13.3)*math.Cos(52.5*math.Pi/180))
		dense[i] = 1e-3 + math.Exp(-far*far/(2*0.03*0.03))
	}
	c, err := cost.NewGreatCircle(at, nil, 1)
	if err != nil {
		return nil, err
	}
	return []world{
		{name: "places, spread", unit: "km", scale: 1, cost: c, truth: shares(spread)},
		{name: "places, concentrated", unit: "km", scale: 1, cost: c, truth: shares(dense), large: true},
	}, nil
}

// filmsOf are embeddings by genre, and how often each is watched: a heavy tail, more of it for some genres.
func filmsOf(r *rand.Rand, n int) (world, error) {
	liked := make([]float64, genres)
	for g := range liked {
		liked[g] = 0.5 * r.NormFloat64()
	}
	x, watched := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = make([]float64, genres)
		f := 1.2 * r.NormFloat64()
		for range 1 + r.IntN(3) {
			g := int(float64(genres) * r.Float64() * r.Float64()) // some genres have most films
			x[i][g] = 1
			f += liked[g]
		}
		watched[i] = math.Exp(f)
	}
	c, err := cost.NewCosine(x, nil)
	return world{name: "films", unit: "1 - cos", scale: 1, cost: c, truth: shares(watched)}, err
}

// checkins are those of the Gowalla study.
func checkins(ctx context.Context, path string) ([]world, error) {
	grid, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return nil, err
	}
	first, _, err := gowalla.Load(ctx, gowalla.Config{Data: path})
	if err != nil {
		return nil, err
	}
	all, _, err := gowalla.Load(ctx, gowalla.Config{Data: path, AllUsers: true})
	if err != nil {
		return nil, err
	}
	if first.Rows != side || first.Cols != side {
		return nil, fmt.Errorf("%w: check-ins on %d x %d cells", ErrConfig, first.Rows, first.Cols)
	}
	users := make([][]float64, len(first.Users))
	for u, user := range first.Users {
		users[u] = make([]float64, side*side)
		support, weight := user.Distribution()
		for n, i := range support {
			users[u][i] = weight[n]
		}
	}
	w := world{unit: "cells", scale: side, cost: grid}
	a, b := w, w
	a.name, a.truth, a.users, a.sizes = "check-ins, 500 users", first.Truth(), users, []int{len(users)}
	b.name, b.truth, b.sizes = "check-ins, all users", all.Truth(), []int{5000}
	return []world{a, b}, nil
}

// shares divides by the sum.
func shares(t []float64) []float64 {
	sum := 0.0
	for _, v := range t {
		sum += v
	}
	for i := range t {
		t[i] /= sum
	}
	return t
}
