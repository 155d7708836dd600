package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOGR: GDAL reads the GeoJSON of a map, with every place where it is, and with numbers as numbers: also of few
// reports, whose intervals all begin at 0.
func TestOGR(t *testing.T) {
	program, err := exec.LookPath("ogrinfo")
	if err != nil {
		if os.Getenv("WPM_CLIENTS") == "1" {
			t.Fatal("ogrinfo is not here, and WPM_CLIENTS=1 wants it")
		}
		t.Skip("ogrinfo, of gdal-bin, is not here")
	}
	dir := t.TempDir()
	path, file := filepath.Join(dir, "p"), filepath.Join(dir, "map.geojson")
	places := write(t, dir, "in.csv", "label,lat,lon\nNorth,48.3,16.3\nSouth,48.1,16.3\nFar east,48.2,16.9\nWest,48.2,16.1\n")
	must(t, "", "design", "-points", places, "-eps", "2", "-o", path)
	regions := write(t, dir, "r", "region,label\nmiddle,North\nmiddle,South\n")
	for name, counts := range map[string]string{
		"many": "index,count\n0,1700\n1,1100\n2,1000\n3,1000\n", "few": "index,count\n0,1\n1,1\n",
	} {
		must(t, counts, "aggregate", "-counts", "-", "-regions", regions, "-map", file, path)
		out, err := exec.Command(program, "-ro", "-al", file).CombinedOutput()
		text := string(out)
		if err != nil || strings.Contains(text, "ERROR") || strings.Contains(text, "Warning") {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		for _, field := range []string{"kind: String", "label: String", "share: Real", "low: Real", "high: Real", "group: Integer",
			"error: Real", "guess: Real", "raw: Real", "unexplained: Integer(Boolean)"} {
			if !strings.Contains(text, "\n"+field+" (") {
				t.Errorf("%s: no field %s in\n%s", name, field, text)
			}
		}
		for _, want := range []string{"label (String) = Far east", `ID["EPSG",4326]`, "kind (String) = region"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		// A policy has places to a millimetre or so, 1e-8 degrees.
		if !regexp.MustCompile(`(?m)^  POINT \(16\.90000000\d* 48\.(20000000|19999999)\d*\)$`).MatchString(text) {
			t.Errorf("%s: no point in the far east in\n%s", name, text)
		}
		if n := len(regexp.MustCompile(`(?m)^  kind \(String\) = place$`).FindAllString(text, -1)); n != 4 {
			t.Errorf("%s: %d places, want 4\n%s", name, n, text)
		}
	}
}
