package wpm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// maxBackupRows bounds k*kv up to which Publish adds the mixture's rows to a projection policy, where they
// only serve when a client's solver fails: at most 16 million entries of cost to sort.
const maxBackupRows = 1 << 24

// Publish makes the policy of this mechanism. From cfg it takes the mode, work limit, labels, fallback,
// certificate, provenance and metadata; it fills in the box, the number of inputs, the cost in the form
// of cost.Spec, and the rows: always in mixture mode, and as a backup in projection mode unless k*kv is
// above 2^24. A cost of a type that cost.SpecOf does not know is left out: only mixture works without it.
//
// Errors: those of policy.New and the context's.
func (m *Mechanism) Publish(ctx context.Context, cfg policy.Config) (policy.Policy, error) {
	return m.publish(cfg, func(do eachRow) error { return m.rows(ctx, nil, do) })
}

// Publish is Mechanism.Publish with the rows of the design, and with its certificate unless cfg has one.
func (d *Design) Publish(cfg policy.Config) (policy.Policy, error) {
	if cfg.Certificate == nil {
		cfg.Certificate = d.certificate
	}
	return d.mechanism.publish(cfg, func(do eachRow) error {
		for i, w := range d.channel.rows {
			if err := do(i, w, d.channel.cost[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// publish is Publish. each calls a function with every row.
func (m *Mechanism) publish(cfg policy.Config, each func(eachRow) error) (policy.Policy, error) {
	cfg.Polytope, cfg.Inputs = m.box, m.k
	if cfg.Cost != nil {
		if err := m.sameCost(cfg.Cost); err != nil {
			return policy.Policy{}, err
		}
	} else {
		spec, err := m.costSpec()
		switch {
		case err == nil:
			cfg.Cost = spec
		case cfg.Mode == policy.Projection:
			return policy.Policy{}, fmt.Errorf("wpm: projection needs the cost in the policy: %w", err)
		}
	}
	if cfg.Rows == nil && (cfg.Mode != policy.Projection || m.k*m.kv <= maxBackupRows) {
		rows, err := m.policyRows(each)
		switch {
		case err == nil:
			cfg.Rows = rows
		case cfg.Mode == policy.Projection && errors.Is(err, policy.ErrLimit): // a backup is not worth that much
		default:
			return policy.Policy{}, err
		}
	}
	return policy.New(cfg)
}

// policyRows returns the rows in the policy's form. It gives up as soon as they cannot fit into a policy.
func (m *Mechanism) policyRows(each func(eachRow) error) ([]policy.Row, error) {
	rows := make([]policy.Row, m.k)
	var raised atomic.Int64
	err := each(func(i int, w ldp.Weights, _ float64) (err error) {
		if rows[i], err = policy.NewRow(m.box, w); err != nil {
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
		return fmt.Errorf("%w: the config's cost is %d x %d, the mechanism's %d x %d", ErrShape, k, kv, m.k, m.kv)
	}
	return nil
}

func (m *Mechanism) costSpec() ([]byte, error) {
	spec, err := cost.SpecOf(m.cost)
	if err != nil {
		return nil, err
	}
	return json.Marshal(spec)
}
