package cost

import (
	"context"
	"math"
)

// Bound returns a number that no entry exceeds, in O(k + kv) for the costs of this package that compute their entries.
// For a Ring, a Grid, a Dense or a foreign matrix it is the largest entry, by Extent. For Points it is the diagonal of the box around them, at
// most sqrt(n) times the largest distance, to the power p. For a GreatCircle it is a sum of up to three distances, to
// the power p. For a Cosine it is 2. Errors: those of Extent.
func Bound(ctx context.Context, m Matrix) (float64, error) {
	if err := checkDims(m); err != nil {
		return math.NaN(), err
	}
	if s, ok := m.(structured); ok {
		return s.bound(), nil
	}
	largest, _, err := Extent(ctx, m)
	return largest, err
}

// widths returns the sides of the box around the points.
func (c *Points) widths() []float64 {
	width := make([]float64, c.dim)
	for t := range width {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, side := range [][]float64{c.x, c.v} {
			for at := t; at < len(side); at += c.dim {
				lo, hi = min(lo, side[at]), max(hi, side[at])
			}
		}
		width[t] = hi - lo
	}
	return width
}
