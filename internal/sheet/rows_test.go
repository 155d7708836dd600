package sheet

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
)

// TestShapes: rings are closed, outer ones turn left and holes right, and of several places there is one geometry.
func TestShapes(t *testing.T) {
	s := Sheet{
		Places: placesOf(t, `{"kind":"greatcircle","x":[[0.5,0.5],[1,190],[3,3]]}`), Inputs: []string{"a", "b", "c"},
		Guess: []float64{0.5, 0.3, 0.2}, Raw: []float64{0.2, 0.5, 0.3}, Map: []float64{0.123456, 0.5, 0.376544}, Reports: 100,
		Error: 1.2345, Unit: "km", Headline: "It is \u007f \"so\".",
		Shapes: []costio.Shape{
			{{{{0, 0}, {0, 4}, {4, 4}, {4, 0}}, {{1, 1}, {2, 1}, {2, 2}, {1, 1}}}}, // clockwise and open; a hole to the left
			{{{{190, 0}, {191, 0}, {191, 1}, {190, 0}}}, {{{200, 0}, {201, 0}, {201, 1}, {200, 0}}}},
			nil,
		},
		Groups: []Part{
			{Label: "2 around b", Places: []int{0, 1}, Guess: 0.8, Share: 0.623456, Known: true, Low: 0.5, High: 0.7},
			{Label: "c", Places: []int{2}, Guess: 0.2, Share: 0.376544, Known: true, Low: 0.3, High: 0.5},
		},
		Regions: []Part{{Label: "all", Places: []int{0, 1, 2}, Guess: 1, Share: 1, Known: true, Low: 1, High: 1}},
	}
	s.Outputs = s.Inputs
	text, err := s.Encode("x.geojson")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatalf("no JSON: %s", text)
	}
	for _, want := range []string{
		`"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[2,2],[2,1],[1,1]]]},` +
			`"properties":{"kind":"place","label":"a","share":0.123,"low":0.0,"high":0.7,"group":1,"error":1.2,"guess":0.5,"raw":0.2,"unexplained":false}`,
		`"geometry":{"type":"MultiPolygon","coordinates":[[[[-170,0],[-169,0],[-169,1],[-170,0]]],[[[-160,0],`,
		`"geometry":{"type":"Point","coordinates":[3,3]},` +
			`"properties":{"kind":"place","label":"c","share":0.38,"low":0.3,"high":0.5,"group":2,`,
		`"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1]`,
		`"properties":{"kind":"group","label":"2 around b","share":0.62,"low":0.5,"high":0.7,"group":1,`,
		`"geometry":{"type":"MultiPoint","coordinates":[[0.5,0.5],[-170,1],[3,3]]},"properties":{"kind":"region","label":"all","share":1.0,` +
			`"low":1.0,"high":1.0,"group":null,`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(string(text), `"Feature"`); n != 5 { // a group of one place is that place
		t.Errorf("%d features, want 3 places, a group and a region", n)
	}
	if math.Signbit(s.Shapes[0][0][0][0][0]) || len(s.Shapes[0][0][0]) != 4 || s.Shapes[1][0][0][0][0] != 190 {
		t.Error("the caller's rings are changed")
	}
}
