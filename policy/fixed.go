package policy

import (
	"fmt"
	"math"
)

// FixedPoints returns the geometry of points in Euclidean space: coordinates in multiples of unit, a power of two and
// the least for which no key reaches 2^63. A point moves by at most unit/2 along each axis, apart from a common shift
// of all points. If there are no inputs, they are the outputs. The result is the same on every machine. Errors:
// ErrShape for no output, for points of different numbers of axes, and for coordinates or ranges that are not finite.
func FixedPoints(inputs, outputs [][]float64) (g *Geometry, unit float64, err error) {
	g, err = newPoints(inputs, outputs)
	if err != nil {
		return nil, 0, err
	}
	origin, ranges := make([]float64, g.Axes), make([]float64, g.Axes)
	widest := 0.0
	for a := range origin {
		least, most := math.Inf(1), math.Inf(-1)
		for _, list := range [][][]float64{inputs, outputs} {
			for _, x := range list {
				least, most = min(least, x[a]), max(most, x[a])
			}
		}
		origin[a], ranges[a] = least, most-least
		widest = max(widest, ranges[a])
	}
	if math.IsInf(widest, 0) {
		return nil, 0, fmt.Errorf("%w: coordinates too far apart", ErrShape)
	}
	unit = 1
	if widest > 0 {
		unit = math.Ldexp(1, max(math.Ilogb(widest)-31, -1022))
	}
	for !fits(ranges, unit) {
		unit *= 2
	}
	fix := func(x []float64) (out []int32) {
		for a, v := range x {
			out = append(out, int32(math.RoundToEven((v-origin[a])/unit)))
		}
		return out
	}
	g.fill(inputs, outputs, fix)
	return g, unit, nil
}

// fits reports whether coordinates up to ranges, in a unit, are below 2^31, and their keys below 2^63 by more than a
// sum rounds off.
func fits(ranges []float64, unit float64) bool {
	sum := 0.0
	for _, r := range ranges {
		steps := math.Ceil(r / unit)
		if steps >= 1<<31 {
			return false
		}
		sum += float64(steps * steps) // not fused with the addition
	}
	return sum*(1+1e-9) < maxKey2
}

// FixedDirections returns the geometry of directions, as on a sphere or of embeddings under the cosine: vectors of
// length 2^30, rounded, so that keys order as angles do. No inputs: they are the outputs. The result is the same on
// every machine.
//
// Errors: ErrShape for no output, for vectors of different numbers of axes, and for those that are zero or not finite.
func FixedDirections(inputs, outputs [][]float64) (*Geometry, error) {
	g, err := newPoints(inputs, outputs)
	if err != nil {
		return nil, err
	}
	zero := false
	fix := func(x []float64) (out []int32) {
		largest, sum := 0.0, 0.0
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		zero = zero || largest == 0
		for _, v := range x {
			v /= largest
			sum += float64(v * v) // not fused
		}
		length := math.Sqrt(sum)
		for _, v := range x {
			out = append(out, int32(math.RoundToEven(float64(v/largest/length)*(1<<30))))
		}
		return out
	}
	g.fill(inputs, outputs, fix)
	if zero {
		return nil, fmt.Errorf("%w: a zero vector has no direction", ErrShape)
	}
	return g, nil
}

// newPoints returns a geometry without points, if the vectors are finite and of one number of axes.
func newPoints(inputs, outputs [][]float64) (*Geometry, error) {
	if len(outputs) == 0 || len(outputs[0]) == 0 {
		return nil, fmt.Errorf("%w: no outputs, or no axes", ErrShape)
	}
	g := &Geometry{Kind: Points, Axes: len(outputs[0])}
	for _, list := range [][][]float64{inputs, outputs} {
		for i, x := range list {
			if len(x) != g.Axes {
				return nil, fmt.Errorf("%w: vector %d has %d coordinates, want %d", ErrShape, i, len(x), g.Axes)
			}
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("%w: vector %d has the coordinate %v", ErrShape, i, v)
				}
			}
		}
	}
	return g, nil
}

// fill sets the points.
func (g *Geometry) fill(inputs, outputs [][]float64, fix func([]float64) []int32) {
	for _, x := range inputs {
		g.InputPoints = append(g.InputPoints, fix(x)...)
	}
	for _, x := range outputs {
		g.OutputPoints = append(g.OutputPoints, fix(x)...)
	}
}
