// Package ranking turns a cost between places into the integers of a policy of version 2. By these, anyone can rank the
// outputs for an input, and find the output at which the row of the input ends.
//
// # Problem
//
// The cheapest row of an input gives all outputs their least weight lo, and raises them to hi in the order of their
// costs until the sum is 2^B. The order of costs in floats depends on who computes them. So Of moves places to integer
// coordinates, and makes the cost of the moved places. Squared distances of integers are exact keys (policy.Geometry).
// Thresholds sorts the outputs of each input by key and then by number, and finds the first one at which the widths
// hi - lo of all outputs up to it sum to 2^B - sum lo or more.
//
// # Guarantee
//
// No place moves by more than Displacement, and places that are already published stay where they are. A row in the
// order of keys is as cheap as the cheapest, up to Slack, in the root of the cost that is a distance. Thresholds are
// exactly those that policy.VerifyRows accepts, however floats round and on any number of cores. Nothing here is
// trusted: policy.VerifyRows ranks anew, and a wrong threshold makes a dearer row within the same box.
//
// # Cost
//
// Of takes a few passes over the places. Thresholds of n cells take O(n log n) on a ring, some passes over the lines
// for each cell of a grid, and O(k kv) on places, with a pass over the outputs for each input; memory is O(k + kv).
//
// # Source
//
// The greedy fill is Dantzig's for the fractional knapsack (1957), the selection is Hoare's quickselect (1961). The
// search between the thresholds of neighbours uses the triangle inequality, and the counting of cells prefix sums; both
// are of this module.
package ranking

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/policy"
)

// A Ranking is a cost that a policy of version 2 can state: its places have integer coordinates, by which they are
// ranked. It must not be modified.
type Ranking struct {
	Geometry policy.Geometry
	Cost     cost.Matrix // of the places as published
	// Displacement is the largest distance of a place from where it is published: in km for places on the Earth, of unit
	// vectors for cosine.
	Displacement float64
	// Slack is how much more than the cheapest of its box a row may cost, in the root of the cost that is a distance:
	// twice what the distances that rank may differ from those that the cost has. By Minkowski's inequality each of two
	// rows, the cheapest by one or by the other, costs no more by the other than once that.
	Slack float64
}

// unitScale is the length of a published unit vector.
const unitScale = 1 << 30

// Of returns the ranking of a cost, or nil for one without: an explicit one, a type of another package, and a cosine
// with a zero vector, which has no direction.
func Of(c cost.Matrix) (*Ranking, error) {
	if !cost.Structured(c) {
		return nil, nil
	}
	spec, err := cost.SpecOf(context.Background(), c) // of a cost that computes its entries: it reads places, and no entry
	if err != nil {
		return nil, err
	}
	r := &Ranking{Cost: c}
	switch spec.Places() {
	case "ring":
		r.Geometry = policy.Geometry{Kind: policy.Ring}
		return r, nil
	case "grid":
		r.Geometry = policy.Geometry{Kind: policy.Grid, Rows: spec.Rows, Cols: spec.Cols}
		return r, nil
	}
	places := slices.Concat(spec.X, spec.V) // changed in place: they are copies
	given := make([][]float64, len(places))
	for i, x := range places {
		given[i] = slices.Clone(x)
	}
	var vectors []int32
	axes := float64(len(places[0]))
	switch spec.Places() {
	case "points":
		vectors = roundPoints(places)
		for i, x := range places {
			r.Displacement = max(r.Displacement, distance(x, given[i]))
		}
		// A coordinate is off by 2^-53 of it, or half the smallest float.
		r.Slack = 4 * math.Sqrt(axes) * (0x1p-53*largestOf(places) + math.SmallestNonzeroFloat64)
	case "greatcircle":
		vectors, r.Displacement, err = roundPlaces(places)
		r.Slack = 2 * arcSlack(places)
	case "cosine":
		r.Slack = 2 * (math.Sqrt(axes) + 2) / unitScale // the lengths are off by half of that, see roundUnits
		if vectors, r.Displacement = roundUnits(places); vectors == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	r.Geometry = policy.Geometry{Kind: policy.Points, Axes: len(vectors) / len(places), OutputPoints: vectors}
	if spec.V != nil {
		at := len(spec.X) * r.Geometry.Axes
		r.Geometry.InputPoints, r.Geometry.OutputPoints = vectors[:at:at], vectors[at:]
	}
	if spec.P > 0 && spec.P < 1 { // the cost is the distance
		r.Slack = math.Pow(r.Slack, spec.P)
	}
	r.Cost, err = spec.Build()
	return r, err
}

// arcSlack bounds by how many km a great circle differs from what the chord of the vectors of two places says. Each
// vector is 0.89 from unitScale times the direction of its published place at most: half the diagonal of a cell, and
// half a digit. An arc grows by 1/cos(arc/2) of its chord, and all the way to the antipode by 2 acos(1 - by/2).
func arcSlack(places [][]float64) float64 {
	const by = 2 * 0.89 / unitScale
	slack := 2 * math.Acos(1-by/2)
	widest := 0.0 // chord from the first place
	first := direction(places[0])
	for _, x := range places {
		widest = max(widest, distance(first, direction(x)))
	}
	if half := widest*(1+1e-9) + by; half < 1 { // of the longest chord
		slack = min(slack, by/math.Sqrt(1-half*half))
	}
	return slack * cost.EarthRadius
}

// direction is the unit vector of a place in degrees.
func direction(x []float64) []float64 {
	lat, lon := x[0]*(math.Pi/180), x[1]*(math.Pi/180)
	level := math.Sin((90 - math.Abs(x[0])) * (math.Pi / 180)) // 0 at a pole
	return []float64{level * math.Cos(lon), level * math.Sin(lon), math.Sin(lat)}
}

// distance is the Euclidean distance of two points, without overflow.
func distance(x, y []float64) (d float64) {
	for a, v := range x {
		d = math.Hypot(d, v-y[a])
	}
	return d
}

// roundPoints moves points to multiples of a power of ten, and returns the multiples less an offset for each axis: the
// coarsest power that moves none, or the finest at which each multiple is below 2^53, and the squares of the widths of
// the axes have a sum below 2^63. A coordinate is the float nearest to its multiple.
func roundPoints(points [][]float64) []int32 {
	m := newMultiples(points)
	digits := 0
	if largest := largestOf(points); largest > 0 {
		digits = min(16-int(math.Floor(math.Log10(largest))), 300)
	}
	for !m.fit(points, digits) {
		digits--
	}
	for digits > -300 && m.shorten() {
		digits--
	}
	out := make([]int32, len(m.n))
	for a := range m.low {
		offset := m.offset(a)
		for i, x := range points {
			v := int64(m.n[i*len(x)+a])
			out[i*len(x)+a] = int32(v - offset)
			// The syntax is right, and the number no larger than the one given, but for a rounding.
			x[a], _ = strconv.ParseFloat(strconv.FormatInt(v, 10)+"e"+strconv.Itoa(-digits), 64)
			x[a] = max(-math.MaxFloat64, min(x[a], math.MaxFloat64))
		}
	}
	return out
}

// largestOf returns the largest size of a coordinate.
func largestOf(points [][]float64) (largest float64) {
	for _, x := range points {
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
	}
	return largest
}

// multiples are points in units of a power of ten.
type multiples struct {
	n         []float64 // integers, by point and axis
	low, high []float64 // of each axis
}

func newMultiples(points [][]float64) *multiples {
	axes := len(points[0])
	return &multiples{make([]float64, axes*len(points)), make([]float64, axes), make([]float64, axes)}
}

// fit rounds points to so many digits after the point, and reports whether the multiples are small enough.
func (m *multiples) fit(points [][]float64, digits int) bool {
	for i, x := range points {
		for a, v := range x {
			v *= math.Pow10(digits)
			v = math.RoundToEven(v) + 0
			if !(math.Abs(v) <= 1<<53) {
				return false
			}
			m.n[i*len(x)+a] = v
			if i == 0 {
				m.low[a], m.high[a] = v, v
			}
			m.low[a], m.high[a] = min(m.low[a], v), max(m.high[a], v)
		}
	}
	sum := 0.0
	for a, low := range m.low {
		sum += (m.high[a] - low) * (m.high[a] - low)
	}
	return sum < 0x1p63*(1-0x1p-20) // the sum is in floats
}

// shorten takes the last digit away if it is 0 of all multiples, and some multiple is not 0. It reports whether it has.
func (m *multiples) shorten() bool {
	if slices.ContainsFunc(m.n, func(v float64) bool { return math.Mod(v, 10) != 0 }) ||
		!slices.ContainsFunc(m.n, func(v float64) bool { return v != 0 }) {
		return false
	}
	for _, list := range [][]float64{m.n, m.low, m.high} {
		for at := range list {
			list[at] /= 10
		}
	}
	return true
}

// offset is what the multiples of an axis are less, to have 32 bits.
func (m *multiples) offset(a int) int64 {
	if max(-m.low[a], m.high[a]) <= math.MaxInt32 {
		return 0
	}
	return int64(m.low[a]) + int64(m.high[a]-m.low[a])/2
}

// roundUnits replaces vectors by their directions, of length unitScale, in integers. It returns nil if one is zero.
// Integers of that length stay as they are.
func roundUnits(vectors [][]float64) (out []int32, displacement float64) {
	slack := math.Sqrt(float64(len(vectors[0])))/2 + 1
	for n, x := range vectors {
		largest := largestOf(vectors[n : n+1])
		if largest == 0 {
			return nil, 0
		}
		_, exp := math.Frexp(largest)
		norm, whole := 0.0, true
		for _, v := range x {
			v = math.Ldexp(v, -exp)
			norm += float64(v * v)
		}
		norm = math.Sqrt(norm)
		for _, v := range x {
			whole = whole && v == math.Trunc(v)
		}
		whole = whole && math.Abs(math.Ldexp(norm, exp)-unitScale) <= slack
		moved := 0.0
		for a, v := range x {
			v = math.Ldexp(v, -exp) / norm * unitScale
			if whole {
				v = x[a]
			}
			x[a] = math.RoundToEven(v) + 0
			moved = math.Hypot(moved, x[a]-v)
			out = append(out, int32(x[a]))
		}
		displacement = max(displacement, moved/unitScale)
	}
	return out, displacement
}

// placeDigits is the number of decimals of a published degree: a tenth of a millimetre, a fiftieth of a unit of the
// vectors.
const placeDigits = 1e9

// maxRounds is more than a place is rounded before it stays: an integer vector is not of length unitScale to the last
// digit, so that its direction, at that length, may round to another one. That is no farther from the length than the
// first.
const maxRounds = 16

// degrees rounds an angle in radians to a published one.
func degrees(rad float64) float64 {
	return math.Round(rad*(180/math.Pi)*placeDigits)/placeDigits + 0
}

// roundDirection is the integer vector nearest to the direction of a place, at length unitScale.
func roundDirection(x []float64) []float64 {
	v := direction(x)
	for a := range v {
		v[a] = math.RoundToEven(v[a]*unitScale) + 0
	}
	return v
}

// roundPlaces moves places, in degrees, to the directions of vectors of length unitScale in integers, which it returns.
// Published places stay where they are.
func roundPlaces(places [][]float64) (out []int32, displacement float64, err error) {
	moved := make([][2]float64, 2)
	for _, x := range places {
		moved[0] = [2]float64(x)
		v := roundDirection(x)
		for range maxRounds {
			x[0], x[1] = degrees(math.Atan2(v[2], math.Hypot(v[0], v[1]))), degrees(math.Atan2(v[1], v[0]))
			last := v
			if v = roundDirection(x); slices.Equal(v, last) {
				break
			}
		}
		for _, n := range v {
			out = append(out, int32(n))
		}
		moved[1] = [2]float64(x)
		c, err := cost.NewGreatCircle(moved[:1], moved[1:], 1)
		if err != nil {
			return nil, 0, err
		}
		displacement = max(displacement, c.Row(0, nil)[0])
	}
	return out, displacement, nil
}
