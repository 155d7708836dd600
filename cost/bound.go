package cost

import "math"

// Bound returns a number that no entry exceeds, in O(k + kv) for the costs of this package that compute their entries.
// For a Ring, a Grid, a Dense or a foreign matrix it is Max. For Points it is the diagonal of the box around them, at
// most sqrt(n) times the largest distance, to the power p. For a GreatCircle it is a sum of up to three distances, to
// the power p. For a Cosine it is 2. It is NaN if m is not valid.
func Bound(m Matrix) float64 {
	if checkDims(m) != nil {
		return math.NaN()
	}
	if s, ok := m.(structured); ok {
		return s.bound()
	}
	return Max(m)
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
