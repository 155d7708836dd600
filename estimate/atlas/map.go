package atlas

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
)

// Map is an estimate, and how fine a map of it the counts support.
type Map struct {
	Estimate
	// Headline answers where the population is, as far as the counts can tell, in a sentence or two.
	Headline string
	// Biased: see World.
	Biased bool

	// Squares is how many squares the drawn map has; 1 says that it is the guess, k that each place is for itself.
	Squares int
	// Level of the squares, 0 for places; their side is 2^Level cells of a grid, which Side is, else 0.
	Level int
	Side  int
	Of    []int     // the square of each input
	Parts []Part    // the squares, the largest share first
	Drawn []float64 // of the k inputs: the mass of each square, spread within it like the guess
	// Single are the largest places, at most three and largest first, that have more than the guess in every map that
	// the counts do not contradict. Tested says that places were looked at.
	Single []int
	Tested bool
	// Patches are the places that the rows do not tell apart, with any number of reports; none for more places than
	// package estimate/patch takes. A square that is drawn is never a single place of a larger patch.
	Patches patch.Patches
}

// Part is a square of a map as it is drawn.
type Part struct {
	Center       int // the input with the largest share
	Size         int // inputs
	Guess, Share float64
	Raw          float64 // of the outputs with the numbers of its inputs: what was released there, if outputs are inputs
}

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
	m.Biased = w.Biased
	if m.Estimate, err = w.estimate(ctx, p, s); err != nil {
		return m, err
	}
	if err := m.resolve(ctx, p, w.places); err != nil {
		return m, err
	}
	if m.Patches, err = w.Patches(ctx); err != nil {
		return m, err
	}
	m.join()
	if m.Signal != nil && m.alike() > 0.5 { // more reports would not make the most of it better
		*m.Signal = min(*m.Signal, estimate.WeakSignal)
	}
	m.Parts = partsOf(m.Estimate, m.Of, m.Squares)
	m.Headline = m.headline(w.name)
	return m, nil
}

// Patches are the places that the rows of w do not tell apart, with any number of reports, for an even prior. For more
// places than package estimate/patch takes, there are none. The error is that of ctx, or of a World without a channel.
func (w World) Patches(ctx context.Context) (patch.Patches, error) {
	p, err := patch.Find(ctx, w.Channel, nil, patch.Countless)
	if errors.Is(err, patch.ErrLimit) {
		return patch.Patches{}, nil
	}
	return p, err
}

// join draws the places of a patch as one, where every place would be a square, and names none of them.
func (m *Map) join() {
	if m.Patches.Shared() == 0 {
		return
	}
	m.Single = slices.DeleteFunc(m.Single, func(i int) bool { return !m.Patches.Alone(i) })
	if m.Squares == len(m.Shares) {
		m.Of, m.Squares = m.Patches.Of, len(m.Patches.Size)
		m.Drawn = block(m.Estimate, m.Of, m.Squares)
	}
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

// partsOf lists n squares, the largest share first.
func partsOf(e Estimate, of []int, n int) []Part {
	out := make([]Part, n)
	for i := range out {
		out[i].Center = -1
	}
	for i, b := range of {
		p := &out[b]
		if p.Center < 0 || e.Shares[i] > e.Shares[p.Center] {
			p.Center = i
		}
		p.Size++
		p.Guess += e.Guess[i]
		p.Share += e.Shares[i]
		if i < len(e.Raw) {
			p.Raw += e.Raw[i]
		}
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
