package sheet

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/plane"
)

func placesOf(t testing.TB, text string) plane.Places {
	t.Helper()
	s, err := cost.ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return plane.Of(s)
}

// sheets are one of each kind of place.
func sheets(t testing.TB) map[string]Sheet {
	two := []float64{0.25, 0.75}
	of := func(text string, s Sheet) Sheet {
		s.Title, s.Headline, s.Places, s.Inputs = "A <map>", `Largest: "a" & b.`, placesOf(t, text), []string{"a", "b,c"}
		if s.Outputs == nil {
			s.Outputs = s.Inputs
		}
		return s
	}
	all := Sheet{Guess: []float64{0.5, 0.5}, Raw: two, Map: []float64{0, 1}}
	apart := all
	apart.Outputs, apart.Raw = []string{"u", "v", "w"}, []float64{0.5, 0.5, 0}
	truth := all
	truth.Truth = []float64{1, 0}
	other := all // labels, for the same places
	other.Outputs = []string{"u", "v"}
	return map[string]Sheet{
		"cells again": of(`{"kind":"grid","rows":1,"cols":2}`, other),
		"again":       of(`{"kind":"greatcircle","x":[[48.2,181],[-5,-179.5]]}`, other),
		"grid":        of(`{"kind":"grid","rows":1,"cols":2}`, truth),
		"ring":        of(`{"kind":"ring","n":2}`, all),
		"greatcircle": of(`{"kind":"greatcircle","x":[[48.2,181],[-5,-179.5]]}`, all),
		"apart":       of(`{"kind":"points","x":[[0,0],[2,4]],"v":[[1,1],[5,1],[0,7]]}`, apart),
		"line":        of(`{"kind":"points","x":[[-3],[9]]}`, Sheet{Guess: two, Raw: two}),
		"solid":       of(`{"kind":"points","x":[[1,2,3],[4,5,6]]}`, all),
		"directions":  of(`{"kind":"cosine","x":[[1,2],[4,5]]}`, all),
		"nowhere":     of(`{"kind":"explicit","C":[[0,1],[1,0]]}`, all),
	}
}

func TestCSV(t *testing.T) {
	for name, want := range map[string]string{
		"grid": `label,x,y,truth,guess,raw,share,low,high,group,error,kind,unexplained
a,0.25,0.5,1,0.5,0.25,0,,,,,place,false
"b,c",0.75,0.5,0,0.5,0.75,1,,,,,place,false
`,
		"ring": `label,x,y,guess,raw,share,low,high,group,error,kind,unexplained
a,1,0,0.5,0.25,0,,,,,place,false
"b,c",-1,1.2246467991473515e-16,0.5,0.75,1,,,,,place,false
`,
		"greatcircle": `label,lat,lon,guess,raw,share,low,high,group,error,kind,unexplained
a,48.2,181,0.5,0.25,0,,,,,place,false
"b,c",-5,-179.5,0.5,0.75,1,,,,,place,false
`,
		"apart": `label,x,y,guess,raw,share,low,high,group,error,kind,unexplained
a,0,0,0.5,,0,,,,,place,false
"b,c",2,4,0.5,,1,,,,,place,false
u,1,1,,0.5,,,,,,output,false
v,5,1,,0.5,,,,,,output,false
w,0,7,,0,,,,,,output,false
`,
		"line": `label,x,guess,raw,share,low,high,group,error,kind,unexplained
a,-3,0.25,0.25,,,,,,place,false
"b,c",9,0.75,0.75,,,,,,place,false
`,
		"again": `label,lat,lon,guess,raw,share,low,high,group,error,kind,unexplained
a,48.2,181,0.5,,0,,,,,place,false
"b,c",-5,-179.5,0.5,,1,,,,,place,false
u,48.2,181,,0.25,,,,,,output,false
v,-5,-179.5,,0.75,,,,,,output,false
`,
		"solid": `label,x,y,z,guess,raw,share,low,high,group,error,kind,unexplained
a,1,2,3,0.5,0.25,0,,,,,place,false
"b,c",4,5,6,0.5,0.75,1,,,,,place,false
`,
		"directions": `label,x1,x2,guess,raw,share,low,high,group,error,kind,unexplained
a,1,2,0.5,0.25,0,,,,,place,false
"b,c",4,5,0.5,0.75,1,,,,,place,false
`,
		"nowhere": `label,guess,raw,share,low,high,group,error,kind,unexplained
a,0.5,0.25,0,,,,,place,false
"b,c",0.5,0.75,1,,,,,place,false
`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sheets(t)[name].Encode("m.CSV")
			// The sine of a half turn is not the same on every machine.
			text := regexp.MustCompile(`1\.22\d*e-16`).ReplaceAllString(string(got), "1.2246467991473515e-16")
			if err != nil || text != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
			}
		})
	}
}

// TestGeoJSON: positions are longitude before latitude within 180 degrees, or x before y; the ring of a cell is closed,
// and turns left.
func TestGeoJSON(t *testing.T) {
	for name, want := range map[string][]string{
		"grid":        {"Polygon[[[0,0],[0.5,0],[0.5,1],[0,1],[0,0]]]", "Polygon[[[0.5,0],[1,0],[1,1],[0.5,1],[0.5,0]]]"},
		"greatcircle": {"Point[-179,48.2]", "Point[-179.5,-5]"},
		"apart":       {"Point[0,0]", "Point[2,4]", "Point[1,1]", "Point[5,1]", "Point[0,7]"},
		"line":        {"Point[-3,0]", "Point[9,0]"},
		"again":       {"Point[-179,48.2]", "Point[-179.5,-5]", "Point[-179,48.2]", "Point[-179.5,-5]"},
		"cells again": {
			"Polygon[[[0,0],[0.5,0],[0.5,1],[0,1],[0,0]]]", "Polygon[[[0.5,0],[1,0],[1,1],[0.5,1],[0.5,0]]]",
			"Polygon[[[0,0],[0.5,0],[0.5,1],[0,1],[0,0]]]", "Polygon[[[0.5,0],[1,0],[1,1],[0.5,1],[0.5,0]]]",
		},
		"solid": {"Point[1,2,3]", "Point[4,5,6]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sheets(t)[name]
			text, err := s.Encode("m.geojson")
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Type, Positions, Values, Headline string
				Coordinates                       json.RawMessage // RFC 7946, 7.1: no collection has it
				Features                          []struct {
					Type     string
					Geometry struct {
						Type        string
						Coordinates json.RawMessage
					}
					Properties map[string]any
				}
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if wgs := strings.HasPrefix(got.Positions, "WGS 84"); got.Type != "FeatureCollection" || got.Coordinates != nil ||
				wgs != (s.Places.Kind == "greatcircle") || got.Headline != s.Headline ||
				!strings.Contains(got.Values, "share") || len(got.Features) != len(want) {
				t.Errorf("%s: %s", name, text)
				return
			}
			for i, f := range got.Features {
				if f.Type != "Feature" || f.Geometry.Type+string(f.Geometry.Coordinates) != want[i] {
					t.Errorf("%s: feature %d is %s%s, want %s", name, i, f.Geometry.Type, f.Geometry.Coordinates, want[i])
				}
				if i >= 2 && (f.Properties["share"] != nil || f.Properties["raw"] == nil) ||
					i < 2 && f.Properties["label"] != s.Inputs[i] {
					t.Errorf("%s: %v", name, f.Properties)
				}
			}
		})
	}
	for name, file := range map[string]string{"directions": "a.geojson", "nowhere": "a.geojson"} {
		if _, err := sheets(t)[name].Encode(file); !errors.Is(err, ErrNowhere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{"a", "a.json", "-", "", ".csv.gz"} {
		if _, err := sheets(t)["grid"].Encode(file); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// TestPage: a page is one file without a link, and its script needs no network; its drawings are XML, text is escaped,
// and every place is drawn once in each panel.
func TestPage(t *testing.T) {
	for name, s := range sheets(t) {
		s.Tables = []Table{{Title: "Regions", Head: []string{"region"}, Rows: [][]string{{"<b>"}}}}
		data, err := s.Encode("m.html")
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		script := regexp.MustCompile(`(?s)<script>.*?</script>`)
		if n := len(script.FindAllString(text, -1)); n != 0 && !s.Places.Flat() || n > 1 ||
			regexp.MustCompile(`fetch|import|http|XMLHttp|eval|\{\{`).MatchString(script.FindString(text)) {
			t.Errorf("%s: %d scripts", name, n)
		}
		text = script.ReplaceAllString(text, "")
		for _, bad := range []string{"<script", "http", "src=", "href", "@import", "url(", "<map>", "<b>", "ZgotmplZ", "NaN",
			"Inf"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
		for _, good := range []string{"A &lt;map&gt;", "prefers-color-scheme: dark", "width=device-width", "#ffffd9",
			"&lt;b&gt;"} {
			if !strings.Contains(text, good) {
				t.Errorf("%s: no %q in the page", name, good)
			}
		}
		drawings := regexp.MustCompile(`(?s)<svg class="map.*?</svg>`).FindAllString(text, -1)
		panels := 0
		for _, list := range [][]float64{s.Truth, s.Guess, s.Raw, s.Map} {
			if list != nil {
				panels++
			}
		}
		if !s.Places.Flat() {
			panels = 0
		}
		if len(drawings) != panels {
			t.Errorf("%s: %d drawings, want %d", name, len(drawings), panels)
		}
		for n, svg := range drawings {
			marks := 0
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v in %s", name, err, svg)
				}
				if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "path" && e.Attr[0].Value[0] == 'c' { // not a group, nor the scale
					for _, a := range e.Attr {
						if a.Name.Local == "d" {
							marks += strings.Count(a.Value, "M")
						}
					}
				}
			}
			want := 2
			if name == "apart" && n == panels-1 { // raw
				want = 3
			}
			if marks != want {
				t.Errorf("%s, drawing %d: %d places, want %d", name, n, marks, want)
			}
		}
	}
}

// TestShades: equal steps of the root; the largest share has the last shade, and no share the first; a shade ends where
// the next begins.
func TestShades(t *testing.T) {
	s := scaleOf(0.81)
	for class := range shades {
		if at := s.above(class); s.class(at*(1-1e-9)) != class || class+1 < len(shades) && s.class(at*(1+1e-9)) != class+1 {
			t.Errorf("shade %d ends at %v, where the shades are %d and %d", class, at, s.class(at*(1-1e-9)),
				s.class(at*(1+1e-9)))
		}
	}
	if s.class(0) != 0 || s.class(0.81) != len(shades)-1 || scaleOf(0).class(0) != 0 {
		t.Errorf("the ends are %d and %d", s.class(0), s.class(0.81))
	}
}

// TestPlane: places on both sides of the date line are drawn together, and at one point nothing overflows.
func TestPlane(t *testing.T) {
	p := placesOf(t, `{"kind":"greatcircle","x":[[0,179],[0,-179],[0,541],[60,180]]}`)
	in, _ := p.Plane()
	least, most := plane.Bounds(in)
	// Two degrees, shrunk by cos 30.
	if w := most.X - least.X; !(math.Abs(w-2*math.Sqrt(3)/2) <= 1e-12) || most.Y-least.Y != 60 {
		t.Errorf("the map is %v x %v", w, most.Y-least.Y)
	}
	if in[2] != in[1] {
		t.Errorf("541 degrees at %v, -179 at %v", in[2], in[1])
	}
	for _, text := range []string{`{"kind":"points","x":[[7,7],[7,7]]}`, `{"kind":"points","x":[[1e-300],[3e-300]]}`,
		`{"kind":"points","x":[[1e300,0],[2e300,1]]}`, `{"kind":"ring","n":1}`} {
		p := placesOf(t, text)
		in, _ := p.Plane()
		f := frameOf(in, p)
		for _, a := range in {
			x, y := f.at(a)
			if !(x >= 0 && x <= f.width && y >= 0 && y <= f.height && f.width < 1000) {
				t.Errorf("%s: a place at %v, %v of %v x %v", text, x, y, f.width, f.height)
			}
		}
	}
}

// TestPicture: a picture in a file of its own is XML without a link, has a drawing for each panel with every place once,
// its words escaped, and a legend; it is not larger than its frame.
func TestPicture(t *testing.T) {
	for name, s := range sheets(t) {
		if !s.Places.Flat() {
			continue
		}
		p := Picture{Title: "A <map>", Places: s.Places, Panels: []Panel{
			{Title: `"a" & b`, Note: "1 < 2", Shares: s.Guess}, {Title: "raw", Shares: s.Raw, Outputs: true},
		}}
		data, err := p.SVG()
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, good := range []string{"<title>A &lt;map&gt;</title>", "&amp; b", "1 &lt; 2", plane.Percent(max(slices.Max(s.Guess), slices.Max(s.Raw))), "prefers-color-scheme: dark",
			`fill: #ffffd9`} {
			if !strings.Contains(text, good) {
				t.Errorf("%s: no %q in\n%s", name, good, text)
			}
		}
		var marks []int
		width, right := 0.0, 0.0
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", name, err, text)
			}
			e, ok := tok.(xml.StartElement)
			if !ok {
				continue
			}
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
				if a.Name.Local == "href" || a.Name.Local == "src" {
					t.Errorf("%s: a link to %s", name, a.Value)
				}
			}
			number := func(key string) float64 {
				v, err := strconv.ParseFloat(at[key], 64)
				if err != nil {
					t.Fatalf("%s: %s %s is %q", name, e.Name.Local, key, at[key])
				}
				return v
			}
			switch {
			case e.Name.Local == "svg" && width == 0:
				width = number("width")
			case e.Name.Local == "svg":
				marks, right = append(marks, 0), max(right, number("x")+number("width"))
			case e.Name.Local == "path":
				marks[len(marks)-1] += strings.Count(at["d"], "M")
			}
		}
		if len(marks) != 2 || marks[0] != len(s.Guess) || marks[1] != len(s.Raw) || !(right < width) {
			t.Errorf("%s: drawings of %v places, want %d and %d; %v wide of %v", name, marks, len(s.Guess), len(s.Raw), right,
				width)
		}
	}
}
