package sheet

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
)

// TestCells: what is drawn for a place has the place, and nothing that is nearer to another, or beyond the reach.
func TestCells(t *testing.T) {
	var on []plane.Point
	for i := range 60 { // a spiral, dense in the middle
		sin, cos := math.Sincos(2.4 * float64(i))
		on = append(on, plane.Point{X: 100 + float64(i)*cos, Y: 100 + float64(i)*sin})
	}
	on = append(on, on[7])
	for i, a := range on {
		cell := cellOf(on, i, 12)
		if len(cell) < 3 {
			t.Errorf("place %d has a cell of %d corners", i, len(cell))
		}
		for _, c := range cell {
			own := math.Hypot(c.X-a.X, c.Y-a.Y)
			for j, b := range on {
				if math.Hypot(c.X-b.X, c.Y-b.Y) < own-1e-9 || own > 12+1e-9 { // roundings of coordinates of hundreds
					t.Errorf("a corner of place %d is %v from it, and nearer to %d", i, own, j)
				}
			}
		}
	}
}

func TestHull(t *testing.T) {
	square := []plane.Point{{X: 1, Y: 1}, {X: 0, Y: 2}, {X: 2, Y: 2}, {X: 0, Y: 0}, {X: 2, Y: 0}, {X: 1, Y: 0}, {X: 0, Y: 0}}
	if got := hull(square); len(got) != 4 || got[0] != (plane.Point{}) || got[2] != (plane.Point{X: 2, Y: 2}) {
		t.Errorf("the hull of a square is %v", got)
	}
}

// TestLarge: the map of a page names its places, its groups and the largest of them, has a scale that is right, and
// shares in percent with no more digits than are known.
func TestLarge(t *testing.T) {
	s := Sheet{
		Title: "T", Headline: "The map is about 2 km from the truth, and within 3 in nine of ten cases; the guess is far.",
		Places: placesOf(t, `{"kind":"greatcircle","x":[[0,0],[0,1],[1,0],[0.5,2]]}`), Inputs: []string{"<a>", "b", "c", "d"},
		Guess: []float64{0.25, 0.25, 0.25, 0.25}, Map: []float64{0.3, 0.3, 0.3, 0.1}, Reports: 400, Error: 2, Unit: "km",
		Facts: "400 reports, eps 4",
		Groups: []Part{
			{Label: "3 around b", Center: 1, Places: []int{0, 1, 2}, Guess: 0.75, Share: 0.90123, Known: true, Low: 0.81, High: 0.95},
			{Label: "d", Center: 3, Places: []int{3}, Guess: 0.25, Share: 0.09877, Known: true, Low: 0.05, High: 0.19},
		},
		Regions: []Part{{Label: "west", Places: []int{0, 2}, Guess: 0.5, Share: 0.61234, Known: true, Low: 0.41, High: 0.83, Remark: "odd"}},
	}
	s.Outputs = s.Inputs
	data, err := s.Encode("x.html")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		"<title>&lt;a&gt;: 30 %, its part of 3 around b: 90 %, 81 to 95 %</title>", "<title>d: 10 %, 5 to 19 %</title>",
		">3 around b: 90 %</text>", ">and within 3 in nine of ten cases.</text>", ">400 reports, eps 4</text>", "Save as PNG", "@media print",
		"<td>west</td><td>50 %</td><td>60 %</td><td>41 to 83 %</td><td>odd</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := strings.Count(page, `class="edge"`); n != 1 {
		t.Errorf("%d groups are drawn, want 1", n)
	}
	bar := regexp.MustCompile(`class="bar" d="M\S+ \S+?v\S+h([0-9.]+)v`).FindStringSubmatch(page)
	words := regexp.MustCompile(`>([0-9.]+) km</text>`).FindStringSubmatch(page)
	if bar == nil || words == nil {
		t.Fatalf("no scale: %v, %v", bar, words)
	}
	length, errLength := strconv.ParseFloat(bar[1], 64)
	km, errKm := strconv.ParseFloat(words[1], 64)
	// The two degrees between the westernmost and the easternmost place, at 0.5 degrees north, are pageUnits.
	want := km / (2 * math.Cos(0.5*math.Pi/180) * 111.195) * pageUnits
	if errLength != nil || errKm != nil || math.Abs(length-want) > 0.01+want*1e-4 { // two decimals, and 111.195 has six digits
		t.Errorf("the scale of %v km is %v long, want %v", km, length, want)
	}
	if strings.Count(page, "<script>") != 1 {
		t.Error("no script that saves the picture")
	}
}

// TestNamesApart: the names of places in a row stand below one another, and do not touch.
func TestNamesApart(t *testing.T) {
	p := Picture{Places: placesOf(t, `{"kind":"grid","rows":20,"cols":20,"p":1}`)}
	one := Panel{Shares: make([]float64, 400), Titles: make([]string, 400)}
	for _, i := range []int{224, 223, 245, 244, 204} {
		one.Names = append(one.Names, Name{i, "4 around here: 12 %"})
	}
	p.Panels = []Panel{one}
	d := p.draw().Panels[0]
	font, err := strconv.ParseFloat(d.Font, 64)
	var y []float64
	for _, name := range d.Names {
		v, fault := strconv.ParseFloat(name.Y, 64)
		y, err = append(y, v), errors.Join(err, fault)
	}
	slices.Sort(y)
	for i := 1; i < len(y); i++ {
		if !(y[i]-y[i-1] >= 1.25*font) { // the rim of page.html is a quarter of a letter
			t.Errorf("names at %v, letters are %v high: %v", y, font, err)
			break
		}
	}
	if len(y) != 5 || err != nil {
		t.Errorf("names at %v: %v", y, err)
	}
}

// TestPolygons: a place with polygons is drawn as they are, with its holes, across the date line too; others stay cells.
func TestPolygons(t *testing.T) {
	p := Picture{Places: placesOf(t, `{"kind":"greatcircle","x":[[0,179],[0,-177]]}`), Shapes: []costio.Shape{
		{{{{178, -1}, {180, -1}, {180, 1}, {178, 1}, {178, -1}}, {{179, 0}, {179.5, 0}, {179, 0.5}, {179, 0}}}}, nil},
		Panels: []Panel{{Shares: []float64{0.5, 0.5}, Titles: []string{"a", "b"}}}}
	d := p.draw()
	if len(d.Panels[0].Paths) != 2 || d.width > pageUnits+40 { // and a dot
		t.Fatalf("%d paths, %v wide", len(d.Panels[0].Paths), d.width)
	}
	var rings [2]int
	for i, one := range d.Panels[0].Paths {
		rings[i] = strings.Count(one.D, "M")
	}
	if rings != [2]int{2, 1} {
		t.Errorf("rings %v", rings)
	}
	// Both rings are given to the left; the hole goes round the other way, as the rule of SVG for holes wants, by which
	// places at one point, and polygons that overlap, stay filled.
	_, _, shapes := p.flat()
	area := func(ring []plane.Point) (sum float64) {
		for n, a := range ring {
			b := ring[(n+1)%len(ring)]
			sum += a.X*b.Y - b.X*a.Y
		}
		return sum
	}
	if !(area(shapes[0][0]) > 0) || !(area(shapes[0][1]) < 0) || strings.Contains(pageText, "evenodd") {
		t.Errorf("areas %v and %v", area(shapes[0][0]), area(shapes[0][1]))
	}
	// From 178 to -177 degrees are pageUnits; the polygon is two of the five degrees wide.
	var x []float64
	for _, m := range regexp.MustCompile(`[ML](\S+) `).FindAllStringSubmatch(d.Panels[0].Paths[0].D, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, v)
	}
	if w := slices.Max(x) - slices.Min(x); math.Abs(w-2.0/5*pageUnits) > 0.02 { // two decimals
		t.Errorf("the polygon is %v wide, want %v", w, 2.0/5*pageUnits)
	}
}
