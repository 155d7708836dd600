package wpm

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// CodesDesign is the best mixture of codes and discs that is known for the map of a number of devices. It is immutable.
type CodesDesign struct {
	*channel.Design
	problem channel.Problem // with the cost as published
	ranked  *ranking.Ranking
}

// NewCodes finds the mixture for a problem of package channel. A cost of places is first moved to the integer coordinates
// of a policy, as NewDesign does. A cost that a policy cannot rank, such as a matrix, has no discs in its list.
//
// Errors: those of channel.New; ErrShape if the outputs of the cost are not its inputs.
func NewCodes(ctx context.Context, p channel.Problem) (*CodesDesign, error) {
	if err := cost.Validate(ctx, p.Cost); err != nil {
		return nil, err
	}
	if k, kv := p.Cost.Dims(); k != kv {
		return nil, fmt.Errorf("%w: codes for a cost of %d inputs and %d outputs: outputs are sets of inputs", wpmerr.ErrShape, k, kv)
	}
	ranked, err := ranking.Of(p.Cost)
	if err != nil {
		return nil, err
	}
	if ranked != nil && ranked.Geometry.InputPoints != nil {
		return nil, fmt.Errorf("%w: codes for a cost with outputs of its own: outputs are sets of inputs", wpmerr.ErrShape)
	}
	if ranked != nil {
		p.Cost = ranked.Cost
	}
	p.CodesAlone = p.CodesAlone || ranked == nil
	d, err := channel.New(ctx, p)
	if err != nil {
		return nil, err
	}
	return &CodesDesign{d, p, ranked}, nil
}

// mostCoded is the number of places up to which MapCodes finds a list: the time of its nets is that of the places times some
// thousand blocks.
const mostCoded = 1 << 16

// MapCodes is NewCodes for a cost whose outputs are its inputs, and nil where the map of devices is that of a design of the
// kind Map: for a cost without distances between inputs, of which NewDesign says so, and for more than 65,536 places.
//
// Errors: those of NewCodes, and of estimate.NewGeometry but for ErrNoGeometry.
func MapCodes(ctx context.Context, p channel.Problem) (*CodesDesign, error) {
	if err := cost.Validate(ctx, p.Cost); err != nil {
		return nil, err
	}
	if k, kv := p.Cost.Dims(); k != kv || k > mostCoded {
		return nil, nil
	}
	switch _, err := estimate.NewGeometry(ctx, p.Cost, max(p.P, 1)); {
	case errors.Is(err, estimate.ErrNoGeometry):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return NewCodes(ctx, p)
}

// List reports whether the design is a list. Else it is a single disc, which NewDesign makes with the kind Map and the
// share Disc, with the certificate that such a design has.
func (d *CodesDesign) List() bool { return d.Codes || d.Fine > 0 }

// Displacement is that of Design.Displacement.
func (d *CodesDesign) Displacement() float64 {
	if d.ranked == nil {
		return 0
	}
	return d.ranked.Displacement
}

// Cost returns the cost as published. It must not be modified.
func (d *CodesDesign) Cost() cost.Matrix { return d.problem.Cost }

// Publish makes the policy of the list. From cfg it takes the labels and aliases of inputs, provenance and metadata, to
// which it adds the seed and the number of devices. It fills in the box, the list, the geometry that ranks discs, and the
// cost.
//
// Errors: those of policy.New, of cost.SpecOf, and of ctx.
func (d *CodesDesign) Publish(ctx context.Context, cfg policy.Config) (policy.Policy, error) {
	ctx = wpmerr.Context(ctx)
	m, k := d.Mixture, d.Inputs
	codes := make([]policy.Code, len(m.Components))
	discs := 0
	err := parallel.Each(ctx, len(codes), func(n int) (err error) {
		c := m.Components[n]
		codes[n] = policy.Code{Weight: c.Weight, Low: c.Low, Colors: c.Colors}
		if c.Colors > 0 {
			codes[n].Packed, err = policy.PackColors(c.Color, c.Colors)
		}
		return err
	}, nil)
	if err != nil {
		return policy.Policy{}, err
	}
	for n, c := range m.Components {
		if c.Colors > 0 {
			continue
		}
		discs++
		codes[n].High = c.High
		if codes[n].Thresholds, err = d.thresholds(ctx, c.Full(k)); err != nil {
			return policy.Policy{}, err
		}
	}
	if discs > 0 {
		cfg.Geometry = &d.ranked.Geometry
	}
	if cfg.Polytope, err = policy.CodesBox(m.Epsilon, m.Bits, k, codes); err != nil {
		return policy.Policy{}, err
	}
	cfg.Codes, cfg.Inputs = codes, k
	if cfg.Cost, err = costSpec(ctx, d.problem.Cost); err != nil {
		return policy.Policy{}, err
	}
	meta := map[string]string{
		"seed": strconv.FormatUint(max(d.problem.Seed, 1), 10), "devices": strconv.FormatInt(d.problem.Devices, 10),
	}
	if most := d.problem.MostOutputs; most > 0 {
		meta["outputs at most"] = strconv.Itoa(most)
	}
	for key, value := range cfg.Metadata {
		meta[key] = value
	}
	cfg.Metadata = meta
	return policy.New(cfg)
}

// thresholds returns, for each input, the output that comes after full others. They are those of a box of which every row
// raises just so many outputs, and a part of the next one.
func (d *CodesDesign) thresholds(ctx context.Context, full int) ([]int32, error) {
	const bits = 62
	n := uint64(d.Inputs)
	low := uint64(1) << (bits - 1) / n
	left := uint64(1)<<bits - n*low
	width := (left + uint64(full)) / uint64(full+1) // full width < left <= (full + 1) width
	lo, hi := make([]uint64, n), make([]uint64, n)
	for j := range lo {
		lo[j], hi[j] = low, low+width
	}
	eps, err := ldp.ParseEpsilon("64") // the box ranks, and protects nobody
	if err != nil {
		return nil, err
	}
	box, err := ldp.NewPolytopeFromBounds(eps, lo, hi, bits)
	if err != nil {
		return nil, err
	}
	return d.ranked.Thresholds(ctx, box)
}
