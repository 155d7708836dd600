package patch

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	// ErrLimit: too many places or outputs.
	ErrLimit = errors.New("patch: too large")
)

const (
	// Countless is a number of devices that stands for any number.
	Countless = 1_000_000_000_000
	// MaxInputs is the largest number of places, and MaxPairs of pairs of an input and an output.
	MaxInputs = 2048
	MaxPairs  = 1 << 24
	// separable is the square of two standard deviations.
	separable = 4
)

// Patches are sets of places that rows cannot tell apart.
type Patches struct {
	// Of is the patch of each place. Patches are numbered by their first place, and a place that can be told from all
	// others has its own.
	Of []int `json:"of"`
	// Size is the number of places of each patch.
	Size []int `json:"size"`
}

// Find returns the patches of a channel at a number of devices, 1 to Countless, for a public prior; nil is uniform.
// Errors: ErrShape for no channel, ErrSettings, ErrLimit, those of estimate.Guess for the prior, and that of ctx.
func Find(ctx context.Context, ch *estimate.Channel, prior []float64, devices int64) (Patches, error) {
	ctx = wpmerr.Context(ctx)
	if ch == nil {
		return Patches{}, fmt.Errorf("%w: no channel", wpmerr.ErrShape)
	}
	if devices < 1 || devices > Countless {
		return Patches{}, fmt.Errorf("%w: %d devices, want 1 to %d", wpmerr.ErrSettings, devices, int64(Countless))
	}
	k, kv := ch.Dims()
	if k > MaxInputs || kv > MaxPairs/k {
		return Patches{}, fmt.Errorf("%w: %d inputs and %d outputs, at most %d inputs and %d pairs", ErrLimit, k, kv,
			MaxInputs, MaxPairs)
	}
	u, err := estimate.Guess(prior, k)
	if err != nil {
		return Patches{}, err
	}
	apart, err := signals(ctx, ch, u, float64(devices))
	if err != nil {
		return Patches{}, err
	}
	return link(apart, k), nil
}

// signals returns the left side of the formula for each pair, k x k; what is at separable or above may be less than it is.
func signals(ctx context.Context, ch *estimate.Channel, u []float64, devices float64) ([]float64, error) {
	k, kv := ch.Dims()
	q, err := ch.Law(u)
	if err != nil {
		return nil, err
	}
	rows, e := make([]float64, k*kv), make([]float64, k)
	for i := range k {
		e[i] = 1
		row, err := ch.Law(e)
		if err != nil {
			return nil, err
		}
		copy(rows[i*kv:], row)
		e[i] = 0
	}
	inverse := make([]float64, kv)
	for y, v := range q {
		if v > 0 { // else no place of the prior releases y, and no pair with mass differs there
			inverse[y] = 1 / v
		}
	}
	out := make([]float64, k*k)
	err = parallel.Each(ctx, k, func(i int) error {
		a := rows[i*kv:][:kv]
		for j := range k {
			if j == i {
				continue
			}
			b := rows[j*kv:][:kv]
			first, second := a, b
			if j < i { // both orders of a pair give the same bits
				first, second = b, a
			}
			scale := devices * (u[i] + u[j]) * (u[i] + u[j])
			sum := 0.0
			for y := 0; y < kv; {
				for end := min(y+16, kv); y < end; y++ {
					d := first[y] - second[y]
					sum += d * d * inverse[y]
				}
				if scale*sum >= separable {
					break
				}
			}
			out[i*k+j] = scale * sum
		}
		return nil
	}, nil)
	return out, err
}

// link joins places by complete linkage, in chains of nearest neighbours, while the largest signal between two sets is
// below separable. apart is k x k and symmetric; it is changed. Sets whose nearest other is at separable or above are
// done: joining others never brings them nearer.
func link(apart []float64, k int) Patches {
	parent, open := make([]int, k), make([]bool, k)
	for i := range k {
		parent[i], open[i] = i, true
	}
	var chain []int
	for start := 0; start < k; {
		if len(chain) == 0 {
			if !open[start] {
				start++
				continue
			}
			chain = append(chain, start)
		}
		i := chain[len(chain)-1]
		before := -1
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		// The set before is taken among equals, so that a chain ends.
		next := before
		for j, v := range apart[i*k:][:k] {
			if j != i && open[j] && (next < 0 || v < apart[i*k+next]) {
				next = j
			}
		}
		switch {
		case next < 0 || !(apart[i*k+next] < separable):
			open[i] = false // done; the chain before it goes on without it
			chain = chain[:len(chain)-1]
		case next == before:
			chain = chain[:len(chain)-2]
			a, b := min(i, next), max(i, next)
			parent[b], open[b] = a, false
			for j := range k {
				far := max(apart[a*k+j], apart[b*k+j])
				apart[a*k+j], apart[j*k+a] = far, far
			}
		default:
			chain = append(chain, next)
		}
	}
	out := Patches{Of: make([]int, k)}
	for i := range k {
		if parent[i] == i { // the first of its set
			out.Of[i] = len(out.Size)
			out.Size = append(out.Size, 1)
			continue
		}
		at := parent[i]
		for parent[at] != at {
			at = parent[at]
		}
		out.Of[i] = out.Of[at]
		out.Size[out.Of[i]]++
	}
	return out
}

// Alone reports whether place i can be told from all others.
func (p Patches) Alone(i int) bool { return p.Size[p.Of[i]] == 1 }

// Shared is the number of places that cannot be told from some other.
func (p Patches) Shared() int {
	n := 0
	for _, s := range p.Size {
		if s > 1 {
			n += s
		}
	}
	return n
}

// Best is the best map of exact reports from the map theta: the sum of each patch is theta's, shared within as the
// prior says, or evenly where the prior has nothing. The errors are ErrShape for other lengths, ErrNotFinite,
// ErrNegative, and those of estimate.Guess.
func (p Patches) Best(theta, prior []float64) ([]float64, error) {
	if len(theta) != len(p.Of) {
		return nil, fmt.Errorf("%w: a map of %d entries for %d places", wpmerr.ErrShape, len(theta), len(p.Of))
	}
	if err := wpmerr.Masses("theta", theta); err != nil {
		return nil, err
	}
	u, err := estimate.Guess(prior, len(p.Of))
	if err != nil {
		return nil, err
	}
	sum, mass := make([]float64, len(p.Size)), make([]float64, len(p.Size))
	for i, c := range p.Of {
		sum[c] += theta[i]
		mass[c] += u[i]
	}
	out := make([]float64, len(theta))
	for i, c := range p.Of {
		switch {
		case p.Size[c] == 1:
			out[i] = theta[i]
		case mass[c] > 0:
			out[i] = sum[c] * (u[i] / mass[c])
		default:
			out[i] = sum[c] / float64(p.Size[c])
		}
	}
	return out, nil
}

// String is one line for people, or "" if all places can be told apart.
func (p Patches) String() string {
	n := p.Shared()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d places have the same report odds as another place, or nearly: a map draws such places as one, "+
		"however many report", n, len(p.Of))
}
