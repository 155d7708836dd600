package estimate

import (
	"fmt"

	"github.com/wpm-go/wpm/wpmerr"
)

// Law returns the law of a release from a population whose map is theta: theta P, of length kv, in the unit of theta.
// It does not check the entries of theta. The error is ErrShape for another length than k.
func (c *Channel) Law(theta []float64) ([]float64, error) {
	if len(theta) != c.k {
		return nil, fmt.Errorf("%w: a map of %d entries for %d inputs", wpmerr.ErrShape, len(theta), c.k)
	}
	q := make([]float64, c.kv)
	c.forward(theta, q)
	return q, nil
}
