package patch

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/wpmerr"
)

// ErrLimit: too many pairs of places that are inseparable, or not easily told apart.
var ErrLimit = errors.New("patch: too many pairs")

const (
	// Countless is a number of devices that stands for any number.
	Countless = 1_000_000_000_000
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
	// Unknown is set, and there are no patches, where a caller takes ErrLimit for an answer.
	Unknown bool `json:"unknown,omitempty"`
}

// Find returns the patches of a channel at a number of devices, 1 to Countless, for a public prior; nil is uniform.
// Errors: ErrShape for no channel, ErrSettings, ErrLimit, those of estimate.Guess for the prior, and that of ctx.
func Find(ctx context.Context, ch *estimate.Channel, prior []float64, devices int64) (Patches, error) {
	return patchesOf(ctx, ch, prior, devices, maxRead)
}

// Quick is Find at Countless for an even prior. For more than 2,048 places it takes a second or two: the error is ErrLimit
// for what takes longer.
func Quick(ctx context.Context, ch *estimate.Channel) (Patches, error) {
	most := int64(maxRead)
	if ch != nil {
		if k, _ := ch.Dims(); k > fewPlaces {
			most = quickRead
		}
	}
	return patchesOf(ctx, ch, nil, Countless, most)
}

func patchesOf(ctx context.Context, ch *estimate.Channel, prior []float64, devices, most int64) (Patches, error) {
	ctx = wpmerr.Context(ctx)
	if ch == nil {
		return Patches{}, fmt.Errorf("%w: no channel", wpmerr.ErrShape)
	}
	if devices < 1 || devices > Countless {
		return Patches{}, fmt.Errorf("%w: %d devices, want 1 to %d", wpmerr.ErrSettings, devices, int64(Countless))
	}
	k, _ := ch.Dims()
	u, err := estimate.Guess(prior, k)
	if err != nil {
		return Patches{}, err
	}
	if ctx.Err() != nil {
		return Patches{}, wpmerr.Ended(ctx)
	}
	s, err := newSearch(ch, u, float64(devices), most)
	if err != nil {
		return Patches{}, err
	}
	if s.alike() {
		return patches(s.of, make([]int32, len(s.nodes))), nil
	}
	pairs, err := s.pairs(ctx)
	if err != nil {
		return Patches{}, err
	}
	root, err := newGraph(len(s.nodes), pairs).link(ctx)
	if err != nil {
		return Patches{}, err
	}
	return patches(s.of, root), nil
}

// patches numbers them: of is the node of each place, and root the first node of the patch of each.
func patches(of, root []int32) Patches {
	out, number := Patches{Of: make([]int, len(of))}, make([]int, len(root))
	for i, n := range of {
		r := root[n]
		if number[r] == 0 {
			out.Size = append(out.Size, 0)
			number[r] = len(out.Size)
		}
		out.Of[i] = number[r] - 1
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
	if p.Unknown {
		return "how many places have the same report odds as another, or nearly, is not known: there are too many pairs to look at"
	}
	n := p.Shared()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d places have the same report odds as another place, or nearly: a map draws such places as one, "+
		"however many report", n, len(p.Of))
}
