package costio_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
)

const collection = `{"type":"FeatureCollection","name":"x","features":[
{"type":"Feature","id":7,"properties":{"name":"Wien","people":2},"geometry":{"type":"Point","coordinates":[16.4,48.2,170]}},
{"type":"Feature","id":"b","properties":null,"geometry":{"type":"MultiPoint","coordinates":[[-70,-33]]}},
{"type":"Feature","properties":{"id":3},"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,2],[0,2],[0,0]],[[1,1],[2,1],[2,1.5],[1,1]]]}},
{"type":"Feature","properties":{"label":"two"},"geometry":{"type":"MultiPolygon","coordinates":[
  [[[50,50],[51,50],[51,51],[50,51],[50,50]]],[[[10,10],[10,14],[16,14],[16,10],[10,10]]]]}}
],"crs":null}`

// TestReadGeoJSON: points are where they are, polygons at the centroid of the largest outer ring, whichever way round it
// goes.
func TestReadGeoJSON(t *testing.T) {
	for _, in := range []string{collection, zipped(t, collection)} {
		for name, read := range map[string]func() (*costio.Points, error){
			"points":  func() (*costio.Points, error) { return costio.ReadPoints(strings.NewReader(in), "f") },
			"geojson": func() (*costio.Points, error) { return costio.ReadGeoJSON(strings.NewReader(in), "f", "") },
		} {
			p, err := read()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d := cmp.Diff(p.Labels, []string{"Wien", "b", "3", "two"}); d != "" {
				t.Errorf("%s: labels %s", name, d)
			}
			want := [][]float64{{48.2, 16.4}, {-33, -70}, {1, 2}, {12, 13}}
			for i, x := range p.X {
				if math.Abs(x[0]-want[i][0]) > 1e-12 || math.Abs(x[1]-want[i][1]) > 1e-12 { // some roundings of degrees
					t.Errorf("%s: %s is at %v, want %v", name, p.Labels[i], x, want[i])
				}
			}
			if !p.Geographic() || len(p.Shapes) != 4 || p.Shapes[0] != nil || len(p.Shapes[2][0]) != 2 || len(p.Shapes[3]) != 2 {
				t.Errorf("%s: columns %v, shapes %v", name, p.Columns, p.Shapes)
			}
		}
	}
	p, err := costio.ReadGeoJSON(strings.NewReader(strings.Replace(collection, `"b","properties":null`,
		`"b","properties":{"people":5}`, 1)), "f", "people")
	if !errors.Is(err, costio.ErrLabel) || !strings.Contains(err.Error(), "feature 3: no label") {
		t.Errorf("a property that feature 3 does not have: %v, %v", p, err)
	}
}

// TestLabelProperty: the name of a property may be in any case, and where there is none the error says which there are.
func TestLabelProperty(t *testing.T) {
	const point = `,"geometry":{"type":"Point","coordinates":[1,2]}`
	for name, c := range map[string]struct{ properties, property, label, text string }{
		"Name":         {`{"ID":"7","Name":"Ort"}`, "", "Ort", ""},
		"exact":        {`{"NAME":"a","name":"b"}`, "name", "b", ""},
		"another case": {`{"NAME":"a"}`, "Name", "a", ""},
		"none": {`{"bezeichnung":"Ort","art":"Bezirk","list":[1]}`, "", "",
			`no property label, name or id that is a text or a number; there are "art", "bezeichnung": -label names the one to take`},
		"one":   {`{"art":"Bezirk"}`, "nom", "", `no property "nom" that is a text or a number; there is "art": -label`},
		"empty": {`{"list":[1]}`, "", "", `there is none of any name`},
	} {
		p, err := costio.ReadGeoJSON(strings.NewReader(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":`+
			c.properties+point+`}]}`), "f", c.property)
		if c.label != "" {
			if err != nil || p.Labels[0] != c.label {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		} else if !errors.Is(err, costio.ErrLabel) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
}

func TestReadGeoJSONErrors(t *testing.T) {
	feature := func(geometry string) string {
		return `{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"geometry":` + geometry + `}]}`
	}
	for name, c := range map[string]struct {
		in   string
		want error
		text string
	}{
		"no collection": {`{"type":"Feature"}`, costio.ErrFormat, "no FeatureCollection"},
		"an array":      {`{"type":"FeatureCollection","features":3}`, costio.ErrFormat, "FeatureCollection"},
		"no features":   {`{"type":"FeatureCollection","features":[]}`, costio.ErrFormat, "no features"},
		"no type":       {`{"features":[]}`, costio.ErrFormat, "no FeatureCollection"},
		"cut off":       {collection[:200], costio.ErrFormat, "not GeoJSON"},
		"no geometry":   {feature("null"), costio.ErrFormat, "f:1: feature 1: no geometry"},
		"a line":        {feature(`{"type":"LineString","coordinates":[[0,0],[1,1]]}`), costio.ErrFormat, "LineString"},
		"two points":    {feature(`{"type":"MultiPoint","coordinates":[[0,0],[1,1]]}`), costio.ErrFormat, "2 positions"},
		"lat, lon":      {feature(`{"type":"Point","coordinates":[48,116]}`), cost.ErrPoint, "feature 1: longitude 48 and latitude 116"},
		"infinite":      {feature(`{"type":"Point","coordinates":[1e999,1]}`), costio.ErrFormat, ""},
		"a text":        {feature(`{"type":"Point","coordinates":"48,16"}`), costio.ErrFormat, "longitude and latitude"},
		"short ring":    {feature(`{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}`), costio.ErrFormat, "3 positions"},
		"no rings":      {feature(`{"type":"Polygon","coordinates":[]}`), costio.ErrFormat, "without rings"},
		"label twice": {`{"type":"FeatureCollection","features":[
			{"id":1,"geometry":{"type":"Point","coordinates":[0,0]}},{"id":1,"geometry":{"type":"Point","coordinates":[1,1]}}]}`,
			costio.ErrDuplicate, "feature 2"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := costio.ReadGeoJSON(strings.NewReader(c.in), "f", "")
			var e *costio.Error
			if p != nil || !errors.Is(err, c.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, %v; want %v saying %q", p, err, c.want, c.text)
			}
		})
	}
}
