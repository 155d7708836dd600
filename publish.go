package wpm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
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
		rows, err := m.policyRows(ctx)
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
func (m *Mechanism) policyRows(ctx context.Context) ([]policy.Row, error) {
	rows := make([]policy.Row, m.k)
	var raised atomic.Int64
	err := m.rows(ctx, nil, func(i int, w ldp.Weights, _ float64) (err error) {
		if rows[i], err = policy.NewRow(m.box, w); err != nil {
			return fmt.Errorf("wpm: row %d: %w", i, err)
		}
		// A raised column takes two bytes at least, a digit and a comma.
		if 2*raised.Add(int64(rows[i].Fill())) > policy.MaxBytes {
			return fmt.Errorf("%w: the rows of the mixture mode need more than %d bytes; use projection mode", policy.ErrLimit, policy.MaxBytes)
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

// Certificate returns the evidence for a mechanism made from base measure r, as the text of a certificate of
// package certificate without its cost, which is in the policy. It states a lower bound on the worst case W_p^p of
// every ε-LDP mechanism, and an upper bound that holds for r.M and for the rows as published (see WorstCase).
// certificate.CheckPolicy decides whether that is so.
//
// Its eps is the smallest float64 that is not below ε: what no mechanism does at that eps, none does at ε.
func (m *Mechanism) Certificate(ctx context.Context, r basemeasure.Result) ([]byte, error) {
	worst, _, err := m.WorstCase(ctx)
	if err != nil {
		return nil, err
	}
	c, err := certificate.NewBaseMeasure(m.cost, num.Up(m.Epsilon().Rat()), r)
	if err != nil {
		return nil, err
	}
	proved := c.Stated()
	lower, upper := proved.Floats() // floats are short fractions
	c, err = c.Claim(certificate.Bounds{Lower: num.Rat(lower), Upper: num.Rat(max(upper, worst))})
	if err != nil {
		return nil, err
	}
	if c, err = c.WithoutCost(); err != nil {
		return nil, err
	}
	return certificate.Encode(c)
}

// CheckCertificate recomputes what a policy says of its utility, and returns its worst case W_p^p, rounded up. It is
// certificate.CheckPolicy for callers who want no more than that.
func CheckCertificate(ctx context.Context, p policy.Policy) (worst float64, err error) {
	_, b, err := certificate.CheckPolicy(ctx, p)
	if err != nil {
		return 0, err
	}
	return num.Up(b.Worst), nil
}
