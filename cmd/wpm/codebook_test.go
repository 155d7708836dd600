package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/server"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

const fixedSeed = "0101010101010101010101010101010101010101010101010101010101010101"

// TestCodebookPath goes the way of vectors from the design to what a server makes of the reports, for both kinds of
// seed.
func TestCodebookPath(t *testing.T) {
	dir := t.TempDir()
	for _, seed := range []string{"fresh", fixedSeed} {
		policy, ledger := filepath.Join(dir, seed[:4]+".policy"), filepath.Join(dir, seed[:4]+".ledger")
		card := must(t, "", "sphere", "-geometry", "public", "-base", "data-independent", "-d", "2", "-eps", "3/2", "-points",
			"16", "-seed", seed, "-title", "test", "-o", policy)
		var verdict struct {
			Verified bool
			ID, Seed string
		}
		if err := json.Unmarshal([]byte(must(t, "", "verify", "-json", policy)), &verdict); err != nil {
			t.Fatal(err)
		}
		if !verdict.Verified || verdict.Seed != seed || !strings.Contains(card, verdict.ID) {
			t.Errorf("%+v, card\n%s", verdict, card)
		}
		if out := must(t, "", "verify", policy); !strings.HasPrefix(out,
			"verified: eps = 1.5 for up to 64 vectors of 3 coord") {
			t.Errorf("verify prints %s", out)
		}
		vectors := write(t, dir, "v", "weight,x1,x2,x3\n2,0,0,1\n1,0,3,0\n")
		if out := must(t, "", "release", "-check", policy, vectors); out != "usable\n" {
			t.Errorf("check: %s", out)
		}
		pay := func(epoch string, more ...string) []string {
			return append([]string{"release", "-ledger", ledger, "-epoch", epoch, policy}, more...)
		}
		first := must(t, "", pay("a", vectors, "-budget", "3")...)
		if len(first) != 145 || !strings.HasPrefix(first, "77706331"+verdict.ID) {
			t.Errorf("report %q", first)
		}
		if again := must(t, "not, a vector\n", pay("a")...); again != first {
			t.Error("a second release in an epoch drew anew")
		}
		second := must(t, "not, a vector\n", pay("b")...) // the fallback, and no error
		if status, out, errs := try(t, "", pay("c", vectors)...); status != device.No || out != "" ||
			!strings.Contains(errs, "budget") {
			t.Errorf("beyond the budget: status %d, output %q, error %q", status, out, errs)
		}
		binary := filepath.Join(dir, "binary")
		must(t, "", "release", "-ledger", ledger, "-epoch", "b", "-binary", "-o", binary, policy, vectors)
		bytesOf, err := os.ReadFile(binary)
		if err != nil || len(bytesOf) != 72 || fmt.Sprintf("%x\n", bytesOf) != second {
			t.Errorf("binary report %x, %v", bytesOf, err)
		}
		if out := must(t, first+second, "report", policy); strings.Count(out, "\n") != 2 || strings.Count(out, ",") != 4 {
			t.Errorf("report prints %s", out)
		}
		if out := must(t, string(bytesOf)+string(bytesOf), "report", "-json", policy); strings.Count(out, `"point":[`) != 2 {
			t.Errorf("report of binary reports prints %s", out)
		}
		table := filepath.Join(dir, "table")
		out := must(t, first+second, "aggregate", "-o", table, "-top", "0", policy)
		if rows, err := os.ReadFile(table); err != nil || !strings.HasPrefix(string(rows), "candidate,x1,x2,x3\n") ||
			bytes.Count(rows, []byte("\n")) != 3 {
			t.Errorf("table %s, %v", rows, err)
		}
		var tally server.VectorTally
		if err := json.Unmarshal([]byte(must(t, first+second, "aggregate", "-json", policy)), &tally); err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, p := range tally.Points {
			counted += int(p.Count)
		}
		if fixed := seed != "fresh"; len(tally.Mean) != 3 || tally.Reports != 2 || (counted == 2) != fixed ||
			strings.Contains(out, "band") != fixed {
			t.Errorf("tally %+v\n%s", tally, out)
		}
		status, out, errs := tryAudit(t, "", "-samples", "3000", "-seed", "5", "-random-rows", "40", policy)
		for _, want := range []string{"Verdict: passed", "mode codebook", verdict.ID[:12], "planted bugs found",
			"the laws of 16 clients"} {
			if status != device.Yes || !strings.Contains(out, want) {
				t.Errorf("audit: status %d, no %q in %s%s", status, want, out, errs)
			}
		}
		status, out, errs = tryAudit(t, "", "-release", "-samples", strconv.Itoa(numtest.Cases(500, 3000)), "-random-rows", "40",
			policy)
		if want := map[string]int{"fresh": device.Bad, fixedSeed: device.Yes}[seed]; status != want {
			t.Errorf("audit -release: status %d, %s%s", status, out, errs)
		}
		if status, _, errs := try(t, first, "evaluate", policy, vectors); status != device.Bad ||
			!strings.Contains(errs, "does not take") {
			t.Errorf("evaluate: status %d, %s", status, errs)
		}
	}
}

// TestCodebookVerdicts: a box that does not hold is a no of verify and audit, text that is not canonical is bad input.
func TestCodebookVerdicts(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "sphere", "-d", "3", "-eps", "2", "-points", "16", "-bits", "20", "-out", policy)
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		old, new string
		status   int
	}{
		{`"hi":"`, `"hi":"1`, device.No}, {`"epsilon":"2"`, `"epsilon":"1"`, device.No}, {`"lo":"`, `"lo":"0`, device.Bad},
		{`codebook-1`, `codebook-2`, device.Bad}, {`"bits":20`, `"bits":64`, device.Bad},
		{`"dimension":3`, `"dimension": 3`, device.Bad},
	} {
		other := write(t, dir, "other", strings.Replace(string(text), e.old, e.new, 1))
		for _, command := range []string{"verify", "audit"} {
			if status, out, errs := try(t, "", command, other); status != e.status {
				t.Errorf("%s with %s: status %d, want %d: %s%s", command, e.new, status, e.status, out, errs)
			}
		}
		if status, _, errs := try(t, "", "release", freshLedger, other); status != device.Bad {
			t.Errorf("release with %s: status %d: %s", e.new, status, errs)
		}
	}
}

// TestCodebookUsage: what the commands refuse, and that a file that cannot be unpacked is the fallback.
func TestCodebookUsage(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "sphere", "-d", "2", "-eps", "1", "-points", "16", "-out", policy)
	for args, want := range map[string]string{
		"sphere -d 2 -eps 1 -points 16":                                               "-points needs -out",
		"sphere -d 2 -eps 1 -seed fresh":                                              "-seed needs -out",
		"sphere -d 2 -eps 1 -out -":                                                   "-out",
		"sphere -d 2 -eps 100 -out " + dir + "/x":                                     "-eps",
		"sphere -d 2 -eps x":                                                          "-eps",
		"sphere -d 2 -eps 1 -points 0 -out " + dir + "/x":                             "-points",
		"sphere -d 2 -eps 1 -high 1024 -out " + dir + "/x":                            "High",
		"sphere -d 2 -eps 1 -seed abc -out " + dir + "/x":                             "-seed",
		"sphere -d 2 -eps 1 -seed " + strings.Repeat("0", 64) + " -out " + dir + "/x": "-seed",
		"verify -utility " + policy:                                                   "-utility",
		"release -solver sinkhorn " + policy:                                          "-solver",
		"aggregate -invert " + policy:                                                 "-invert",
		"aggregate " + policy:                                                         "no reports",
		"audit -command " + policy + " -- true":                                       "-command",
		"audit -inputs nobody " + policy:                                              "-inputs",
	} {
		if status, out, errs := try(t, "", strings.Fields(args)...); status != device.Bad || out != "" ||
			!strings.Contains(errs, want) {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", args, status, out, errs, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a refused design wrote a file")
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, "1,0,0,1\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := write(t, dir, "v.gz", z.String())
	broken := write(t, dir, "w.gz", z.String()[:20])
	if out := must(t, "", "release", "-check", policy, whole); out != "usable\n" {
		t.Errorf("gzipped: %s", out)
	}
	if status, _, errs := try(t, "", "release", "-check", policy, broken); status != device.No {
		t.Errorf("a broken gzip file: status %d, %s", status, errs)
	}
	if report := must(t, "", "release", freshLedger, policy, broken); len(report) != 145 {
		t.Errorf("a broken gzip file: report %q", report)
	}
}

// TestCodebookStatements: sphere states in the policy what its flags say, verify prints it, and both warn where nothing
// is said.
func TestCodebookStatements(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	design := []string{"sphere", "-d", "2", "-eps", "9", "-points", "16", "-out", policy}
	for _, said := range []struct {
		flags        []string
		errs, stated string
	}{
		{nil, "geometry and base measure", "geometry unstated; base measure unstated\n"},
		{[]string{"-geometry", "public", "-note", "an embedding"}, "comes from: base measure",
			`geometry public; base measure unstated; "an embedding"`},
		{[]string{"-geometry", "derived-dp:0.5", "-base", "data-independent"}, "",
			"geometry derived-dp, at an eps of 0.5 that no client's budget counts; base measure data-independent\n"},
	} {
		for _, args := range [][]string{append(slices.Clone(design), said.flags...), {"verify", policy}} {
			status, out, errs := try(t, "", args...)
			if status != device.Yes || !strings.Contains(errs, said.errs) ||
				strings.Contains(errs, "does not state") != (said.errs != "") || !strings.Contains(errs, "protects little") {
				t.Errorf("%v: status %d, %s", args, status, errs)
			}
			if args[0] == "verify" && !(strings.Contains(out, said.stated) && strings.Contains(out, "in words: ") &&
				strings.Contains(out, `"unit of privacy": "the whole distribution`)) {
				t.Errorf("%v: no %q in\n%s", said.flags, said.stated, out)
			}
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(must(t, "", "verify", "-json", policy)), &fields); err != nil ||
			fields["geometry"] == "" || fields["meaning"] == nil || fields["metadata"] == nil {
			t.Errorf("%v: %v, %v", said.flags, fields, err)
		}
	}
	for _, bad := range [][]string{{"-geometry", "private"}, {"-base", "public"}, {"-base", "derived-dp:0"}} {
		if status, _, errs := try(t, "", append(slices.Clone(design), bad...)...); status != device.Bad ||
			!strings.Contains(errs, bad[0]) {
			t.Errorf("%v: status %d, %s", bad, status, errs)
		}
	}
}

// TestCodebookReports: reports of vectors are read as those of points are: from gzip and from many files, with what is
// no report of the policy counted by reason and left out, or with -strict nothing written; and a fixed seed has partial
// counts.
func TestCodebookReports(t *testing.T) {
	dir := t.TempDir()
	for _, seed := range []string{"fresh", fixedSeed} {
		policy, other := filepath.Join(dir, "p"+seed[:4]), filepath.Join(dir, "q"+seed[:4])
		must(t, "", "sphere", "-d", "2", "-eps", "2", "-points", "16", "-seed", seed, "-out", policy)
		must(t, "", "sphere", "-d", "2", "-eps", "3", "-points", "16", "-seed", seed, "-out", other)
		good := ""
		for range 3 {
			good += must(t, "1,0,0,1\n", "release", freshLedger, policy)
		}
		foreign := must(t, "1,0,0,1\n", "release", freshLedger, other)
		reports := good + foreign + "\n \nxyz\n" + good[:136] + "10000000\n" + strings.Repeat("0", 1<<17) + "\n"
		want, lines := "4 of 7 lines refused: 2 malformed, 1 other-policy, 1 no-such-output", 7
		if seed != "fresh" { // of a seed that the policy does not have
			reports += good[:8+64] + strings.Repeat("ab", 32) + good[136:145]
			want, lines = "5 of 8 lines refused: 2 malformed, 1 other-policy, 1 no-such-output, 1 never-released", 8
		}
		table := filepath.Join(dir, "table")
		for _, form := range []string{reports, gzipped(t, reports)} {
			status, out, errs := try(t, form, "aggregate", "-o", table, policy)
			if status != device.Some || !strings.Contains(out, "3 reports of codebook") || !strings.Contains(out, want+".\n") ||
				errs != "wpm: "+want+"\n" {
				t.Errorf("status %d, error %q\n%s", status, errs, out)
			}
			if rows, err := os.ReadFile(table); err != nil || bytes.Count(rows, []byte("\n")) != 1+3 {
				t.Errorf("table %s, %v", rows, err)
			}
			_ = os.Remove(table)
			status, out, errs = try(t, form, "aggregate", "-strict", "-o", table, policy)
			if _, err := os.Stat(table); status != device.Bad || out != "" || err == nil ||
				!strings.Contains(errs, "-:4: other-policy") {
				t.Errorf("-strict: status %d, output %q, error %q, %v", status, out, errs, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("temporary files left: %v", left)
		}
		var whole server.VectorTally
		status, text, _ := try(t, reports, "aggregate", "-json", policy)
		if err := json.Unmarshal([]byte(text), &whole); err != nil || status != device.Some || whole.Reports != 3 ||
			whole.Lines != uint64(lines) || whole.Refused["malformed"] != 2 {
			t.Errorf("status %d, %v, %+v", status, err, whole)
		}
		// Prints up to the first line that is no report.
		if status, out, errs := try(t, reports, "report", policy); status != device.Bad || strings.Count(out, "\n") != 3 ||
			!strings.Contains(errs, "-:4: ") {
			t.Errorf("report: status %d, %q, %q", status, out, errs)
		}
		if status, out, errs := try(t, foreign, "aggregate", policy); status != device.Bad || out != "" ||
			!strings.Contains(errs, "no reports of this policy: 1 of 1 line refused: 1 other-policy") {
			t.Errorf("none: status %d, %q, %q", status, out, errs)
		}
		if out := must(t, good[:145], "aggregate", policy); !strings.HasPrefix(out, "1 report of codebook") {
			t.Errorf("one: %s", out)
		}
		first, second := write(t, dir, "a", good), write(t, dir, "b", gzipped(t, reports[len(good):]))
		part := filepath.Join(dir, "part")
		status, spread, errs := try(t, "", "aggregate", "-json", "-partial", part, "-epoch", "e", policy, first, second)
		if seed == "fresh" {
			for _, args := range [][]string{{"-partial", part}, {"-counts", first}} {
				if status, _, errs := try(t, "", append(append([]string{"aggregate"}, args...), policy)...); status != device.Bad ||
					!strings.Contains(errs, "fresh seeds") {
					t.Errorf("%v: status %d, %q", args, status, errs)
				}
			}
			continue
		}
		if status != device.Some || strings.Replace(spread, "  \"epoch\": \"e\",\n", "", 1) != text {
			t.Errorf("in two files: status %d, %s\n%s\nin one\n%s", status, errs, spread, text)
		}
		status, again, _ := try(t, "", "aggregate", "-json", "-counts", part, policy)
		var got server.VectorTally
		if err := json.Unmarshal([]byte(again), &got); err != nil || status != device.Some ||
			!slices.Equal(got.Points, whole.Points) || got.Epoch != "e" {
			t.Errorf("from counts: status %d, %v, %+v", status, err, got)
		}
		for i := range got.Mean {
			if d := got.Mean[i] - whole.Mean[i]; d > 1e-15 || d < -1e-15 {
				t.Errorf("mean %v, want %v", got.Mean, whole.Mean)
			}
		}
		for args, want := range map[string]string{
			"-counts " + part + " " + other: "another policy", "-counts " + part + " -o " + table + " " + policy: "-out",
			"-counts " + part + " -epoch f " + policy: "another epoch", "-counts " + part + " -strict " + policy: "5 of 8",
		} {
			if status, out, errs := try(t, "",
				append([]string{"aggregate"}, strings.Fields(args)...)...); status != device.Bad || out != "" ||
				!strings.Contains(errs, want) {
				t.Errorf("%s: status %d, %q, %q", args, status, out, errs)
			}
		}
	}
}

// TestCodebookMemory: twenty thousand reports take the memory of one, but for what each of them makes in passing.
func TestCodebookMemory(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "sphere", "-d", "2", "-eps", "2", "-points", "16", "-out", policy)
	report := must(t, "1,0,0,1\n", "release", freshLedger, policy)
	const n = 20_000
	in := &atEnd{Reader: io.LimitReader(&forever{text: []byte(strings.Repeat(report, 100))}, int64(n*len(report)))}
	var out, errs bytes.Buffer
	before := live()
	status := run(context.Background(), []string{"wpm", "aggregate", "-json", policy}, in, &out, &errs)
	var got server.VectorTally
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || status != device.Yes || got.Reports != n {
		t.Fatalf("status %d, %s, %v: %d reports", status, errs.String(), err, got.Reports)
	}
	if grown := in.live - before; in.live == 0 || grown > 1<<20 { // the reports are 2.9 MB
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// live is the number of bytes that are in use.
func live() int64 {
	runtime.GC()
	runtime.GC() // of pools too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// atEnd is a reader that notes what is in use when all is read.
type atEnd struct {
	io.Reader
	live int64
}

func (r *atEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.live = live()
	}
	return n, err
}
