package estimate

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// Geometry holds the distances between the k inputs of a problem, and keeps what Map computes of them alone, so that a second
// map of the same places is cheaper. It is safe for concurrent use.
type Geometry struct {
	k int
	d []float64 // k x k distances
}

// NewGeometry returns the distances between the inputs of a cost C = d^p: C^(1/p). A cost of places has them between its inputs,
// whatever its outputs are. Any other cost must be square and symmetric with a zero diagonal, or the error is ErrNoGeometry; p is then the power that its
// entries have, for a *cost.Dense, and must be finite and > 0.
func NewGeometry(c cost.Matrix, p float64) (*Geometry, error) {
	if err := cost.Validate(c); err != nil {
		return nil, err
	}
	if e, ok := cost.Exponent(c); ok {
		p = e
	}
	if !(p > 0 && p <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: power %v", ErrShape, p)
	}
	k, kv := c.Dims()
	if k != kv { // TODO(map): costs of places with other outputs
		return nil, fmt.Errorf("%w: the cost is %d x %d", ErrNoGeometry, k, kv)
	}
	g := &Geometry{k: k, d: make([]float64, k*k)}
	for i := range k {
		row := c.Row(i, g.d[i*k:][:k:k])
		copy(g.d[i*k:], row)
	}
	for i := range k {
		for j := range i + 1 {
			if g.d[i*k+j] != g.d[j*k+i] {
				return nil, fmt.Errorf("%w: C[%d][%d] = %v and C[%d][%d] = %v", ErrNoGeometry, i, j, g.d[i*k+j], j, i, g.d[j*k+i])
			}
		}
	}
	for n, v := range g.d {
		g.d[n] = math.Pow(v, 1/p)
	}
	return g, nil
}
