package estimate

import (
	"fmt"

	"github.com/wpm-go/wpm/wpmerr"
)

// Law returns the law of a release from a population whose map is theta: theta P, of length kv, in the unit of theta.
// The errors are ErrShape for another length than k, ErrNotFinite, also for a sum beyond float64, and ErrNegative.
func (c *Channel) Law(theta []float64) ([]float64, error) {
	if len(theta) != c.k {
		return nil, fmt.Errorf("%w: a map of %d entries for %d inputs", wpmerr.ErrShape, len(theta), c.k)
	}
	if err := wpmerr.Masses("theta", theta); err != nil {
		return nil, err
	}
	q := make([]float64, c.kv)
	c.forward(theta, q)
	if err := wpmerr.Masses("law", q); err != nil {
		return nil, err
	}
	return q, nil
}
