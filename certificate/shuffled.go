package certificate

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/shuffle"
)

var shuffledKind = kindSpec{
	kind: Shuffled, private: false, cost: false,
	bounds: "the eps' of all reports together, at this delta, where their multiset or sum alone is seen",
	empty:  func() body { return new(shuffled) },
}

// shuffled is the content of a certificate about shuffled or summed reports.
type shuffled struct {
	Problem  shuffledProblem
	Evidence shuffledEvidence
}

type shuffledProblem struct {
	Clients int      `json:"clients"`
	Blanket fraction `json:"blanket"` // sum of the lower bounds of the box, over all weights
	Epsilon number   `json:"eps"`     // of the box, rounded up
	Delta   number   `json:"delta"`
}

type shuffledEvidence struct {
	Central number  `json:"central"`
	Edges   indices `json:"edges"`
}

// NewShuffled returns the certificate of g, which must pass g.Verify(p), as those of shuffle.Solve do. It is public. The
// lower bound is 0.
//
// Errors: ErrEvidence with the error of Verify.
func NewShuffled(p shuffle.Problem, g shuffle.Guarantee) (Certificate, error) {
	if err := g.Verify(p); err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	c := &shuffled{
		Problem: shuffledProblem{Clients: p.Clients, Blanket: fraction{p.Blanket}, Epsilon: number(p.Epsilon),
			Delta: number(p.Delta)},
		Evidence: shuffledEvidence{Central: number(g.Epsilon), Edges: g.Edges},
	}
	return build(context.Background(), &shuffledKind, c, nil, new(big.Rat), num.Rat(g.Epsilon))
}

func (c *shuffled) problem() any      { return &c.Problem }
func (c *shuffled) evidence() any     { return &c.Evidence }
func (c *shuffled) dims() (k, kv int) { return 0, 0 }
func (c *shuffled) costHash() *digest { return nil }
func (c *shuffled) epsilon() float64  { return float64(c.Problem.Epsilon) }

func (c *shuffled) check() error {
	if c.Problem.Blanket.Rat == nil {
		return fmt.Errorf("%w: the mass of the blanket is missing", ErrShape)
	}
	return nil
}

func (c *shuffled) bounds(context.Context, cost.Matrix) (lower, upper *big.Rat, err error) {
	p := shuffle.Problem{Clients: c.Problem.Clients, Blanket: c.Problem.Blanket.Rat, Epsilon: c.epsilon(),
		Delta: float64(c.Problem.Delta)}
	g := shuffle.Guarantee{Epsilon: float64(c.Evidence.Central), Edges: c.Evidence.Edges}
	if err := g.Verify(p); err != nil {
		return nil, nil, err
	}
	return new(big.Rat), num.Rat(g.Epsilon), nil
}
