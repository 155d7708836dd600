package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
)

// freshLedger stands for the flags of a new ledger.
const freshLedger = "(a fresh ledger)"

// try runs the command in process and returns its exit status and outputs. It writes over the policies of a test
// before.
func try(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	if len(args) > 0 && (args[0] == "design" || args[0] == "sphere") {
		args = slices.Insert(slices.Clone(args), 1, "-force")
	}
	return tryAsIs(t, stdin, args...)
}

// tryAsIs runs the command with these arguments and no other.
func tryAsIs(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	if i := slices.Index(args, freshLedger); i >= 0 {
		ledger := filepath.Join(t.TempDir(), "ledger")
		args = slices.Replace(slices.Clone(args), i, i+1, "-ledger", ledger, "-budget", "1000", "-epoch", "e")
	}
	var out, errs bytes.Buffer
	status = run(context.Background(), append([]string{"wpm"}, args...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// must runs the command and fails the test unless the status is 0.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	status, out, errs := try(t, stdin, args...)
	if status != device.Yes {
		t.Fatalf("wpm %s: status %d: %s", strings.Join(args, " "), status, errs)
	}
	return out
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const cities = "name,lat,lon\nwien,48.21,16.37\nberlin,52.52,13.40\nparis,48.86,2.35\nroma,41.90,12.50\n"

// TestWholePath designs, verifies and releases, in both modes and for every kind of geometry.
func TestWholePath(t *testing.T) {
	dir := t.TempDir()
	points := write(t, dir, "points.csv", cities)
	outputs := write(t, dir, "outputs.csv", "lon,lat,id\n14.44,50.08,praha\n4.84,45.76,lyon\n")
	matrix := write(t, dir, "cost.csv", "0,1,2\n1,0,1\n")
	for _, g := range []struct {
		args   []string
		counts string
	}{
		{[]string{"-points", points}, "wien,3\nroma,1\n"},
		{[]string{"-points", points, "-outputs", outputs, "-p", "2"}, "wien,3\n"},
		{[]string{"-points", points, "-metric", "greatcircle"}, "paris,1\n"},
		{[]string{"-points", points, "-metric", "cosine"}, "paris,1\n"},
		{[]string{"-cost", matrix}, "1,2\n"},
		{[]string{"-ring", "5", "-p", "2"}, "0,1\n4,1\n"},
		{[]string{"-grid", "2x3"}, "label,count\n5,1\n"},
	} {
		for _, mode := range []string{"mixture", "projection"} {
			name := strings.Join(g.args, " ") + " " + mode
			policy := filepath.Join(dir, "policy")
			card := must(t, "", append([]string{"design", "-eps", "3/2", "-mode", mode, "-o", policy}, g.args...)...)
			if !strings.Contains(card, "no mechanism beats") || !strings.Contains(card, "eps = 1.5, local and pure") {
				t.Errorf("%s: card:\n%s", name, card)
			}
			if out := must(t, "", "verify", policy); !strings.HasPrefix(out, "verified: eps = 1.5") ||
				!strings.Contains(out, "the stated bounds hold") {
				t.Errorf("%s: verify prints %s", name, out)
			}
			report := must(t, g.counts, "release", freshLedger, policy)
			if len(report) != 81 || !strings.HasPrefix(report, "77706d31") { // 40 bytes in hexadecimal, "wpm1" first
				t.Errorf("%s: report %q", name, report)
			}
		}
	}
}

// TestReleaseLedger holds that a release is paid once per epoch and that the budget ends.
func TestReleaseLedger(t *testing.T) {
	dir := t.TempDir()
	policy, ledger := filepath.Join(dir, "p"), filepath.Join(dir, "l")
	must(t, "", "design", "-ring", "50", "-eps", "1", "-o", policy)
	counts := write(t, dir, "c", "7,1\n")
	first := must(t, "", "release", "-ledger", ledger, "-budget", "2", "-epoch", "a", policy, counts)
	if again := must(t, "", "release", "-ledger", ledger, "-epoch", "a", policy, counts); again != first {
		t.Error("a second release in an epoch drew anew")
	}
	must(t, "", "release", "-ledger", ledger, "-epoch", "b", policy, counts)
	if status, out, errs := try(t, "", "release", "-ledger", ledger, "-epoch", "c", policy, counts); status != device.No ||
		out != "" || !strings.Contains(errs, "budget") || !strings.Contains(errs, ledger) {
		t.Errorf("beyond the budget: status %d, output %q, error %q", status, out, errs)
	}
	out := filepath.Join(dir, "report")
	must(t, "", "release", "-ledger", ledger, "-epoch", "b", "-binary", "-o", out, policy, counts)
	if b, err := os.ReadFile(out); err != nil || len(b) != 40 {
		t.Errorf("binary report: %d bytes, %v", len(b), err)
	}
}

// TestLedgerFirstUse holds that a ledger is not made unless it can pay.
func TestLedgerFirstUse(t *testing.T) {
	dir := t.TempDir()
	policy, ledger := filepath.Join(dir, "p"), filepath.Join(dir, "l")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", policy)
	for _, test := range []struct{ args, want string }{
		{"-epoch a", "-ledger"},
		{"-ledger " + ledger, "-epoch"},
		{"-ledger " + ledger + " -epoch a", "add -budget EPS"},
		{"-ledger " + ledger + " -epoch a -budget 1/2", "1/2"},
		{"-ledger " + ledger + " -epoch a -budget x", "x"},
		{"-ledger " + ledger + " -epoch a/b -budget 1", "epoch"},
	} {
		status, _, errs := try(t, "0,1\n", append(append([]string{"release"}, strings.Fields(test.args)...), policy)...)
		if status != device.Bad || !strings.Contains(errs, test.want) {
			t.Errorf("release %s: status %d, error %q, want %q", test.args, status, errs, test.want)
		}
		if _, err := os.Stat(ledger); err == nil {
			t.Fatalf("release %s made a ledger", test.args)
		}
	}
}

// TestOutputsApart holds that no output takes the place of an input, a ledger or another output.
func TestOutputsApart(t *testing.T) {
	dir := t.TempDir()
	points := write(t, dir, "points.csv", cities)
	policy, ledger, counts := filepath.Join(dir, "p"), filepath.Join(dir, "l"), write(t, dir, "c", "0,1\n")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", policy)
	must(t, "", "release", "-ledger", ledger, "-epoch", "a", "-budget", "3", policy, counts)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(ledger, link); err != nil {
		t.Log(err) // a system without links cannot confuse them
		link = ledger
	}
	kept := map[string][]byte{}
	for _, path := range []string{points, policy, ledger, counts} {
		kept[path], _ = os.ReadFile(path)
	}
	for _, args := range [][]string{
		{"release", "-ledger", ledger, "-epoch", "b", "-o", ledger, policy, counts},
		{"release", "-ledger", ledger, "-epoch", "b", "-o", link, policy, counts},
		{"release", "-ledger", ledger, "-epoch", "b", "-o", policy, policy, counts},
		{"release", "-ledger", ledger, "-epoch", "b", "-o", dir + "/./c", policy, counts},
		{"release", "-ledger", ledger, "-epoch", "b", "-", "-"},
		{"design", "-eps", "1", "-points", points, "-o", points},
		{"design", "-eps", "1", "-ring", "5", "-o", policy, "-card", policy},
		{"design", "-eps", "1", "-ring", "5", "-o", policy, "-card", filepath.Join(dir, "missing", "card")},
		{"design", "-eps", "1", "-ring", "5", "-o", dir},
		{"design", "-eps", "1", "-eps", "2", "-ring", "5", "-o", policy},
		{"design", "-eps", "1", "-ring", "5", "-bits", "0", "-o", policy},
	} {
		if status, _, errs := try(t, "", args...); status != device.Bad || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %v: status %d, error %q", args, status, errs)
		}
		for path, want := range kept {
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("wpm %v changed %s", args, path)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

// TestOutputKeepsMode holds that an existing file keeps its permissions, and that a link is followed.
func TestOutputKeepsMode(t *testing.T) {
	dir := t.TempDir()
	secret, link := write(t, dir, "secret", "old"), filepath.Join(dir, "link")
	if err := os.Symlink(secret, link); err != nil {
		link = secret
	}
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", link)
	info, err := os.Stat(secret)
	if err != nil || info.Size() < 100 {
		t.Fatalf("the link was not followed: %v", err)
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode became %v", info.Mode())
	}
}

// TestReport holds that a report names the point that was released.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	policy, other := filepath.Join(dir, "p"), filepath.Join(dir, "q")
	must(t, "", "design", "-points", write(t, dir, "points.csv", cities), "-eps", "8", "-o", policy)
	must(t, "", "design", "-ring", "4", "-eps", "8", "-o", other)
	report := must(t, "paris,1\n", "release", freshLedger, policy)
	index, label, ok := strings.Cut(strings.TrimSpace(must(t, report, "report", policy)), "\t")
	if !ok || !strings.Contains("wien berlin paris roma", label) || len(index) != 1 {
		t.Errorf("report prints %q, %q", index, label)
	}
	if status, _, errs := try(t, report, "report", other); status != device.Bad || !strings.Contains(errs, "-:1:") {
		t.Errorf("a report of another policy: status %d, error %q", status, errs)
	}
}

// TestCountsForms holds that the forms of counts that other commands take do not end in the fallback.
func TestCountsForms(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-points", write(t, dir, "points.csv", cities), "-eps", "1", "-o", policy)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "wien,2\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{"wien,2\n", zipped.String(), "user,label,count\nu1,wien,2\nu1,roma,1\n",
		"label,count\r\nwien,2\r\n", "\ufeffwien,2"} {
		if out := must(t, good, "release", "-check", policy, "-"); out != "usable\n" {
			t.Errorf("%q: %q", good, out)
		}
	}
	for _, bad := range []string{"user,label,count\nu1,wien,2\nu2,roma,1\n", zipped.String()[:15], "oslo,1\n", ""} {
		if status, _, errs := try(t, bad, "release", "-check", policy, "-"); status != device.No ||
			strings.Contains(errs, "oslo") {
			t.Errorf("%q: status %d, error %q", bad, status, errs)
		}
	}
}

// TestFewBits holds that a policy claims what its integers deliver, not what the design had before rounding.
func TestFewBits(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	var card struct{ Upper, Design float64 }
	if err := json.Unmarshal([]byte(must(t, "", "design", "-json", "-ring", "5", "-eps", "2", "-bits", "4", "-o", policy)),
		&card); err != nil {
		t.Fatal(err)
	}
	// lo = 2, hi = 14 of 16: three points at distance 1, 2, 2 keep 2 units each, and one at distance 1 shares.
	if !(card.Upper >= 0.75 && card.Upper < 0.7500001 && card.Design < 0.6) {
		t.Errorf("upper %v, design %v", card.Upper, card.Design)
	}
	if out := must(t, "", "verify", policy); !strings.Contains(out, "worst case 0.75") {
		t.Errorf("verify prints %s", out)
	}
	if out := must(t, "", "verify", "-privacy-only", policy); !strings.Contains(out, "utility: not checked") {
		t.Errorf("verify prints %s", out)
	}
}

// TestReleaseIsTotal holds that no content of the private file shows in status, error or length.
func TestReleaseIsTotal(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "6", "-eps", "1", "-mode", "projection", "-o", policy)
	for _, private := range []string{"", "\x00\xff", "0,1\n", "0,1", "nobody,1\n", "0,-1\n", "0,NaN\n", "0,1e400\n",
		strings.Repeat(",", 100000), "0,0\n"} {
		status, out, errs := try(t, private, "release", freshLedger, policy)
		if status != device.Yes || len(out) != 81 || errs != "" {
			t.Errorf("%.10q: status %d, output %q, error %q", private, status, out, errs)
		}
	}
	good, bad := write(t, dir, "good", "0,1\n"), write(t, dir, "bad", "0,one\n")
	if out := must(t, "", "release", "-check", policy, good); out != "usable\n" {
		t.Errorf("check of a good file prints %q", out)
	}
	if status, out, errs := try(t, "", "release", "-check", policy, bad); status != device.No || out != "" ||
		!strings.Contains(errs, "line 1") || strings.Contains(errs, "one") {
		t.Errorf("check of a bad file: status %d, output %q, error %q", status, out, errs)
	}
}

// TestBadUsage holds that what is wrong is one line with the file, the line and the value, that the status is
// 2, and that nothing is written.
func TestBadUsage(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "points.csv", cities)
	bad := write(t, dir, "bad.csv", "a,1,2\nb,1,x\n")
	negative := write(t, dir, "negative.csv", "0,1\n-3,0\n")
	nonsense := write(t, dir, "nonsense", "{\"format\":\"other\"}")
	kept := write(t, dir, "kept", "precious")
	for _, test := range []struct {
		args string
		want string
	}{
		{"nonsense", `unknown command "nonsense"`},
		{"-nonsense", "not defined"},
		{"verify -nonsense", "not defined"},
		{"verify", "verify needs a policy file; try: wpm verify policy.json"},
		{"verify " + filepath.Join(dir, "missing"), "missing"},
		{"verify " + nonsense, nonsense},
		{"solve", "a KIND of problem"},
		{"solve nonsense", `"nonsense"`},
		{"design -eps 1 -o " + kept, "exactly one"},
		{"design -eps 1 -o " + kept + " -ring 5 -grid 2x2", "exactly one"},
		{"design -eps 0 -ring 5 -o " + kept, `"0"`},
		{"design -eps one -ring 5 -o " + kept, `"one"`},
		{"design -ring 5 -o " + kept, "-eps"},
		{"design -eps 1 -ring 0 -o " + kept, "0"},
		{"design -eps 1 -grid 2y2 -o " + kept, `"2y2"`},
		{"design -eps 1 -ring 5 -p -1 -o " + kept, "-1"},
		{"design -eps 1 -ring 5 -bits 63 -o " + kept, "63"},
		{"design -eps 1 -ring 5 -mode magic -o " + kept, "magic"},
		{"design -eps 1 -ring 5 -table 1,x -o " + kept, `"x"`},
		{"design -eps 1 -points " + bad + " -o " + kept, bad + ":2"},
		{"design -eps 1 -cost " + negative + " -o " + kept, negative + ":2"},
		{"design -eps 1 -points " + good + " -metric taxi -o " + kept, `"taxi"`},
		{"design -eps 1 -ring 5 extra -o " + kept, `"extra"`},
		{"release " + nonsense, nonsense},
		{"experiment", "wpm-lab STUDY"},
		{"experiment -help", "wpm-lab STUDY"},
		{"experiment ring -inputs 50", "wpm-lab ring"},
		{"experiment compare -points " + good, "wpm-lab compare"},
		{"demo -grid 0x5 -o " + filepath.Join(dir, "demo"), `"0x5"`},
	} {
		status, out, errs := try(t, "", strings.Fields(test.args)...)
		if status != device.Bad || out != "" {
			t.Errorf("wpm %s: status %d, output %q", test.args, status, out)
		}
		if !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %s: error %q, want one line with %q", test.args, errs, test.want)
		}
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "precious" {
		t.Errorf("a failed command wrote over a file: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo")); err == nil {
		t.Error("a failed demo left a folder")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

// TestTamperedPolicy holds that a policy whose integers do not carry the guarantee gets a no, not a yes.
func TestTamperedPolicy(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", policy)
	b, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	for old, new := range map[string]string{
		`"epsilon":"1"`: `"epsilon":"0.9"`, `"bits":62`: `"bits":61`,
		// False claims about utility: the integers hold, but not what is said of them.
		`"upper":"`: `"upper":"-`, `"n":5`: `"n":50`, `"n":5,"p":1`: `"n":5,"p":2`,
	} {
		text := strings.Replace(string(b), old, new, 1)
		if text == string(b) {
			t.Fatalf("the policy has no %s", old)
		}
		path := write(t, dir, "tampered", text)
		if status, out, errs := try(t, "", "verify", path); status != device.No || out != "" ||
			!strings.Contains(errs, path) {
			t.Errorf("%s: status %d, output %q, error %q", new, status, out, errs)
		}
	}
	var verdict map[string]any
	if err := json.Unmarshal([]byte(must(t, "", "verify", "-json", policy)), &verdict); err != nil ||
		verdict["verified"] != true {
		t.Errorf("verdict %v, %v", verdict, err)
	}
}

func TestSolveStatus(t *testing.T) {
	for _, args := range []string{"solve -certificate project", "solve project -certificate"} {
		line := `{"cost":{"kind":"ring","n":2},"mu":[1,0],"m":[0.5,0.5],"eps":1}`
		if out := must(t, line, strings.Fields(args)...); !strings.Contains(out, `"certificate":`) {
			t.Errorf("%s: %s", args, out)
		}
	}
	var npy bytes.Buffer
	if err := costio.WriteNPY(context.Background(), &npy, &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "C.npy", npy.String())
	lines := `{"define":"c","cost":{"kind":"npy","path":"C.npy"}}` + "\n" +
		`{"cost":"c","mu":[1,0],"lo":[0.25,0.25],"hi":[1,1],"want":["objective"]}` + "\n"
	if out := must(t, lines, "solve", "project", "-files", dir); out != "{\"defined\":\"c\"}\n{\"objective\":0.25}\n" {
		t.Errorf("-files: %s", out)
	}
	status, out, errs := try(t, "{\"mu\":[1,0],\"eps\":1}\n{\"mu\":[2],\"eps\":1}\n", "solve", "kpm")
	if status != device.No || strings.Count(out, "\n") != 2 || !strings.Contains(errs, "1 of 2 lines") {
		t.Errorf("status %d, output %q, error %q", status, out, errs)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"-help"}, {"design", "-help"}, {"help", "solve"}} {
		if out := must(t, "", args...); !strings.Contains(out, "USAGE") {
			t.Errorf("wpm %v prints no usage: %.80q", args, out)
		}
	}
}

// TestDemo runs the whole tour at a small size.
func TestDemo(t *testing.T) {
	withoutGo(t) // the page needs Go, or its program; the demo needs neither
	dir := filepath.Join(t.TempDir(), "demo")
	status, out, errs := try(t, "", "demo", "-devices", "20", "-grid", "5x5", "-o", dir)
	if status != device.Yes || !strings.Contains(out, "verified from its bytes") {
		t.Errorf("status %d, demo prints:\n%s", status, out)
	}
	if !strings.Contains(errs, "note: the demo has no playground.html") || !strings.Contains(errs, "type: go run") &&
		!strings.Contains(errs, "install Go") {
		t.Errorf("no word of the page that is not made: %q", errs)
	}
	for _, name := range []string{"policy.json", "policy-projection.json", "index.html", "map.svg", "maps.csv"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, "", "verify", filepath.Join(dir, "policy.json"))

	// The counts of the demo give its map again, with the error that the demo states.
	off := regexp.MustCompile(`say that the map is about ([0-9.]+) off`).FindStringSubmatch(out)
	again := must(t, "", "aggregate", "-counts", filepath.Join(dir, "counts.csv"), filepath.Join(dir, "policy.json"))
	said := regexp.MustCompile(`The map is about ([0-9.]+) cells from the truth`).FindStringSubmatch(again)
	if off == nil || said == nil {
		t.Fatalf("no stated error:\n%s\n%s", out, again)
	}
	a, errA := strconv.ParseFloat(off[1], 64)
	b, errB := strconv.ParseFloat(said[1], 64)
	if errA != nil || errB != nil || !(math.Abs(a-b) <= 0.05*b) { // two digits of each
		t.Errorf("the demo says %s, aggregate %s", off[1], said[1])
	}
}
