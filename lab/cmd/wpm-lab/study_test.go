package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/lab/report"
)

// TestTies: what the report says of ties, with either solver, and a bad rule.
func TestTies(t *testing.T) {
	dir := t.TempDir()
	study := []string{"gowalla", "-out", filepath.Join(dir, "out"), "-grid", "4x4", "-users", "6", "-eps",
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
	must(t, "", "gowalla", "-out", dir, "-grid", "3x3", "-users", "3", "-eps", "1", "-runs", "1", "-seed",
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

// TestGowalla runs the study on made-up check-ins in the original format.
func TestGowalla(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for user := range 6 {
		for n := range 12 {
			lat, lon := 30.16+0.02*float64((user+n)%12), -97.89+0.02*float64((user*n)%12)
			fmt.Fprintf(&b, "%d\t2010-10-19T23:55:27Z\t%.4f\t%.4f\t%d\n", user, lat, lon, 100*user+n)
		}
	}
	data := write(t, dir, "Gowalla_totalCheckins.txt", b.String())
	out := must(t, "", "gowalla", "-data", data, "-out", filepath.Join(dir, "out"), "-grid", "4x4", "-users",
		"6", "-eps", "1,4", "-runs", "2")
	if !strings.Contains(out, "6 users, 72 check-ins") {
		t.Errorf("wpm-lab prints:\n%s", out)
	}
	// A truncated line is named, and the results so far stay.
	bad := write(t, dir, "bad.txt", b.String()+"7\t2010-10-19T23:55:27Z\t30.2\n")
	status, _, errs := try(t, "", "gowalla", "-data", bad, "-out", filepath.Join(dir, "out"))
	if status != device.Bad || !strings.Contains(errs, bad+":73") {
		t.Errorf("status %d, error %q", status, errs)
	}
}

// TestSphereStudy: the study of the sphere, small.
func TestSphereStudy(t *testing.T) {
	if !numtest.Full() {
		t.Skip("a study of some seconds")
	}
	dir := filepath.Join(t.TempDir(), "study")
	out := must(t, "", "sphere", "-out", dir, "-points", "64", "-instances", "1")
	for _, want := range []string{"1.413", "random atom", "index.html"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Error(err)
	}
}

// TestUsage: every bad call is one line with what is wrong, exit status 2, and nothing printed.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ args, want string }{
		{"nonsense", `unknown command "nonsense"`},
		{"compar", "compare"},
		{"-nonsense", "not defined"},
		{"gowalla -data=", "-data"},
		{"gowalla -data " + filepath.Join(dir, "missing"), "missing"},
		{"sphere -points 0", "-points"},
		{"sphere -instances -1", "-instances"},
		{"sphere more", "more"},
		{"sphere -points 99999", "99999"},
		{"ring -seed 1 -seed 2", "seed"},
		{"bench -runs 0", "0 runs"},
		{"bench -group nonsense", "nonsense"},
		{"bench more", "more"},
		{"completion", "wpm-lab completion bash"},
		{"man", "wpm-lab man -o man1"},
	} {
		status, out, errs := try(t, "", strings.Fields(test.args)...)
		if status != device.Bad || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm-lab %s: status %d, output %q, error %q, want one line with %q", test.args, status, out, errs,
				test.want)
		}
	}
}

// TestHelp: every command says what it is for and shows an example of its own.
func TestHelp(t *testing.T) {
	if out := must(t, ""); !strings.Contains(out, "compare") || !strings.Contains(out, "bench") {
		t.Errorf("without arguments:\n%s", out)
	}
	for _, c := range command().Commands {
		if c.Hidden || c.Name == "help" {
			continue
		}
		out := must(t, "", c.Name, "-help")
		if c.Usage == "" || !strings.Contains(out, "\n      wpm-lab "+c.Name) {
			t.Errorf("%s -help has no example:\n%s", c.Name, out)
		}
	}
	dir := t.TempDir()
	must(t, "", "man", "-o", dir)
	if text, err := os.ReadFile(filepath.Join(dir, "wpm-lab-compare.1")); err != nil ||
		!strings.Contains(string(text), ".SH EXAMPLES") {
		t.Errorf("the manual page of compare: %v\n%s", err, text)
	}
	if out := must(t, "", "completion", "bash"); !strings.Contains(out, "movielens") {
		t.Errorf("the completion does not know movielens:\n%s", out)
	}
}

// TestAll: all leaves out a study whose folder is complete and of the seed and data, and runs the others.
func TestAll(t *testing.T) {
	if !numtest.Full() {
		t.Skip("runs a study with its defaults: some seconds")
	}
	dir := t.TempDir()
	for _, study := range []string{"ring", "gowalla", "mirror", "country"} {
		folder := filepath.Join(dir, study)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, folder, "index.html", "")
		write(t, folder, "table.json", `{"seed":"1","settings":[{"name":"data","value":"synthetic"}]}`)
	}
	out := must(t, "", "all", "-out", dir)
	if n := strings.Count(out, " is there already"); n != 4 || !strings.Contains(out, "random atom") {
		t.Errorf("%d of 4 studies are there already:\n%s", n, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "sphere", "index.html")); err != nil {
		t.Error(err)
	}
	if out := must(t, "", "all", "-out", dir); strings.Count(out, " is there already") != 5 {
		t.Errorf("all runs again what is there:\n%s", out)
	}
}
