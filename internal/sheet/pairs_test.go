package sheet

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/plane"
)

// flows are the pairs of two homes and two works, a value of a category each.
func flows(t *testing.T, columns ...string) Sheet {
	t.Helper()
	f := plane.Form{Columns: columns, Places: 2, With: plane.Category{Name: "mode", Values: []string{"walk", "car"}, Cost: 2}}
	s := Sheet{Inputs: []string{"a>c>walk", "a>d>car", "b>d>walk"}, Guess: []float64{0.25, 0.25, 0.5}, Map: []float64{0.1, 0.2, 0.7},
		Raw: []float64{0.3, 0.3, 0.4}, Reports: 10_000, Error: 1, Unit: "km",
		Groups:  []Part{{Label: "b>d>walk", Center: 2, Places: []int{2}, Share: 0.7}, {Label: "2 around a>d>car", Center: 1, Places: []int{0, 1}, Share: 0.3}},
		Regions: []Part{{Label: "home>anywhere", Places: []int{0, 2}, Share: 0.8, Known: true, Low: 0.7, High: 0.9}},
	}
	at := map[string][]float64{"a": {10, 179}, "b": {20, -179}, "c": {30, 5}, "d": {40, 5}}
	spec := cost.Spec{Kind: "points", P: 1}
	for _, l := range s.Inputs {
		part := strings.Split(l, plane.Between)
		spec.X = append(spec.X, f.Coordinates(len(part[2])%2, at[part[0]], at[part[1]])) // walk has four letters
	}
	var err error
	s.Places, err = plane.OfPolicy(spec, map[string]string{plane.PairsKey: f.String()}, func(i int) string { return s.Inputs[i] })
	if err != nil {
		t.Fatal(err)
	}
	s.Outputs = s.Inputs
	return s
}

// TestFlowLines: pairs are lines from place to place whose width is the flow, marginals are points, and a value of a
// category is nowhere.
func TestFlowLines(t *testing.T) {
	s := flows(t, "lat", "lon")
	text, err := s.Encode("x.geojson")
	if err != nil || !json.Valid(text) {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{
		`"geometry":{"type":"LineString","coordinates":[[179,10],[5,30]]},"properties":{"kind":"pair","label":"a\u003ec\u003ewalk",` +
			`"from":"a","to":"c","with":"walk","share":0.1,"width":0.1,`,
		`"coordinates":[[180,15],[5,35]]},"properties":{"kind":"region","label":"home\u003eanywhere","from":"home","to":"anywhere","share":0.8,"width":0.8,"low":0.7,"high":0.9,`, // across 180 degrees
		`"coordinates":[[179,10],[5,35]]},"properties":{"kind":"group","label":"2 around a\u003ed\u003ecar","share":0.3,"width":0.3,`,
		`"geometry":{"type":"Point","coordinates":[179,10]},"properties":{"kind":"from","label":"a","share":0.3,`,
		`"geometry":{"type":"Point","coordinates":[5,40]},"properties":{"kind":"to","label":"d","share":0.9,`,
		`WGS 84: longitude and latitude`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(string(text), `"Feature"`); n != 9 {
		t.Errorf("%d features, want 3 pairs, a group, a region and 4 places", n)
	}
	for _, name := range []string{"x.csv", "x.html"} {
		if _, err := s.Encode(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFlowTable: a pair has both its places and their coordinates, and the marginals, the last rows, their own.
func TestFlowTable(t *testing.T) {
	s := flows(t, "x", "y")
	text, err := s.Encode("x.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"label,from,to,mode,from_x,from_y,to_x,to_y,guess,raw,share,low,high,group,error,kind,unexplained\n",
		"a>c>walk,a,c,walk,10,179,30,5,0.25,0.3,0.1,",
		"home>anywhere,home,anywhere,,,,,,",
		"\nb,b,,,20,-179,,,0.5,,0.7,,,,,from,false\n",
		"\nd,,d,,,,40,5,0.75,,0.9,,,,,to,false\n",
		"\nwalk,,,walk,,,,,0.75,,0.8,,,,,mode,false\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestCategoryNames: a category has the name of no other column, and of no kind of rows. One called from made a map panic.
func TestCategoryNames(t *testing.T) {
	s := flows(t, "lat", "lon")
	s.Truth = s.Guess
	names := append(s.head(), "place", "output")
	for _, r := range s.rows() {
		names = append(names, r.Kind)
	}
	for _, name := range names {
		want := name == "mode" // the category of flows
		_, err := plane.ParseForm("lat,lon>lat,lon>" + name + "=a,b:1km")
		if (err == nil) != want {
			t.Errorf("a category called %s: %v", name, err)
		}
	}
}

// TestFlowArrows: the page has an arrow for each flow between regions, or else of the largest groups, as wide as the flow;
// one within a region comes back, and what is from or to anywhere has none.
func TestFlowArrows(t *testing.T) {
	s := flows(t, "lat", "lon")
	s.Regions = []Part{
		{Label: "west>east", Places: []int{1}, Share: 0.2}, {Label: "west>anywhere", Places: []int{0, 1}, Share: 0.3},
		{Label: "north>north", Places: []int{2}, Share: 0.6, Known: true, Low: 0.5, High: 0.7}, {Label: "north>west", Places: []int{0}, Share: 0},
	}
	p := s.flows()
	want := []Flow{
		{0, 0, 0.6, "north to north: 60 %, 50 to 70 %"}, {1, 2, 0.2, "west to east: 20 %"}, {0, 1, 0, "north to west: 0 %"},
	}
	if diff := cmp.Diff(want, p.Flows); diff != "" {
		t.Error(diff)
	}
	// North is at b and at d of the first flow, and at a of the last.
	if got := p.Stops.In[0]; !slices.Equal(p.Stops.Names, []string{"north", "west", "east"}) || math.Abs(got[0]-70.0/3) > 1e-9 {
		t.Errorf("%v at %v", p.Stops.Names, p.Stops.In)
	}
	text, err := s.Encode("x.html")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `<path class="flow"`); n != 2 { // nobody is from north to west
		t.Errorf("%d arrows, want 2", n)
	}
	for _, want := range []string{"<title>north to north: 60 %, 50 to 70 %</title>", ">west</text>", "<th scope=\"col\">from</th><th scope=\"col\">to</th>",
		"<td>west</td><td>anywhere</td>", "60 % is the widest", " km</text>"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	s.Regions = nil
	if p := s.flows(); len(p.Flows) != 2 || p.Flows[0].Title != "b>d>walk: 70 %" || p.Flows[1].Title != "2 around a>d>car: 30 %" {
		t.Errorf("groups %+v", p.Flows)
	}
	if s.Map = nil; s.flows().Flows != nil {
		t.Error("flows without a map")
	}
}

// TestArrowWidth: an arrow is as wide as its width in the middle of its way, whether it is an arc or a loop.
func TestArrowWidth(t *testing.T) {
	for _, width := range []float64{1, 7} {
		for _, way := range [][]plane.Point{
			arc(plane.Point{X: 10, Y: 20}, plane.Point{X: 200, Y: 90}, 0.15, 10),
			loop(plane.Point{X: 150, Y: 150}, frame{width: 300, height: 300}, 5, 20),
		} {
			var around []plane.Point
			for _, at := range strings.FieldsFunc(arrow(way, width, 12), func(r rune) bool { return strings.ContainsRune("MLz", r) }) {
				var a plane.Point
				if _, err := fmt.Sscan(at, &a.X, &a.Y); err != nil {
					t.Fatal(err)
				}
				around = append(around, a)
			}
			n := len(way) / 4
			a, b := around[n], around[len(around)-1-n]
			if got := math.Hypot(a.X-b.X, a.Y-b.Y); math.Abs(got-width) > 0.02 { // numbers have two decimals
				t.Errorf("%v wide, want %v", got, width)
			}
		}
	}
}
