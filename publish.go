package wpm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/basemeasure"
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
	raised := 0
	err := m.eachRow(ctx, func(i int, w ldp.Weights, _ float64) (err error) {
		if rows[i], err = policy.NewRow(m.box, w); err != nil {
			return fmt.Errorf("wpm: row %d: %w", i, err)
		}
		// A raised column takes two bytes at least, a digit and a comma.
		if raised += rows[i].Fill(); 2*raised > policy.MaxBytes {
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

// baseCertificate is the form in which a policy carries the evidence for its base measure.
type baseCertificate struct {
	Kind       string    `json:"kind"`  // of base measure: uniform, shape
	Upper      float64   `json:"upper"` // on the worst case of the published rows
	Lower      float64   `json:"lower"` // no ε-LDP mechanism has a smaller worst case
	Mass       float64   `json:"mass"`
	Weights    []float64 `json:"weights"`    // of the inputs
	Thresholds []float64 `json:"thresholds"` // of the inputs
}

// Certificate returns the evidence for a mechanism made from base measure r, in the form that policy.Config
// takes: a bound on the worst case W_p^p of the rows as published (see WorstCase), a bound below which no
// ε-LDP mechanism gets, and the weights and thresholds from which basemeasure.Verify recomputes it.
func (m *Mechanism) Certificate(ctx context.Context, kind string, r basemeasure.Result) ([]byte, error) {
	upper, _, err := m.WorstCase(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(baseCertificate{
		Kind: kind, Upper: upper, Lower: r.Lower, Mass: r.Mass, Weights: r.Weights, Thresholds: r.Thresholds,
	})
}

// CheckCertificate recomputes the utility claims of a policy: that its rows, or the rows its box allows, cost at
// most the stated upper bound, and that the stated lower bound follows from the weights and thresholds. It
// returns the recomputed worst case. Privacy does not rest on any of this: see policy.Verify.
//
// The lower bound is recomputed for kind "uniform", and for the float64 nearest to ε.
//
// Errors: ErrCertificate if a claim does not hold or the policy has none, and those of Load.
func CheckCertificate(ctx context.Context, p policy.Policy) (worst float64, err error) {
	m, err := Load(p, Options{})
	if err != nil {
		return 0, err
	}
	var cert baseCertificate
	if err := json.Unmarshal(p.Certificate(), &cert); err != nil {
		return 0, fmt.Errorf("%w: none that can be read: %w", ErrCertificate, err)
	}
	if p.HasRows() {
		worst, err = m.publishedWorst(ctx, p)
	} else {
		worst, _, err = m.WorstCase(ctx)
	}
	if err != nil {
		return 0, err
	}
	if !(worst <= cert.Upper) {
		return worst, fmt.Errorf("%w: the worst case is up to %v, stated is %v", ErrCertificate, worst, cert.Upper)
	}
	if !(cert.Lower <= cert.Upper) {
		return worst, fmt.Errorf("%w: lower %v, upper %v", ErrCertificate, cert.Lower, cert.Upper)
	}
	if cert.Kind != "uniform" {
		return worst, nil
	}
	base := make([]float64, m.kv)
	for j := range base {
		base[j] = cert.Mass / float64(m.kv)
	}
	_, _, err = basemeasure.Verify(m.cost, p.Epsilon().Float64(), basemeasure.Result{
		M: base, F: cert.Upper, Mass: cert.Mass, Support: m.kv, Upper: math.MaxFloat64, Lower: cert.Lower,
		Weights: cert.Weights, Thresholds: cert.Thresholds,
	})
	if err != nil {
		return worst, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	return worst, nil
}

// publishedWorst is WorstCase for the rows that the policy carries, whatever they are.
func (m *Mechanism) publishedWorst(ctx context.Context, p policy.Policy) (float64, error) {
	terms := make([]float64, m.kv)
	total := float64(m.box.Total())
	worst, buf := 0.0, make([]float64, m.kv)
	for i := range m.k {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		w, err := p.Row(i)
		if err != nil {
			return 0, err
		}
		for j, c := range m.cost.Row(i, buf) {
			terms[j] = c * (float64(w.At(j)) / total)
		}
		worst = max(worst, num.Sum(terms))
	}
	return worst, nil
}
