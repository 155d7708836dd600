package wpm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
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
	if cfg.Cost == nil {
		spec, err := m.costSpec()
		switch {
		case err == nil:
			cfg.Cost = spec
		case cfg.Mode == policy.Projection:
			return policy.Policy{}, fmt.Errorf("wpm: projection needs the cost in the policy: %w", err)
		}
	}
	if cfg.Rows == nil && (cfg.Mode != policy.Projection || m.k*m.kv <= maxBackupRows) {
		ch, err := m.Channel(ctx)
		if err != nil {
			return policy.Policy{}, err
		}
		cfg.Rows = make([]policy.Row, m.k)
		for i := range cfg.Rows {
			if cfg.Rows[i], err = policy.NewRow(m.box, ch.Row(i)); err != nil {
				return policy.Policy{}, fmt.Errorf("wpm: row %d: %w", i, err)
			}
		}
	}
	return policy.New(cfg)
}

func (m *Mechanism) costSpec() ([]byte, error) {
	spec, err := cost.SpecOf(m.cost)
	if err != nil {
		return nil, err
	}
	return json.Marshal(spec)
}

// baseCertificate is the form in which a policy carries the evidence for its base measure.
type baseCertificate struct {
	Kind       string    `json:"kind"` // of base measure: uniform, shape
	Worst      float64   `json:"worst"`
	Upper      float64   `json:"upper"`
	Lower      float64   `json:"lower"` // no ε-LDP mechanism has a smaller worst case
	Mass       float64   `json:"mass"`
	Weights    []float64 `json:"weights"`    // of the inputs
	Thresholds []float64 `json:"thresholds"` // of the inputs
}

// Certificate returns the evidence for a base measure in the form that policy.Config takes: bounds on the
// worst case W_p^p, and the weights and thresholds from which basemeasure.Verify recomputes the lower one.
func Certificate(kind string, r basemeasure.Result) ([]byte, error) {
	return json.Marshal(baseCertificate{
		Kind: kind, Worst: r.F, Upper: r.Upper, Lower: r.Lower, Mass: r.Mass, Weights: r.Weights, Thresholds: r.Thresholds,
	})
}
