package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/policy"
)

// TestPointsColumns: the header decides what a column is, so the order of columns does not matter; nothing is guessed.
func TestPointsColumns(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "p")
	design := func(points string, args ...string) (int, string, string) {
		return try(t, "", append([]string{"design", "-eps", "1", "-table", "none", "-menu", "no", "-o", out, "-points",
			write(t, dir, "points.csv", points)}, args...)...)
	}
	var first []byte
	for _, points := range []string{
		"label,lat,lon\nWien,48.21,16.37\nGraz,47.07,15.44\n",
		"label,lon,lat\nWien,16.37,48.21\nGraz,15.44,47.07\n",
		"\ufeffLongitude,NAME,Latitude\n16.37,Wien,48.21\n15.44,Graz,47.07\n",
		"lng,lat,id\r\n16.37,48.21,Wien\r\n15.44,47.07,Graz\r\n",
	} {
		status, card, errs := design(points)
		// By hand, with the haversine formula on a sphere of 6371.0088 km: 145 km; at eps 1 two points share it as 1 to e.
		if status != device.Yes || !strings.Contains(card, "greatcircle") ||
			!strings.Contains(card, " km at most, as published") || !strings.Contains(card, "W_1 = 38.9") {
			t.Fatalf("%q: status %d, %s\n%s", points, status, errs, card)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if string(b) != string(first) {
			t.Errorf("%q makes another policy", points)
		}
	}
	for _, c := range []struct{ points, args, want string }{
		{"label,x,y\na,0,0\nb,3,4\n", "", "euclidean"},
		{"a,0,0\nb,3,4\n", "", "euclidean"},
		{"label,lat,lon\na,0,0\nb,3,4\n", "-metric euclidean", " degrees at most"},
		{"id;name;lat;lon;people\n1;a;0;0,5;7\n2;b;3;4;8\n", "", "greatcircle"},
		{geoJSON, "", "greatcircle"}, {geoJSON, "-label code", "greatcircle"},
	} {
		if status, card, errs := design(c.points, strings.Fields(c.args)...); status != device.Yes ||
			!strings.Contains(card, c.want) {
			t.Errorf("%q %s: status %d, %s\n%s", c.points, c.args, status, errs, card)
		}
	}
	xy, headless := write(t, dir, "xy", "label,x,y\nc,1,2\n"), write(t, dir, "headless", "c,1,2\n")
	for _, c := range []struct{ points, args, want string }{
		{"label,lat,B\na,1,3\n", "", "points.csv:1: no column lon"},
		{"label,lat\na,1\n", "", "points.csv:1: no column lon"},
		{"label,lon,lat\na,48,16\nb,16,148\n", "", `points.csv:3: field 3: "148" is not a latitude`},
		{"a,1,2\nb,3,4\n", "-metric greatcircle", "no header"},
		{"label,x,y\na,1,2\nb,3,4\n", "-metric greatcircle", "has x, y"},
		{"label,lat,lon\na,1,2\nb,3,4\n", "-outputs " + xy, "columns"},
		{"label,lat,lon\na,1,2\nb,3,4\n", "-outputs " + headless, "no header"},
		{"x,0,0\ny,3,4\n", "", "header or point"},
	} {
		if status, card, errs := design(c.points, strings.Fields(c.args)...); status != device.Bad || card != "" ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%q %s: status %d, error %q, want %q\n%s", c.points, c.args, status, errs, c.want, card)
		}
	}
}

const geoJSON = `{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"name":"a","code":1},"geometry":{"type":"Point","coordinates":[16.4,48.2]}},
{"type":"Feature","properties":{"name":"b","code":2},"geometry":{"type":"Point","coordinates":[16.5,48.2]}}]}`

// TestUnits: every card and table names its unit.
func TestUnits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	cities := write(t, dir, "cities.csv", "label,lat,lon\nWien,48.21,16.37\nGraz,47.07,15.44\n")
	plane := write(t, dir, "plane.csv", "label,x\na,0\nb,1\n")
	matrix := write(t, dir, "cost.csv", "0,1\n1,0\n")
	for _, c := range []struct {
		args, counts, unit string
		card, tables       string
	}{
		{"-points " + cities, "Wien,1\n", "km", " km at most, as published", "W_1 of the worst point mass, in km:"},
		{"-points " + cities + " -p 2", "Wien,1\n", "km", " km) at most, as published",
			"W_2^2 of the worst point mass, in (km)^2:"},
		{"-points " + plane, "a,1\n", "units of the coordinates", " units of the coordinates at most",
			"in units of the coordinates:"},
		{"-points " + plane + " -metric cosine", "a,1\n", "units of 1 - cos", " units of 1 - cos at most",
			"cost of the worst point mass, in units of 1 - cos:"},
		{"-grid 2x2", "1,1\n", "sides of the square", " cells at most", "in sides of the square:"},
		{"-grid 1x3", "1,1\n", "sides of the square", " sides of the square at most", "in sides of the square:"},
		{"-ring 3", "1,1\n", "steps", " steps at most", "in steps:"},
		{"-cost " + matrix, "1,1\n", "units of the matrix", " units of the matrix at most", "in units of the matrix:"},
	} {
		args := append([]string{"design", "-eps", "1", "-o", path}, strings.Fields(c.args)...)
		card := must(t, "", args...)
		tables := strings.Count(card, strings.TrimSuffix(c.tables[strings.LastIndex(c.tables, "in "):], ":"))
		if !strings.Contains(card, "unit ") || !strings.Contains(card, c.card) || !strings.Contains(card, c.tables) ||
			tables < 2 {
			t.Errorf("%s: card\n%s", c.args, card)
		}
		report := write(t, dir, "r", must(t, c.counts, "release", freshLedger, path))
		histogram := must(t, "", "aggregate", path, report)
		evaluation := must(t, "", "evaluate", path, write(t, dir, "t", c.counts), report)
		// Of a map in cells a short text has the cells alone.
		if !strings.Contains(histogram, c.unit) && !strings.Contains(histogram, " cells ") || !strings.Contains(evaluation, c.unit) {
			t.Errorf("%s: no unit in\n%s\n%s", c.args, histogram, evaluation)
		}
		for _, args := range [][]string{append(args, "-json"), {"aggregate", "-json", path, report},
			{"evaluate", "-json", path, write(t, dir, "t", c.counts), report}} {
			var got struct{ Unit string }
			if err := json.Unmarshal([]byte(must(t, "", args...)), &got); err != nil || got.Unit != c.unit {
				t.Errorf("%q: unit %q, %v", args, got.Unit, err)
			}
		}
	}
	if card := must(t, "", "sphere", "-d", "3", "-eps", "1"); !strings.Contains(card, "in units of the radius") {
		t.Errorf("sphere:\n%s", card)
	}
}

const (
	composed   = "Caf\u00e9"
	decomposed = "Cafe\u0301"
)

// TestSpellings: a policy holds labels in NFC and lists NFD beside them; the device compares bytes, the server takes
// either.
func TestSpellings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	var first []byte
	for _, label := range []string{composed, decomposed} {
		must(t, "", "design", "-eps", "20", "-points", write(t, dir, "points.csv", "label,x\nBar,0\n"+label+",1\n"),
			"-prior", write(t, dir, "w", decomposed+",1\n"), "-objective", "average",
			"-table", "none", "-menu", "no", "-o", path)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if string(b) != string(first) {
			t.Errorf("the spelling %q makes another policy", label)
		}
	}
	p, err := policy.Decode(first)
	if err != nil {
		t.Fatal(err)
	}
	if p.InputLabel(1) != composed || len(p.InputAliases()) != 1 ||
		p.InputAliases()[0] != (policy.Alias{Input: 1, Label: decomposed}) {
		t.Errorf("label %q, aliases %v", p.InputLabel(1), p.InputAliases())
	}
	for _, label := range []string{composed, decomposed} {
		if out := must(t, label+",1\n", "release", "-check", path, "-"); out != "usable\n" {
			t.Errorf("%q: %s", label, out)
		}
		report := must(t, label+",1\n", "release", freshLedger, path)
		if out := must(t, report, "evaluate", path, write(t, dir, "t", label+",1\n")); !strings.Contains(out, "W_1") {
			t.Errorf("truth %q: %s", label, out)
		}
		if out := must(t, "label,count\n"+label+",3\n", "aggregate", "-counts", "-", path); !strings.Contains(out,
			"3 reports") {
			t.Errorf("counts %q: %s", label, out)
		}
	}
	status, _, errs := try(t, "", "design", "-eps", "1", "-points",
		write(t, dir, "two.csv", "label,x\n"+composed+",0\n"+decomposed+",1\n"), "-o", path)
	if status != device.Bad || !strings.Contains(errs, "two.csv:3:") || !strings.Contains(errs, "line 2 already") {
		t.Errorf("two spellings of one label: status %d, %s", status, errs)
	}
	// Without labels that have two spellings, a policy has no aliases.
	must(t, "", "design", "-eps", "1", "-points", write(t, dir, "plain.csv", "label,x\na,0\nb,1\n"), "-o", path)
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "input_aliases") {
		t.Errorf("%v, %s", err, b)
	}
}

// TestCheckHint: -check, and it alone, names the label that the first unknown one may stand for.
func TestCheckHint(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	must(t, "", "design", "-eps", "1", "-geometry", "public", "-base", "data-independent", "-points",
		write(t, dir, "points.csv", "label,x\nhome,0\n\"Main St, 7\",1\n"+composed+",2\n\u1e9b\u0323,3\n"), "-o", path)
	for _, c := range []struct{ counts, hint string }{
		{"hone,1\n", `"home"`},
		{"home,1\n HOME,1\n", `"home"`},
		{"label,count\r\nhome,1\r\nMain St. 7,1\r\n", `"Main St, 7"`},
		{"\"Main St; 7\",1\n", `"Main St, 7"`},
		{"Cafe,1\n", `"` + composed + `"`},
		{"s\u0323\u0307,1\n", ""}, // equal in NFKC only
		{"\u1e9b\u0323,1\n\u017f\u0307\u0323,1\n", `another Unicode spelling`},
		{"cinema,1\n", ""},
		{"home,-1\n", ""},
		{"\n", ""},
		{"\"home,1\n", ""},
		{strings.Repeat("z", 1<<16) + ",1\n", ""},
	} {
		status, out, errs := try(t, c.counts, "release", "-check", path, "-")
		if status != device.No || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.hint) ||
			c.hint == "" && (strings.Contains(errs, "meant") || strings.Contains(errs, "spelling")) {
			t.Errorf("%.40q: status %d, %q, want the hint %s", c.counts, status, errs, c.hint)
		}
		if status, _, errs := try(t, c.counts, "release", freshLedger, path); status != device.Yes || errs != "" {
			t.Errorf("%.40q: a release with status %d says %q", c.counts, status, errs)
		}
	}
}

// TestHeaderlessDegrees holds that points that may be degrees and have no header are read as x, y, which a note says.
func TestHeaderlessDegrees(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	for _, test := range []struct {
		points, metric string
		note           bool
	}{
		{"a,48.2,16.4\nb,52.5,13.4\n", "", true},
		{"a,-90,-180\nb,89.5,180\n", "", true},
		{"a,48.2,16.4\nb,52.5,13.4\n", "euclidean", false}, // said
		{"label,x,y\na,48.2,16.4\nb,52.5,13.4\n", "", false},
		{"label,lat,lon\na,48.2,16.4\nb,52.5,13.4\n", "", false},
		{"a,48,16\nb,52,13\n", "", false},   // whole numbers
		{"a,0.2,0.4\nb,0.5,1\n", "", false}, // a unit square
		{"a,90.5,16.4\nb,52.5,13.4\n", "", false},
		{"a,48.2,16.4\nb,52.5,180.5\n", "", false},
		{"a,48.2\nb,52.5\n", "", false},
		{"a,48.2,16.4,1\nb,52.5,13.4,1\n", "", false},
	} {
		args := []string{"design", "-points", write(t, dir, "points.csv", test.points), "-eps", "1", "-geometry", "public",
			"-base", "data-independent",
			"-table", "none", "-menu", "no", "-o", policy}
		if test.metric != "" {
			args = append(args, "-metric", test.metric)
		}
		status, _, errs := try(t, "", args...)
		if note := strings.Contains(errs, "points.csv has no header") &&
			strings.Count(errs, "\n") == 1; status != device.Yes || note != test.note || !note && errs != "" {
			t.Errorf("%q %s: status %d, %q", test.points, test.metric, status, errs)
		}
	}
}

// TestSameSpot: two places at one point are said, because no report tells them apart.
func TestSameSpot(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"label,lat,lon\na,1,2\nb,3,4\nc,1.0,2\nd,1,2\n": "2 of 4 points are where an earlier one is, as 1 and 3 ",
		"label,lat,lon\na,1,2\nb,3,4\nc,1,2.5\n":        "",
	} {
		_, _, errs := try(t, "", "design", "-points", write(t, dir, "places", text), "-eps", "2", "-o", filepath.Join(t.TempDir(), "p"))
		if strings.Contains(errs, "an earlier one is") != (want != "") || !strings.Contains(errs, want) {
			t.Errorf("%q: %s", text, errs)
		}
	}
}
