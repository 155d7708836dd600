package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/knapsack"
)

// side is that of the made-up city, in cells.
const side = 20

// WorldAnswer describes the places. X and Y are in the unit square, Y upwards; for a grid they are the centres of its
// cells.
type WorldAnswer struct {
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Labels []string  `json:"labels"`
	Rows   int       `json:"rows"` // of a grid, else 0
	Cols   int       `json:"cols"`
	Unit   string    `json:"unit"`
	Own    bool      `json:"own"`   // the visitor's points
	Users  int       `json:"users"` // of the visitor's counts; 0 if there are none, or they have no users
}

// world is the places, and where its people come from.
type world struct {
	points string
	cost   cost.Matrix
	sorted *knapsack.Table
	near   *estimate.Geometry
	unit   string
	scale  float64 // units for each unit of the cost
	labels []string
	grid   bool
	x, y   []float64 // where the places are: see plane
	users  []person  // of the visitor's counts
	shares []float64 // of counts without users
}

// person is a private distribution.
type person struct {
	places  []int
	weights []float64 // of sum 1
}

// newWorld reads the places and counts, or makes the city. What depends on the places alone is taken from the last
// world, if it had the same.
func newWorld(points, counts string, last *world) (w *world, err error) {
	switch {
	case len(points)+len(counts) > MaxBytes:
		return nil, fmt.Errorf("%w: %d bytes of points and counts, at most %d", ErrRequest, len(points)+len(counts), MaxBytes)
	case last != nil && last.points == points:
		copied := *last
		w, copied.users, copied.shares = &copied, nil, nil
	case points == "":
		w, err = newCity()
	default:
		w, err = newPlaces(points)
	}
	if err != nil {
		return nil, err
	}
	if w.sorted == nil {
		w.points = points
		if w.sorted, err = knapsack.New(context.Background(), w.cost); err != nil {
			return nil, err
		}
		if w.near, err = estimate.NewGeometry(context.Background(), w.cost, 1); err != nil {
			return nil, err
		}
	}
	if counts != "" {
		err = w.read(counts)
	}
	return w, err
}

func newCity() (*world, error) {
	g, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return nil, err
	}
	w := &world{cost: g, unit: "cells", scale: side, grid: true}
	for i := range side * side {
		w.labels = append(w.labels, fmt.Sprintf("r%dc%d", i/side, i%side))
		w.x, w.y = append(w.x, (float64(i%side)+0.5)/side), append(w.y, (float64(i/side)+0.5)/side)
	}
	return w, nil
}

// policyFile is how the text of every policy begins.
const policyFile = "{\n\"format\":\"wpm-policy-"

func newPlaces(text string) (*world, error) {
	if strings.HasPrefix(text, policyFile) {
		return nil, fmt.Errorf("%w: this is a policy, and the page reads none: \"wpm verify POLICY\" says what it is, and "+
			"\"wpm report POLICY\" what a report stands for, a place or, with codes, a set of places", ErrPoints)
	}
	f := places.File{Name: "points"}
	var err error
	if f.Points, err = places.ReadText(strings.NewReader(text), f.Name, costio.ReadPoints); err != nil {
		return nil, err
	}
	if len(f.X[0]) != 2 {
		return nil, fmt.Errorf("%w: %d coordinates, want two, to be drawn", ErrPoints, len(f.X[0]))
	}
	if n := len(f.Labels); n < 2 || n > MaxPlaces {
		return nil, fmt.Errorf("%w: %d places, want 2 to %d", ErrPoints, n, MaxPlaces)
	}
	g, err := places.Points(f, nil, "", 1)
	if err != nil {
		return nil, err
	}
	w := &world{cost: g.Cost, unit: g.Unit.Name, scale: 1, labels: f.Labels}
	if w.unit == "" {
		w.unit = "units of the coordinates"
	}
	if most, _, err := cost.Extent(context.Background(), g.Cost); err == nil && most == 0 {
		return nil, fmt.Errorf("%w: all places are the same", ErrPoints)
	}
	w.plane(f.X, f.Geographic())
	return w, nil
}

func (w *world) answer() *WorldAnswer {
	a := &WorldAnswer{X: w.x, Y: w.y, Labels: w.labels, Unit: w.unit, Own: !w.grid, Users: len(w.users)}
	if w.grid {
		a.Rows, a.Cols = side, side
	}
	return a
}

// plane finds where points are on the unit square, with one scale for both axes. Degrees of longitude are shorter than
// those of latitude, by the cosine of the middle. Points on both sides of the date line stay together.
func (w *world) plane(points [][]float64, globe bool) {
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = p[0], p[1]
	}
	if globe {
		x, y = y, x // latitude comes first
		turned := slices.Clone(x)
		for i, v := range x {
			if v < 0 {
				turned[i] = v + 360
			}
		}
		if slices.Max(turned)-slices.Min(turned) < slices.Max(x)-slices.Min(x) {
			x = turned
		}
	}
	middle := slices.Min(y)/2 + slices.Max(y)/2
	left, low := slices.Min(x), slices.Min(y)
	wide, high := slices.Max(x)/2-left/2, slices.Max(y)/2-low/2 // halves: no overflow
	shrink := 1.0
	if globe {
		shrink = math.Cos(middle * math.Pi / 180)
	}
	size := max(wide*shrink, high)
	if !(size > 0) {
		size = 1
	}
	for i := range x {
		x[i] = 0.5 + ((x[i]/2-left/2)-wide/2)*shrink/size
		y[i] = 0.5 + ((y[i]/2-low/2)-high/2)/size
	}
	w.x, w.y = x, y
}

// read reads the visitor's counts.
func (w *world) read(text string) error {
	c, err := places.ReadCounts(strings.NewReader(text), "counts", w.labels)
	if err != nil {
		return err
	}
	if c.Users == nil {
		if w.shares, _ = places.MeanOf(c, len(w.labels)); w.shares == nil || !(sum(w.shares) > 0) {
			return fmt.Errorf("%w: all are 0", ErrCounts)
		}
		return nil
	}
	for _, rows := range c.ByUser() {
		at := make(map[int]float64, len(rows))
		most := 0.0
		for _, r := range rows {
			most = max(most, r.N)
		}
		for _, r := range rows {
			if r.N > 0 {
				at[int(r.Label)] = r.N / most
			}
		}
		if len(at) > 0 {
			w.users = append(w.users, newPerson(at))
		}
	}
	if len(w.users) == 0 {
		return fmt.Errorf("%w: all are 0", ErrCounts)
	}
	return nil
}

// newPerson makes the distribution of weights by place.
func newPerson(at map[int]float64) (p person) {
	for i := range at {
		p.places = append(p.places, i)
	}
	slices.Sort(p.places)
	total := 0.0
	for _, i := range p.places {
		total += at[i]
	}
	for _, i := range p.places {
		p.weights = append(p.weights, at[i]/total)
	}
	return p
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// stream is one of the seeded streams: what says what it is for.
func stream(seed uint64, what string) *rand.ChaCha8 {
	var key [32]byte
	for b := range 8 {
		key[b] = byte(seed >> (8 * b))
	}
	copy(key[8:], what)
	return rand.NewChaCha8(key)
}

// person returns the places of made-up person n, in counts.
func (w *world) person(n uint64) ([]Stay, error) {
	var stays []Stay
	switch {
	case w.grid:
		people, err := city.Generate(n, 1, side, side)
		if err != nil {
			return nil, err
		}
		u := people.Users[0]
		for i, place := range u.Cells {
			stays = append(stays, Stay{place, min(u.Counts[i], MaxVisits)})
		}
	default:
		c, err := w.crowd(n, 1)
		if err != nil {
			return nil, err
		}
		p := c.people[0]
		for i, place := range p.places {
			stays = append(stays, Stay{place, max(1, int(math.Round(20*p.weights[i])))})
		}
	}
	return stays, nil
}

// stays reads the private distribution of the visitor.
func (w *world) stays(me []Stay) (p person, err error) {
	at := map[int]float64{}
	for n, s := range me {
		if s.Place < 0 || s.Place >= len(w.labels) || s.Count < 1 || s.Count > MaxVisits {
			return p, fmt.Errorf("%w: me[%d] is %d times place %d, want 1 to %d of places 0 to %d",
				ErrRequest, n, s.Count, s.Place, MaxVisits, len(w.labels)-1)
		}
		at[s.Place] += float64(s.Count)
	}
	if len(at) == 0 {
		return p, fmt.Errorf("%w: no place of mine", ErrRequest)
	}
	return newPerson(at), nil
}

// distance is W_1 of two distributions, in units.
func (w *world) distance(ctx context.Context, a, b []float64) (float64, error) {
	return w1(ctx, w.sorted, a, b, w.scale)
}

// pick returns the place at which the weights, added up, exceed u of their sum, 0 <= u < 1.
func pick(weights []float64, u float64) int {
	u *= sum(weights)
	last := 0
	for i, w := range weights {
		if w > 0 {
			if last = i; u < w {
				return i
			}
			u -= w
		}
	}
	return last
}
