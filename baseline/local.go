package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// NewLocalMinimax returns the locally minimax-optimal sampler of Ghoukasian, Lee and Asoodeh (Locally Optimal Private
// Sampling, NeurIPS 2025, arXiv 2510.09485, pure LDP) for a public distribution P on k points and gamma >= 1:
//
//	q_j = mu_j/r clamped to [b P_j, e^eps b P_j],   b = (gamma + 1)/(e^eps + gamma),
//
// with the r that makes q a distribution. The paper proves it best for the users near P, those with P/gamma <= mu <=
// gamma P everywhere, if parts of mass 1/(gamma+1) can be cut from P. If mu is outside this neighbourhood, as for most
// users with few places, the rule has the same privacy, but the theorem does not apply. Mass that the points of mu
// cannot take goes to the other points in proportion to P. The paper does not state this last part of the rule; it is
// this package's own.
//
// The law is the projection in KL(mu||q) onto a box of the base measure e^(eps/2) b P. With P uniform that is
// KPMScaled, for every mass between those of P itself and of 2/(e^eps + 1) P, and KPM at gamma = k - 1. So a sweep
// over gamma is a sweep over the scale of a base measure.
//
// Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass, ErrEpsilon; ErrInfeasible for gamma < 1.
func NewLocalMinimax(public []float64, eps, gamma float64) (Sampler, error) {
	k := len(public)
	sum, err := checkDistribution("public", public, k)
	if err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	if math.IsNaN(gamma) || math.IsInf(gamma, 0) {
		return nil, fmt.Errorf("%w: gamma = %v", wpmerr.ErrNotFinite, gamma)
	}
	if gamma < 1 {
		return nil, fmt.Errorf("%w: gamma = %v, want at least 1", wpmerr.ErrInfeasible, gamma)
	}
	e := math.Exp(eps)
	base := (1 + 1/gamma) / (1 + e/gamma) // b, without an overflow
	p, lo, hi := make([]float64, k), make([]float64, k), make([]float64, k)
	for j, x := range public {
		p[j] = x / sum
		lo[j], hi[j] = base*p[j], min(e*base*p[j], 1)
	}
	m := make([]float64, k)
	for j, x := range p {
		m[j] = math.Exp(eps/2) * base * x
	}
	// Nothing to decide: at eps = 0, or where rounding leaves no room on one side.
	fixed := eps == 0 || num.Sum(lo) >= 1 || num.Sum(hi) <= 1
	return &rule{k, m, func(mu []float64) ([]float64, error) {
		if _, err := checkDistribution("mu", mu, k); err != nil {
			return nil, err
		}
		if fixed {
			return slices.Clone(p), nil
		}
		return clampKL(mu, lo, hi), nil
	}}, nil
}
