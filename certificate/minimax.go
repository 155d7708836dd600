package certificate

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/minimax"
)

var minimaxKind = kindSpec{
	kind: Minimax, private: false, cost: true,
	bounds: "the least over eps-LDP reports and readers of the largest mean distance between a map and a population of the places",
	empty:  func() body { return new(minimal) },
}

// minimal is the content of a certificate that no mechanism is nearer.
type minimal struct {
	Problem  minimalProblem
	Evidence minimalEvidence
}

type minimalProblem struct {
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"` // the same
	Cost    digest `json:"cost_sha256"`
	Epsilon number `json:"eps"`
	Clients int    `json:"clients"`
}

type minimalEvidence struct {
	Poles     indices `json:"poles"`
	Radius    numbers `json:"radius"`
	Mass      numbers `json:"mass"`
	Amplitude number  `json:"amplitude"`
	Root      number  `json:"root"`
	Exponent  number  `json:"exponent"`
	Centre    int     `json:"centre"`
}

// NewMinimax returns the certificate of b, which must pass b.Verify(p), as those of minimax.Solve do. It is public.
//
// Errors: ErrEvidence with the error of Verify, ErrCost.
func NewMinimax(ctx context.Context, p minimax.Problem, b minimax.Bound) (Certificate, error) {
	lower, upper, err := b.Verify(ctx, p)
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	k, kv := p.Cost.Dims()
	c := &minimal{
		Problem: minimalProblem{Inputs: k, Outputs: kv, Epsilon: number(p.Epsilon), Clients: p.Clients},
		Evidence: minimalEvidence{Poles: b.Poles, Radius: b.Radius, Mass: b.Mass, Amplitude: number(b.Amplitude),
			Root: number(b.Root), Exponent: number(b.Exponent), Centre: b.Centre},
	}
	return build(ctx, &minimaxKind, c, p.Cost, lowerFloat(lower), upper)
}

// lowerFloat rounds a lower bound down to a float, whose fraction is short.
func lowerFloat(x *big.Rat) *big.Rat { return num.Rat(num.Down(x)) }

func (c *minimal) problem() any      { return &c.Problem }
func (c *minimal) evidence() any     { return &c.Evidence }
func (c *minimal) dims() (k, kv int) { return c.Problem.Inputs, c.Problem.Outputs }
func (c *minimal) costHash() *digest { return &c.Problem.Cost }
func (c *minimal) epsilon() float64  { return float64(c.Problem.Epsilon) }

func (c *minimal) check() error {
	if err := checkSizes(c.Problem.Inputs, c.Problem.Outputs); err != nil {
		return err
	}
	if c.Problem.Inputs != c.Problem.Outputs {
		return fmt.Errorf("%w: a cost of %d x %d is not between places", ErrShape, c.Problem.Inputs, c.Problem.Outputs)
	}
	if c.Problem.Inputs > minimax.MaxPlaces {
		return fmt.Errorf("%w: %d places, at most %d", ErrLimit, c.Problem.Inputs, minimax.MaxPlaces)
	}
	return nil
}

func (c *minimal) bounds(ctx context.Context, m cost.Matrix) (lower, upper *big.Rat, err error) {
	e := &c.Evidence
	b := minimax.Bound{Poles: e.Poles, Radius: e.Radius, Mass: e.Mass, Amplitude: float64(e.Amplitude),
		Root: float64(e.Root), Exponent: float64(e.Exponent), Centre: e.Centre}
	lower, upper, err = b.Verify(ctx, minimax.Problem{Cost: m, Epsilon: c.epsilon(), Clients: c.Problem.Clients})
	if err != nil {
		return nil, nil, err
	}
	return lowerFloat(lower), upper, nil
}
