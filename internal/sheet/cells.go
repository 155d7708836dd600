package sheet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
)

// maxCells is the largest number of places whose cells are found, in pairs; more are dots.
const maxCells = 4096

// marks returns how each place is drawn, and its corners: its polygons; a cell of a grid; else what is nearer to it than
// to any other place, up to half of frame.dot, so that no place hides another.
func (p Picture) marks(f frame, at []plane.Point, shapes [][][]plane.Point, grid bool) (list []string, corners [][]plane.Point) {
	if grid {
		for i := range p.Places.Rows * p.Places.Cols { // row 0 is at the bottom
			c, r := i%p.Places.Cols, p.Places.Rows-1-i/p.Places.Cols
			x, y := float64(c), float64(r)
			list = append(list, fmt.Sprintf("M%d %dh1v1h-1z", c, r))
			corners = append(corners, []plane.Point{{X: x, Y: y}, {X: x + 1, Y: y}, {X: x + 1, Y: y + 1}, {X: x, Y: y + 1}})
		}
		return list, corners
	}
	on := f.all(at)
	for i, a := range on {
		switch {
		case i < len(shapes) && shapes[i] != nil:
			text, all := "", []plane.Point(nil)
			for _, ring := range shapes[i] {
				text, all = text+line(f.all(ring)), append(all, f.all(ring)...)
			}
			list, corners = append(list, text), append(corners, all)
		case len(on) > maxCells:
			list, corners = append(list, fmt.Sprintf("M%s %sh0", number(a.X), number(a.Y))), append(corners, nil)
		default:
			cell := cellOf(on, i, f.dot/2)
			list, corners = append(list, line(cell)), append(corners, cell)
		}
	}
	return list, corners
}

// all returns where points are drawn.
func (f frame) all(at []plane.Point) (on []plane.Point) {
	for _, a := range at {
		x, y := f.at(a)
		on = append(on, plane.Point{X: x, Y: y})
	}
	return on
}

// flat puts the places on the plane, and the polygons of the inputs, ring by ring.
func (p Picture) flat() (in, out []plane.Point, shapes [][][]plane.Point) {
	if p.Shapes == nil || p.Places.Kind != "greatcircle" {
		in, out = p.Places.Plane()
		return in, out, nil
	}
	wind := make([]costio.Shape, len(p.Shapes)) // holes the other way round, so that what overlaps stays filled
	for i, shape := range p.Shapes {
		wind[i] = woundAll(shape)
	}
	with := p.Places
	with.In = slices.Clone(with.In)
	for _, shape := range wind {
		for _, polygon := range shape {
			for _, ring := range polygon {
				for _, a := range ring {
					with.In = append(with.In, []float64{a[1], a[0]})
				}
			}
		}
	}
	in, out = with.Plane()
	rest := in[len(p.Places.In):]
	for _, shape := range wind {
		var rings [][]plane.Point
		for _, polygon := range shape {
			for _, ring := range polygon {
				rings, rest = append(rings, rest[:len(ring)]), rest[len(ring):]
			}
		}
		shapes = append(shapes, rings)
	}
	return in[:len(p.Places.In)], out, shapes
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
func cellOf(on []plane.Point, i int, reach float64) (cell []plane.Point) {
	const corners = 24
	a := on[i]
	for n := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(n) / corners)
		cell = append(cell, plane.Point{X: a.X + reach*cos, Y: a.Y + reach*sin})
	}
	for _, b := range on {
		dx, dy := b.X-a.X, b.Y-a.Y
		if d := math.Hypot(dx, dy); d == 0 || d >= 2*reach { // places at one point share their cell
			continue
		}
		beyond := func(c plane.Point) float64 { return (c.X-(a.X+b.X)/2)*dx + (c.Y-(a.Y+b.Y)/2)*dy }
		var kept []plane.Point
		for n, c := range cell {
			next := cell[(n+1)%len(cell)]
			here, there := beyond(c), beyond(next)
			if here <= 0 {
				kept = append(kept, c)
			}
			if here < 0 && there > 0 || here > 0 && there < 0 {
				t := here / (here - there)
				kept = append(kept, plane.Point{X: c.X + t*(next.X-c.X), Y: c.Y + t*(next.Y-c.Y)})
			}
		}
		cell = kept
	}
	return cell
}

// hull returns the convex hull of points.
func hull(points []plane.Point) (around []plane.Point) {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b plane.Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	for range 2 { // from left to right, and back
		start := len(around)
		for _, c := range points {
			for n := len(around); n >= start+2; n = len(around) {
				a, b := around[n-2], around[n-1]
				if (b.X-a.X)*(c.Y-a.Y)-(b.Y-a.Y)*(c.X-a.X) > 0 {
					break
				}
				around = around[:n-1]
			}
			around = append(around, c)
		}
		around = around[:len(around)-1]
		slices.Reverse(points)
	}
	return around
}

// enlarge adds what only the large panel has: names, outlines, a scale bar, and lines below.
func (d *drawing) enlarge(p Panel, f frame, corners [][]plane.Point) {
	d.Large = true
	font := max(f.width, f.height) / 36
	d.Line, d.Font = number(font/10), number(font)
	for _, places := range p.Outlines {
		var all []plane.Point
		for _, i := range places {
			all = append(all, corners[i]...)
		}
		d.Outlines = append(d.Outlines, line(hull(all)))
	}
	const apart = 1.3 // heights of a letter: names have a rim of a quarter around them
	var taken []plane.Point
	for _, name := range p.Names {
		var middle plane.Point
		around := corners[name.Place]
		for _, c := range around {
			middle.X, middle.Y = middle.X+c.X/float64(len(around)), middle.Y+c.Y/float64(len(around))
		}
		for slices.ContainsFunc(taken, func(b plane.Point) bool {
			return math.Abs(b.Y-middle.Y) < apart*font && math.Abs(b.X-middle.X) < 15*font
		}) {
			middle.Y += font / 2
		}
		taken = append(taken, middle)
		anchor := "middle"
		if middle.X < f.width/3 {
			anchor = "start"
		} else if middle.X > f.width*2/3 {
			anchor = "end"
		}
		d.Names = append(d.Names, text{number(middle.X), number(middle.Y + font/3), anchor, name.Text})
	}
	y := f.height + 0.8*font
	if p.Unit != "" && p.PerUnit > 0 && f.dot > 0 {
		one := p.PerUnit / f.side * pageUnits // page units for one of the unit
		length := math.Pow10(int(math.Floor(math.Log10(f.width / 3 / one))))
		for _, more := range []float64{5, 2} {
			if more*length*one <= f.width/3 {
				length *= more
				break
			}
		}
		d.Bar = fmt.Sprintf("M%s %sv%sh%sv-%s", number(font/2), number(y-font/3), number(font/3), number(length*one), number(font/3))
		d.Foot = append(d.Foot, text{number(font + length*one), number(y + font/4), "start",
			strconv.FormatFloat(length, 'g', -1, 64) + " " + p.Unit})
		y += 1.5 * font
	}
	for _, words := range p.Foot {
		d.Foot = append(d.Foot, text{number(font / 2), number(y + font/4), "start", words})
		y += 1.3 * font
	}
	d.Box = fmt.Sprintf("0 0 %s %s", number(f.width), number(y))
}
