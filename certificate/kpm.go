package certificate

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
)

var kpmKind = kindSpec{
	kind: KPM, private: true, cost: false,
	bounds: "the exact r of the rule q_j = max(mu_j/r, 1/(e^eps + k - 1))",
	empty:  func() body { return new(kpm) },
}

type kpm struct {
	Problem  kpmProblem
	Evidence kpmEvidence
}

type kpmProblem struct {
	Inputs  int    `json:"inputs"` // and outputs
	Mu      masses `json:"mu"`
	Epsilon number `json:"eps"` // the rational that the float is
}

type kpmEvidence struct {
	Q numbers `json:"q"`
	R number  `json:"r"`
}

// kpmSlack is the relative accuracy that baseline.KPMVerify demands of r.
const kpmSlack = 1 << 50

// NewKPM returns the certificate of an output of baseline.KPM, which must pass baseline.KPMVerify. It is as
// private as mu.
//
// Errors: ErrEvidence with the error of baseline.KPMVerify, ErrLimit.
func NewKPM(mu []float64, eps float64, q []float64, r float64) (Certificate, error) {
	if err := baseline.KPMVerify(mu, eps, q, r); err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	b := &kpm{
		Problem:  kpmProblem{Inputs: len(mu), Mu: newMasses(mu, nil), Epsilon: number(eps)},
		Evidence: kpmEvidence{Q: q, R: number(r)},
	}
	lower, upper := b.rBounds()
	return build(context.Background(), &kpmKind, b, nil, lower, upper)
}

func (b *kpm) problem() any      { return &b.Problem }
func (b *kpm) evidence() any     { return &b.Evidence }
func (b *kpm) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Inputs }
func (b *kpm) costHash() *digest { return nil }
func (b *kpm) epsilon() float64  { return float64(b.Problem.Epsilon) }

func (b *kpm) check() error {
	p := &b.Problem
	if err := checkSizes(p.Inputs, 1); err != nil {
		return err
	}
	if err := p.Mu.check("mu", p.Inputs); err != nil {
		return err
	}
	return checkLength("q", b.Evidence.Q, p.Inputs)
}

// rBounds solves |r - R| <= R/kpmSlack for the exact R.
func (b *kpm) rBounds() (lower, upper *big.Rat) {
	r := new(big.Rat).SetFloat64(float64(b.Evidence.R))
	lower = new(big.Rat).Mul(r, big.NewRat(kpmSlack, kpmSlack+1))
	upper = new(big.Rat).Mul(r, big.NewRat(kpmSlack, kpmSlack-1))
	return lower, upper
}

func (b *kpm) bounds(context.Context, cost.Matrix) (lower, upper *big.Rat, err error) {
	mu := b.Problem.Mu.dense(b.Problem.Inputs)
	if err := baseline.KPMVerify(mu, b.epsilon(), b.Evidence.Q, float64(b.Evidence.R)); err != nil {
		return nil, nil, err
	}
	lower, upper = b.rBounds()
	return lower, upper, nil
}
