package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/server"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/policy"
)

// drawn releases one output for each of n devices, whose inputs are drawn from truth, and returns the counts as a file.
// A simulation.
func drawn(t *testing.T, path string, truth []float64, n int) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.NewChaCha8([32]byte{1})
	u := rand.New(r)
	counts := make([]int, p.Outputs())
	for range n {
		x, i := u.Float64(), 0
		for ; i < len(truth)-1 && x >= truth[i]; i++ {
			x -= truth[i]
		}
		w, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		j, err := w.Sample(r)
		if err != nil {
			t.Fatal(err)
		}
		counts[j]++
	}
	text := "index,count\n"
	for j, c := range counts {
		text += fmt.Sprintf("%d,%d\n", j, c)
	}
	return text
}

// peaks is a map of n places: half of the mass at a, a third at b, the rest everywhere.
func peaks(n, a, b int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1.0 / 6 / float64(n)
	}
	out[a] += 0.5
	out[b] += 1.0 / 3
	return out
}

func asJSON[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestAggregateMap: of many reports, the map finds two peaks. It names the one that the reports settle; the other, in a
// corner whose rows are nearly the same, it draws as a square. Of few reports it names nothing.
func TestAggregateMap(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	must(t, "", "design", "-grid", "8x8", "-eps", "3", "-o", path, "-card", filepath.Join(dir, "card"), "-menu", "no")
	truth := peaks(64, 9, 54)
	many, few := write(t, dir, "many", drawn(t, path, truth, 20_000)),
		write(t, dir, "few", "index,count\n9,3\n10,1\n30,2\n54,2\n")
	regions := write(t, dir, "r", "region,label,weight\nsouth,9,1\nsouth,10,1\nsouth,17,0.5\nhill,54,1\n")
	table := filepath.Join(dir, "map.csv")
	text := must(t, "", "aggregate", "-counts", many, "-regions", regions, "-map", table, path)
	// Where no region has a remark there is no column of remarks.
	south := write(t, dir, "south", "region,label\nsouth,9\nsouth,10\n")
	if text := must(t, "", "aggregate", "-counts", many,
		"-regions", south, path); !regexp.MustCompile(`interval\nsouth .*[0-9]\n`).MatchString(text) {
		t.Errorf("remarks on nothing:\n%s", text)
	}
	for _, want := range []string{
		"Map       The map is about 0.", " cells from the truth, and within 0.", "say much, and change the guess.",
		"Largest place: 54, 3", "the same share at every place",
		"2 of 64 places have the same report odds", "guess   raw     map\n2 places around ",
		"\nRegions: the true share is in the 90 % interval in about 90 % of cases. It rests on the reports alone.",
		"approximate: a single place",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	got := asJSON[server.Tally](t, must(t, "", "aggregate", "-json", "-counts", many, "-regions", regions, path))
	sum := 0.0
	for _, v := range got.Map {
		sum += v
	}
	if !(math.Abs(sum-1) <= 64*0x1p-53) || !(got.Map[0]+got.Map[9] > 0.4) || // no report tells 0 from 9
		!(got.Map[54] > 0.25) || got.Signal != "ok" ||
		got.Error == nil || !(got.Error.Expected > 0) || !(got.Error.Within90 < got.Error.Guess) ||
		got.Information != atlas.Much || got.Verdict != atlas.Change ||
		got.Estimator != "map" || len(got.Models) != 36 || got.Reason != "" {
		t.Errorf("map %v, sum %v, %+v", got.Map, sum, got)
	}
	if r := got.Regions; len(r) != 2 || !(r[0].Lower <= 0.51 && 0.5 <= r[0].Upper) || r[0].Single ||
		!r[1].Single || r[0].Name != "south" || !(r[1].Lower <= r[1].Likeliest && r[1].Likeliest <= r[1].Upper) {
		t.Errorf("regions %+v", r)
	}
	f, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "label,x,y,guess,raw,share,low,high,group,error,kind,unexplained" {
		t.Fatalf("%d rows, %v, %q", len(rows), err, rows[0])
	}
	// The group of 0 and 9 after the 64 cells, then the regions, whose intervals hold those of the JSON.
	if len(rows) != 1+64+1+2 || rows[10][0] != "9" || rows[10][1] != "0.1875" || rows[10][10] != "place" ||
		rows[65][10] != "group" || rows[67][10] != "region" || rows[67][0] != "hill" {
		t.Fatalf("%d rows: %q, %q", len(rows), rows[10], rows[len(rows)-1])
	}
	// The headline, the table and the file have the same share of the place that is named.
	if named := regexp.MustCompile(`place: 54, ([0-9.]+) % .90 % interval: ([0-9.]+) to ([0-9.]+) %`).FindStringSubmatch(text); named == nil {
		t.Errorf("no place is named in\n%s", text)
	} else {
		for n, column := range []int{5, 6, 7} {
			said, err := strconv.ParseFloat(named[n+1], 64)
			has, fault := strconv.ParseFloat(rows[1+54][column], 64)
			if err != nil || fault != nil || math.Abs(said/100-has) > 1e-12 { // a rounding, of a division by 100
				t.Errorf("the headline says %s, and the file %q", named[0], rows[1+54])
			}
		}
	}
	low, lowErr := strconv.ParseFloat(rows[67][6], 64)
	high, highErr := strconv.ParseFloat(rows[67][7], 64)
	if lowErr != nil || highErr != nil || !(low <= got.Regions[1].Lower && got.Regions[1].Upper <= high) ||
		high-low > 1.2*(got.Regions[1].Upper-got.Regions[1].Lower) { // two digits of the half width
		t.Errorf("%q, region %+v", rows[67], got.Regions[1])
	}
	if text := must(t, "", "aggregate", "-counts", few, path); !strings.Contains(text, "do not settle which parts of the map have more") ||
		strings.Contains(text, "\nBias") ||
		strings.Contains(text, "Largest place") {
		t.Errorf("of few reports\n%s", text)
	}
	wider := asJSON[server.Tally](t, must(t, "", "aggregate", "-json", "-counts", many, "-regions", regions, "-level", "0.99",
		path))
	if !(wider.Regions[1].Lower < got.Regions[1].Lower && got.Regions[1].Upper < wider.Regions[1].Upper) {
		t.Errorf("level 0.99 %+v, 0.9 %+v", wider.Regions[1], got.Regions[1])
	}
}

// TestManyGroups: where there are too many groups for all intervals, the largest have theirs, as the headline says them.
func TestManyGroups(t *testing.T) {
	dir := t.TempDir()
	path, table := filepath.Join(dir, "p"), filepath.Join(dir, "map.csv")
	must(t, "", "design", "-grid", "18x18", "-eps", "6", "-o", path, "-card", filepath.Join(dir, "card"), "-menu", "no")
	counts := write(t, dir, "many", drawn(t, path, peaks(324, 100, 200), 20_000))
	text := must(t, "", "aggregate", "-counts", counts, "-map", table, path)
	named := regexp.MustCompile(`: ([0-9]+), ([0-9.]+) % .90 % interval: ([0-9.]+) to ([0-9.]+) %`).FindStringSubmatch(text)
	data, err := os.ReadFile(table)
	if err != nil || named == nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]bool{}
	for _, row := range rows[1:] {
		groups[row[8]] = true
		if row[0] != named[1] {
			continue
		}
		for n, column := range []int{5, 6, 7} {
			said, err := strconv.ParseFloat(named[n+2], 64)
			has, fault := strconv.ParseFloat(row[column], 64)
			if err != nil || fault != nil || math.Abs(said/100-has) > 1e-12 { // a rounding, of a division by 100
				t.Errorf("the headline says %s, and the file %q", named[0], row)
			}
		}
	}
	if len(groups) <= 256 {
		t.Errorf("%d groups are no more than all have intervals of", len(groups))
	}
}

// TestAggregateEstimators: each is named and gives a distribution; a prior of 0 is a map of 0 for em, and of little for
// map.
func TestAggregateEstimators(t *testing.T) {
	dir := t.TempDir()
	path, counts := filepath.Join(dir, "p"), write(t, dir, "c", "index,count\n0,40\n1,20\n5,9\n")
	must(t, "", "design", "-ring", "6", "-eps", "2", "-o", path)
	prior := write(t, dir, "prior", "label,weight\n0,1\n1,3\n2,4\n")
	for _, name := range []string{"map", "em", "mle", "raw"} {
		got := asJSON[server.Tally](t, must(t, "", "aggregate", "-json", "-counts", counts, "-estimator", name, "-prior", prior,
			path))
		sum := 0.0
		for _, v := range got.Map {
			sum += v
		}
		if got.Estimator != name || !(math.Abs(sum-1) <= 1e-15) && !(math.Abs(sum-1) <= 8*0x1p-53) ||
			(got.Gap != nil) != (name == "mle") || got.Error == nil || !(got.Error.Expected <= got.Error.Within90) ||
			!strings.HasPrefix(got.Headline, "The map is about ") || (got.Signal != "") != (name == "map") || got.Guess[1] != 0.375 {
			t.Errorf("%s: %+v", name, got)
		}
		if v := got.Map[5]; (v == 0) != (name == "em") || name == "map" && !(v < 0.01) {
			t.Errorf("%s: a place of prior 0 has %v", name, got.Map[5])
		}
	}
	// The releases as they are, of other points than the inputs.
	must(t, "", "design", "-points", write(t, dir, "in.csv", "a,0,0\nb,3,0\nc,9,9\n"),
		"-outputs", write(t, dir, "out.csv", "u,1,1\nv,8,8\n"), "-eps", "2", "-o", path)
	regions := write(t, dir, "r", "r,a\n")
	for _, name := range []string{"map", "raw"} {
		got := asJSON[server.Tally](t, must(t, "index,count\n0,9\n1,1\n", "aggregate", "-json", "-counts", "-", "-regions", regions,
			"-estimator", name, path))
		if (got.Map == nil) != (name == "raw") || (got.Reason != "") != (name == "raw") || len(got.Raw) != 2 ||
			len(got.Guess) != 3 || len(got.Regions) != 1 || got.Level != 0.9 {
			t.Errorf("of other points, %s: %+v", name, got)
		}
	}
	// A cost without distances.
	matrix := write(t, dir, "cost.csv", "0,1,2\n3,0,1\n1,1,0\n")
	must(t, "", "design", "-cost", matrix, "-eps", "2", "-o", path)
	in := "index,count\n0,9\n1,1\n"
	if got := asJSON[server.Tally](t, must(t, in, "aggregate", "-json", "-counts", "-", path)); got.Estimator != "em" ||
		len(got.Map) != 3 || got.Error != nil {
		t.Errorf("without distances: %+v", got)
	}
	if status, _, errs := try(t, in, "aggregate", "-counts", "-", "-estimator", "map", path); status != device.Bad ||
		!strings.Contains(errs, "no distances") {
		t.Errorf("a map without distances: status %d, %s", status, errs)
	}
}

// TestAggregateOrder: the answer comes before the histogram, and single places are listed where the reports say much,
// whatever found the map, or on request.
func TestAggregateOrder(t *testing.T) {
	dir := t.TempDir()
	path, regions := filepath.Join(dir, "p"), write(t, dir, "r", "half,0\nhalf,1\nhalf,2\n")
	must(t, "", "design", "-ring", "6", "-eps", "3", "-o", path)
	many, few := write(t, dir, "many", drawn(t, path, peaks(6, 1, 4), 2000)), write(t, dir, "few", "index,count\n2,1\n")
	text, at := must(t, "", "aggregate", "-counts", many, "-regions", regions, path), 0
	for _, want := range []string{"The reports say much", "guess   raw     map\n", "\nRegions", "\nThe reports as they are (raw)", "\nBias ",
		"\nSampling ", "\npoint "} {
		n := strings.Index(text[at:], want)
		if n < 0 {
			t.Fatalf("no %q, or too early, in\n%s", want, text)
		}
		at += n
	}
	for args, listed := range map[string]bool{
		"-counts " + few: false, "-counts " + few + " -top 2": true, "-counts " + few + " -top 0": true,
		"-counts " + many: true, "-counts " + many + " -estimator em": true, "-counts " + many + " -invert": true,
	} {
		text := must(t, "", append(append([]string{"aggregate"}, strings.Fields(args)...), path)...)
		if strings.Contains(text, "\npoint  count") != listed ||
			strings.Contains(text, "Single places are not listed") == listed {
			t.Errorf("%s: single places listed %v, want %v\n%s", args, !listed, listed, text)
		}
	}
}

// TestAggregateInvert: -invert is short for two flags, and says the map once more under the name of the older member.
func TestAggregateInvert(t *testing.T) {
	dir := t.TempDir()
	counts := write(t, dir, "c", "index,count\n0,40\n1,20\n5,9\n")
	for _, mode := range []string{"mixture", "projection"} {
		path := filepath.Join(dir, mode)
		must(t, "", "design", "-ring", "6", "-eps", "2", "-mode", mode, "-o", path)
		got := asJSON[map[string]any](t, must(t, "", "aggregate", "-json", "-counts", counts, "-invert", path))
		want := asJSON[map[string]any](t,
			must(t, "", "aggregate", "-json", "-counts", counts, "-estimator", "mle", "-assume-mixture", path))
		in, _ := got["inverse"].(map[string]any)
		delete(got, "inverse")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: -invert gives %v, and the flags that it stands for %v", mode, got, want)
		}
		if !reflect.DeepEqual([]any{in["labels"], in["theta"], in["gap"]}, []any{want["inputs"], want["map"], want["gap"]}) ||
			!(in["iterations"].(float64) >= 1) {
			t.Errorf("%s: inverse %v, want the map of %v", mode, in, want)
		}
		text := must(t, "", "aggregate", "-counts", counts, "-invert", path)
		if strings.Contains(text, "Biased:") != (mode == "projection") ||
			!strings.Contains(text, "The map is the most likely one, within ") {
			t.Errorf("%s:\n%s", mode, text)
		}
		must(t, "", "aggregate", "-counts", counts, "-invert", "-estimator", "mle", path)
		if status, _, errs := try(t, "", "aggregate", "-counts", counts, "-invert", "-estimator", "em",
			path); status != device.Bad ||
			!strings.Contains(errs, "-estimator em") {
			t.Errorf("%s: two estimators: status %d, %s", mode, status, errs)
		}
	}
}

// TestAggregateOdd: worlds and counts at the edge. Each line of a case ends in an answer or one line of error, which
// has what is wanted.
func TestAggregateOdd(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string { return write(t, dir, name, text) }
	one, two, four := at("one.csv", "x,y,label\n1,2,a\n"), at("two.csv", "x,y,label\n1,2,u\n3,4,v\n"),
		at("four.csv", "x,y,label\n1,2,a\n3,4,b\n0,1,c\n5,5,d\n")
	designs := map[string]string{
		"one": "-points " + one, "fewer": "-points " + four + " -outputs " + two,
		"more": "-points " + two + " -outputs " + four,
		"same": "-cost " + at("zero.csv", "0,0\n0,0\n"), "matrix": "-cost " + at("rect.csv", "0,1,2\n3,0,1\n"),
	}
	for name, flags := range designs {
		must(t, "", append(strings.Fields("design -eps 2 -menu no -o "+filepath.Join(dir, name)),
			strings.Fields(flags)...)...)
	}
	all, none := at("all", "r,a\nr,b\nr,c\nr,d\n"), at("nobody", "r,a,0\n")
	for _, c := range []struct{ policy, counts, flags, want string }{
		{"one", "0,1\n", "", "There is one place."},
		{"one", "0,5\n", "-regions " + at("ra", "r,a\n"), "1.0000 to 1.0000"},
		{"one", "0,5\n", "-invert", "There is one place."},
		{"fewer", "0,5\n", "-regions " + all, "1.0000 to 1.0000"},
		{"fewer", "0,5\n", "-regions " + none, "0.0000 to 0.0000"},
		{"fewer", "1,1\n", "-estimator em", "Map "},
		{"more", "3,1099511627776\n", "-estimator mle", "Map "},
		{"more", "3,1000000000000000\n", "", "limit exceeded: 1000000000000000 releases at point 3"},
		{"more", "0,0\n", "", "no reports"},
		{"more", "9,1\n", "", "\"9\" is not known"},
		{"same", "0,9\n", "", "next to nothing"},
		{"matrix", "2,9\n", "", "expectation-maximization"},
		{"matrix", "2,9\n", "-estimator map", "no distances between inputs: the cost is 2 x 3"},
		{"matrix", "2,9\n", "-prior " + at("p0", "0,0\n1,7\n"), "Map "},
	} {
		args := append(append([]string{"aggregate", "-counts", at("c", "index,count\n"+c.counts)},
			strings.Fields(c.flags)...),
			filepath.Join(dir, c.policy))
		status, out, errs := try(t, "", args...)
		if text := out + errs; !strings.Contains(text, c.want) || strings.Contains(text, "NaN") ||
			(status == 0) == (out == "") ||
			status != 0 && strings.Count(errs, "\n") != 1 {
			t.Errorf("%+v: status %d, want %q in\n%s%s", c, status, c.want, out, errs)
		}
	}
}

// TestAggregateProjection: a projection policy gives no map, and says so, unless the analyst assumes what is not so.
func TestAggregateProjection(t *testing.T) {
	dir := t.TempDir()
	path, counts := filepath.Join(dir, "p"), write(t, dir, "c", "index,count\n0,40\n1,20\n5,9\n")
	must(t, "", "design", "-ring", "6", "-eps", "2", "-mode", "projection", "-o", path)
	regions := write(t, dir, "r", "all,0\n")
	table := filepath.Join(dir, "m.csv")
	text := must(t, "", "aggregate", "-json", "-counts", counts, "-regions", regions, "-map", table, path)
	if got := asJSON[map[string]any](t, text); got["map"] != nil ||
		!strings.Contains(fmt.Sprint(got["reason"]), "projection mode") || got["regions"] != nil {
		t.Errorf("%s", text)
	}
	if b, err := os.ReadFile(table); err != nil ||
		!strings.HasPrefix(string(b), "label,x,y,guess,raw,share,low,high,group,error,kind,unexplained\n0,1,0,0.1667,0.5797,,,,,,place,false\n") {
		t.Errorf("%q, %v", b, err)
	}
	if text := must(t, "", "aggregate", "-counts", counts, "-regions", regions, path); !strings.Contains(text,
		"no intervals for -regions") || !strings.Contains(text, "Map       No map: ") ||
		!strings.Contains(text, "point  count") {
		t.Errorf("%s", text)
	}
	text = must(t, "", "aggregate", "-json", "-counts", counts, "-assume-mixture", path)
	if got := asJSON[server.Tally](t, text); !got.Biased || len(got.Map) != 6 || got.Reason != "" {
		t.Errorf("%s", text)
	}
	if text := must(t, "", "aggregate", "-counts", counts, "-assume-mixture", path); !strings.Contains(text,
		"Biased: the policy is of projection mode") || !strings.Contains(text, "the bias would be about 0.") {
		t.Errorf("%s", text)
	}
	// Of many reports the bias is more than the error: whatever the estimator, there is no such map.
	many := write(t, dir, "many", "index,count\n0,400000\n1,200000\n5,90000\n")
	for _, flag := range []string{"-assume-mixture", "-invert"} {
		if status, out, errs := try(t, "", "aggregate", "-counts", many, flag, path); status != device.Bad || out != "" ||
			!strings.Contains(errs, "-assume-mixture: 690000 reports are too many: ") || !strings.Contains(errs, " steps, more than the 0.0") {
			t.Errorf("%s: status %d, %s%s", flag, status, out, errs)
		}
	}
}

func TestAggregateMapErrors(t *testing.T) {
	dir := t.TempDir()
	path, counts := filepath.Join(dir, "p"), write(t, dir, "c", "index,count\n0,4\n")
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", path)
	at := func(name, text string) string { return write(t, dir, name, text) }
	for _, c := range []struct{ flags, want string }{
		{"-map x", "want a name that ends in .csv, .geojson or .html"},
		{"-map -", "-map"},
		{"-map " + path + ".csv -prior " + path + ".csv", "written over"},
		{"-estimator best", "-estimator"},
		{"-estimator=", "-estimator"},
		{"-shapes x", "-shapes goes with -map"},
		{"-label x", "-label goes with -shapes"},
		{"-shapes x -map " + filepath.Join(dir, "m.csv"), "in degrees"},
		{"-level 0.9", "-level goes with -regions"},
		{"-level 1 -regions " + at("r", "a,0\n"), "-level: 1"},
		{"-level 0 -regions " + at("r", "a,0\n"), "-level: 0"},
		{"-level NaN -regions " + at("r", "a,0\n"), "-level: NaN"},
		{"-regions " + at("r1", "a,9\n"), "label \"9\" is not known"},
		{"-regions " + at("r2", "a,1,2\n"), "not from 0 to 1"},
		{"-regions " + at("r3", ""), "no regions"},
		{"-prior " + at("q1", "0,0\n"), "no positive weights"},
		{"-prior " + at("q2", "0,-1\n"), "negative"},
		{"-prior " + filepath.Join(dir, "none"), "none"},
		{"-prior - -regions -", "standard input"},
	} {
		args := append(append([]string{"aggregate", "-counts", counts}, strings.Fields(c.flags)...), path)
		if status, out, errs := try(t, "", args...); status != device.Bad || out != "" || !strings.Contains(errs, c.want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", c.flags, status, out, errs, c.want)
		}
	}
	if status, _, errs := try(t, "", "aggregate", "-prior", "-", path); status != device.Bad ||
		!strings.Contains(errs, "standard input") {
		t.Errorf("prior and reports: status %d, %s", status, errs)
	}
	// GeoJSON needs coordinates; the other formats do without.
	matrix := at("cost.csv", "0,1\n1,0\n")
	must(t, "", "design", "-cost", matrix, "-eps", "2", "-o", path)
	if status, _, errs := try(t, "", "aggregate", "-counts", counts,
		"-map", filepath.Join(dir, "m.geojson"), path); status != device.Bad || !strings.Contains(errs, "no coordinates") {
		t.Errorf("GeoJSON of a matrix: status %d, %s", status, errs)
	}
	for _, name := range []string{"m.csv", "m.HTML"} {
		must(t, "", "aggregate", "-counts", counts, "-map", filepath.Join(dir, name), path)
	}
	files, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(files,
		func(f os.DirEntry) bool { return strings.HasSuffix(f.Name(), ".geojson") }) {
		t.Errorf("%v, %v", files, err)
	}
}

// TestEvaluateScores: guess, raw and map are each measured against the truth, and the page shows it. At this eps and
// number of reports the map is nearer than the reports as they are, and these nearer than the guess.
func TestEvaluateScores(t *testing.T) {
	dir := t.TempDir()
	path, page := filepath.Join(dir, "p"), filepath.Join(dir, "m.html")
	must(t, "", "design", "-grid", "6x6", "-eps", "3", "-p", "2", "-o", path, "-card", filepath.Join(dir, "card"), "-menu",
		"no")
	shares := peaks(36, 9, 29)
	counts := write(t, dir, "c", drawn(t, path, shares, 5000))
	text := "label,count\n"
	for i, v := range shares {
		text += fmt.Sprintf("%d,%v\n", i, 1e3*v)
	}
	truth := write(t, dir, "truth", text)
	got := asJSON[server.Evaluation](t, must(t, "", "evaluate", "-json", "-counts", counts, "-map", page, path, truth))
	guess, raw, m := got.Scores.Guess, got.Scores.Raw, got.Scores.Map
	if guess == nil || raw == nil || m == nil || !(m.Distance < raw.Distance && raw.Distance < guess.Distance) {
		t.Fatalf("%+v", got)
	}
	for _, s := range []*server.Score{guess, raw, m} {
		if !(s.Lower <= s.Objective && s.Objective <= s.Upper) || s.TV == nil ||
			!(math.Abs(s.Distance*s.Distance-s.Objective) <= 1e-15) {
			t.Errorf("%+v", *s)
		}
	}
	if got.P != 2 || got.Estimator != "map" {
		t.Errorf("%+v", got)
	}
	// The guess against the truth: half of the mass in excess at two places.
	if tv := 5.0 / 6 * (1 - 2.0/36); !(math.Abs(*guess.TV-tv) <= 36*0x1p-52) {
		t.Errorf("total variation of the guess %v, want %v", *guess.TV, tv)
	}
	b, err := os.ReadFile(page)
	if err != nil || strings.Count(string(b), "<figure") != 4 ||
		!strings.Contains(string(b), "<figcaption>truth</figcaption>") ||
		!strings.Contains(string(b), "The truth is private") {
		t.Errorf("%v\n%s", err, b)
	}
	for _, want := range []string{"\nMap   The map is about 0.", "\n       W_2  ", "\nguess  ", "\nraw    ", "\nmap    "} {
		if text := must(t, "", "evaluate", "-counts", counts, path, truth); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	must(t, "", "design", "-grid", "6x6", "-eps", "3", "-mode", "projection", "-o", path, "-card",
		filepath.Join(dir, "card"), "-menu", "no")
	got = asJSON[server.Evaluation](t, must(t, "", "evaluate", "-json", "-counts", counts, path, truth))
	if got.Scores.Map != nil || got.Scores.Raw == nil || !strings.Contains(got.Reason, "projection mode") {
		t.Errorf("of a projection policy: %+v", got)
	}
	matrix := write(t, dir, "cost.csv", "0,1,2\n3,0,1\n1,1,0\n")
	other := filepath.Join(dir, "q")
	must(t, "", "design", "-cost", matrix, "-eps", "2", "-o", other)
	if text := must(t, "index,count\n0,9\n", "evaluate", "-counts", "-", other,
		write(t, dir, "t3", "0,1\n")); !strings.Contains(text,
		"\nGuess and map are not scored: the policy's cost has no distances between inputs.\n") ||
		!strings.Contains(text, "\nraw ") {
		t.Errorf("without distances:\n%s", text)
	}
	for _, c := range []struct{ flags, want string }{
		{"-map -", "-map"}, {"-map " + truth, "written over"}, {"-map x.png", "want a name"}, {"-estimator x", "-estimator"},
		{"-prior - -counts -", "standard input"},
	} {
		args := append(append([]string{"evaluate"}, strings.Fields(c.flags)...), path, truth)
		if status, out, errs := try(t, "", args...); status != device.Bad || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("wpm evaluate %s: status %d, output %q, error %q, want %q", c.flags, status, out, errs, c.want)
		}
	}
}

// TestAggregateShapes: from polygons to a policy, and back to polygons with shares, groups and a region.
func TestAggregateShapes(t *testing.T) {
	dir := t.TempDir()
	var features []string
	for i := range 12 { // squares in a row, clockwise
		x := float64(i) / 10
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"cell":"c%d"},"geometry":{"type":"Polygon",`+
			`"coordinates":[[[%v,0],[%v,0.1],[%v,0.1],[%v,0],[%v,0]]]}}`, i, x, x, x+0.1, x+0.1, x))
	}
	collection := func(list []string) string {
		return `{"type":"FeatureCollection","features":[` + strings.Join(list, ",") + `]}`
	}
	cells := write(t, dir, "cells.geojson", collection(features))
	some := write(t, dir, "some.geojson", collection(features[1:]))
	path, out := filepath.Join(dir, "p"), filepath.Join(dir, "m.geojson")
	must(t, "", "design", "-points", cells, "-label", "cell", "-eps", "3", "-o", path, "-card", filepath.Join(dir, "card"), "-menu", "no")
	counts := write(t, dir, "c", drawn(t, path, peaks(12, 3, 9), 500))
	regions := write(t, dir, "r", "west,c0\nwest,c1\nwest,c2\nwest,c3\n")
	args := []string{"aggregate", "-counts", counts, "-map", out, "-regions", regions, "-label", "cell", "-shapes"}
	type collected struct {
		Unit     string
		Features []struct {
			Geometry struct {
				Type        string
				Coordinates json.RawMessage
			}
			Properties struct {
				Kind, Label      string
				Share, Low, High float64
				Group            *int
				Error            float64
			}
		}
	}
	read := func() (got collected) {
		text, err := os.ReadFile(out)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	must(t, "", append(args, cells, path)...)
	got := read()
	kinds, grouped := map[string]int{}, map[int]float64{}
	for _, f := range got.Features {
		p := f.Properties
		kinds[p.Kind]++
		want := "MultiPolygon"
		if p.Kind == "place" {
			want = "Polygon"
			grouped[*p.Group] += p.Share
		}
		if f.Geometry.Type != want || !(p.Low <= p.Share && p.Share <= p.High) || !(p.Error > 0) {
			t.Errorf("%s %s: %s, %+v", p.Kind, p.Label, f.Geometry.Type, p)
		}
		if p.Kind == "group" && math.Abs(grouped[*p.Group]-p.Share) > (p.High-p.Low)/2 { // what the digits left know
			t.Errorf("group %s has %v, and its places have %v", p.Label, p.Share, grouped[*p.Group])
		}
		if p.Label == "c1" && string(f.Geometry.Coordinates) != "[[[0.1,0],[0.2,0],[0.2,0.1],[0.1,0.1],[0.1,0]]]" {
			t.Errorf("c1 is at %s", f.Geometry.Coordinates)
		}
	}
	if kinds["place"] != 12 || kinds["region"] != 1 || got.Unit != "km" {
		t.Errorf("%v, %q", kinds, got.Unit)
	}
	// Back again: the places of the file are a policy's places, as -points reads them.
	if _, text, errs := try(t, "", append(args, some, path)...); !strings.Contains(errs, "1 of 12 places have no polygon") {
		t.Errorf("%s\n%s", text, errs)
	}
	if kind := read().Features[0].Geometry.Type; kind != "Point" {
		t.Errorf("a place without a polygon is a %s", kind)
	}
	other := write(t, dir, "other", strings.ReplaceAll(collection(features), `"c`, `"d`))
	if status, _, errs := try(t, "", append(args, other, path)...); status != device.Bad ||
		!strings.Contains(errs, "no label") {
		t.Errorf("%d, %s", status, errs)
	}
	strangers := write(t, dir, "strangers", strings.ReplaceAll(collection(features), `:"c`, `:"d`))
	if status, _, errs := try(t, "", append(args, strangers, path)...); status != device.Bad ||
		!strings.Contains(errs, "has the label of a place") {
		t.Errorf("%d, %s", status, errs)
	}
}
