package atlas

import (
	"context"
	"errors"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/wpmerr"
)

// Map makes the map of counts, one for each output. The errors are those of Estimate. With ErrOutputs, the guess and
// Raw are there.
func (w World) Map(ctx context.Context, counts []uint64, s Settings) (m Map, err error) {
	return w.mapOf(ctx, w.problem(counts, s.Prior), s)
}

// Weighted is Map for counts of releases that count for less than one each, as older ones do. The errors are those of
// Estimate, and estimate.ErrCounts for ByEM, which does not take them.
func (w World) Weighted(ctx context.Context, counts []float64, s Settings) (m Map, err error) {
	p := w.problem(nil, s.Prior)
	p.Weighted = counts
	return w.mapOf(ctx, p, s)
}

func (w World) mapOf(ctx context.Context, p estimate.Problem, s Settings) (m Map, err error) {
	ctx = wpmerr.Context(ctx)
	m.Biased = w.Biased
	if m.Estimate, err = w.estimate(ctx, p, s); err != nil {
		return m, err
	}
	if m.Patches, err = w.Patches(ctx); err != nil {
		return m, err
	}
	if err := m.resolve(ctx, p, w.places, w.flows, w.Distance); err != nil {
		return m, err
	}
	if m.Signal != nil && m.alike() > 0.5 { // more reports would not make the most of it better
		*m.Signal = min(*m.Signal, estimate.WeakSignal)
	}
	if w.places.Ends != nil && m.Squares > 1 { // flows between some parts are settled: that is not nothing
		if m.Information == None {
			m.Information = Little
		}
		if m.Signal != nil {
			*m.Signal = max(*m.Signal, estimate.WeakSignal)
		}
	}
	if m.Error != nil && m.Squares < len(m.Shares) {
		if m.Coarser, err = w.Distance(ctx, m.Shares, m.Drawn); err != nil {
			return m, err
		}
	}
	m.Parts = partsOf(m.Estimate, m.Drawn, m.Of, m.Squares)
	m.Headline = m.headline(w.name)
	return m, nil
}

// Patches are the places that the rows of w do not tell apart, with any number of reports, for an even prior. They
// are unknown where patch.Quick gives up. The error is that of ctx, or of a World without a channel.
func (w World) Patches(ctx context.Context) (patch.Patches, error) {
	p, err := patch.Quick(ctx, w.Channel)
	if errors.Is(err, patch.ErrLimit) {
		return patch.Patches{Unknown: true}, nil
	}
	return p, err
}

// alike is the share of the population at places that are told from some other by no number of reports.
func (m Map) alike() (share float64) {
	if m.Patches.Shared() == 0 {
		return 0
	}
	for i, v := range m.Shares {
		if !m.Patches.Alone(i) {
			share += v
		}
	}
	return share
}
