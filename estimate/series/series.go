package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/wpmerr"
)

// Epoch is what is known of one epoch: the reports of one policy.
type Epoch struct {
	Name   string
	Number int         // of the epoch: the age of its reports is the difference to that of a later one
	World  atlas.World // of the policy; epochs of one policy share it
	Counts []uint64    // one for each output
}

// Settings of a series. The zero value is the usual.
type Settings struct {
	Prior    []float64             // public weights of the inputs, in any unit: the guess; nil if all are alike
	Level    float64               // of the intervals of Changes; 0 for estimate.DefaultLevel
	Progress func(done, total int) // of Maps, in steps; may be nil
}

// Moment is the map of an epoch.
type Moment struct {
	atlas.Map
	Name    string
	Reports uint64  // of this epoch
	Rate    float64 // what reports count for that are one epoch older
	Worth   float64 // how many reports of this epoch would say as much, if nothing moves
	Drift   float64 // the part of Error that is due to older reports, in its unit
}

// rates are those that are tried.
var rates = [...]float64{0, 0.5, 0.8, 0.95, 1}

const (
	groups = 150 // of places, in the maps that choose a rate and find the drift
	seed   = 1
)

// Maps returns the map of each epoch, in the order of epochs, which are in the order of time.
//
// Errors: ErrShape for epochs that are not in order, or do not have the same inputs at the same distances;
// estimate.ErrCounts for one without reports; estimate.ErrNoGeometry for places without distances; those of package estimate; that of ctx.
func Maps(ctx context.Context, epochs []Epoch, s Settings) ([]Moment, error) {
	ctx = wpmerr.Context(ctx)
	if err := check(epochs); err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, epochs: epochs, prior: s.Prior, score: make([]float64, len(rates)),
		apart: make([]float64, len(rates)), rng: rand.New(rand.NewPCG(seed, seed))}
	var list []Moment
	for t := range epochs {
		m, err := w.next(t)
		if err != nil {
			return nil, fmt.Errorf("epoch %s: %w", epochs[t].label(), err)
		}
		list = append(list, m)
		if s.Progress != nil {
			s.Progress(t+1, len(epochs))
		}
	}
	return list, nil
}

// label is the name of an epoch in an error, or its number if it has none.
func (e Epoch) label() string { return cmp.Or(e.Name, strconv.Itoa(e.Number)) }

func check(epochs []Epoch) error {
	if len(epochs) == 0 {
		return fmt.Errorf("%w: no epochs", wpmerr.ErrShape)
	}
	for t, e := range epochs {
		if e.World.Channel == nil {
			return fmt.Errorf("epoch %s: %w: its world has none", e.label(), estimate.ErrChannel)
		}
		k, kv := e.World.Channel.Dims()
		first, _ := epochs[0].World.Channel.Dims()
		switch {
		case k != first:
			return fmt.Errorf("%w: epoch %s has %d places, and %s has %d", wpmerr.ErrShape, e.label(), k, epochs[0].label(), first)
		case len(e.Counts) != kv:
			return fmt.Errorf("%w: epoch %s has %d counts for %d outputs", wpmerr.ErrShape, e.label(), len(e.Counts), kv)
		case t > 0 && e.Number <= epochs[t-1].Number:
			return fmt.Errorf("%w: epoch %s is not after %s", wpmerr.ErrShape, e.label(), epochs[t-1].label())
		case e.World.Geometry == nil:
			return fmt.Errorf("epoch %s: %w", e.label(), estimate.ErrNoGeometry)
		case e.reports() == 0:
			return fmt.Errorf("epoch %s: %w: no reports; leave the epoch out", e.label(), estimate.ErrCounts)
		case t > 0 && !sameDistances(e.World, epochs[t-1].World):
			return fmt.Errorf("%w: epoch %s has other distances between its places than %s", wpmerr.ErrShape, e.label(), epochs[t-1].label())
		}
	}
	return nil
}

// sameDistances reports whether two worlds of as many places have the same costs between them.
func sameDistances(a, b atlas.World) bool {
	if a.Geometry == b.Geometry {
		return true
	}
	k, _ := a.Between.Dims()
	x, y := make([]float64, k), make([]float64, k)
	for i := range k {
		if !slices.Equal(a.Between.Row(i, x), b.Between.Row(i, y)) {
			return false
		}
	}
	return true
}

func (e Epoch) reports() (n uint64) {
	for _, c := range e.Counts {
		n += c
	}
	return n
}

// walk goes from epoch to epoch.
type walk struct {
	ctx    context.Context
	epochs []Epoch
	prior  []float64
	rng    *rand.Rand

	last  [][]float64 // maps of the epoch before, one for each rate; nil at the first
	score []float64   // of each rate: the log-likelihood of reports that its maps have predicted
	apart []float64   // of each rate: squares of distances beyond those of chance, summed over epochs but the first
	wrong bool        // no map explains the counts of an epoch so far
}

// next makes the map of epoch t, after those before.
func (w *walk) next(t int) (Moment, error) {
	e := w.epochs[t]
	for r, theta := range w.last {
		law, err := e.World.Channel.Law(theta)
		if err != nil {
			return Moment{}, err
		}
		for j, c := range e.Counts {
			if c > 0 {
				w.score[r] += float64(c) * math.Log(law[j])
			}
		}
	}
	if err := w.measure(t); err != nil {
		return Moment{}, err
	}
	best := 0
	for r, v := range w.score {
		if v > w.score[best] {
			best = r
		}
	}
	rate := rates[best]
	mix := w.mix(t, rate)
	world, counts, err := mix.joined()
	if err != nil {
		return Moment{}, err
	}
	wrong, err := e.World.Unexplained(w.ctx, e.Counts, w.last[0])
	if err != nil {
		return Moment{}, err
	}
	w.wrong = w.wrong || wrong
	m := Moment{Name: e.Name, Reports: e.reports(), Rate: rate, Worth: mix.worth}
	m.Map, err = world.Weighted(w.ctx, counts, atlas.Settings{Prior: w.prior, Unexplained: wrong || rate > 0 && w.wrong})
	if err == nil && m.Error != nil && t > 0 && rate > 0 {
		m.Drift = math.Sqrt(max(w.apart[best], 0) / float64(t))
		add(m.Error, m.Drift)
	}
	return m, err
}

// add adds drift to an error.
func add(e *atlas.Error, drift float64) {
	if !(e.Expected > 0) {
		return
	}
	more := math.Hypot(e.Expected, drift) / e.Expected
	e.Expected, e.Within90 = e.Expected*more, e.Within90*more
}

// measure makes the coarse maps of epoch t with each rate, and adds up how far they are from that of the epoch alone,
// beyond what chance does.
func (w *walk) measure(t int) error {
	w.last = make([][]float64, len(rates))
	alone := w.mix(t, 0)
	own, err := w.coarse(alone, 0)
	if err != nil {
		return err
	}
	w.last[0] = own.Theta
	for r, rate := range rates[1:] {
		mix := w.mix(t, rate)
		if t == 0 {
			w.last[1+r] = own.Theta
			continue
		}
		found, err := w.coarse(mix, 1)
		if err != nil {
			return err
		}
		w.last[1+r] = found.Theta
		real, err := w.epochs[t].World.Distance(w.ctx, found.Theta, own.Theta)
		if err != nil {
			return err
		}
		chance, err := w.chance(mix, found.Draws[0])
		if err != nil {
			return err
		}
		w.apart[1+r] += real*real - chance*chance
	}
	return nil
}

// chance is the distance of two maps of simulated reports of one truth: that of the epoch alone, and that with the
// older ones.
func (w *walk) chance(m mix, truth []float64) (float64, error) {
	e := w.epochs[m.at]
	law, err := e.World.Channel.Law(truth)
	if err != nil {
		return 0, err
	}
	reports := float64(e.reports())
	own, old := w.draw(law, reports), w.draw(law, m.before.worth)
	one := mix{at: m.at, scale: 1, parts: []part{{e.World, own}}}
	both := mix{at: m.at, parts: []part{{e.World, make([]float64, len(own))}}}
	share := m.before.weight / math.Max(m.before.worth, 1)
	for j := range own {
		both.parts[0].counts[j] = m.scale * (own[j] + share*old[j])
	}
	a, err := w.coarse(one, 0)
	if err != nil {
		return 0, err
	}
	b, err := w.coarse(both, 0)
	if err != nil {
		return 0, err
	}
	return e.World.Distance(w.ctx, b.Theta, a.Theta)
}

// draw draws so many reports of a law, one by one up to many, and else by the normal approximation.
func (w *walk) draw(law []float64, n float64) []float64 {
	const singly = 1 << 20
	out := make([]float64, len(law))
	if n > singly {
		for j, q := range law {
			out[j] = max(math.Round(n*q+math.Sqrt(n*q*(1-q))*w.rng.NormFloat64()), 0)
		}
		return out
	}
	sums := make([]float64, len(law))
	total := 0.0
	for j, q := range law {
		total += q
		sums[j] = total
	}
	for range int(n) {
		j, _ := slices.BinarySearch(sums, w.rng.Float64()*total)
		out[min(j, len(out)-1)]++
	}
	return out
}

// coarse is the map of groups of places, with so many draws of its posterior.
func (w *walk) coarse(m mix, draws int) (estimate.Result, error) {
	world, counts, err := m.joined()
	if err != nil {
		return estimate.Result{}, err
	}
	return estimate.Map(w.ctx, estimate.Problem{Weighted: counts, Channel: world.Channel, Prior: w.prior,
		Geometry: world.Geometry}, estimate.Settings{Draws: draws, Groups: groups})
}
