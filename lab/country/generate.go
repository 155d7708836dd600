package country

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Place is a town or village.
type Place struct {
	Lat, Lon float64 // degrees
	// People is the public number of inhabitants, relative.
	People float64
}

// The country: a piece of the middle of Europe, in degrees.
const (
	south, north = 47.3, 55
	west, east   = 6.0, 15.0
	kmPerDegree  = 111.2
)

// Shares of the places that are not cities.
const (
	nearCities = 0.55 // around a city, which is chosen by the square root of its people
	onRoads    = 0.3  // along a road between cities; the rest is anywhere
)

// Generate returns a country of n places, the largest first: the same one for a seed.
func Generate(seed uint64, n int) []Place {
	// the second word ("country") separates this stream from others of the same seed
	r := rand.New(rand.NewPCG(seed, 0x636f756e747279))
	g := generator{rng: r, taken: map[[2]float64]bool{}}
	cities := min(n, 10+n/200)
	for len(g.places) < cities {
		g.add(south+(north-south)*r.Float64(), west+(east-west)*r.Float64())
	}
	roads := g.roads()
	weight := make([]float64, cities)
	for i := range weight {
		weight[i] = 1 / math.Sqrt(float64(i+1))
	}
	for len(g.places) < n {
		switch at := r.Float64(); {
		case at < nearCities:
			c := pick(r, weight)
			spread := 4 + 30*weight[c] // km
			angle, d := 2*math.Pi*r.Float64(), spread*r.ExpFloat64()
			g.addNear(g.places[c], d*math.Sin(angle), d*math.Cos(angle))
		case at < nearCities+onRoads && len(roads) > 0:
			road, t := roads[r.IntN(len(roads))], r.Float64()
			a, b := g.places[road[0]], g.places[road[1]]
			on := Place{Lat: a.Lat + t*(b.Lat-a.Lat), Lon: a.Lon + t*(b.Lon-a.Lon)}
			g.addNear(on, 2*r.NormFloat64(), 2*r.NormFloat64())
		default:
			g.add(south+(north-south)*r.Float64(), west+(east-west)*r.Float64())
		}
	}
	// Zipf: the place of rank n has 1/n of the people of the first. Villages are ranked as they came.
	for i := range g.places {
		g.places[i].People = 1 / float64(i+1)
	}
	return g.places
}

type generator struct {
	rng    *rand.Rand
	places []Place
	taken  map[[2]float64]bool
}

// add adds a place on a grid of ten metres, if it is in the country and nothing is there.
func (g *generator) add(lat, lon float64) {
	at := [2]float64{math.Round(lat*1e4) / 1e4, math.Round(lon*1e4) / 1e4}
	if at[0] < south || at[0] > north || at[1] < west || at[1] > east || g.taken[at] {
		return
	}
	g.taken[at] = true
	g.places = append(g.places, Place{Lat: at[0], Lon: at[1]})
}

// addNear adds a place so many km to the north and the east of another.
func (g *generator) addNear(p Place, up, right float64) {
	g.add(p.Lat+up/kmPerDegree, p.Lon+right/kmPerDegree/math.Cos(p.Lat*(math.Pi/180)))
}

// roads joins each city to the nearest larger one, so that all hang together, and to the two nearest of all.
func (g *generator) roads() (pairs [][2]int) {
	for i, p := range g.places {
		others := make([]int, 0, len(g.places))
		for j := range g.places {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int { return cmp.Compare(near(p, g.places[a]), near(p, g.places[b])) })
		for n, j := range others {
			if n < 2 || j < i {
				pairs = append(pairs, [2]int{i, j})
			}
			if n >= 2 && (j < i || i == 0) {
				break
			}
		}
	}
	return pairs
}

// near is the distance of two places in km, as on a plane: good enough to choose by.
func near(a, b Place) float64 {
	return kmPerDegree * math.Hypot(a.Lat-b.Lat, (a.Lon-b.Lon)*math.Cos((a.Lat+b.Lat)*(math.Pi/360)))
}

// pick draws an index by weight.
func pick(r *rand.Rand, weight []float64) int {
	sum := 0.0
	for _, w := range weight {
		sum += w
	}
	x := sum * r.Float64()
	for i, w := range weight {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weight) - 1
}

// device is where one person was: distinct places, with shares that sum to 1.
type device struct {
	places []int
	share  []float64
}

// population draws devices: a home by the people of the places, and up to four other places, which attract by their
// people over the square of the distance from home.
func population(seed uint64, places []Place, n int) []device {
	r := rand.New(rand.NewPCG(seed, 0x70656f706c65)) // "people"
	people, pull := make([]float64, len(places)), make([]float64, len(places))
	for i, p := range places {
		people[i] = p.People
	}
	all := make([]device, n)
	for u := range all {
		home := pick(r, people)
		for i, p := range places {
			d := 5 + near(places[home], p) // km
			pull[i] = p.People / (d * d)
		}
		visits := map[int]float64{home: 0.6}
		others := 1 + r.IntN(4)
		for range others {
			visits[pick(r, pull)] += 0.4 / float64(others)
		}
		for i := range places { // in order
			if w, ok := visits[i]; ok {
				all[u].places, all[u].share = append(all[u].places, i), append(all[u].share, w)
			}
		}
	}
	return all
}
