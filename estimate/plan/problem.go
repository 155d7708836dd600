package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/mincostflow"
)

var (
	// ErrLimit: too many places.
	ErrLimit = errors.New("plan: too large")
	// ErrTarget: no choice reaches the target.
	ErrTarget = errors.New("plan: out of reach")
)

const (
	// Worlds is the number of simulations of each prediction: nine of ten worlds to come are below the 28th of them.
	Worlds = 30
	// few worlds are enough for what differs little between them: the floor, and the width of an interval.
	few = 10
	// MaxPairs is the largest number of pairs of an input and an output, or of two inputs, for which transport reads all of
	// them. Above, distances are those of 400 groups of places, small where there is mass, and the interval is that of 250
	// merged places: the error of a map hardly depends on the resolution of places below that error.
	MaxPairs = 1 << 22
	// MaxPlaces is the largest number of inputs, and of outputs.
	MaxPlaces = 1 << 17
	// merged places stand for all in an interval, and as many groups in a map. On 4,000 places, in ten runs, maps of 250
	// groups were 0.98 times as far from the truth as those of Map's own groups, between 0.85 and 1.16.
	merged = 250
	// mostWithin is the number of places of a patch up to which moves in it are looked at.
	mostWithin = 500
	// MaxDevices is the largest number of devices.
	MaxDevices = 1_000_000_000
)

// Problem is what is known before a release.
type Problem struct {
	// Cost is what a release at an output costs a device at an input: k x kv, as of the mechanism. Inputs need
	// distances, as estimate.NewGeometry has them.
	Cost cost.Matrix
	// P is the power of the distance that costs are; distances to the truth are then costs to the power of 1/P. 0 is 1.
	P float64
	// Prior is a public distribution over the inputs in any unit: finite, not negative, with a positive sum. Nil stands
	// for none.
	Prior []float64
}

// Planner predicts. It is immutable and safe for concurrent use.
type Planner struct {
	power    float64
	exponent float64     // of the distances that costs are
	inputs   cost.Matrix // costs between inputs
	outputs  int
	toOutput *cost.Dense // inputs x outputs; nil if there are too many pairs
	toInput  *cost.Dense // inputs x inputs; nil if there are
	groups   atlas.World // distances of groups, if there are
	same     bool        // outputs are inputs
	geometry *estimate.Geometry
	prior    []float64 // nil: none
	worlds   [][]float64
	guess    []float64 // distance of the even map, by world
	coarse   int       // groups of a map; 0 if there are few places
	of       []int     // the merged place of each input, if there are many
	region   []float64 // a quarter of the places, or the part of each merged one that is in it
}

// New makes the worlds. Errors: ErrShape, cost.ErrExponent, ErrLimit, those of estimate.Guess for the prior and of
// estimate.NewGeometry (ErrNoGeometry above all), and that of ctx.
func New(ctx context.Context, p Problem) (*Planner, error) {
	return newPlanner(ctx, p, MaxPairs, merged)
}

// newPlanner is New with so many groups above a number of pairs.
func newPlanner(ctx context.Context, p Problem, pairs, merged int) (*Planner, error) {
	if err := cost.Validate(ctx, p.Cost); err != nil {
		return nil, err
	}
	k, kv := p.Cost.Dims()
	if max(k, kv) > MaxPlaces {
		return nil, fmt.Errorf("%w: %d inputs and %d outputs, at most %d: merge places, or use a coarser grid", ErrLimit, k, kv,
			MaxPlaces)
	}
	if p.P == 0 {
		p.P = 1
	}
	if !(p.P > 0 && p.P <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: power %v", cost.ErrExponent, p.P)
	}
	l := &Planner{power: p.P, exponent: p.P, outputs: kv, prior: slices.Clone(p.Prior)}
	var err error
	if l.geometry, err = estimate.NewGeometry(ctx, p.Cost, p.P); err != nil {
		return nil, err
	}
	if err := l.measure(ctx, p.Cost, pairs); err != nil {
		return nil, err
	}
	if p.Prior == nil {
		l.worlds = generic(l.geometry)
	} else if l.worlds, err = around(l.geometry, p.Prior); err != nil {
		return nil, err
	}
	even := slices.Repeat([]float64{1 / float64(k)}, k)
	if err := l.look(ctx, even, merged); err != nil {
		return nil, err
	}
	for _, w := range l.worlds {
		d, err := l.distance(ctx, w, even)
		if err != nil {
			return nil, err
		}
		l.guess = append(l.guess, d)
	}
	return l, nil
}

// measure sets what distances are read from.
func (l *Planner) measure(ctx context.Context, c cost.Matrix, pairs int) (err error) {
	k, kv := c.Dims()
	inputs := c
	m, ok := c.(cost.Metric)
	l.same = !ok || m.Space().Same
	if !l.same {
		if inputs, err = m.Between(); err != nil {
			return err
		}
	}
	l.inputs = inputs
	if max(k, kv) > pairs/k {
		l.groups = atlas.World{Geometry: l.geometry, Between: inputs}
		if _, ok := cost.Exponent(inputs); ok {
			l.power = 1 // that of atlas
		}
		return nil
	}
	if l.toOutput, err = cost.Materialize(ctx, c); err != nil {
		return err
	}
	if l.toInput = l.toOutput; !l.same {
		l.toInput, err = cost.Materialize(ctx, inputs)
	}
	return err
}

// look sets the groups of maps, and the region of which an interval is predicted.
func (l *Planner) look(ctx context.Context, even []float64, merged int) error {
	l.region = quarter(l.geometry)
	if l.toInput != nil || len(even) <= merged {
		return nil
	}
	of, centers, err := l.geometry.Groups(ctx, even, merged)
	if err != nil {
		return err
	}
	l.coarse = merged
	within, size := make([]float64, len(centers)), make([]float64, len(centers))
	for i, a := range of {
		within[a] += l.region[i]
		size[a]++
	}
	for a, n := range size {
		within[a] /= n
	}
	l.of, l.region = of, within
	return nil
}

// distance is W_p between maps of the inputs.
func (l *Planner) distance(ctx context.Context, a, b []float64) (d float64, err error) {
	if l.toInput != nil {
		return l.transport(ctx, l.toInput, a, b)
	}
	d, err = l.groups.Distance(ctx, a, b)
	return l.root(d), err
}

// within is a patch, with the costs between its places.
type within struct {
	places []int
	cost   *cost.Dense
}

// patches returns those of more than one place: none if there are few places, so that distance sees moves in them, or if
// one is very large.
func (l *Planner) patches(p patch.Patches) []within {
	if l.toInput != nil || slices.Max(p.Size) > mostWithin {
		return nil
	}
	members := make([][]int, len(p.Size))
	for i, n := range p.Of {
		members[n] = append(members[n], i)
	}
	members = slices.DeleteFunc(members, func(m []int) bool { return len(m) == 1 })
	out, row := make([]within, len(members)), make([]float64, len(p.Of))
	for n, places := range members {
		c := &cost.Dense{K: len(places), Kv: len(places)}
		for _, i := range places {
			all := l.inputs.Row(i, row)
			for _, j := range places {
				c.Data = append(c.Data, all[j])
			}
		}
		out[n] = within{places, c}
	}
	return out
}

// moved is what distance is, for maps that have the same sums in patches. Groups of places do not see moves in a patch:
// for these patches, only such moves are counted.
func (l *Planner) moved(ctx context.Context, patches []within, a, b []float64) (float64, error) {
	if len(patches) == 0 {
		return l.distance(ctx, a, b)
	}
	total := 0.0
	for _, p := range patches {
		from, to, mass := make([]float64, len(p.places)), make([]float64, len(p.places)), 0.0
		for n, i := range p.places {
			from[n], to[n], mass = a[i], b[i], mass+a[i]
		}
		if mass < 1e-300 { // its shares may be no numbers
			continue
		}
		t, err := mincostflow.Transport(ctx, p.cost, from, to)
		if err != nil {
			return 0, err
		}
		total += mass * t.Objective
	}
	return math.Pow(total, 1/l.exponent), nil
}

// released is W_p of a map of the inputs and one of the outputs.
func (l *Planner) released(ctx context.Context, a, b []float64) (float64, error) {
	if l.toOutput == nil {
		return l.distance(ctx, a, b)
	}
	return l.transport(ctx, l.toOutput, a, b)
}

func (l *Planner) transport(ctx context.Context, c *cost.Dense, a, b []float64) (float64, error) {
	t, err := mincostflow.Transport(ctx, c, a, b)
	if err != nil {
		return 0, err
	}
	return l.root(t.Objective), nil
}

// root takes a cost to a distance.
func (l *Planner) root(cost float64) float64 {
	if l.power == 1 {
		return cost
	}
	return math.Pow(cost, 1/l.power)
}
