package sheet

import (
	"fmt"
	"math"
	"math/rand/v2"
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
		cell := corners(cellOf(on, i, 12))
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

// TestOutlines: the outline of a group is around its places, and around no other.
func TestOutlines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		list := gridMarks(6, 7)
		if r.IntN(2) == 0 {
			var on []plane.Point
			for range 40 {
				on = append(on, plane.Point{X: 20 * r.Float64(), Y: 20 * r.Float64()})
			}
			list = nil
			for i := range on {
				cell := cellOf(on, i, 2.5)
				list = append(list, mark{line(corners(cell)), [][]side{cell}})
			}
		}
		in := make([]bool, len(list))
		var places []int
		for i := range list {
			if in[i] = r.IntN(3) > 0; in[i] {
				places = append(places, i)
			}
		}
		var sides [][2]plane.Point
		for _, run := range strings.Split(outline(list, places), "M")[1:] {
			var from plane.Point
			for n, at := range strings.Split(run, "L") {
				var to plane.Point
				if _, err := fmt.Sscan(at, &to.X, &to.Y); err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					sides = append(sides, [2]plane.Point{from, to})
				}
				from = to
			}
		}
		for i, m := range list {
			var a plane.Point // the middle of the place
			for _, c := range corners(m.rings[0]) {
				a.X, a.Y = a.X+c.X/float64(len(m.rings[0])), a.Y+c.Y/float64(len(m.rings[0]))
			}
			// Circles are polygons, which two cells cut at points that differ by less than a hundredth of the reach: one of
			// four rays may slip through there.
			var rays [4]int
			for _, s := range sides {
				if b, c := s[0], s[1]; (b.Y > a.Y) != (c.Y > a.Y) && b.X+(a.Y-b.Y)/(c.Y-b.Y)*(c.X-b.X) < a.X {
					rays[0]++
				} else if (b.Y > a.Y) != (c.Y > a.Y) {
					rays[1]++
				}
				if b, c := s[0], s[1]; (b.X > a.X) != (c.X > a.X) && b.Y+(a.X-b.X)/(c.X-b.X)*(c.Y-b.Y) < a.Y {
					rays[2]++
				} else if (b.X > a.X) != (c.X > a.X) {
					rays[3]++
				}
			}
			odd := rays[0]%2 + rays[1]%2 + rays[2]%2 + rays[3]%2
			if in[i] && odd < 3 || !in[i] && odd > 1 {
				t.Errorf("place %d of group %v: %d of four rays cross its outline oddly", i, places, odd)
			}
		}
	}
}

// TestLarge: the map of a page names its places, its groups and the largest of them, has a scale that is right, and
// shares in percent with no more digits than are known.
func TestLarge(t *testing.T) {
	s := Sheet{
		Title: "T", Headline: "The map is about 2 km from the truth, and within 3 in nine of ten cases. The guess is far.",
		Places: placesOf(t, `{"kind":"greatcircle","x":[[0,0],[0,1],[1,0],[0.5,2]]}`), Inputs: []string{"<a>", "b", "c", "d"},
		Guess: []float64{0.25, 0.25, 0.25, 0.25}, Map: []float64{0.3, 0.3, 0.3, 0.1}, Reports: 400, Level: 0.9, Error: 2, Unit: "km",
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
		">1</text>", ">3 around b: 90 %, 81 to 95 %</text>", ">The map is about 2 km from the truth, and</text>", ">within 3 in nine of ten cases.</text>", ">Ranges are 90 % intervals.</text>",
		"90 % interval</th>", ">400 reports, eps 4</text>", ">every place alike</span>", "Save as PNG", "@media print",
		"<li>3 around b: 90\u00a0%, 81 to 95\u00a0%</li>", ".foot { display: none; }", // on the page, and in a saved picture
		"<td>west</td><td>50 %</td><td>61 %</td><td>41 to 83 %</td><td>odd</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := strings.Count(page, `class="edge"`); n != 2 {
		t.Errorf("%d outlines are drawn, want one of a group and one of a place", n)
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
	// The legend is with the large map, also on paper, and says what the colours in a group are.
	first := regexp.MustCompile(`(?s)<div class="first">.*?</div>`).FindString(page)
	if strings.Count(page, `<ul class="key"`) != 1 || !strings.Contains(first, `<ul class="key"`) || !strings.Contains(first, "for each place") ||
		!strings.Contains(first, "Where people are") || strings.Contains(first, "guess, without a report") ||
		!strings.Contains(page, ".large, ol, .colour { break-after: avoid; }") {
		t.Errorf("the large map has the legend %q", first)
	}
}

// TestListed: a page lists the largest of many parts, and says what the others have.
func TestListed(t *testing.T) {
	const k = 25
	s := Sheet{Places: placesOf(t, `{"kind":"ring","n":25}`), Guess: make([]float64, k), Map: make([]float64, k)}
	for i := range k {
		s.Guess[i], s.Map[i], s.Inputs = 1.0/k, 1.0/k, append(s.Inputs, strconv.Itoa(i))
		s.Groups = append(s.Groups, Part{Label: s.Inputs[i], Center: i, Places: []int{i}, Guess: 1.0 / k, Share: 1.0 / k})
	}
	for _, c := range []struct {
		parts, rows int
		want        string
	}{{k, 20, "<h2>The 20 largest of 25 parts; the others have 20 % together</h2>"}, {20, 20, "<h2>The 20 parts of the map</h2>"}, {9, 0, ""}} {
		s.Groups = s.Groups[:c.parts]
		data, err := s.Encode("x.html")
		page := string(data)
		if rows := strings.Count(page, "<tr><td>"); err != nil || !strings.Contains(page, c.want) || rows != c.rows {
			t.Errorf("%d parts: %v, %d rows, want %d and %q", c.parts, err, rows, c.rows, c.want)
		}
	}
}

// TestNumbers: each number is on its own group, or a line leads from it to its place; it is on no other group's
// outline, on no other number, and on the panel; and a page of 390 pixels shows it 11 pixels high.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		k := 150
		places := plane.Places{Kind: "greatcircle", Columns: []string{"lat", "lon"}}
		for range k {
			places.In = append(places.In, []float64{53 + 0.1*r.NormFloat64(), 8 + 0.2*r.NormFloat64()})
		}
		one := Panel{Shares: make([]float64, k), Titles: make([]string, k)}
		if n%2 == 0 {
			of := places.Levels(k)[2] // squares of some places
			for g := range slices.Max(of) + 1 {
				var group []int
				for i := range of {
					if of[i] == g {
						group = append(group, i)
					}
				}
				if len(group) > 1 {
					one.Outlines = append(one.Outlines, group)
				}
			}
		}
		for range 5 {
			one.Names = append(one.Names, Name{r.IntN(k), "4 around here: 12 %"})
		}
		if n%4 == 0 {
			for i := range 5 {
				one.Names[i].Place = one.Outlines[i][0]
			}
		}
		p := Picture{Places: places, Panels: []Panel{one}}
		d := p.draw().Panels[0]
		var left, top, width, height, font float64
		if _, err := fmt.Sscan(d.Box+" "+d.Font, &left, &top, &width, &height, &font); err != nil {
			t.Fatal(err)
		}
		if at390 := font / width * 358; at390 < 11 {
			t.Errorf("letters of %v pixels", at390)
		}
		in, _ := places.Plane()
		f := frameOf(in, places)
		on := f.all(in)
		seen := func(a plane.Point) int { // the place there
			best, least := -1, f.dot/2
			for i, b := range on {
				if d := math.Hypot(a.X-b.X, a.Y-b.Y); d < least {
					best, least = i, d
				}
			}
			return best
		}
		group := func(i int) int {
			return slices.IndexFunc(one.Outlines, func(places []int) bool { return slices.Contains(places, i) })
		}
		var taken []plane.Point
		for _, name := range d.Names {
			var a plane.Point
			var which int
			if _, err := fmt.Sscan(name.X, &a.X); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(name.Y+" "+name.Text, &a.Y, &which); err != nil {
				t.Fatal(err)
			}
			a.Y -= 0.35 * font // from the foot of the letter to its middle
			own := one.Names[which-1].Place
			if a.X < left || a.X > left+width || a.Y < top || a.Y > f.height-top {
				t.Errorf("number %d is at %v", which, a)
			}
			for _, b := range taken {
				if math.Abs(a.X-b.X) < 0.7*font && math.Abs(a.Y-b.Y) < font {
					t.Errorf("number %d at %v is on another one", which, a)
				}
			}
			taken = append(taken, a)
			under := map[int]bool{}
			for dx := -0.4; dx < 0.5; dx += 0.1 {
				for dy := -0.5; dy < 0.6; dy += 0.1 {
					i := seen(plane.Point{X: a.X + dx*font, Y: a.Y + dy*font})
					if i >= 0 && group(i) >= 0 {
						under[group(i)] = true
					} else {
						under[-1] = true
					}
				}
			}
			here := seen(a)
			if len(under) > 1 && !(len(under) == 2 && under[-1] && under[group(own)]) {
				t.Errorf("number %d at %v is on the outlines of %v", which, a, under)
			}
			if here == own || here >= 0 && group(here) >= 0 && group(here) == group(own) {
				continue
			}
			leads := slices.ContainsFunc(d.Leaders, func(path string) bool {
				var x, y float64
				_, err := fmt.Sscanf(path, "M%f %f", &x, &y)
				return err == nil && seen(plane.Point{X: x, Y: y}) == own
			})
			if !leads {
				t.Errorf("number %d is at %v, on place %d and not on %d at %v, without a line", which, a, here, own, on[own])
			}
		}
		for which := 1; which <= 5; which++ {
			if !slices.ContainsFunc(d.Names, func(name text) bool { return name.Text == strconv.Itoa(which) }) {
				t.Errorf("no number %d", which)
			}
		}
	}
}

// TestPieces: each piece of a group has its number, and the line to a place among others crosses no number.
func TestPieces(t *testing.T) {
	p := Panel{Shares: make([]float64, 400), Titles: make([]string, 400), Outlines: [][]int{{0, 1, 20, 21, 378, 379, 398, 399}, {84, 104}}}
	for i := 2; i < 378; i += 2 {
		if i/20%2 == 0 && i != 84 {
			p.Outlines = append(p.Outlines, []int{i, i + 1, i + 20, i + 21})
		}
	}
	for _, i := range []int{106, 125, 95, 104, 126, 96, 0, 103, 105} {
		p.Names = append(p.Names, Name{Place: i})
	}
	d := Picture{Places: placesOf(t, `{"kind":"grid","rows":20,"cols":20}`), Panels: []Panel{p}}.draw().Panels[0]
	var sevens []string
	for _, name := range d.Names {
		if name.Text == "7" {
			sevens = append(sevens, name.X)
			continue
		}
		for _, leader := range d.Leaders {
			var a, b, at plane.Point
			_, err := fmt.Sscanf(leader+" "+name.X+" "+name.Y, "M%f %fL%f %f %f %f", &a.X, &a.Y, &b.X, &b.Y, &at.X, &at.Y)
			if at.Y -= 0.27; err != nil { // to the middle of the letter
				t.Fatal(err)
			}
			for n := 0.0; n <= 1; n += 0.01 {
				if math.Hypot(a.X+n*(b.X-a.X)-at.X, a.Y+n*(b.Y-a.Y)-at.Y) < 0.3 { // letters are 0.8 high
					t.Errorf("the line %s crosses the number %s", leader, name.Text)
					break
				}
			}
		}
	}
	if len(sevens) != 2 || len(d.Leaders) != 1 {
		t.Errorf("the group of two pieces has numbers at %v; %d lines", sevens, len(d.Leaders))
	}
}

// TestWrap: lines have all words, and no more letters than they may.
func TestWrap(t *testing.T) {
	const words = "a bb überlang ccc Überseestadt 59: 3 %"
	lines := wrap(words, 6)
	for _, line := range lines {
		if n := len([]rune(line)); n > 6 || n == 0 {
			t.Errorf("%q has %d letters", line, n)
		}
	}
	if lines[len(lines)-1] != "3 %" && lines[len(lines)-1] != "59: 3 %" {
		t.Errorf("the last of %q", lines)
	}
	if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(words, " ", "") {
		t.Errorf("%q", lines)
	}
}

// TestMixed: a polygon is whole beside places that are discs; these are smaller than it, and drawn above it.
func TestMixed(t *testing.T) {
	square := func(lon, lat, side float64) costio.Shape {
		return costio.Shape{{{{lon, lat}, {lon + side, lat}, {lon + side, lat + side}, {lon, lat + side}}}}
	}
	p := Picture{Places: placesOf(t, `{"kind":"greatcircle","x":[[0.5,0.5],[0.4,0.4],[0.05,0.05],[5,5]]}`),
		Shapes: []costio.Shape{square(0, 0, 1), nil, square(0, 0, 0.1), nil}, Panels: []Panel{{Shares: make([]float64, 4)}}}
	in, _, shapes := p.flat()
	f := frameOf(slices.Concat(in, slices.Concat(slices.Concat(shapes...)...)), p.Places)
	list, order := marksOf(p.Places, f, in, shapes, false)
	if order[0] != 0 || slices.Index(order, 2) < slices.Index(order, 0) {
		t.Errorf("order %v", order)
	}
	if list[1].area() >= list[0].area()/2 || len(list[0].rings[0]) != 5 { // closed
		t.Errorf("areas %v and %v", list[1].area(), list[0].area())
	}
	if d := p.draw().Panels[0]; len(d.Paths) != 4 || d.Paths[0].D != list[0].d {
		t.Errorf("drawn %v", d.Paths)
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
