package channel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	// ErrLimit: too many places.
	ErrLimit = errors.New("channel: too large")
	// ErrBits: too few bits for weights of the given eps.
	ErrBits = errors.New("channel: too few bits")
)

const (
	// MaxInputs is the largest number of places.
	MaxInputs = 1 << 20
	// MaxDevices is the largest number of devices: as good as any number, for the rows that are found.
	MaxDevices = 1_000_000_000_000
	// maxMatrix is the largest k^2 kv of a cost that has no distances of its own.
	maxMatrix int64 = 1 << 33
	// kept is the largest k whose distances are kept in memory: 32 MB.
	kept = 2048
)

// Problem is what a design is for. Nothing in it is private.
type Problem struct {
	// Cost is what a release at an output costs a device at an input. It gives the distances between inputs: those of
	// estimate.NewGeometry if the cost has them, else the distance of inputs i and j is max_y |C_iy - C_jy|.
	Cost cost.Matrix
	// P is the power of the distance that costs are; 0 is 1.
	P float64
	// Prior is a public distribution over the inputs, in any unit. Nil is uniform.
	Prior []float64
	// Epsilon is the privacy loss of a release.
	Epsilon ldp.Epsilon
	// Devices is N, 1 to MaxDevices.
	Devices int64
	// Bits is the B of all weights, 1 to 62; 0 is 62.
	Bits int
	// Seed starts the generator of the codes; 0 is 1.
	Seed uint64
	// CodesAlone leaves discs out of lists: for a policy that cannot rank the places. Lists for more than 2,000 places have
	// none, because a disc has as many outputs as there are places.
	CodesAlone bool
	// MostOutputs bounds the outputs of a list; 0 is no bound. A single disc, which is the answer where no such list is
	// better, has an output for each place.
	MostOutputs int
}

// metric is the distances between inputs: row returns a slice that must not be changed, and may use buf.
type metric struct {
	k   int
	row func(i int, buf []float64) []float64
}

// check resolves the defaults and returns the distances and the prior with sum 1.
func (p *Problem) check(ctx context.Context) (metric, []float64, error) {
	if err := cost.Validate(ctx, p.Cost); err != nil {
		return metric{}, nil, err
	}
	k, _ := p.Cost.Dims()
	if k > MaxInputs {
		return metric{}, nil, fmt.Errorf("%w: %d inputs, at most %d", ErrLimit, k, MaxInputs)
	}
	if p.Epsilon.IsZero() {
		return metric{}, nil, fmt.Errorf("%w: no eps", wpmerr.ErrShape)
	}
	if p.Devices < 1 || p.Devices > MaxDevices {
		return metric{}, nil, fmt.Errorf("%w: %d devices, want 1 to %d", wpmerr.ErrShape, p.Devices, int64(MaxDevices))
	}
	if p.MostOutputs < 0 {
		return metric{}, nil, fmt.Errorf("%w: at most %d outputs", wpmerr.ErrShape, p.MostOutputs)
	}
	if p.Bits == 0 {
		p.Bits = 62
	}
	if p.Bits < 1 || p.Bits > 62 {
		return metric{}, nil, fmt.Errorf("%w: %d bits, want 1 to 62", wpmerr.ErrShape, p.Bits)
	}
	if p.Seed == 0 {
		p.Seed = 1
	}
	if p.P == 0 {
		p.P = 1
	}
	prior, err := estimate.Guess(p.Prior, k)
	if err != nil {
		return metric{}, nil, err
	}
	d, err := distances(ctx, p.Cost, p.P)
	return d, prior, err
}

// distances returns those between inputs, kept in memory for few places.
func distances(ctx context.Context, c cost.Matrix, p float64) (metric, error) {
	k, kv := c.Dims()
	g, err := estimate.NewGeometry(ctx, c, p)
	if err == nil {
		if k > kept {
			return metric{k, g.Row}, nil
		}
		all, buf := make([]float64, k*k), make([]float64, k)
		for i := range k {
			copy(all[i*k:], g.Row(i, buf))
		}
		return metric{k, func(i int, _ []float64) []float64 { return all[i*k:][:k:k] }}, nil
	}
	if !errors.Is(err, estimate.ErrNoGeometry) {
		return metric{}, err
	}
	if int64(k) > maxMatrix/int64(k)/int64(kv) {
		return metric{}, fmt.Errorf("%w: %d inputs and %d outputs of a cost without distances between inputs", ErrLimit, k, kv)
	}
	rows, err := cost.Materialize(ctx, c)
	if err != nil {
		return metric{}, err
	}
	all := make([]float64, k*k)
	for i := range k {
		if ctx.Err() != nil {
			return metric{}, wpmerr.Ended(ctx)
		}
		a := rows.Data[i*kv:][:kv]
		for j := range i {
			most := 0.0
			for y, v := range rows.Data[j*kv:][:kv] {
				most = max(most, math.Abs(a[y]-v))
			}
			all[i*k+j], all[j*k+i] = most, most
		}
	}
	return metric{k, func(i int, _ []float64) []float64 { return all[i*k:][:k:k] }}, nil
}

// near is the median distance of a place to its nearest other one, over at most 1,000 places; 0 if all are at one point.
func (d metric) near() float64 {
	buf := make([]float64, d.k)
	var all []float64
	for i := 0; i < d.k; i += (d.k + 999) / 1000 {
		least := math.Inf(1)
		for _, v := range d.row(i, buf) {
			if v > 0 {
				least = min(least, v)
			}
		}
		if least <= math.MaxFloat64 {
			all = append(all, least)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
