package certificate

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sphere"
)

var sphereKind = kindSpec{
	kind: Sphere, private: false, cost: false,
	bounds: "w* = sin^2(theta/2) of the optimal cap; the worst case W_p of the mechanism is 2 sqrt(w*)",
	empty:  func() body { return new(spherical) },
}

// spherical is the content of a sphere certificate.
type spherical struct {
	Problem  capProblem
	Evidence capEvidence
}

type capProblem struct {
	Dimension int    `json:"d"`
	Exponent  number `json:"p"`
	Epsilon   number `json:"eps"` // the rational that the float is
}

// capEvidence needs no witness: on which side of w* a rational is, sphere decides from the equation of w*.
type capEvidence struct {
	Below fraction `json:"below"`
	Above fraction `json:"above"`
}

// capBits bounds the numerators of the bounds: sphere computes powers of them, and a text must not cost minutes.
const capBits = 192

// NewSphere returns the certificate of b, which must pass b.Verify(d, p, eps), as those of sphere.Enclose do. It is
// public. Numerators of b may have at most 192 bits, which is enough for 170 bits of Enclose.
//
// Errors: ErrEvidence with the error of Verify, ErrLimit.
func NewSphere(d int, p, eps float64, b sphere.Bounds) (Certificate, error) {
	if err := b.Verify(d, p, eps); err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	c := &spherical{
		Problem:  capProblem{Dimension: d, Exponent: number(p), Epsilon: number(eps)},
		Evidence: capEvidence{Below: fraction{b.Lower}, Above: fraction{b.Upper}},
	}
	return build(context.Background(), &sphereKind, c, nil, b.Lower, b.Upper)
}

func (c *spherical) problem() any      { return &c.Problem }
func (c *spherical) evidence() any     { return &c.Evidence }
func (c *spherical) dims() (k, kv int) { return 0, 0 }
func (c *spherical) costHash() *digest { return nil }
func (c *spherical) epsilon() float64  { return float64(c.Problem.Epsilon) }

func (c *spherical) check() error {
	d := int64(c.Problem.Dimension)
	if d < 1 || d > sphere.MaxDimension {
		return fmt.Errorf("%w: d = %d", ErrLimit, d)
	}
	// From the equation of w*, with a = d/2 and h > 2^-6: w* > 2^-((eps log2(e) + 2a + 8) / a) or so, eps being at most
	// 700.
	small := int(16 + 2400/d)
	for _, f := range []fraction{c.Evidence.Below, c.Evidence.Above} {
		if f.Rat == nil {
			return fmt.Errorf("%w: a bound on w* is missing", ErrShape)
		}
		if n, m := f.Num().BitLen(), f.Denom().BitLen(); n > capBits || m > n+small {
			return fmt.Errorf("%w: a bound on w* of %d over %d bits, at most %d over %d more", ErrLimit, n, m, capBits, small)
		}
	}
	// w* <= E[s^q]^(1/q) <= E[s^6]^(1/6) < (d+10)/(2d+10). Far beyond, the series take long.
	most := big.NewRat(5*(d+10), 4*(2*d+10))
	if far := big.NewRat(15, 16); most.Cmp(far) > 0 {
		most = far
	}
	if c.Evidence.Below.Cmp(most) > 0 || c.Evidence.Above.Cmp(most) > 0 {
		return fmt.Errorf("%w: a bound on w* above %v", ErrLimit, most)
	}
	return nil
}

func (c *spherical) bounds(context.Context, cost.Matrix) (lower, upper *big.Rat, err error) {
	b := sphere.Bounds{Lower: c.Evidence.Below.Rat, Upper: c.Evidence.Above.Rat}
	if err := b.Verify(c.Problem.Dimension, float64(c.Problem.Exponent), c.epsilon()); err != nil {
		return nil, nil, err
	}
	return new(big.Rat).Set(b.Lower), new(big.Rat).Set(b.Upper), nil
}
