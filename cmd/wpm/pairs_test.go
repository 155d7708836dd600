package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

const works = "label,lat,lon\noffice,48.2,16.4\nmill,48.3,16.3\n"

// TestPairsPath designs a policy of pairs, reports a private count of one, and makes a map of the reports.
func TestPairsPath(t *testing.T) {
	dir := t.TempDir()
	homes, other := write(t, dir, "homes.csv", cities), write(t, dir, "works.csv", works)
	list := write(t, dir, "list.csv", "from,to\nwien,office\nparis,mill\nwien,mill\n")
	out := filepath.Join(dir, "p")
	count := func(label string) string { return write(t, dir, "mine.csv", "label,count\n"+label+",3\n") }
	for _, c := range []struct {
		args, card, label string
	}{
		{"-pairs " + homes + "," + other, "8 pairs (4 x 2 places), chords of the globe, p = 1", "wien>mill"},
		{"-pairs " + homes, "16 pairs (4 x 4 places)", "wien>wien"},
		{"-pairs " + homes + "," + other + "," + list, "3 pairs (3 of 4 x 2 places)", "paris>mill"},
		{"-pairs " + homes + "," + other + " -with mode=walk,bike,car:2km",
			"24 pairs (4 x 2 places x 3 of mode)", "wien>mill>bike"},
		{"-points " + homes + " -with mode=walk,car:2km", "8 pairs (4 places x 2 of mode)", "roma>car"},
		{"-pairs " + homes + "," + other + " -devices 500", "8 pairs (4 x 2 places)", "wien>mill"}, // discs, no codes
	} {
		card := must(t, "", append([]string{"design", "-eps", "4", "-o", out}, strings.Fields(c.args)...)...)
		if !strings.Contains(card, c.card) || !strings.Contains(card, " km") || strings.Contains(card, "codes") {
			t.Errorf("%s:\n%s", c.args, card)
		}
		must(t, "", "verify", out)
		report := must(t, "", "release", freshLedger, out, count(c.label))
		if got := must(t, report, "report", out); !strings.Contains(got, ">") {
			t.Errorf("%s: the report %s", c.args, got)
		}
		reports := filepath.Join(dir, "reports")
		must(t, "", "simulate", "-devices", "500", "-o", reports, out)
		if got := must(t, "", "aggregate", out, reports); !strings.Contains(got, " km from the truth") {
			t.Errorf("%s:\n%s", c.args, got)
		}
		if status, _, _ := try(t, "", "check", out, count("wien>nowhere")); status != device.No {
			t.Errorf("%s: check takes a pair that the policy lacks", c.args)
		}
	}
	must(t, "", "design", "-eps", "2", "-bits", "40", "-objective", "uniform", "-pairs", homes+","+other+","+list, "-with", "mode=walk,car:100km", "-o", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// The certificate has floats, whose last digits depend on the processor.
	before, _, _ := strings.Cut(string(text), "\n\"certificate\":")
	_, after, found := strings.Cut(string(text), "\n\"cost\":")
	if !found {
		t.Fatalf("no cost in %s", text)
	}
	numtest.GoldenBytes(t, "testdata/pairs.policy.txt", []byte(before+"\n\"cost\":"+after))
}

// TestFlows: aggregate has the flows between regions of either end, what is from and to each, and the marginals; -json has
// them, too. The labels of regions are those of places.
func TestFlows(t *testing.T) {
	dir := t.TempDir()
	homes, other := write(t, dir, "homes.csv", cities), write(t, dir, "works.csv", works)
	out, reports, file := filepath.Join(dir, "p"), filepath.Join(dir, "reports"), filepath.Join(dir, "map.csv")
	must(t, "", "design", "-eps", "6", "-pairs", homes+","+other, "-with", "mode=walk,car:100km", "-o", out)
	users := write(t, dir, "users.csv", "label,count\nwien>office>walk,3\nparis>mill>car,1\n")
	must(t, "", "simulate", "-devices", "3000", "-o", reports, out, users)
	regions := write(t, dir, "regions.csv", "region,label,weight\neast,wien,1\neast,berlin,1\nwest,paris,1\nwest,roma,.5\ncity,office,1\n")
	text := must(t, "", "aggregate", "-regions", regions, "-map", file, out, reports)
	for _, want := range []string{"\nfrom    guess   map\n", "\nto      guess   map\n", "\nmode  guess   map\n", "\neast>city ", "\nwest>anywhere ", "\nanywhere>city "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"city>", ">east", "anywhere>anywhere"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q in\n%s", unwanted, text)
		}
	}
	var got struct {
		Regions []struct {
			Region                         string
			Lower, Upper, Likeliest, Guess float64
		}
		Ends []struct {
			End        string
			Labels     []string
			Guess, Map []float64
		}
	}
	if err := json.Unmarshal([]byte(must(t, "", "aggregate", "-json", "-regions", regions, out, reports)), &got); err != nil {
		t.Fatal(err)
	}
	truth := map[string]float64{"east>city": .75, "east>anywhere": .75, "west>city": 0, "west>anywhere": .25, "anywhere>city": .75}
	for _, r := range got.Regions {
		want, ok := truth[r.Region]
		if !ok || !(r.Lower <= want && want <= r.Upper) { // at eps 6 places are told apart, and people do not differ
			t.Errorf("%+v, want %v", r, want)
		}
		if guess := 2.0 / 4 / 2; r.Region == "east>city" && r.Guess != guess {
			t.Errorf("%s has the guess %v, want %v", r.Region, r.Guess, guess)
		}
	}
	if len(got.Regions) != len(truth) || len(got.Ends) != 3 {
		t.Fatalf("%d regions and %d ends", len(got.Regions), len(got.Ends))
	}
	for _, e := range got.Ends {
		sum := 0.0
		for _, v := range e.Map {
			sum += v
		}
		if len(e.Map) != len(e.Labels) || math.Abs(sum-1) > 1e-9 { // shares
			t.Errorf("end %s has %d shares of %d labels, which sum to %v", e.End, len(e.Map), len(e.Labels), sum)
		}
	}
	table, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(table), "\neast>city,east,city,,,,,,") {
		t.Errorf("%v in\n%s", err, table)
	}
	for _, name := range []string{"anywhere", "east>city"} { // flows of two meanings would have one name
		bad := write(t, dir, "bad.csv", "region,label\neast,wien\n"+name+",berlin\n")
		if _, _, errs := try(t, "", "aggregate", "-regions", bad, out, reports); !strings.Contains(errs, "stands for all places") {
			t.Errorf("a region called %s: %q", name, errs)
		}
	}
	if text := must(t, "", "plan", "-pairs", homes+","+other, "-eps", "4", "-devices", "500"); !strings.Contains(text, "the map is of flows") ||
		!strings.Contains(text, "8 pairs (4 x 2 places)") {
		t.Errorf("plan says\n%s", text)
	}
	for args, want := range map[string]string{
		"-regions " + write(t, dir, "pair.csv", "a,wien>office\n"): "label \"wien>office\" is not known",
		"-shapes " + regions + " -map m.csv":                       "this policy has pairs",
	} {
		if status, _, errs := try(t, "", append(append([]string{"aggregate"}, strings.Fields(args)...), out, reports)...); status != device.Bad || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestPairsErrors: what makes no pairs is refused, with what and where.
func TestPairsErrors(t *testing.T) {
	dir := t.TempDir()
	homes, other := write(t, dir, "homes.csv", cities), write(t, dir, "works.csv", works)
	xy := write(t, dir, "xy.csv", "label,x,y\na,1,2\nb,3,4\n")
	one := write(t, dir, "one.csv", "label,lat,lon\na,1,2\n")
	odd := write(t, dir, "odd.csv", "label,lat,lon\na,1,2\nb>c,3,4\n")
	empty := write(t, dir, "empty.csv", "label,lat,lon\n")
	twice := write(t, dir, "twice.csv", "from,to\nwien,office\nwien,mill\nwien,office\n")
	unknown := write(t, dir, "unknown.csv", "from,to\noffice,wien\n")
	var many strings.Builder
	many.WriteString("label,x,y\n")
	for i := range 401 {
		many.WriteString(strings.Repeat("p", i+1) + ",1,2\n")
	}
	for args, want := range map[string]string{
		"-pairs " + homes + "," + xy:                         "the columns lat, lon",
		"-pairs " + homes + "," + one:                        "one.csv has one place",
		"-pairs " + homes + "," + odd:                        "odd.csv: costio: bad label: \"b>c\" contains >",
		"-pairs " + homes + "," + empty:                      "empty.csv: no points",
		"-pairs " + homes + "," + other + "," + twice:        "twice.csv:4: the pair from \"wien\" to \"office\" is on line 2 already",
		"-pairs " + homes + "," + other + "," + unknown:      "unknown.csv:2: field 1: label \"office\" is not known",
		"-pairs " + write(t, dir, "many.csv", many.String()): "merge the places of",
		"-pairs " + homes + " -points " + homes:              "exactly one of",
		"-pairs -,-":                                         "standard input",
		"-pairs a,b,c,d":                                     "is not FROM,TO",
		"-pairs " + homes + " -metric euclidean":             "-metric go with -points",
		"-ring 5 -with mode=a,b:1":                           "go with -points or -pairs",
		"-points " + homes + " -with mode=a,b":               "want NAME=",
		"-points " + homes + " -with mode=a,b:0km":           "no number above 0 in km or m",
		"-points " + xy + " -with mode=a,b:NaN":              "no number above 0 in the unit",
		"-points " + xy + " -with mode=a,b:1 -outputs " + xy: "do not go with -with",
		"-points " + xy + " -with mode=a,b:1 -metric cosine": "do not go with -with",
	} {
		status, _, errs := try(t, "", append([]string{"design", "-eps", "1", "-o", filepath.Join(dir, "p")}, strings.Fields(args)...)...)
		if status != device.Bad || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestCategorySpelling: the values of a category are in NFC in a policy, as labels of files are, with the other spelling
// as an alias. Two spellings of one value are one.
func TestCategorySpelling(t *testing.T) {
	dir := t.TempDir()
	places, out := write(t, dir, "places.csv", cities), filepath.Join(dir, "p")
	must(t, "", "design", "-eps", "2", "-points", places, "-with", "mode=ve\u0301lo,car:2", "-o", out)
	text := string(mustRead(t, out))
	if !strings.Contains(text, "\"wien>v\u00e9lo\"") {
		t.Errorf("no label in NFC in\n%s", text)
	}
	if _, _, errs := try(t, "", "design", "-eps", "2", "-points", places, "-with", "mode=ve\u0301lo,v\u00e9lo:2", "-o",
		out+"2"); !strings.Contains(errs, "twice") {
		t.Errorf("two spellings of one value: %q", errs)
	}
}
