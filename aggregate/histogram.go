package aggregate

import (
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/binomial"
	"github.com/wpm-go/wpm/wpmerr"
)

// Errors of this package, and those of wpmerr that it shares. They are wrapped with what, where and the value.
var (
	ErrShape      = wpmerr.ErrShape
	ErrIndex      = errors.New("aggregate: no such point")
	ErrEmpty      = errors.New("aggregate: no releases")
	ErrConfidence = errors.New("aggregate: confidence out of range")
	ErrNotFinite  = wpmerr.ErrNotFinite
	ErrNegative   = wpmerr.ErrNegative
)

// DefaultConfidence is that of a zero Settings.
const DefaultConfidence = 0.95

// MaxReleases bounds N.
const MaxReleases = binomial.MaxTrials

// Settings of a histogram. The zero value is the default.
type Settings struct {
	// Confidence is the probability that all bands hold at once; 0: DefaultConfidence. 0.5 to 1 - 1e-300.
	Confidence float64
}

// Histogram is what the releases say about qbar, the mean of the distributions they were drawn from.
type Histogram struct {
	Counts     []uint64  // of each point
	N          uint64    // their sum
	Estimate   []float64 // Counts / N: unbiased for qbar
	Lower      []float64 // with probability Confidence, Lower_j <= qbar_j <= Upper_j for all j at once
	Upper      []float64
	Confidence float64 // as resolved
}

// Count counts releases by their indices, 0 <= index < kv. Errors: ErrShape, ErrIndex.
func Count(kv int, indices []int) ([]uint64, error) {
	if kv < 1 {
		return nil, fmt.Errorf("%w: %d points", ErrShape, kv)
	}
	counts := make([]uint64, kv)
	for n, j := range indices {
		if j < 0 || j >= kv {
			return nil, fmt.Errorf("%w: release %d is of point %d of %d", ErrIndex, n, j, kv)
		}
		counts[j]++
	}
	return counts, nil
}

// NewHistogram returns the histogram of counts, one per point, with simultaneous bands.
//
// Each band is a Clopper-Pearson interval at level (1 - Confidence)/(2 kv), so that by the union bound all hold at
// once. N_j is a sum of independent draws with different probabilities q_uj, not a binomial; its tails more than one
// above and below the mean are no heavier than those of the binomial with the same mean (Hoeffding 1956). The interval
// uses only this property, except for a count of one (or all but one), where it uses the union bound over clients
// instead.
//
// Errors: ErrShape, ErrEmpty, ErrConfidence; ErrLimit for more than MaxReleases. Cost: O(kv).
func NewHistogram(counts []uint64, settings Settings) (Histogram, error) {
	confidence := settings.Confidence
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	if !(confidence >= 0.5 && confidence < 1) {
		return Histogram{}, fmt.Errorf("%w: %v, want 0.5 <= confidence < 1", ErrConfidence, confidence)
	}
	kv := len(counts)
	if kv == 0 {
		return Histogram{}, fmt.Errorf("%w: no points", ErrShape)
	}
	h := Histogram{Confidence: confidence, Counts: make([]uint64, kv), Estimate: make([]float64, kv),
		Lower: make([]float64, kv), Upper: make([]float64, kv)}
	for j, c := range counts {
		if c > MaxReleases || h.N+c > MaxReleases {
			return Histogram{}, fmt.Errorf("%w: %d releases at point %d, after %d before it: bands are for %d at most",
				ErrLimit, c, j, h.N, uint64(MaxReleases))
		}
		h.Counts[j] = c
		h.N += c
	}
	if h.N == 0 {
		return Histogram{}, ErrEmpty
	}
	level := (1 - confidence) / (2 * float64(kv))
	for j, c := range counts {
		h.Estimate[j] = float64(c) / float64(h.N)
		var err error
		if h.Lower[j], h.Upper[j], err = interval(c, h.N, level); err != nil {
			return Histogram{}, err
		}
	}
	return h, nil
}

// interval bounds the mean of n probabilities after x of n independent trials with them succeeded, each side at the
// given level.
func interval(x, n uint64, level float64) (lower, upper float64, err error) {
	lower, upper, err = binomial.Interval(int64(x), int64(n), level)
	if err != nil {
		return 0, 1, err
	}
	// P[at least one] <= n qbar, with equality where one client has it all.
	if x == 1 {
		lower = min(lower, level/float64(n)*(1-0x1p-50))
	}
	if x == n-1 {
		upper = max(upper, 1-level/float64(n)*(1-0x1p-50))
	}
	return lower, upper, nil
}

// Radius is the largest half-width of the bands.
func (h Histogram) Radius() float64 {
	var r float64
	for j := range h.Lower {
		r = max(r, h.Upper[j]-h.Estimate[j], h.Estimate[j]-h.Lower[j])
	}
	return r
}

// Bias bounds W_p between qbar and the mean of the private distributions: the p-th root of the policy's certified worst
// case. NaN unless worst >= 0 and p > 0.
func Bias(worst, p float64) float64 {
	if !(worst >= 0 && p > 0) {
		return math.NaN()
	}
	return math.Pow(worst, 1/p)
}
