package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/experiments/report"
)

// TestExperimentTies: what the report says of ties, with either solver, and a bad rule.
func TestExperimentTies(t *testing.T) {
	dir := t.TempDir()
	study := []string{"experiment", "gowalla", "-out", filepath.Join(dir, "out"), "-grid", "4x4", "-users", "6", "-eps",
		"2", "-runs", "1", "-estimates=false"}
	if out := must(t, "", study...); !strings.Contains(out, "over ties") || !strings.Contains(out, " to ") {
		t.Errorf("no range over ties:\n%s", out)
	}
	table, err := os.ReadFile(filepath.Join(dir, "out", "table.csv"))
	if err != nil || !strings.Contains(string(table), "tie_low,tie_high") {
		t.Errorf("table.csv: %v\n%s", err, table)
	}
	out := must(t, "", append(study, "-ties", "solver", "-solver", "entropic", "-tie-range=false")...)
	if strings.Contains(out, "over ties") || !strings.Contains(out, "6 users, ") {
		t.Errorf("a range that was not asked for:\n%s", out)
	}
	if status, _, errs := try(t, "", append(study, "-solver", "magic")...); status != device.Bad ||
		!strings.Contains(errs, "magic") {
		t.Errorf("-solver magic: status %d, error %q", status, errs)
	}
	if status, _, errs := try(t, "", append(study, "-ties", "left")...); status != device.Bad ||
		!strings.Contains(errs, `"left"`) {
		t.Errorf("-ties left: status %d, %q", status, errs)
	}
}

// TestFinished: which folder all takes for done.
func TestFinished(t *testing.T) {
	dir := t.TempDir()
	must(t, "", "experiment", "gowalla", "-out", dir, "-grid", "3x3", "-users", "3", "-eps", "1", "-runs", "1", "-seed",
		"7", "-estimates=false", "-tie-range=false")
	for _, tt := range []struct {
		seed uint64
		data []string
		want bool
	}{
		{7, []string{"synthetic"}, true}, {7, nil, true}, {8, []string{"synthetic"}, false},
		{7, []string{"u.data and u.item"}, false}, {7, []string{"(snap)", "(places)"}, false},
	} {
		if got := report.Finished(dir, tt.seed, tt.data); got != tt.want {
			t.Errorf("seed %d, data %q: %v", tt.seed, tt.data, got)
		}
	}
	if report.Finished(filepath.Join(dir, "none"), 7, nil) {
		t.Error("a folder that is not there is finished")
	}
	for _, name := range []string{"table.json", "index.html"} { // a page without its table, then no page
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if report.Finished(dir, 7, nil) {
			t.Errorf("finished without %s", name)
		}
	}
}
