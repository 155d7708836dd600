package atlas

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// Error is how far a map is from the truth by what the reports leave open: by its distances to maps drawn from the
// posterior of estimate.Map, whatever found the map. Distances are W_p under the cost, in the unit of the places. It
// relies on the prior of estimate.Map, and is not a bound. Of pairs in groups, whose draws know nothing of what is within a
// group, it is also that of an estimate.Trial.
type Error struct {
	Expected float64 `json:"expected"` // mean distance of the truth
	Within90 float64 `json:"within90"` // the truth is within it in nine of ten cases
	Guess    float64 `json:"guess"`    // mean distance of the truth from the guess
	// Before is Guess without the reports: the mean distance of maps that the prior of estimate.Map draws, or Guess where
	// the reports have shown that it is more.
	Before float64 `json:"before"`
}

// Information is what reports know.
type Information string

// The words for Expected of ByMap, the best use of the reports, over Before, what it would be without them: below 0.5,
// below 0.9, or more.
const (
	Much   Information = "much"
	Little Information = "little"
	None   Information = "none"
)

const (
	littleKnown = 0.9
	muchKnown   = 0.5
)

// Verdict is what reports say of the guess.
type Verdict string

// The guess is as near to the map of ByMap as nine of ten maps of the posterior are, or it is not.
const (
	Confirm Verdict = "confirm"
	Change  Verdict = "change"
)

const (
	// draws of the posterior: the mean distance is known to 5 % where distances differ by a third.
	draws = 40
	// coarse groups stand for the places in the distances of draws, and fine ones in those of every wholeth draw: what
	// coarse groups leave out is the same part of all.
	coarse, fine, wholeth = 64, 400, 10
	// exact groups measure the distance of a trial, which is one.
	exact = 1000
)

// Distance is the distance between two maps of the inputs in the unit of Error, on groups of places that are small where
// they have mass. Each may be in a unit of its own. It is 0 if the cost has no distances. The errors are ErrShape,
// ErrNotFinite, ErrNegative, ErrMass for a map that is all zero, and that of ctx.
func (w World) Distance(ctx context.Context, a, b []float64) (float64, error) {
	ctx = wpmerr.Context(ctx)
	if w.Between == nil {
		return 0, nil
	}
	if k, _ := w.Between.Dims(); len(a) != k || len(b) != k {
		return 0, fmt.Errorf("%w: maps of %d and %d places, want %d", wpmerr.ErrShape, len(a), len(b), k)
	}
	a, err := scaled("a", a)
	if err != nil {
		return 0, err
	}
	if b, err = scaled("b", b); err != nil {
		return 0, err
	}
	r, err := w.ruler(ctx, Estimate{Shares: a, Guess: b}, fine)
	if err != nil {
		return 0, err
	}
	d, err := r.distances(ctx, a, [][]float64{b})
	if err != nil {
		return 0, err
	}
	return d[0], nil
}

// scaled checks a map, and returns it times a power of two, so that no sum overflows.
func scaled(name string, x []float64) ([]float64, error) {
	if err := wpmerr.Masses(name, x); err != nil {
		return nil, err
	}
	largest := slices.Max(x)
	if largest == 0 {
		return nil, fmt.Errorf("%w: %s sums to 0", wpmerr.ErrMass, name)
	}
	_, e := math.Frexp(largest)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Ldexp(v, -e)
	}
	return out, nil
}

// judge sets the error of the shares, and its words, by draws of the posterior and of the prior.
func (e *Estimate) judge(ctx context.Context, w World, r estimate.Result) error {
	if len(r.Draws) == 0 || w.Between == nil || w.Biased {
		return nil
	}
	rough, err := w.ruler(ctx, *e, coarse)
	if err != nil {
		return err
	}
	var sharp ruler
	if len(e.Shares) > coarse {
		if sharp, err = w.ruler(ctx, *e, fine); err != nil {
			return err
		}
	}
	least, err := off(ctx, rough, sharp, r.Theta, r.Draws)
	if err != nil {
		return err
	}
	far, err := rough.distances(ctx, e.Guess, r.Draws)
	if err != nil {
		return err
	}
	before, err := rough.distances(ctx, e.Guess, r.Before)
	if err != nil {
		return err
	}
	moved, err := rough.distances(ctx, e.Guess, [][]float64{r.Theta})
	if err != nil {
		return err
	}
	more, err := w.short(ctx, r.Trial, mean(least))
	if err != nil {
		return err
	}
	widen(least, more)
	own := least
	if e.Estimator != ByMap {
		if own, err = off(ctx, rough, sharp, e.Shares, r.Draws); err != nil {
			return err
		}
		widen(own, more)
	}
	e.Error = &Error{Expected: mean(own), Within90: within(own), Guess: mean(far), Before: max(mean(far), mean(before))}
	e.Information, e.Verdict = None, Change
	switch known := mean(least) / e.Error.Before; {
	case known < muchKnown:
		e.Information = Much
	case known < littleKnown:
		e.Information = Little
	}
	if moved[0] <= within(least) {
		e.Verdict = Confirm
	}
	return nil
}

// missed returns what says how far a map of groups is expected to be from the truth, in W_1, or nil if nothing can. Where
// the map only judges another estimate, the distance is that estimate's, doubled, because smaller groups hardly change
// it. Maps of pairs are always made of as many groups as there may be, for their estimate.Trial.
func (w World) missed(ctx context.Context, e Estimate) func(coarse estimate.Result) (float64, error) {
	if w.Between == nil || w.Biased || w.places.Ends != nil {
		return nil
	}
	times := 2.
	if e.Estimator == ByMap {
		times = 1
	}
	return func(r estimate.Result) (float64, error) {
		of := e.Shares
		if e.Estimator == ByMap {
			of = r.Theta
		}
		rough, err := w.ruler(ctx, Estimate{Shares: of, Guess: e.Guess}, coarse)
		if err != nil {
			return 0, err
		}
		rough.cost.Data, rough.power = w.Geometry.Among(rough.centers), 1
		off, err := rough.distances(ctx, of, r.Draws)
		return times * mean(off), err
	}
}

// short is by how much an expected distance falls short of that of a trial, as a distance at right angles to it; 0 without a
// trial.
func (w World) short(ctx context.Context, t *estimate.Trial, expected float64) (float64, error) {
	if t == nil {
		return 0, nil
	}
	r, err := w.ruler(ctx, Estimate{Shares: t.Map, Guess: t.Truth}, exact)
	if err != nil {
		return 0, err
	}
	d, err := r.distances(ctx, t.Truth, [][]float64{t.Map})
	if err != nil {
		return 0, err
	}
	return math.Sqrt(max(d[0]*d[0]-expected*expected, 0)), nil
}

// widen adds a distance to others, at right angles.
func widen(off []float64, more float64) {
	for n, v := range off {
		off[n] = math.Hypot(v, more)
	}
}

// within is what the truth is below in nine of ten cases: of forty sorted distances of draws the 38th, because draws are
// those of a model, which the truth is not. docs/results/mapping.md says how many maps are below it.
func within(off []float64) float64 { return off[(len(off)*19-1)/20] }

// off returns the distances of a map to draws on coarse groups, times what some of them are on fine ones, if there are
// any. They are sorted.
func off(ctx context.Context, rough, sharp ruler, theta []float64, list [][]float64) ([]float64, error) {
	out, err := rough.distances(ctx, theta, list)
	if err != nil || sharp.of == nil {
		slices.Sort(out)
		return out, err
	}
	var some [][]float64
	sum := 0.0
	for n := wholeth / 2; n < len(list); n += wholeth {
		some = append(some, list[n])
		sum += out[n]
	}
	whole, err := sharp.distances(ctx, theta, some)
	if err != nil {
		return nil, err
	}
	if sum > 0 {
		for n := range out {
			out[n] *= mean(whole) * float64(len(whole)) / sum
		}
	}
	slices.Sort(out)
	return out, nil
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// ruler measures W_p between maps, on groups of places.
type ruler struct {
	of, centers []int
	cost        *cost.Dense // between the centers
	power       float64
}

// ruler has up to n groups, small where an estimate and its guess have mass.
func (w World) ruler(ctx context.Context, e Estimate, n int) (ruler, error) {
	weight := make([]float64, len(e.Shares))
	for i, v := range e.Shares {
		weight[i] = v/2 + e.Guess[i]/2
	}
	of, centers, err := w.Geometry.Groups(ctx, weight, n)
	if err != nil {
		return ruler{}, err
	}
	return ruler{of, centers, cost.Among(w.Between, centers), w.exponent(w.Between)}, nil
}

// sums adds what the places of each group have.
func (r ruler) sums(x []float64) []float64 {
	out := make([]float64, r.cost.K)
	for i, a := range r.of {
		out[a] += x[i]
	}
	return out
}

// distances from a map.
func (r ruler) distances(ctx context.Context, from []float64, list [][]float64) ([]float64, error) {
	a, out := r.sums(from), make([]float64, len(list))
	err := parallel.Each(ctx, len(list), func(n int) error {
		t, err := mincostflow.Transport(ctx, r.cost, a, r.sums(list[n]))
		out[n] = math.Pow(t.Objective, 1/r.power)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return out, nil
}
