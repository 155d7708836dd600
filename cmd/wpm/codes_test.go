package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/publisher"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/policy"
)

// codesPolicy is a policy with codes for 30 places on a line with uneven gaps, of which a disc tells few apart.
func codesPolicy(t *testing.T, dir string) (out string, card publisher.CodesCard) {
	t.Helper()
	points := "label,x,y\n"
	for i := range 30 {
		points += fmt.Sprintf("p%d,%d,0\n", i, i*i+3*i)
	}
	out = filepath.Join(dir, "codes.json")
	text := must(t, "", "design", "-points", write(t, dir, "points.csv", points), "-eps", "1", "-devices", "100000",
		"-geometry", "public", "-base", "data-independent", "-o", out, "-json")
	if err := json.Unmarshal([]byte(text), &card); err != nil {
		t.Fatal(err)
	}
	return out, card
}

// TestCodes: a policy with codes goes through all commands, and those that have no answer for it say so.
func TestCodes(t *testing.T) {
	dir := t.TempDir()
	out, card := codesPolicy(t, dir)
	if card.Codes < 20 || card.Alike != 0 || !(card.Risk < 0.97) || card.Seed != 1 || !(card.Gap >= 0 && card.Gap < 0.05) {
		t.Errorf("%+v", card)
	}
	person := card.Person
	if !(person.Share > 0 && person.Share < 1 && person.Own > person.Share && person.Far < person.Even) {
		t.Errorf("one person: %+v", person)
	}
	if m := card.Map; m == nil || m.Prediction.Raw != nil || !(m.Prediction.Map.Mean < m.Uniform.Map.Mean/2) {
		t.Errorf("a map of %+v", card.Map)
	}
	info, err := os.Stat(out)
	if err != nil || int(info.Size()) != card.Bytes {
		t.Errorf("%d bytes, %v", card.Bytes, err)
	}
	if text := must(t, "", "verify", "-rows", out); !strings.Contains(text, `"seed": "1"`) ||
		!strings.Contains(text, "utility: no claims") || card.Discs > 0 && !strings.Contains(text, "each disc has the nearest") {
		t.Error(text)
	}
	if text := must(t, "", "audit", "-samples", "2000", out); !strings.Contains(text, "passed") {
		t.Error(text)
	}

	report := must(t, "label,count\np7,3\n", "release", "-ledger", filepath.Join(dir, "ledger"), "-budget", "1", "-epoch", "a", out)
	if text := must(t, report, "report", out); !strings.Contains(text, "places, each at odds of 2.71") {
		t.Error(text)
	}
	var shown struct {
		Places []string
		Odds   float64
	}
	if err := json.Unmarshal([]byte(must(t, report, "report", "-json", out)), &shown); err != nil || len(shown.Places) == 0 ||
		!(shown.Odds > 2.7 && shown.Odds < 2.7182818285) {
		t.Errorf("%+v, %v", shown, err)
	}

	counts := filepath.Join(dir, "reports")
	must(t, "", "simulate", "-devices", "3000", "-o", counts, out, write(t, dir, "users.csv", "label,count\np7,3\np20,1\n"))
	part := filepath.Join(dir, "part")
	must(t, "", "count", "-policy", out, "-epoch", "simulation", "-o", part, counts)
	text := must(t, "", "aggregate", "-counts", part, "-epoch", "simulation", out)
	if !strings.Contains(text, "Histogram none") || strings.Contains(text, "Bias") {
		t.Error(text)
	}
	var tally struct {
		Points any
		Raw    any
		Map    []float64
	}
	if err := json.Unmarshal([]byte(must(t, "", "aggregate", "-json", out, counts)), &tally); err != nil ||
		tally.Points != nil || tally.Raw != nil || len(tally.Map) != 30 || !(tally.Map[7] > 0.5) {
		t.Errorf("%+v, %v", tally, err)
	}
	truth := write(t, dir, "truth.csv", "label,count\np7,3\np20,1\n")
	if text := must(t, "", "evaluate", out, truth, counts); strings.Contains(text, "\nraw") || !strings.Contains(text, "\nmap") {
		t.Error(text)
	}
	for _, name := range []string{"map.csv", "map.html", "map.geojson"} {
		must(t, "", "aggregate", "-map", filepath.Join(dir, name), out, counts)
	}
	page, err := os.ReadFile(filepath.Join(dir, "map.html"))
	for _, want := range []string{"reports of made-up people", "at most 73 % sure"} { // e/(1+e)
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in the page, %v", want, err)
		}
	}
	for _, args := range [][]string{
		{"aggregate", "-out", filepath.Join(dir, "h.csv"), out, counts},
		{"aggregate", "-estimator", "raw", out, counts},
	} {
		status, text, errs := try(t, "", args...)
		if !strings.Contains(text+errs, "the outputs are not known") && !(status == device.Bad && strings.Contains(errs, "set of places")) {
			t.Errorf("%v: %d, %s, %s", args, status, text, errs)
		}
	}
}

// TestCodesParts: parts of a fleet, merged, and the table that a warehouse makes, give the same map as one pass over all
// shards.
func TestCodesParts(t *testing.T) {
	dir := t.TempDir()
	out, _ := codesPolicy(t, dir)
	users := write(t, dir, "users.csv", "label,count\np7,3\np20,1\n")
	var shards, parts []string
	for _, seed := range []string{"1", "2", "3"} {
		shard, part := filepath.Join(dir, "shard"+seed), filepath.Join(dir, "part"+seed)
		must(t, "", "simulate", "-devices", "700", "-seed", seed, "-o", shard, out, users)
		must(t, "", "count", "-policy", out, "-epoch", "simulation", "-o", part, shard)
		shards, parts = append(shards, shard), append(parts, part)
	}
	sum := filepath.Join(dir, "sum")
	must(t, "", append([]string{"merge", "-o", sum}, parts...)...)
	text, err := os.ReadFile(sum)
	if err != nil {
		t.Fatal(err)
	}
	c, err := aggregate.DecodeCounts(text)
	if err != nil {
		t.Fatal(err)
	}
	table, reported := "index,count\n", uint64(0)
	for j, n := range c.Reports {
		if reported += n; n > 0 { // as a query groups lines
			table += fmt.Sprintf("%d,%d\n", j, n)
		}
	}
	if reported != 2100 {
		t.Errorf("%d reports, want 2100", reported)
	}
	mapOf := func(args ...string) (m []float64) {
		t.Helper()
		var tally struct{ Map []float64 }
		if err := json.Unmarshal([]byte(must(t, "", append([]string{"aggregate", "-json"}, args...)...)), &tally); err != nil {
			t.Fatal(err)
		}
		return tally.Map
	}
	want := mapOf(append([]string{out}, shards...)...)
	if len(want) != 30 || !(want[7] > 0.5) {
		t.Errorf("a map %v", want)
	}
	if got := mapOf("-counts", sum, "-epoch", "simulation", out); !slices.Equal(got, want) {
		t.Errorf("merged: %v, want %v", got, want)
	}
	if got := mapOf("-counts", write(t, dir, "table.csv", table), out); !slices.Equal(got, want) {
		t.Errorf("of a table: %v, want %v", got, want)
	}
	if got := mapOf("-counts", parts[0], "-epoch", "simulation", out); slices.Equal(got, want) {
		t.Error("one part gives the map of all")
	}
}

// TestCodesSeed: the same flags give the same bytes, and another seed another policy.
func TestCodesSeed(t *testing.T) {
	dir := t.TempDir()
	text := func(seed string) string {
		out := filepath.Join(dir, "p")
		must(t, "", "design", "-grid", "6x6", "-eps", "2", "-devices", "500000", "-seed", seed, "-o", out, "-force")
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := text("1"), text("1"); a != b || !strings.Contains(a, "wpm-policy-3") {
		t.Error("the same flags give two policies")
	}
	if text("2") == text("1") {
		t.Error("the seed does nothing")
	}
}

// TestOutputsAtMost: a policy of codes has no more outputs than it may, and says the bound; where that cannot be, the command
// says why.
func TestOutputsAtMost(t *testing.T) {
	out := filepath.Join(t.TempDir(), "p")
	design := []string{"design", "-grid", "6x6", "-eps", "2", "-devices", "500000", "-o", out, "-force"}
	outputs := func(args ...string) int {
		t.Helper()
		must(t, "", append(slices.Clone(design), args...)...)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if bounded := strings.Contains(string(data), `"outputs at most":"`); bounded != (len(args) > 0) {
			t.Errorf("%v: the policy states a bound: %v", args, bounded)
		}
		return p.Outputs()
	}
	all := outputs()
	if n := outputs("-outputs-at-most", strconv.Itoa(all/2)); n > all/2 || n < 2 {
		t.Errorf("%d outputs, at most %d asked for", n, all/2)
	}
	for flags, want := range map[string]string{
		"-outputs-at-most 2":                     "a disc, which has 36",
		"-outputs-at-most 0":                     "0 is not from 1 on",
		"-outputs-at-most 50 -objective uniform": "-outputs-at-most goes with",
		"-outputs-at-most 50 -objective mixed":   "-outputs-at-most goes with",
	} {
		status, _, errs := try(t, "", append(slices.Clone(design), strings.Fields(flags)...)...)
		if status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d, %s, want %q", flags, status, errs, want)
		}
	}
}

// TestWhyList: a list that is no better than a disc says why it is taken; one that is better does not.
func TestWhyList(t *testing.T) {
	for devices, want := range map[string]bool{"1000": true, "3000": false} {
		text := must(t, "", "design", "-grid", "1x30", "-eps", "4", "-devices", devices, "-o", filepath.Join(t.TempDir(), "p"))
		if strings.Contains(text, "why a list: ") != want {
			t.Errorf("%s devices:\n%s", devices, text)
		}
	}
}
