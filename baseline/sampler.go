package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Sampler is an eps-LDP rule that maps a distribution mu over k inputs to the law q over kv outputs that one sample
// is drawn from. All mechanisms that are compared have this form, Wasserstein projection among them; other packages
// may bring their own. The methods are safe for concurrent use and give the same bits for the same mu.
type Sampler interface {
	// Dims returns the numbers of inputs and of outputs.
	Dims() (k, kv int)
	// Law writes the law of a user with distribution mu, k numbers, to dst, kv numbers. It does not modify mu. After an
	// error the contents of dst are undefined. dst and mu must not overlap.
	Law(dst, mu []float64) error
	// Measure returns a base measure m, a new slice: for every mu, q lies in [e^(-eps/2) m, e^(eps/2) m], up to
	// rounding. Package ldp makes the box of integers from it that the law is rounded into and that decides privacy.
	Measure() []float64
}

// rule is a Sampler made of its parts.
type rule struct {
	k       int
	measure []float64
	law     func(mu []float64) ([]float64, error)
}

func (r *rule) Dims() (k, kv int)  { return r.k, len(r.measure) }
func (r *rule) Measure() []float64 { return slices.Clone(r.measure) }

func (r *rule) Law(dst, mu []float64) error {
	if len(dst) != len(r.measure) || len(mu) != r.k {
		return fmt.Errorf("%w: len(dst) = %d, len(mu) = %d, want %d, %d", wpmerr.ErrShape, len(dst), len(mu), len(r.measure), r.k)
	}
	q, err := r.law(mu)
	if err == nil {
		copy(dst, q)
	}
	return err
}

// NewKPM returns KPM on k points as a Sampler: KPMScaled with the base measure of the given total mass; mass 0 is KPM
// itself, the closed formula. Errors: ErrShape, ErrEpsilon, ErrNotFinite, ErrInfeasible.
func NewKPM(k int, eps, mass float64) (Sampler, error) {
	if err := checkSize(k); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	if mass == 0 {
		m, err := KPMMeasure(k, eps)
		return &rule{k, m, func(mu []float64) ([]float64, error) {
			q, _, err := KPM(mu, eps)
			return q, err
		}}, err
	}
	if err := checkMass(eps, mass); err != nil {
		return nil, err
	}
	return &rule{k, slices.Repeat([]float64{mass / float64(k)}, k), func(mu []float64) ([]float64, error) {
		return KPMScaled(mu, eps, mass)
	}}, nil
}

// checkMass wants a mass of a base measure whose box holds a distribution, up to a relative 1e-12.
func checkMass(eps, mass float64) error {
	if math.IsNaN(mass) || math.IsInf(mass, 0) {
		return fmt.Errorf("%w: mass = %v", wpmerr.ErrNotFinite, mass)
	}
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	const slack = 1e-12
	if !(mass*alpha <= 1+slack && mass*beta >= 1-slack) {
		return fmt.Errorf("%w: mass = %v, want one in [%v, %v]", wpmerr.ErrInfeasible, mass, alpha, beta)
	}
	return nil
}

// NewRandomizedResponse returns RandomizedResponse on k points as a Sampler. Errors: ErrShape, ErrEpsilon.
func NewRandomizedResponse(k int, eps float64) (Sampler, error) {
	m, err := RandomizedResponseMeasure(k, eps)
	if err != nil {
		return nil, err
	}
	return &rule{k, m, func(mu []float64) ([]float64, error) { return RandomizedResponse(mu, eps) }}, nil
}

// Sampler returns the mechanism as a Sampler.
func (e *Exponential) Sampler() Sampler {
	return &rule{e.k, e.Measure(), func(mu []float64) ([]float64, error) { return e.Law(mu, nil) }}
}
