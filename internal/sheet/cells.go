package sheet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/internal/plane"
)

// maxCells is the largest number of places whose cells are found, in pairs; more are dots.
const maxCells = 4096

// mark is how a place is drawn.
type mark struct {
	d     string
	rings [][]side // around it; none of a dot
}

// side is a straight line around a place, from a corner to the next one.
type side struct {
	from   plane.Point
	beyond int // the place on its other side, or -1
}

// marksOf returns how each place is drawn: its polygons; a cell of a grid; else what is nearer to it than to any other
// such place, up to half of frame.dot. order is that in which they are drawn: polygons overlap, and the small ones are
// above the large ones, so that no place hides another.
func marksOf(p plane.Places, f frame, at []plane.Point, shapes [][][]plane.Point, grid bool) (list []mark, order []int) {
	if grid {
		list = gridMarks(p.Rows, p.Cols)
		return list, upTo(len(list))
	}
	on := f.all(at)
	if len(on) > maxCells {
		for _, a := range on {
			list = append(list, mark{d: fmt.Sprintf("M%s %sh0", number(a.X), number(a.Y))})
		}
		return list, upTo(len(list))
	}
	list = polygonMarks(f, shapes, len(on))
	var single []plane.Point // of no polygon
	var which []int
	for i, a := range on {
		if list[i].rings == nil {
			single, which = append(single, a), append(which, i)
		}
	}
	reach := f.reach(list)
	for n, i := range which {
		cell := cellOf(single, n, reach)
		for k, s := range cell {
			if s.beyond >= 0 {
				cell[k].beyond = which[s.beyond]
			}
		}
		list[i] = mark{line(corners(cell)), [][]side{cell}}
	}
	order = upTo(len(list))
	if len(single) < len(list) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].area(), list[a].area()) })
	}
	return list, order
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// gridMarks are the cells of a grid; row 0 is at the bottom.
func gridMarks(rows, cols int) (list []mark) {
	for i := range rows * cols {
		c, r := i%cols, i/cols
		beside := func(inside bool, j int) int {
			if inside {
				return j
			}
			return -1
		}
		x, y := float64(c), float64(rows-1-r)
		list = append(list, mark{fmt.Sprintf("M%v %vh1v1h-1z", x, y), [][]side{{
			{plane.Point{X: x, Y: y}, beside(r+1 < rows, i+cols)}, {plane.Point{X: x + 1, Y: y}, beside(c+1 < cols, i+1)},
			{plane.Point{X: x + 1, Y: y + 1}, beside(r > 0, i-cols)}, {plane.Point{X: x, Y: y + 1}, beside(c > 0, i-1)},
		}}})
	}
	return list
}

// polygonMarks are those of k places, empty for a place without a polygon. Sides that two places have are between them.
func polygonMarks(f frame, shapes [][][]plane.Point, k int) []mark {
	list := make([]mark, k)
	type ends [2]plane.Point
	of := map[ends]int{}
	for i, rings := range shapes {
		for _, ring := range rings {
			on := f.all(ring)
			list[i].d += line(on)
			var sides []side
			for n, a := range on {
				sides = append(sides, side{a, -1})
				of[ends{a, on[(n+1)%len(on)]}] = i
			}
			list[i].rings = append(list[i].rings, sides)
		}
	}
	for _, m := range list {
		for _, ring := range m.rings {
			for n, s := range ring {
				if j, ok := of[ends{ring[(n+1)%len(ring)].from, s.from}]; ok {
					ring[n].beyond = j
				}
			}
		}
	}
	return list
}

// reach is how far the cell of a place goes: beside polygons, its disc has at most a quarter of the area of the median
// polygon.
func (f frame) reach(list []mark) float64 {
	var areas []float64
	for _, m := range list {
		if m.rings != nil {
			areas = append(areas, m.area())
		}
	}
	if len(areas) == 0 {
		return f.dot / 2
	}
	slices.Sort(areas)
	return min(f.dot/2, max(math.Sqrt(areas[len(areas)/2]/math.Pi)/2, 2))
}

// area is that of the rings, less the holes.
func (m mark) area() (sum float64) {
	for _, ring := range m.rings {
		for n, s := range ring {
			a, b := s.from, ring[(n+1)%len(ring)].from
			sum += (a.X*b.Y - b.X*a.Y) / 2
		}
	}
	return math.Abs(sum)
}

func corners(ring []side) (list []plane.Point) {
	for _, s := range ring {
		list = append(list, s.from)
	}
	return list
}

// outline is what is around some places: their sides, but those between two of them.
func outline(list []mark, places []int) string {
	in := map[int]bool{-1: false}
	for _, i := range places {
		in[i] = true
	}
	var b strings.Builder
	for _, i := range places {
		for _, ring := range list[i].rings {
			drawn := false // up to here
			for n, s := range ring {
				if in[s.beyond] {
					drawn = false
					continue
				}
				to := ring[(n+1)%len(ring)].from
				if !drawn {
					fmt.Fprintf(&b, "M%s %s", number(s.from.X), number(s.from.Y))
				}
				fmt.Fprintf(&b, "L%s %s", number(to.X), number(to.Y))
				drawn = true
			}
		}
	}
	return b.String()
}

// line is a closed polygon as a path.
func line(around []plane.Point) string {
	var b strings.Builder
	for n, a := range around {
		letter := "L"
		if n == 0 {
			letter = "M"
		}
		fmt.Fprintf(&b, "%s%s %s", letter, number(a.X), number(a.Y))
	}
	return b.String() + "z"
}

// cellOf returns the Voronoi cell of place i within a reach: a circle, cut half way to each neighbour.
func cellOf(on []plane.Point, i int, reach float64) (cell []side) {
	const corners = 24
	a := on[i]
	for n := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(n) / corners)
		cell = append(cell, side{plane.Point{X: a.X + reach*cos, Y: a.Y + reach*sin}, -1})
	}
	for j, b := range on {
		dx, dy := b.X-a.X, b.Y-a.Y
		if d := math.Hypot(dx, dy); d == 0 || d >= 2*reach { // places at one point share their cell
			continue
		}
		beyond := func(c plane.Point) float64 { return (c.X-(a.X+b.X)/2)*dx + (c.Y-(a.Y+b.Y)/2)*dy }
		var kept []side
		for n, s := range cell {
			c, next := s.from, cell[(n+1)%len(cell)].from
			here, there := beyond(c), beyond(next)
			if here == 0 && there > 0 {
				s.beyond = j
			}
			if here <= 0 {
				kept = append(kept, s)
			}
			if here < 0 && there > 0 || here > 0 && there < 0 {
				t := here / (here - there)
				cut := side{plane.Point{X: c.X + t*(next.X-c.X), Y: c.Y + t*(next.Y-c.Y)}, s.beyond}
				if here < 0 {
					cut.beyond = j
				}
				kept = append(kept, cut)
			}
		}
		cell = kept
	}
	return cell
}
