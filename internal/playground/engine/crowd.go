package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/mincostflow"
)

// MapAnswer is a map of the people.
type MapAnswer struct {
	Shares []float64 `json:"shares"`
	W1     float64   `json:"w1"`    // to the truth
	Guess  float64   `json:"guess"` // the same share at every place
	Signal string    `json:"signal,omitempty"`
	// Error is what the estimate says of itself, in units, without the truth.
	Error *atlas.Error `json:"error,omitempty"`
}

// crowd is people, and what each of them really does.
type crowd struct {
	world  *world
	seed   uint64
	people []person
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
		for _, u := range people.Users {
			places, weights := u.Distribution()
			c.people = append(c.people, person{places, weights})
		}
	} else {
		draw := rand.New(stream(seed, "people"))
		next := w.madeUp(draw)
		for range n {
			c.people = append(c.people, next())
		}
	}
	c.truth = make([]float64, len(w.labels))
	for _, p := range c.people {
		for i, place := range p.places {
			c.truth[place] += p.weights[i] / float64(n)
		}
	}
	return c, nil
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
		a.Shares, err = estimate.Raw(c.releases(d))
	case KPM:
		a.Shares, err = c.drawn(what, d.kpm)
	case Exp:
		var law *baseline.Exponential
		if law, err = baseline.NewExponential(ctx, c.world.sorted, d.eps.Float64()); err == nil {
			a.Shares, err = c.drawn(what, func(p person) ([]float64, error) { return law.Law(p.weights, p.places) })
		}
	case Estimate:
		var m atlas.Estimate
		if m, err = d.estimate(ctx, c.releases(d)); err == nil {
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
func (c *crowd) releases(d *design) []uint64 {
	counts := make([]uint64, len(c.truth))
	own, noise := rand.New(stream(c.seed, "own")), stream(c.seed, "release")
	for _, p := range c.people {
		i := p.places[pick(p.weights, own.Float64())]
		j, err := d.row(i).Sample(noise)
		if err == nil { // the stream does not end, and rows are rows
			counts[j]++
		}
	}
	return counts
}

// drawn has everybody draw from a law, with the same luck whatever the law.
func (c *crowd) drawn(what string, law func(person) ([]float64, error)) ([]float64, error) {
	shares := make([]float64, len(c.truth))
	luck := rand.New(stream(c.seed, what))
	for _, p := range c.people {
		q, err := law(p)
		if err != nil {
			return nil, err
		}
		shares[pick(q, luck.Float64())] += 1 / float64(len(c.people))
	}
	return shares, nil
}

// w1 is the distance of two distributions, in some unit of the cost; nil is the even map.
func w1(ctx context.Context, c cost.Matrix, a, b []float64, unit float64) (float64, error) {
	r, err := mincostflow.Transport(ctx, c, a, b)
	return r.Objective * unit, err
}
