package atlas

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// MaxRows bounds k kv, the entries of the rows: 2^27. They are gone through one by one, though rarely kept.
const MaxRows = 1 << 27

var (
	// ErrTooLarge: more entries in the rows than MaxRows.
	ErrTooLarge = errors.New("too many places for a map")
	// ErrProjection: a policy that does not identify the map.
	ErrProjection = errors.New("a policy of projection mode does not identify the map: its releases follow the shapes of the private " +
		"distributions, and not only their mean")
	// ErrOutputs: releases as they are, of points that may be others than the inputs.
	ErrOutputs = errors.New("the outputs are not known to be the inputs, so the releases as they are make no map")
	// ErrEstimator: an estimator that is none.
	ErrEstimator = errors.New("unknown estimator")
)

// World is what is public about the releases of a mechanism, as a map needs it.
type World struct {
	Channel  *estimate.Channel
	Geometry *estimate.Geometry // nil if the cost has no distances between inputs
	// NoGeometry is why, if Geometry is nil.
	NoGeometry error
	// Same says that the outputs are the inputs, so that the releases as they are can stand for a map.
	Same bool
	// Between is the cost between inputs; nil if there is none.
	Between cost.Matrix
}

// OfPolicy returns the world of a policy of mixture mode, or of any policy as if it were one: then the map is biased by
// what the shapes of the private distributions do. The errors are ErrProjection, ErrTooLarge, and those of rows that
// cannot be found.
func OfPolicy(ctx context.Context, p policy.Policy, assumeMixture bool) (World, error) {
	if p.Mode() != policy.Mixture && !assumeMixture {
		return World{}, ErrProjection
	}
	if p.Inputs() > MaxRows/p.Outputs() {
		return World{}, fmt.Errorf("%w: %d x %d rows, at most %d entries", ErrTooLarge, p.Inputs(), p.Outputs(), MaxRows)
	}
	row := p.Row
	if !p.HasRows() {
		m, err := wpm.Load(p, wpm.Options{})
		if err != nil {
			return World{}, fmt.Errorf("the policy has no rows, and they cannot be found: %w", err)
		}
		if row, err = rowsOf(ctx, m); err != nil {
			return World{}, err
		}
	}
	if len(p.Cost()) == 0 {
		w, err := newWorld(ctx, p.Inputs(), p.Outputs(), row)
		w.NoGeometry = fmt.Errorf("%w: the policy has no cost", estimate.ErrNoGeometry)
		return w, err
	}
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return World{}, err
	}
	w, err := newWorld(ctx, p.Inputs(), p.Outputs(), row)
	if err != nil {
		return World{}, err
	}
	return w, w.locate(spec)
}

// Of returns the world of a mechanism in mixture mode. The errors are ErrTooLarge and that of ctx.
func Of(ctx context.Context, m *wpm.Mechanism) (World, error) {
	k, kv := m.Dims()
	if k > MaxRows/kv {
		return World{}, fmt.Errorf("%w: %d x %d rows, at most %d entries", ErrTooLarge, k, kv, MaxRows)
	}
	row, err := rowsOf(ctx, m)
	if err != nil {
		return World{}, err
	}
	w, err := newWorld(ctx, k, kv, row)
	if err != nil {
		return World{}, err
	}
	spec, err := cost.SpecOf(m.Cost())
	if err != nil {
		return World{}, err
	}
	return w, w.locate(spec)
}

func rowsOf(ctx context.Context, m *wpm.Mechanism) (func(int) (ldp.Weights, error), error) {
	ch, err := m.Channel(ctx)
	if err != nil {
		return nil, err
	}
	return func(i int) (ldp.Weights, error) { return ch.Row(i), nil }, nil
}

func newWorld(ctx context.Context, k, kv int, row func(int) (ldp.Weights, error)) (w World, err error) {
	fault := error(nil)
	w.Channel, err = estimate.NewChannel(k, kv, func(i int, dst []float64) {
		if fault != nil {
			return
		}
		weights, err := row(i)
		if fault = cmp.Or(err, ctx.Err()); fault != nil {
			return
		}
		for j := range dst {
			dst[j] = float64(weights.At(j))
		}
	})
	return w, cmp.Or(fault, err)
}

// locate sets what depends on the cost.
func (w *World) locate(spec cost.Spec) error {
	c, err := spec.Build()
	if err != nil {
		return err
	}
	power := 1.0
	if p, ok := cost.Exponent(c); ok {
		power = p
	}
	w.Geometry, err = estimate.NewGeometry(c, power)
	if errors.Is(err, estimate.ErrNoGeometry) {
		w.NoGeometry = err
		return nil
	}
	if err != nil {
		return err
	}
	w.Same = spec.V == nil
	if !w.Same {
		spec.V = nil
		c, err = spec.Build()
	}
	w.Between = c
	return err
}
