// Package plane says where the inputs and outputs of a cost are, and puts them on a plane, to be drawn or grouped.
package plane

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/cost"
)

// Places says where inputs and outputs are. The zero value says that nobody knows.
type Places struct {
	Kind       string      // of the places, as cost.Spec.Places names it
	Rows, Cols int         // of a grid
	Columns    []string    // names of the coordinates
	In         [][]float64 // of each input; nil if there are none
	Out        [][]float64 // of each output; nil if they are the inputs
	Ends       []End       // of pairs, whose Columns are those of all places; else nil
}

// Of returns the places of a cost. Cells of a grid are at their centres in the unit square, and points on a ring
// on the unit circle; those of a matrix are nowhere.
func Of(spec cost.Spec) Places {
	p := Places{Kind: spec.Places(), In: spec.X, Out: spec.V}
	switch p.Kind {
	case "grid":
		p.Rows, p.Cols = spec.Rows, spec.Cols
		for i := range spec.Rows * spec.Cols {
			p.In = append(p.In, []float64{(float64(i%spec.Cols) + 0.5) / float64(spec.Cols),
				(float64(i/spec.Cols) + 0.5) / float64(spec.Rows)})
		}
	case "ring":
		for i := range spec.N {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(spec.N))
			p.In = append(p.In, []float64{cos, sin})
		}
	case "greatcircle":
		p.Columns = []string{"lat", "lon"}
		return p
	}
	if len(p.In) == 0 {
		return p
	}
	p.Columns = Columns(len(p.In[0]))
	if p.Kind == "cosine" {
		p.Columns = numbered(len(p.In[0]))
	}
	return p
}

// Columns names n coordinates.
func Columns(n int) []string {
	if n <= 3 {
		return []string{"x", "y", "z"}[:n]
	}
	return numbered(n)
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, "x"+strconv.Itoa(i+1))
	}
	return names
}

// Flat reports whether the places can be drawn on a plane.
func (p Places) Flat() bool {
	switch p.Kind {
	case "grid", "ring", "greatcircle":
		return true
	case "points":
		return len(p.Columns) <= 2
	}
	return false
}

// Point is a place on the plane of the page, where y grows upwards.
type Point struct{ X, Y float64 }

// Plane puts inputs and outputs on a plane, if Flat. Places on a sphere are on a map with true distances along the
// middle parallel and all meridians; it is cut open at the widest stretch of longitudes without a place.
func (p Places) Plane() (in, out []Point) {
	put := func(x []float64) Point {
		if len(x) < 2 {
			return Point{x[0], 0}
		}
		return Point{x[0], x[1]}
	}
	if p.Kind == "greatcircle" {
		all := append(slices.Clone(p.In), p.Out...)
		west := westOf(all)
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range all {
			low, high = min(low, x[0]), max(high, x[0])
		}
		shrink := math.Cos((low + high) / 2 * math.Pi / 180)
		put = func(x []float64) Point { return Point{turn(x[1]-west) * shrink, x[0]} }
	}
	for _, x := range p.In {
		in = append(in, put(x))
	}
	for _, x := range p.Out {
		out = append(out, put(x))
	}
	return in, out
}

// turn brings a longitude into [0, 360).
func turn(lon float64) float64 {
	if lon = math.Mod(lon, 360); lon < 0 {
		lon += 360
	}
	return math.Mod(lon, 360) // -1e-20 + 360 is 360
}

// westOf returns the longitude after the widest gap.
func westOf(at [][]float64) float64 {
	var lons []float64
	for _, x := range at {
		lons = append(lons, turn(x[1]))
	}
	slices.Sort(lons)
	west, widest := lons[0], lons[0]+360-lons[len(lons)-1]
	for i := 1; i < len(lons); i++ {
		if gap := lons[i] - lons[i-1]; gap > widest {
			west, widest = lons[i], gap
		}
	}
	return west
}

// Levels are the squares of each level, from the places themselves to the whole.
func (p Places) Levels(k int) (levels [][]int) {
	each := make([]int, k)
	for i := range each {
		each[i] = i
	}
	if p.Ends != nil {
		return p.pairLevels(k)
	}
	if levels = append(levels, each); k == 1 {
		return levels
	}
	if p.Flat() {
		in, _ := p.Plane()
		_, unit := Spread(in)
		levels = append(levels, p.levels(in, unit)...)
	}
	return append(levels, make([]int, k))
}

// levels are the squares of a side of 2, 4, 8, ... units, while there is more than one.
func (p Places) levels(in []Point, unit float64) (levels [][]int) {
	for level := 1; level < 64; level++ {
		of, n := p.squares(in, math.Ldexp(unit, level), level)
		if n == 1 {
			break
		}
		levels = append(levels, of)
	}
	return levels
}

// squares numbers the squares in which the inputs are, of a side in the plane, or of 2^level cells of a grid.
func (p Places) squares(in []Point, side float64, level int) (of []int, n int) {
	type square struct{ x, y float64 }
	number := map[square]int{}
	least, _ := Bounds(in)
	for i, a := range in {
		at := square{math.Floor((a.X - least.X) / side), math.Floor((a.Y - least.Y) / side)}
		if p.Kind == "grid" {
			at = square{float64(i % p.Cols >> level), float64(i / p.Cols >> level)}
		}
		k, ok := number[at]
		if !ok {
			k = len(number)
			number[at] = k
		}
		of = append(of, k)
	}
	return of, len(number)
}

// Spread returns the lower left corner of points, and how far apart they would be on a square grid over their extent,
// or on a line of that length if that is more; 1 if all are at one point.
func Spread(at []Point) (least Point, unit float64) {
	least, most := Bounds(at)
	w, h := most.X-least.X, most.Y-least.Y
	n := float64(len(at))
	unit = max(math.Sqrt(w/n)*math.Sqrt(h), max(w, h)/n)
	if !(unit > 0) {
		unit = 1
	}
	return least, unit
}

// Bounds returns the corners of the smallest rectangle with all points.
func Bounds(at []Point) (least, most Point) {
	byX := func(a, b Point) int { return cmp.Compare(a.X, b.X) }
	byY := func(a, b Point) int { return cmp.Compare(a.Y, b.Y) }
	return Point{slices.MinFunc(at, byX).X, slices.MinFunc(at, byY).Y},
		Point{slices.MaxFunc(at, byX).X, slices.MaxFunc(at, byY).Y}
}
