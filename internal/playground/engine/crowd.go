package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/rival"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
)

// MapAnswer is a map of the people.
type MapAnswer struct {
	Shares []float64 `json:"shares"`
	W1     float64   `json:"w1"`    // to the truth
	Guess  float64   `json:"guess"` // the same share at every place
	Signal string    `json:"signal,omitempty"`
	// Reading says how the reports of the rival are read.
	Reading string `json:"reading,omitempty"`
	// Error is what the estimate says of itself, in units, without the truth.
	Error *atlas.Error `json:"error,omitempty"`
}

// crowd is people, and what each of them really does.
type crowd struct {
	world  *world
	seed   uint64
	users  []city.User // of the made-up city
	people []person    // elsewhere
	truth  []float64
	guess  float64 // W_1 of the even map, in units
}

func (w *world) crowd(seed uint64, n int) (*crowd, error) {
	if n < 1 || n > MaxPeople {
		return nil, fmt.Errorf("%w: %d people, want 1 to %d", ErrRequest, n, MaxPeople)
	}
	c := &crowd{world: w, seed: seed, guess: math.NaN()}
	if w.grid && w.users == nil && w.shares == nil {
		people, err := city.Generate(seed, n, side, side)
		if err != nil {
			return nil, err
		}
		c.users, c.truth = people.Users, people.Truth()
	} else {
		draw := rand.New(stream(seed, "people"))
		next := w.madeUp(draw)
		for range n {
			c.people = append(c.people, next())
		}
		c.truth = make([]float64, len(w.labels))
		for _, p := range c.people {
			for i, place := range p.places {
				c.truth[place] += p.weights[i] / float64(n)
			}
		}
	}
	return c, nil
}

// size is the number of people.
func (c *crowd) size() int { return len(c.users) + len(c.people) }

// draws returns where person n was, one place of their own, and the stream of all draws of a kind. On the city they are
// those of the demo.
func (c *crowd) draws(kind string) (at func(n int) (int, error), noise *rand.ChaCha8) {
	if c.users != nil {
		noise = city.Stream(c.seed, kind)
		return func(n int) (int, error) { return c.users[n].Draw(noise) }, noise
	}
	own := rand.New(stream(c.seed, "own"))
	return func(n int) (int, error) {
		p := c.people[n]
		return p.places[pick(p.weights, own.Float64())], nil
	}, stream(c.seed, kind)
}

// madeUp returns a source of people: the visitor's users in random order, over and over; or people at one place each,
// by the visitor's counts; or people around three centres, with a home, work and some places near.
func (w *world) madeUp(draw *rand.Rand) func() person {
	switch k := len(w.labels); {
	case w.users != nil:
		order, n := draw.Perm(len(w.users)), -1
		return func() person { n++; return w.users[order[n%len(order)]] }
	case w.shares != nil:
		return func() person { return person{[]int{pick(w.shares, draw.Float64())}, []float64{1}} }
	default:
		density := make([]float64, k)
		row := make([]float64, k)
		mean := 0.0
		for range 3 {
			far := w.cost.Row(draw.IntN(k), row)
			mean = sum(far) / float64(k)
			for i, d := range far {
				density[i] += math.Exp(-4 * d / mean)
			}
		}
		return func() person {
			home, work := pick(density, draw.Float64()), pick(density, draw.Float64())
			at := map[int]float64{home: 6}
			at[work] += 3
			near := make([]float64, k)
			for i, d := range w.cost.Row(home, row) {
				near[i] = math.Exp(-10 * d / mean)
			}
			for range draw.IntN(4) {
				at[pick(near, draw.Float64())]++
			}
			return newPerson(at)
		}
	}
}

// picture returns a map of the people.
func (c *crowd) picture(ctx context.Context, d *design, what string) (a *MapAnswer, err error) {
	a = new(MapAnswer)
	switch what {
	case Truth:
		a.Shares = c.truth
	case Raw:
		var counts []uint64
		if counts, err = c.releases(d); err == nil {
			a.Shares, err = estimate.Raw(counts)
		}
	case OUE:
		at, noise := c.draws("OUE")
		a.Reading = rival.Reading(len(c.truth), c.size())
		a.Shares, err = rival.Unary(ctx, len(c.truth), d.eps.Float64(), c.size(), at, noise, c.world.near)
	case Estimate:
		var counts []uint64
		if counts, err = c.releases(d); err != nil {
			return nil, err
		}
		var m atlas.Estimate
		if m, err = d.estimate(ctx, counts); err == nil {
			a.Shares, a.Signal = m.Shares, m.Signal.String()
			if e := m.Error; e != nil {
				u := c.world.scale
				a.Error = &atlas.Error{Expected: u * e.Expected, Within90: u * e.Within90, Guess: u * e.Guess}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if math.IsNaN(c.guess) {
		if c.guess, err = c.world.distance(ctx, nil, c.truth); err != nil {
			return nil, err
		}
	}
	a.Guess = c.guess
	if what != Truth {
		a.W1, err = c.world.distance(ctx, a.Shares, c.truth)
	}
	return a, err
}

// releases counts one release of each: a place of the person, and a draw from its row.
func (c *crowd) releases(d *design) ([]uint64, error) {
	counts := make([]uint64, len(c.truth))
	at, noise := c.draws(string(policy.Mixture))
	for n := range c.size() {
		i, err := at(n)
		if err != nil {
			return nil, err
		}
		j, err := d.row(i).Sample(noise)
		if err != nil {
			return nil, err
		}
		counts[j]++
	}
	return counts, nil
}

// w1 is the distance of two distributions, in some unit of the cost; nil is the even map.
func w1(ctx context.Context, c cost.Matrix, a, b []float64, unit float64) (float64, error) {
	r, err := mincostflow.Transport(ctx, c, a, b)
	return r.Objective * unit, err
}
