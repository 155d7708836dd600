package sheet

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/internal/plane"
)

// drawFlows draws the picture of flows, whose width is their share.
func (p Picture) drawFlows() drawn {
	with := p.Places
	with.In = slices.Concat(p.Places.In, p.Stops.In)
	on, _ := with.Plane()
	f := frameOf(on[:len(p.Places.In)], p.Places)
	d := drawing{Title: p.Panels[0].Title, Note: p.Panels[0].Note, Thin: number(f.font() / 30), Spot: number(max(f.dot/5, 2))}
	at := f.all(on)
	seen := map[string]bool{}
	var spots strings.Builder
	for _, a := range at[:len(p.Places.In)] {
		if text := fmt.Sprintf("M%s %sh0", number(a.X), number(a.Y)); !seen[text] {
			seen[text] = true
			spots.WriteString(text)
		}
	}
	d.Spots = spots.String()
	d.enlarge(p.Panels[0], f, nil, nil, nil)
	stops, font := at[len(p.Places.In):], f.font()
	most := 0.0
	for _, w := range p.Flows {
		most = max(most, w.Share)
	}
	again := map[[2]plane.Point]int{} // flows of one category and another
	for n, w := range p.Flows {
		a, b := stops[w.From], stops[w.To]
		gap := 0.3 * font
		if p.Stops.Names != nil {
			gap = font
		}
		twin := again[[2]plane.Point{a, b}]
		again[[2]plane.Point{a, b}]++
		width := 1.2 * font * w.Share / most
		way := arc(a, b, 0.15+0.1*float64(twin), gap)
		if math.Hypot(b.X-a.X, b.Y-a.Y) < 3*font {
			way = loop(plane.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, f, gap, 1.3*font+width/2+0.6*font*float64(twin))
		}
		if width > 0 {
			d.Flows = append(d.Flows, path{D: arrow(way, max(width, font/30), font), Title: w.Title})
		}
		if n < len(p.Panels[0].Names) {
			m := way[len(way)/2]
			d.Names = append(d.Names, text{number(m.X), number(m.Y + 0.35*font), "name", strconv.Itoa(n + 1)})
		}
	}
	for n, name := range p.Stops.Names {
		d.Names = append(d.Names, text{number(stops[n].X), number(stops[n].Y + 0.35*font), "name", name})
	}
	return drawn{Title: p.Title, Text: p.Text, Panels: []drawing{d}, Large: true, width: f.width, height: f.height,
		Legend: "The width of an arrow is the share of the population that goes that way: " + plane.Percent(most) + " is the widest. " +
			"An arrow that comes back is a flow within its neighbourhood."}
}

// arc is a way from one point to another, up to a gap at both ends. It bends to one side, so that the way back is beside it.
func arc(a, b plane.Point, bend, gap float64) (way []plane.Point) {
	dx, dy := b.X-a.X, b.Y-a.Y
	c := plane.Point{X: (a.X+b.X)/2 - dy*2*bend, Y: (a.Y+b.Y)/2 + dx*2*bend}
	const steps = 48
	for n := range steps + 1 {
		t := float64(n) / steps
		q := plane.Point{X: (1-t)*(1-t)*a.X + 2*t*(1-t)*c.X + t*t*b.X, Y: (1-t)*(1-t)*a.Y + 2*t*(1-t)*c.Y + t*t*b.Y}
		if math.Hypot(q.X-a.X, q.Y-a.Y) >= gap && math.Hypot(q.X-b.X, q.Y-b.Y) >= gap {
			way = append(way, q)
		}
	}
	return way
}

// loop is a way around a circle that begins and ends a gap away from a point, on the side that is away from the middle of the frame if
// there is room.
func loop(a plane.Point, f frame, gap, radius float64) (way []plane.Point) {
	angle := math.Atan2(a.Y-f.height/2, a.X-f.width/2)
	center := func() plane.Point {
		sin, cos := math.Sincos(angle)
		return plane.Point{X: a.X + (gap+radius)*cos, Y: a.Y + (gap+radius)*sin}
	}
	c := center()
	if c.X < radius || c.X > f.width-radius || c.Y < radius || c.Y > f.height-radius {
		angle += math.Pi
		c = center()
	}
	const steps = 48
	for n := range steps + 1 {
		sin, cos := math.Sincos(angle + math.Pi + math.Pi/4 + 1.5*math.Pi*float64(n)/steps)
		way = append(way, plane.Point{X: c.X + radius*cos, Y: c.Y + radius*sin})
	}
	return way
}

// arrow is what is around a way of some width, with a head at its end.
func arrow(way []plane.Point, width, font float64) string {
	end := way[len(way)-1]
	head := max(0.9*width, 0.25*font) // half of its base
	neck := len(way) - 1
	for neck > 1 && math.Hypot(way[neck].X-end.X, way[neck].Y-end.Y) < 1.3*head {
		neck--
	}
	aside := func(n int, by float64) plane.Point {
		a, b := way[max(n-1, 0)], way[min(n+1, len(way)-1)]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		return plane.Point{X: way[n].X - (b.Y-a.Y)/length*by, Y: way[n].Y + (b.X-a.X)/length*by}
	}
	var around []plane.Point
	for n := range neck + 1 {
		around = append(around, aside(n, width/2))
	}
	around = append(around, aside(neck, head), end, aside(neck, -head))
	for n := neck; n >= 0; n-- {
		around = append(around, aside(n, -width/2))
	}
	return line(around)
}
