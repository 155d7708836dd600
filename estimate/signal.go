package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Signal classifies, by Ratio, what the counts add to the guess.
//
// Ratio is the root mean square distance of the map to the truth under the posterior of Map, divided by that of the
// guess. The distance is Euclidean between features: the components of a map in the smoothest directions of the longest
// kernel, which carry most of W_1. If the guess has all of the weight, Ratio is 1. Ratio relies on the prior: it
// describes this answer, and is not a bound on its error.
type Signal int

// The signals, in order.
const (
	NoSignal   Signal = iota // Ratio above 0.95: the guess is as good
	WeakSignal               // above 0.7: better than the guess, not by much
	GoodSignal
)

const (
	noSignal   = 0.95
	weakSignal = 0.7
	// rounding of a squared feature, relative to the largest: sums of up to 10 000 terms.
	rounding = 1e-20
)

// SignalOf returns the signal of a ratio: the distance of the map to the truth over that of the guess.
func SignalOf(ratio float64) Signal {
	switch {
	case ratio <= weakSignal:
		return GoodSignal
	case ratio <= noSignal:
		return WeakSignal
	}
	return NoSignal
}

var signalNames = [...]string{"none", "weak", "ok"}

// String returns none, weak or ok.
func (s Signal) String() string {
	if s < 0 || int(s) >= len(signalNames) {
		return fmt.Sprintf("Signal(%d)", int(s))
	}
	return signalNames[s]
}

// MarshalText writes the name. There is no error.
func (s Signal) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name, or returns ErrSettings.
func (s *Signal) UnmarshalText(text []byte) error {
	i := slices.Index(signalNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%w: no signal is called %.40q", wpmerr.ErrSettings, text)
	}
	*s = Signal(i)
	return nil
}

// ratio is that of Result.
func (a average) ratio() float64 {
	w := softmax(a.logs)
	at := mean(w, a.features)
	apart := func(x []float64) float64 {
		s := 0.0
		for b, v := range x {
			s += (v - at[b]) * (v - at[b])
		}
		return s
	}
	left, guess, scale := 0.0, apart(a.features[0]), 0.0
	for m, w := range w {
		if w > 0 && a.maps[m] != nil {
			left += w * (a.variance[m] + apart(a.features[m]))
			for _, v := range a.features[m] {
				scale = max(scale, v*v)
			}
		}
	}
	if left+guess <= rounding*scale { // all maps are the guess
		return 1
	}
	return math.Sqrt(left / (left + guess))
}

// features are the shares of theta of the first columns.
func (r basis) features(theta []float64) []float64 {
	out := make([]float64, r.rank)
	for i, t := range theta {
		add(t, r.l[i*r.rank:][:r.rank], out)
	}
	return out
}

// variance is the sum of the posterior variances of the features: the trace of B C B' with B = F' (diag(theta) - theta
// theta') and C = M^-1.
func (f *fit) variance(smooth basis) float64 {
	n := smooth.rank
	at := smooth.features(f.at.theta)
	b, sum := make([]float64, len(f.prior)), 0.0
	for c := range n {
		for i, t := range f.at.theta {
			b[i] = t * (smooth.l[i*n+c] - at[c])
		}
		sum += dot(b, f.covered(b))
	}
	return max(sum, 0)
}
