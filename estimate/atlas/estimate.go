package atlas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/wpmerr"
)

// The estimators, by the names that commands and machines use. Package estimate says what each does.
const (
	ByMap = "map"
	ByEM  = "em"
	ByMLE = "mle"
	ByRaw = "raw" // the reports as they are
)

// Estimators lists them in words.
const Estimators = "map, em, mle or raw"

// Known reports whether there is an estimator of that name.
func Known(name string) bool {
	switch name {
	case ByMap, ByEM, ByMLE, ByRaw:
		return true
	}
	return false
}

// Settings of a map. The zero value is the usual: the best estimator there is, and a guess that is even.
type Settings struct {
	Estimator string    // "" for ByMap, or ByEM if the cost has no distances
	Prior     []float64 // public weights of the inputs, in any unit: the guess; nil if all are alike
	Level     float64   // of the intervals of Regions; 0 for estimate.DefaultLevel
	// Unexplained is what is known of weighted counts, which are not looked at: see World.Unexplained.
	Unexplained bool
	Progress    func(done, total int) // of ByMap, or of its draws for the error of others; may be nil
}

// Estimate is a share of the population for each place.
type Estimate struct {
	Estimator string    // that found it
	Shares    []float64 // of the k inputs; nil with an error
	Guess     []float64 // of the k inputs: what one would say without a report
	Raw       []float64 // of the kv outputs: the reports as they are

	Models []estimate.Model // of ByMap, else nil
	Signal *estimate.Signal // of ByMap, else nil: how much better the estimate is than the guess
	// Unexplained says that no map explains the counts: see World.Unexplained. Error does not hold then.
	Unexplained bool
	// Error is how far the map is from the truth, whatever its estimator; nil if there are no distances, and of a Biased
	// world, whose error nobody knows. What the reports know, and what they say of the guess, are "" then.
	Error       *Error
	Information Information
	Verdict     Verdict
	Gap         *float64 // of ByMLE, else nil: see estimate.Likeliest
	Iterations  int      // of ByMLE
}

// Default returns the estimator of a world: ByMap, or ByEM if there are no distances.
func (w World) Default() string {
	if w.Geometry == nil {
		return ByEM
	}
	return ByMap
}

// Estimate runs an estimator on counts, one for each output. It is Map without the squares, in less time.
//
// The errors are ErrEstimator; ErrOutputs for ByRaw, and estimate.ErrNoGeometry for ByMap, of a cost that does not
// allow it; those of package estimate for bad counts and a bad prior; and that of ctx. With ErrOutputs the guess is
// there, and Raw, which is nil for codes.
func (w World) Estimate(ctx context.Context, counts []uint64, s Settings) (e Estimate, err error) {
	return w.estimate(ctx, w.problem(counts, s.Prior), s)
}

// estimate is Estimate for counts that need not be whole.
func (w World) estimate(ctx context.Context, p estimate.Problem, s Settings) (e Estimate, err error) {
	ctx = wpmerr.Context(ctx)
	defer func() {
		if err != nil && ctx.Err() != nil { // in place of a result that did not converge
			err = wpmerr.Ended(ctx)
		}
	}()
	if e.Estimator = s.Estimator; e.Estimator == "" {
		e.Estimator = w.Default()
	}
	if !Known(e.Estimator) {
		return e, fmt.Errorf("%w: %q is not %s", ErrEstimator, e.Estimator, Estimators)
	}
	if w.Channel == nil {
		return e, fmt.Errorf("%w: the world has none", estimate.ErrChannel)
	}
	k, kv := w.Channel.Dims()
	if e.Guess, err = estimate.Guess(s.Prior, k); err != nil {
		return e, err
	}
	counts := floats(p)
	if len(counts) != kv {
		return e, fmt.Errorf("%w: %d counts for %d outputs", wpmerr.ErrShape, len(counts), kv)
	}
	if e.Raw, err = shares(counts); err != nil {
		return e, err
	}
	if w.Codes {
		e.Raw = nil
	}
	if err := e.find(ctx, w, p, s); err != nil {
		return e, err
	}
	e.Unexplained = s.Unexplained
	if p.Weighted == nil {
		e.Unexplained, err = w.Unexplained(ctx, p.Counts, e.Shares)
	}
	return e, err
}

// floats are the counts of a problem, whole or not.
func floats(p estimate.Problem) []float64 {
	if p.Weighted != nil {
		return p.Weighted
	}
	out := make([]float64, len(p.Counts))
	for j, c := range p.Counts {
		out[j] = float64(c)
	}
	return out
}

// shares are counts divided by their sum.
func shares(counts []float64) ([]float64, error) {
	n := 0.0
	for j, c := range counts {
		if !(c >= 0 && c <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: %v releases of output %d", estimate.ErrCounts, c, j)
		}
		n += c
	}
	if n > math.MaxFloat64 {
		return nil, fmt.Errorf("%w: more releases than a float64 counts", estimate.ErrCounts)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: no releases", estimate.ErrCounts)
	}
	out := make([]float64, len(counts))
	for j, c := range counts {
		out[j] = c / n
	}
	return out, nil
}

// find runs the estimator, and judges what it found.
func (e *Estimate) find(ctx context.Context, w World, p estimate.Problem, s Settings) error {
	posterior := func() (estimate.Result, error) {
		s := estimate.Settings{Progress: s.Progress, Draws: draws, Trial: w.places.Ends != nil, Far: w.missed(ctx, *e)}
		if e.Estimator == ByRaw && s.Far != nil { // its error is large as a rule, and needs no more
			s.Groups = coarse
		}
		return estimate.Map(ctx, p, s)
	}
	switch e.Estimator {
	case ByMap:
		if w.Geometry == nil {
			return cmp.Or(w.NoGeometry, estimate.ErrNoGeometry)
		}
		r, err := posterior()
		if err != nil {
			return err
		}
		e.Shares, e.Models, e.Signal = r.Theta, r.Models, &r.Signal
		return e.judge(ctx, w, r)
	case ByEM:
		r, err := estimate.EM(ctx, p)
		if err != nil {
			return err
		}
		e.Shares = r.Theta
	case ByMLE:
		r, err := estimate.MLE(ctx, p, 0)
		if err != nil && (!errors.Is(err, wpmerr.ErrNotConverged) || ctx.Err() != nil) {
			return err
		}
		e.Shares, e.Gap, e.Iterations = r.Theta, &r.Gap, r.Iterations
	case ByRaw:
		if !w.Same {
			return ErrOutputs
		}
		e.Shares = e.Raw
	}
	if w.Geometry == nil || w.Between == nil || w.Biased { // nothing to judge by
		return nil
	}
	r, err := posterior()
	if err != nil {
		return err
	}
	return e.judge(ctx, w, r)
}

// Region is the share of a region by the counts alone: no prior and no estimator has a part in it.
type Region struct {
	estimate.Share
	Guess float64 `json:"guess"`          // the share of the region in the guess
	Wide  bool    `json:"wide,omitempty"` // a search ended early: the interval may be wider than need be
}

// Regions returns the shares of regions that the counts do not contradict, at s.Level; see estimate.Interval for what
// the level holds. A region has a weight from 0 to 1 for each input. The errors are those of package estimate, but for
// ErrNotConverged, which Wide stands for, and that of ctx.
func (w World) Regions(ctx context.Context, counts []uint64, regions [][]float64, s Settings) ([]Region, error) {
	ctx = wpmerr.Context(ctx)
	if w.Channel == nil {
		return nil, fmt.Errorf("%w: the world has none", estimate.ErrChannel)
	}
	k, _ := w.Channel.Dims()
	guess, err := estimate.Guess(s.Prior, k)
	if err != nil {
		return nil, err
	}
	shares, err := estimate.Intervals(ctx, w.flows.seen(w.problem(counts, s.Prior)), regions, s.Level)
	if ctx.Err() != nil {
		return nil, wpmerr.Ended(ctx)
	}
	wide := errors.Is(err, wpmerr.ErrNotConverged)
	if err != nil && !wide {
		return nil, err
	}
	var list []Region
	for n, share := range shares {
		g := 0.0
		for i, w := range regions[n] {
			g += w * guess[i]
		}
		list = append(list, Region{share, g, wide})
	}
	return list, nil
}
