package wpm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// maxPairs bounds k*kv up to which Mechanism.Publish finds the thresholds of places for a projection policy, where they
// only serve when a client's solver fails: some seconds.
const maxPairs = 1 << 29

// Publish makes the policy of this mechanism. From cfg it takes the mode, work limit, labels, fallback, certificate,
// provenance and metadata; it fills in the box, the number of inputs, and the rest by the type of the cost:
//
//   - A cost of places (cost.Points, GreatCircle and Cosine without zero vectors) is that of the places as published,
//     with integer coordinates as fine as a policy can state, which a Design uses from the start. For it, and for a
//     cost.Grid or cost.Ring, the file is of version 2, with the geometry and a threshold for each row. In projection
//     mode the thresholds serve only if a solver fails, so those of places are left out if k*kv is above 2^29 and the
//     mechanism is not of a Design.
//   - Any other cost gives a file of version 1, with rows in mixture mode only. The cost is stated in the form of
//     cost.Spec, that of a cost.Metric with its power among the metadata (cost.PowerKey), or left out if cost.SpecOf
//     does not know its type; only mixture mode works without the cost.
//
// Rows, a geometry or a cost in cfg take precedence.
//
// Errors: those of policy.New and the context's.
func (m *Mechanism) Publish(ctx context.Context, cfg policy.Config) (policy.Policy, error) {
	if err := m.made(); err != nil {
		return policy.Policy{}, err
	}
	cfg.Polytope, cfg.Inputs = m.box, m.k
	var ranked *ranking.Ranking
	var err error
	if m.ranked != nil {
		ranked = m.ranked.Ranking
	} else if ranked, err = ranking.Of(m.cost); err != nil {
		return policy.Policy{}, err
	}
	if err := m.stateCost(ctx, &cfg, ranked); err != nil {
		return policy.Policy{}, err
	}
	switch {
	case cfg.Rows != nil || cfg.Geometry != nil:
	case ranked != nil:
		err = m.stateOrder(ctx, &cfg, ranked)
	case cfg.Mode != policy.Projection:
		cfg.Rows, err = m.policyRows(ctx)
	}
	if err == nil && cfg.Fallback.Fill() == 0 && m.kv > maxSmooth {
		cfg.Fallback, err = ranking.Even(m.box)
	}
	if err != nil {
		return policy.Policy{}, err
	}
	return policy.New(cfg)
}

// Publish is Mechanism.Publish with the certificate of the design, unless cfg has one. Errors: those of
// Mechanism.Publish.
func (d *Design) Publish(cfg policy.Config) (policy.Policy, error) {
	if cfg.Certificate == nil {
		cfg.Certificate = d.certificate
	}
	return d.mechanism.Publish(context.Background(), cfg)
}

// The text of an entry of a matrix that is not negative, with its comma: least and most bytes, as 0 and
// 2.2250738585072014e-308 have them.
const (
	leastEntry = 2
	mostEntry  = 24
)

// CheckFileSize refuses a cost matrix that is too long for a policy, which states the whole matrix beside the rows of
// version 1. Publish would find the same error only after the design. CheckFileSize takes constant time if the number
// of entries decides, and otherwise at most the time to write 64 MiB of numbers, some tenths of a second. It accepts
// every cost of another type.
//
// Errors: ErrLimit, and those of cost.Spec.WriteTo.
func CheckFileSize(c cost.Matrix) error {
	d, ok := c.(*cost.Dense)
	if !ok || d == nil || d.K < 1 || d.Kv < 1 {
		return nil
	}
	long := fmt.Errorf("%w: a policy states its cost matrix, and this one, %d x %d, takes more than the %d bytes of a file: give"+
		" points instead of a matrix, merge places, or write entries with fewer digits", ErrLimit, d.K, d.Kv, policy.MaxBytes)
	switch {
	case d.K > policy.MaxBytes/leastEntry/d.Kv:
		return long
	case d.K <= policy.MaxBytes/mostEntry/d.Kv:
		return nil
	}
	if len(d.Data) != d.K*d.Kv {
		return nil // cost.Validate will say so
	}
	rows := make([][]float64, 0, d.K)
	for row := range slices.Chunk(d.Data, d.Kv) {
		rows = append(rows, row)
	}
	_, err := cost.Spec{Kind: "explicit", C: rows}.WriteTo(&limited{left: policy.MaxBytes})
	if errors.Is(err, errLong) {
		return long
	}
	return err
}

var errLong = errors.New("wpm: too long")

// limited takes so many bytes, and then returns errLong.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errLong
	}
	return len(p), nil
}

// stateCost checks the cost of a config, or states that of the ranking, if there is one, or of the mechanism.
func (m *Mechanism) stateCost(ctx context.Context, cfg *policy.Config, ranked *ranking.Ranking) error {
	if cfg.Cost != nil {
		return m.sameCost(cfg.Cost)
	}
	c := m.cost
	if ranked != nil {
		c = ranked.Cost
	}
	spec, err := costSpec(ctx, c)
	switch {
	case err == nil:
		cfg.Cost = spec
		statePower(c, cfg)
	case errors.Is(err, wpmerr.ErrNotConverged):
		return err
	case cfg.Mode == policy.Projection:
		return fmt.Errorf("wpm: projection needs the cost in the policy: %w", err)
	}
	return nil
}

// statePower states the power of a metric that is written out as a matrix: a map needs the distances. A distance itself
// needs no word.
func statePower(c cost.Matrix, cfg *policy.Config) {
	s := cost.SpaceOf(c)
	if _, given := cfg.Metadata[cost.PowerKey]; given || cost.Structured(c) || !s.Same || s.Power == 1 {
		return
	}
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[cost.PowerKey] = strconv.FormatFloat(s.Power, 'g', -1, 64)
}

// stateOrder states a geometry, and the thresholds, unless these are not worth their time.
func (m *Mechanism) stateOrder(ctx context.Context, cfg *policy.Config, ranked *ranking.Ranking) error {
	if m.ranked != nil {
		cfg.Geometry, cfg.Thresholds = &ranked.Geometry, m.ranked.Thresholds
		return nil
	}
	if ranked.Geometry.Kind == policy.Points && cfg.Mode == policy.Projection && m.k > maxPairs/m.kv {
		return nil
	}
	thresholds, err := ranked.Thresholds(ctx, m.box)
	cfg.Geometry, cfg.Thresholds = &ranked.Geometry, thresholds
	return err
}

// maxSmooth is the number of outputs up to which the fallback is the point of the box nearest to its shape, as
// policy.New finds it. It takes some 25 bytes an output in a file; ranking.Even takes two.
const maxSmooth = 1 << 10

// policyRows returns the rows in the policy's form. It gives up as soon as they cannot fit into a policy.
func (m *Mechanism) policyRows(ctx context.Context) ([]policy.Row, error) {
	rows := make([]policy.Row, m.k)
	var raised atomic.Int64
	err := m.rows(ctx, nil, func(i int, n []uint64, _ float64) error {
		w, err := m.box.Weights(n)
		if err == nil {
			rows[i], err = policy.NewRow(m.box, w)
		}
		if err != nil {
			return fmt.Errorf("wpm: row %d: %w", i, err)
		}
		// A raised column takes two bytes at least, a digit and a comma.
		if 2*raised.Add(int64(rows[i].Fill())) > policy.MaxBytes {
			return fmt.Errorf("%w: the rows of the mixture mode need more than %d bytes; use projection mode",
				policy.ErrLimit, policy.MaxBytes)
		}
		return nil
	})
	return rows, err
}

// sameCost checks a caller's own description of the cost as far as its size.
func (m *Mechanism) sameCost(text []byte) error {
	spec, err := cost.ParseSpec(text)
	if err != nil {
		return err
	}
	c, err := spec.Build()
	if err != nil {
		return err
	}
	if k, kv := c.Dims(); k != m.k || kv != m.kv {
		return fmt.Errorf("%w: the config's cost is %d x %d, the mechanism's %d x %d", wpmerr.ErrShape, k, kv, m.k, m.kv)
	}
	return nil
}

func costSpec(ctx context.Context, c cost.Matrix) ([]byte, error) {
	spec, err := cost.SpecOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return json.Marshal(spec)
}
