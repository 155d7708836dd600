package atlas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxRows bounds k kv, the entries of rows that are gone through one by one, though rarely kept: 2^27. The rows of a policy
// with thresholds, of a grid or of points, are not: they are bounded by estimate.MaxRuns, which some 100,000 places in the
// plane or on the globe stay below.
const MaxRows = 1 << 27

// Errors of this package. They are wrapped with what and where.
var (
	// ErrTooLarge: more entries in the rows than MaxRows, or more spans than estimate.MaxRuns.
	ErrTooLarge = errors.New("too many places for a map")
	// ErrProjection: a policy that does not identify the map.
	ErrProjection = errors.New("a policy of projection mode does not identify the map: its releases follow the shapes of the private " +
		"distributions, and not only their mean")
	// ErrRows: rows that are not those of the outputs.
	ErrRows = errors.New("atlas: bad rows")
	// ErrOutputs: releases as they are, of points that may be others than the inputs.
	ErrOutputs = errors.New("the outputs are not known to be the inputs, so the releases as they are make no map")
	// ErrEstimator: an estimator that is none.
	ErrEstimator = errors.New("unknown estimator")
)

// World is what is public about the releases of a mechanism, as a map needs it. It can make any number of maps, also at
// once.
type World struct {
	Channel  *estimate.Channel
	Geometry *estimate.Geometry // nil if the cost has no distances between inputs
	// NoGeometry is why, if Geometry is nil.
	NoGeometry error
	// Same says that the outputs are the inputs, so that the releases as they are can stand for a map.
	Same bool
	// Codes says that the outputs are those of codes: sets of inputs, so that the releases as they are show nothing.
	Codes bool
	// Between is the cost between inputs; nil if there is none.
	Between cost.Matrix
	// Biased says that the policy is of projection mode, and was taken for one of mixture mode.
	Biased bool

	power  float64 // of the distances that a policy's costs are; 0 if Between knows it
	places plane.Places
	flows  *flows             // of pairs, else nil
	label  func(i int) string // of an input; nil for its index
}

// Rows returns the row of an input, as the Row of a wpm.Channel does.
type Rows func(i int) ldp.Weights

// Of returns the world of a policy of mixture mode. The errors are ErrProjection, ErrTooLarge, those of the policy's
// cost, and that of ctx.
func Of(ctx context.Context, p policy.Policy) (World, error) {
	if p.Mode() != policy.Mixture && p.Outputs() > 0 {
		return World{}, ErrProjection
	}
	return Assume(ctx, p, nil)
}

// Assume is Of for a policy of either mode, as if it were of mixture mode. Of projection mode the map is biased by what
// the shapes of the private distributions do, and World.Biased says so. rows finds the rows of a policy that has none;
// wpm.Load and Mechanism.Channel do. Its errors are wrapped. If it is nil, and the policy has no rows, the error is
// ErrRows.
func Assume(ctx context.Context, p policy.Policy, rows func(context.Context) (Rows, error)) (World, error) {
	ctx = wpmerr.Context(ctx)
	channel, err := ChannelOf(ctx, p, rows)
	if err != nil {
		return World{}, err
	}
	w := World{Channel: channel, Codes: p.HasCodes(), Biased: p.Mode() != policy.Mixture, label: p.InputLabel}
	if len(p.Cost()) == 0 {
		w.NoGeometry = fmt.Errorf("%w: the policy has no cost", estimate.ErrNoGeometry)
		return w, nil
	}
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return World{}, err
	}
	c, err := spec.Build()
	if err != nil {
		return World{}, err
	}
	if w.places, err = plane.OfPolicy(spec, p.Metadata(), p.InputLabel); err != nil {
		return World{}, err
	}
	if w.power, err = cost.PowerOf(p.Metadata()); err != nil {
		return World{}, err
	}
	if w, err = w.at(ctx, c); err == nil && w.places.Ends != nil && w.Same {
		w.flows, err = flowsOf(ctx, w.Channel, w.places)
	}
	return w, err
}

// ChannelOf returns the channel of a policy of either mode, by its thresholds if it has points, or many rows, and these are
// right: then outputs that are near each other in space are neighbours in the channel, and rows have few runs. rows and the
// errors are as for Assume.
func ChannelOf(ctx context.Context, p policy.Policy, rows func(context.Context) (Rows, error)) (*estimate.Channel, error) {
	ctx = wpmerr.Context(ctx)
	k, kv := p.Inputs(), p.Outputs()
	if g := p.Geometry(); kv > 0 && g != nil && (k > fewEntries/kv || g.Kind == policy.Points) {
		if d := discs.Of(p); d != nil {
			c, err := ofDiscs(ctx, k, p.Polytope(), d)
			if !errors.Is(err, ErrRows) {
				return c, err
			}
		}
	}
	if err := Fits(k, kv); err != nil {
		return nil, err
	}
	row := p.AppendRow
	if !p.HasRows() {
		if rows == nil {
			return nil, fmt.Errorf("%w: the policy has none", ErrRows)
		}
		found, err := rows(ctx)
		if err != nil {
			return nil, fmt.Errorf("the policy has no rows, and they cannot be found: %w", err)
		}
		row = found.append
	}
	return newChannel(ctx, k, kv, row)
}

// fewEntries are written out in some milliseconds.
const fewEntries = 1 << 20

// ofDiscs is a channel whose rows are not written out. The error is ErrRows for a row that is none of its box, which a
// device then takes for the fallback.
func ofDiscs(ctx context.Context, k int, box *ldp.Polytope, d *discs.Rows) (*estimate.Channel, error) {
	one := float64(box.Total())
	r := estimate.Runs{Order: d.Order()}
	for _, j := range r.Order {
		r.Low = append(r.Low, float64(box.Lo(int(j)))/one)
		r.High = append(r.High, float64(box.Hi(int(j)))/one)
	}
	r.Row = func(i int, spans []int32) ([]int32, int, float64, error) {
		spans, t, rest, ok := d.Disc(i, spans)
		if !ok {
			return spans, 0, 0, fmt.Errorf("%w: input %d has the threshold %d", ErrRows, i, t)
		}
		return spans, t, float64(rest) / one, nil
	}
	c, err := estimate.NewRuns(ctx, k, r)
	if errors.Is(err, wpmerr.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %d inputs and %d outputs: %w: merge places", ErrTooLarge, k, len(r.Order), err)
	}
	return c, err
}

// OfRows returns the world of a mechanism in mixture mode: its cost, which must not be changed, and its rows. The errors
// are those of cost.Validate, ErrTooLarge, ErrRows, and that of ctx.
func OfRows(ctx context.Context, c cost.Matrix, rows Rows) (World, error) {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, c); err != nil {
		return World{}, err
	}
	k, kv := c.Dims()
	channel, err := NewChannel(ctx, k, kv, rows)
	if err != nil {
		return World{}, err
	}
	w := World{Channel: channel}
	if cost.Structured(c) {
		spec, err := cost.SpecOf(ctx, c)
		if err != nil {
			return World{}, err
		}
		w.places = plane.Of(spec)
	}
	return w.at(ctx, c)
}

// NewChannel returns the channel of rows in integers, for a World that is made by hand. The errors are ErrTooLarge,
// ErrRows for rows that are not of kv outputs, and that of ctx.
func NewChannel(ctx context.Context, k, kv int, rows Rows) (*estimate.Channel, error) {
	ctx = wpmerr.Context(ctx)
	if err := Fits(k, kv); err != nil {
		return nil, err
	}
	return newChannel(ctx, k, kv, rows.append)
}

// Fits checks that k rows of kv outputs can be gone through one by one. The errors are ErrTooLarge and ErrRows.
func Fits(k, kv int) error {
	if k < 1 || kv < 1 {
		return fmt.Errorf("%w: %d x %d", ErrRows, k, kv)
	}
	if k > MaxRows/kv {
		return fmt.Errorf("%w: %d x %d rows, at most %d entries: merge places, or use rows that follow from thresholds, as those of "+
			"points and grids without codes do", ErrTooLarge, k, kv, MaxRows)
	}
	return nil
}

// append appends the weights of a row.
func (r Rows) append(n []uint64, i int) ([]uint64, error) {
	w := r(i)
	for j := range w.Len() {
		n = append(n, w.At(j))
	}
	return n, nil
}

// newChannel reads rows that are appended, as policy.Policy.AppendRow does.
func newChannel(ctx context.Context, k, kv int, row func(n []uint64, i int) ([]uint64, error)) (*estimate.Channel, error) {
	fault, weights := error(nil), []uint64(nil)
	c, err := estimate.NewChannel(k, kv, func(i int, dst []float64) {
		if fault != nil {
			return
		}
		n, err := row(weights[:0], i)
		if weights = n; err == nil && len(n) != kv {
			err = fmt.Errorf("%w: row %d has %d entries, for %d outputs", ErrRows, i, len(n), kv)
		}
		if err == nil && ctx.Err() != nil {
			err = wpmerr.Ended(ctx)
		}
		if fault = err; fault != nil {
			return
		}
		for j := range dst {
			dst[j] = float64(n[j])
		}
	})
	if err = cmp.Or(fault, err); err != nil {
		return nil, err
	}
	return c, nil
}

// exponent is the power of the distances that costs are, as far as it is known.
func (w World) exponent(c cost.Matrix) float64 {
	if p, ok := cost.Exponent(c); ok {
		return p
	}
	return cmp.Or(w.power, 1)
}

// at returns w with what depends on the cost.
func (w World) at(ctx context.Context, c cost.Matrix) (World, error) {
	var err error
	w.Geometry, err = estimate.NewGeometry(ctx, c, w.exponent(c))
	if errors.Is(err, estimate.ErrNoGeometry) {
		w.NoGeometry = err
		return w, nil
	}
	if err != nil {
		return World{}, err
	}
	m, metric := c.(cost.Metric)
	w.Between, w.Same = c, !w.Codes
	if metric && !m.Space().Same {
		w.Same = false
		if w.Between, err = m.Between(); err != nil {
			return World{}, err
		}
	}
	return w, nil
}

// name returns the label of an input.
func (w World) name(i int) string {
	if w.label == nil {
		return strconv.Itoa(i)
	}
	return w.label(i)
}

// problem is the problem of these counts and a public prior.
func (w World) problem(counts []uint64, prior []float64) estimate.Problem {
	return estimate.Problem{Counts: counts, Channel: w.Channel, Prior: prior, Geometry: w.Geometry}
}
