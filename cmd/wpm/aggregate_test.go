package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/cmd/wpm/internal/server"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestAggregateAndEvaluate walks from counts to a histogram and its distance to the truth, in both forms of report.
func TestAggregateAndEvaluate(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	// so much eps that a report is the truth but for 1e-8
	must(t, "", "design", "-grid", "2x2", "-eps", "20", "-o", policy)
	var text, binary strings.Builder
	for range 3 {
		text.WriteString(must(t, "1,5\n", "release", freshLedger, policy))
		binary.WriteString(must(t, "1,5\n", "release", freshLedger, "-binary", policy))
	}
	text.WriteString("\n") // an empty line is none
	table := filepath.Join(dir, "h.csv")
	for form, reports := range map[string]string{"text": text.String(), "binary": binary.String()} {
		path := write(t, dir, "r", reports)
		card := must(t, "", "aggregate", "-top", "4", "-o", table, policy, path)
		for _, want := range []string{"3 reports", "probability 0.95", "cells from the truth in W_1, wherever people are (certified"} {
			if !strings.Contains(card, want) {
				t.Errorf("%s: no %q in\n%s", form, want, card)
			}
		}
		if b, err := os.ReadFile(table); err != nil ||
			!strings.HasPrefix(string(b), "label,count,estimate,lower,upper\n0,0,0,0,") {
			t.Errorf("%s: table %q, %v", form, b, err)
		}
		var got server.Tally
		if err := json.Unmarshal([]byte(must(t, reports, "aggregate", "-json", "-invert", policy)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Reports != 3 || got.Points[1].Count != 3 || got.Points[1].Upper != 1 || got.Bias == nil || got.Bias.P != 1 ||
			got.Inverse == nil || got.Inverse.Theta[1] < 0.999 {
			t.Errorf("%s: %+v", form, got)
		}
	}
	path := write(t, dir, "r", text.String())
	// Half of the truth is at the neighbour, half a unit away: W_1 = 1/4. Users weigh the same however much they counted.
	for _, truth := range []string{"0,1\n1,1\n", "user,label,count\na,0,1000\nb,1,1\n"} {
		var got struct {
			Scores struct {
				Raw struct{ W, Lower, Upper float64 }
			}
			Reports, Users int
		}
		if err := json.Unmarshal([]byte(must(t, "", "evaluate", "-json", policy, write(t, dir, "t", truth), path)),
			&got); err != nil {
			t.Fatal(err)
		}
		if raw := got.Scores.Raw; !(math.Abs(raw.W-0.25) <= 1e-12) || !(raw.Lower <= 0.25 && 0.25 <= raw.Upper) ||
			got.Reports != 3 {
			t.Errorf("%q: %+v", truth, got)
		}
	}
	if out := must(t, "", "evaluate", policy, write(t, dir, "t", "1,1\n"), path); !regexp.MustCompile(
		`\nraw +0 sides of the square = 0 cells +0 and 0 +0\n`).MatchString(out) {
		t.Errorf("evaluate prints\n%s", out)
	}
}

func TestAggregateErrors(t *testing.T) {
	dir := t.TempDir()
	policy, other := filepath.Join(dir, "p"), filepath.Join(dir, "q")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", policy)
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", other)
	good := must(t, "1,1\n", "release", freshLedger, policy)
	foreign := must(t, "1,1\n", "release", freshLedger, other)
	bin := must(t, "1,1\n", "release", freshLedger, "-binary", policy)
	truth := write(t, dir, "t", "0,1\n")
	for _, test := range []struct {
		in, args, want string
	}{
		{good + foreign, "aggregate -strict " + policy, "-:2"},
		{good + "xyz\n", "aggregate -strict " + policy, "-:2"},
		{bin + "wpm1", "aggregate -strict " + policy, "report 2"},
		{bin + foreign[:40], "aggregate -strict " + policy, "report 2"},
		{"", "aggregate " + policy, "no reports"},
		{foreign + "xyz\n", "aggregate " + policy, "2 of 2 lines refused: 1 malformed, 1 other-policy"},
		{good, "aggregate -epoch e " + policy, "-epoch"},
		{good, "aggregate -partial - " + policy, "-partial"},
		{good, "aggregate -epoch a/b -partial " + filepath.Join(dir, "part") + " " + policy, "a/b"},
		{good, "aggregate -counts " + truth + " -partial " + filepath.Join(dir, "part") + " " + policy, "-counts"},
		{good, "aggregate -counts " + truth + " " + policy + " " + truth, "-counts"},
		{good, "aggregate -partial " + truth + " " + policy + " " + truth, "written over"},
		{good, "aggregate " + policy + " " + truth + " " + dir + "/./t", "once more"},
		{good, "aggregate " + policy + " - -", "once more"},
		{good, "aggregate -counts - -", "both"},
		{"", "aggregate - -", "both"},
		{good, "aggregate", "takes a policy"},
		{good, "aggregate -confidence 1 " + policy, "-confidence"},
		{good, "aggregate -top -1 " + policy, "-top"},
		{good, "aggregate -o - " + policy, "-out"},
		{good, "aggregate -o " + policy + " " + policy, "written over"},
		{good, "evaluate " + policy, "truth"},
		{good, "evaluate - -", "standard input"},
		{good, "evaluate " + policy + " -", "standard input"},
		{good, "evaluate " + policy + " " + write(t, dir, "u", "9,1\n"), "9"},
		{good, "evaluate " + policy + " " + write(t, dir, "z", "1,0\n"), "zero"},
		{"", "evaluate " + policy + " " + truth, "no reports"},
	} {
		status, out, errs := try(t, test.in, strings.Fields(test.args)...)
		if status != device.Bad || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", test.args, status, out, errs, test.want)
		}
	}
}

// mixed writes reports of two policies and lines that are none, and says what should become of them.
func mixed(t *testing.T, dir string) (policy, reports string, good int) {
	policy = filepath.Join(dir, "p")
	other := filepath.Join(dir, "q")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", policy)
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", other)
	for range 5 {
		reports += must(t, "1,1\n", "release", freshLedger, policy)
	}
	foreign := must(t, "1,1\n", "release", freshLedger, other)
	return policy, reports + foreign + "\n \nxyz\n" + foreign + reports[:72] + "05000000\n" + strings.Repeat("0", 1<<17) +
		"\n", 5
}

// TestBiasUnchecked: of a policy whose certificate was not recomputed nothing says that it certifies nothing.
func TestBiasUnchecked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	defer func(n int) { published.MaxUtility = n }(published.MaxUtility)
	published.MaxUtility = 80
	must(t, "", "design", "-grid", "1x9", "-eps", "2", "-o", path)
	report := must(t, "5,1\n", "release", freshLedger, path)
	for _, args := range [][]string{{"aggregate", "-estimator", "raw", "-top", "9", path},
		{"evaluate", "-estimator", "raw", path, write(t, dir, "t", "5,1\n")}} {
		out := must(t, report, args...)
		if strings.Contains(out, "certifies nothing") || !strings.Contains(out, "wpm verify -utility does") {
			t.Errorf("%s:\n%s", args, out)
		}
	}
}

// TestAggregateRefused: what is refused is counted by reason, the histogram is that of the rest, and the status says
// so; -strict has none of it.
func TestAggregateRefused(t *testing.T) {
	dir := t.TempDir()
	policy, reports, good := mixed(t, dir)
	const want = "5 of 10 lines refused: 2 malformed, 2 other-policy, 1 no-such-output"
	table := filepath.Join(dir, "h.csv")
	for _, form := range []string{reports, gzipped(t, reports), strings.ReplaceAll(reports, "\n", "\r\n")} {
		status, out, errs := try(t, form, "aggregate", "-o", table, policy)
		if status != device.Some || !strings.Contains(out, "5 reports of policy") || !strings.Contains(out, want+".\n") ||
			errs != "wpm: "+want+"\n" {
			t.Errorf("status %d, error %q\n%s", status, errs, out)
		}
		if b, err := os.ReadFile(table); err != nil || strings.Count(string(b), "\n") != 5 {
			t.Errorf("table %q, %v", b, err)
		}
		if err := os.Remove(table); err != nil {
			t.Fatal(err)
		}
		status, out, errs = try(t, form, "aggregate", "-strict", "-o", table, policy)
		if _, err := os.Stat(table); status != device.Bad || out != "" || err == nil ||
			!strings.Contains(errs, "-:6: other-policy") {
			t.Errorf("-strict: status %d, output %q, error %q, %v", status, out, errs, err)
		}
	}
	status, out, _ := try(t, reports, "aggregate", "-json", policy)
	var got server.Tally
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != device.Some {
		t.Fatal(status, err)
	}
	if got.Reports != uint64(good) || got.Lines != 10 || got.Refused["malformed"] != 2 ||
		got.Refused["other-policy"] != 2 || got.Refused["no-such-output"] != 1 || got.Unit != "steps" {
		t.Errorf("%+v", got)
	}
	// An archive that breaks off is not a file with a few bad lines.
	broken := gzipped(t, reports)
	if status, out, errs := try(t, broken[:len(broken)-12], "aggregate", policy); status != device.Bad || out != "" ||
		!strings.Contains(errs, "unexpected EOF") {
		t.Errorf("half an archive: status %d, output %q, error %q", status, out, errs)
	}
	status, out, errs := try(t, reports, "evaluate", policy, write(t, dir, "t", "1,1\n"))
	if status != device.Some || !strings.Contains(out, "5 reports against the truth") ||
		!strings.Contains(out, " steps ") || !strings.Contains(errs, want) {
		t.Errorf("evaluate: status %d, error %q\n%s", status, errs, out)
	}
	if status, out, _ := try(t, reports, "evaluate", "-strict", policy,
		write(t, dir, "t", "1,1\n")); status != device.Bad || out != "" {
		t.Errorf("evaluate -strict: status %d, output %q", status, out)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err1 := io.WriteString(z, text)
	if err := errors.Join(err1, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAggregateCounts: partial counts and the command's own CSV give the same histogram as the reports that they were
// made from, however the reports are spread over files.
func TestAggregateCounts(t *testing.T) {
	dir := t.TempDir()
	policy, reports, _ := mixed(t, dir)
	_, whole, _ := try(t, reports, "aggregate", "-json", policy)
	part, table := filepath.Join(dir, "part"), filepath.Join(dir, "h.csv")
	lines := strings.SplitAfter(reports, "\n")
	first, second := write(t, dir, "a", strings.Join(lines[:3], "")),
		write(t, dir, "b", gzipped(t, strings.Join(lines[3:], "")))
	status, spread, errs := try(t, "", "aggregate", "-json", "-partial", part, "-epoch", "2026-07", "-o", table, policy,
		first, second)
	if status != device.Some {
		t.Fatal(status, errs)
	}
	if strings.Replace(spread, "  \"epoch\": \"2026-07\",\n", "", 1) != whole {
		t.Errorf("in two files\n%s\nin one\n%s", spread, whole)
	}
	status, again, _ := try(t, "", "aggregate", "-json", "-counts", part, policy)
	if status != device.Some || again != spread {
		t.Errorf("status %d, from counts\n%s", status, again)
	}
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nepoch 2026-07\nlines 10\nrefused malformed 2\n", "\nshards 2\n",
		fmt.Sprintf("\n%x %d 7 %s\n", sha256.Sum256(raw), len(raw), filepath.ToSlash(second))} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if status, out, errs := try(t, string(b), "aggregate", "-strict", "-counts", "-", policy); status != device.Bad ||
		out != "" || !strings.Contains(errs, "5 of 10") {
		t.Errorf("-strict: status %d, output %q, error %q", status, out, errs)
	}
	// The CSV holds neither the lines that were refused nor the policy.
	var want, got server.Tally
	if err := errors.Join(json.Unmarshal([]byte(spread), &want),
		json.Unmarshal([]byte(must(t, "", "aggregate", "-json", "-counts", table, policy)), &got)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Points, want.Points) || got.Lines != 5 || got.Reports != 5 {
		t.Errorf("from CSV %+v, want %+v", got, want)
	}
	for _, c := range []struct{ args, in, want string }{
		{"aggregate " + policy, string(b), "-counts"},
		{"aggregate -counts - -epoch 2026-08 " + policy, string(b), "2026-08"},
		{"aggregate -counts - " + filepath.Join(dir, "q"), string(b), "another policy"},
		{"aggregate -counts - " + policy, string(b[:len(b)-9]), "line 17"},
		{"aggregate -counts - " + policy, strings.Replace(string(b), "lines 10", "lines 11", 1), "hash"},
		{"aggregate -counts - " + policy, "label,count\n0,1\n4,1\n", `:3: field 1: output "4" is not known`},
		{"aggregate -counts - " + policy, "label,count\n0,1\n0,1\n", "line 2 already"},
		{"aggregate -counts - " + policy, "index,count\n0,-1\n", "negative"},
		{"aggregate -counts - " + policy, "index,count\n0,9007199254740993\n", "2^53"},
		{"aggregate -counts - " + policy, "index,count\n", "no reports"},
	} {
		if status, out, errs := try(t, c.in, strings.Fields(c.args)...); status != device.Bad || out != "" ||
			!strings.Contains(errs, c.want) {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", c.args, status, out, errs, c.want)
		}
	}
}

// TestAggregateMemory: any number of reports takes the memory of one histogram.
func TestAggregateMemory(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", policy)
	report := must(t, "1,1\n", "release", freshLedger, policy)
	n := numtest.Cases(600_000, 3_000_000) // even a word for each is more than the limit below
	in := io.LimitReader(&forever{text: []byte(strings.Repeat(report, 1000))}, int64(n*len(report)))
	var out, errs bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status := run(context.Background(), []string{"wpm", "aggregate", "-json", policy}, in, &out, &errs)
	runtime.ReadMemStats(&after)
	var got server.Tally
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || status != device.Yes || got.Reports != uint64(n) {
		t.Fatalf("status %d, %s, %v: %d reports", status, errs.String(), err, got.Reports)
	}
	// Buffers, the policy and the check of its certificate: all that is ever allocated, whether it is freed or not.
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 4<<20 {
		t.Errorf("%d bytes allocated", bytes)
	}
}

// forever is a text again and again.
type forever struct {
	text []byte
	at   int
}

func (f *forever) Read(p []byte) (int, error) {
	n := copy(p, f.text[f.at:])
	f.at = (f.at + n) % len(f.text)
	return n, nil
}
