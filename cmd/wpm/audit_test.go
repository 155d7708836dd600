package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

// tryAudit runs "wpm audit" and returns its exit status and outputs.
func tryAudit(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return try(t, stdin, append([]string{"audit"}, args...)...)
}

func TestAuditPasses(t *testing.T) {
	dir := t.TempDir()
	points := write(t, dir, "points.csv", cities)
	for _, mode := range []string{"mixture", "projection"}[:numtest.Cases(1, 2)] {
		policy := filepath.Join(dir, mode)
		must(t, "", "design", "-points", points, "-eps", "1", "-mode", mode, "-geometry", "public", "-base",
			"data-independent", "-o", policy)
		page, draws := filepath.Join(dir, mode+".html"), filepath.Join(dir, mode+".csv")
		status, out, errs := tryAudit(t, "", "-samples", "3000", "-seed", "5", "-random-rows", "40", "-html", page, "-csv",
			draws, policy)
		if status != device.Yes || errs != "" {
			t.Fatalf("%s: status %d: %s%s", mode, status, out, errs)
		}
		for _, want := range []string{"Verdict: passed", "simulation", "Detection limit", "planted bugs found", "input roma",
			"worst pair"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", mode, want, out)
			}
		}
		if b, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(b, []byte("<!DOCTYPE html>")) {
			t.Errorf("%s: page %.40q, %v", mode, b, err)
		}
		// 4 inputs and the fallback, 4 outputs.
		if b, err := os.ReadFile(draws); err != nil || bytes.Count(b, []byte("\n")) != 1+5*4 ||
			!bytes.HasPrefix(b, []byte("input,output,count\n")) {
			t.Errorf("%s: draws %q, %v", mode, b, err)
		}
		again, out2, _ := tryAudit(t, "", policy, "-samples", "3000", "-seed", "5", "-random-rows", "40")
		if again != device.Yes || out2 != out {
			t.Errorf("%s: the same seed, another report", mode)
		}
		status, out, errs = tryAudit(t, "", "-samples", "500", "-release", "-inputs", "roma, wien,fallback", "-raw", "-csv",
			draws, "-json", "-random-rows", "1", policy)
		var report struct {
			Passed     bool
			Target     string
			Statistics struct{ Inputs []string }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || status != device.Yes || !report.Passed ||
			!strings.Contains(report.Target, "policy.Release") ||
			strings.Join(report.Statistics.Inputs, ",") != "input roma,input wien,fallback" {
			t.Errorf("%s: status %d, %+v, %v: %s", mode, status, report, err, errs)
		}
		if b, err := os.ReadFile(draws); err != nil || bytes.Count(b, []byte("\n")) != 1+3*500 {
			t.Errorf("%s: raw draws, %v", mode, err)
		}
	}
}

// TestAuditCertificates: certificates are verified with the policy's cost; a forged one is a no.
func TestAuditCertificates(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-geometry", "public", "-base", "data-independent", "-ring", "6", "-eps", "1", "-o", policy)
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	base, err := basemeasure.Uniform(context.Background(), ring, 1, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.NewBaseMeasure(context.Background(), ring, 1, base)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := c.WithoutCost()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := certificate.Write(&file, c, bare); err != nil {
		t.Fatal(err)
	}
	quick := []string{"-samples", "100", "-seed", "1", "-random-rows", "1"}
	status, out, errs := tryAudit(t, file.String(), append(quick, "-certificates", "-", policy)...)
	if status != device.Yes || strings.Count(out, "ok    -, line") != 2 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	forged := write(t, dir, "forged", strings.Replace(file.String(), `"lower":"`, `"lower":"9`, 1))
	status, out, errs = tryAudit(t, "", append(quick, "-certificates", forged, policy)...)
	if status != device.No || !strings.Contains(out, "FAIL  "+forged+", line 1") || !strings.Contains(errs, policy) ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("forged: status %d: %s%s", status, out, errs)
	}
}

// TestAuditCommand: a program that prints what it is told to leaks, and one that cannot is an error.
func TestAuditCommand(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-geometry", "public", "-base", "data-independent", "-ring", "3", "-eps", "1", "-o", policy)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(leakVariable, "1")
	status, out, errs := tryAudit(t, "", "-samples", "1000", "-random-rows", "1", "-inputs", "0,1", "-command", policy,
		"--", exe, "leak", "{n}", "{input}")
	if status != device.No || !strings.Contains(out, "VIOLATED, by output") ||
		!strings.Contains(errs, "violated: a loss of at least") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	status, out, errs = tryAudit(t, "", "-samples", "1000", "-random-rows", "1", "-command", policy, "--", exe, "leak",
		"{n}", "x -samples 3")
	if status != device.No || !strings.Contains(out, `line 1: "x -samples 3" is no output`) ||
		!strings.Contains(errs, "failed: no draws") || strings.Count(errs, "\n") != 1 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// leakVariable makes this test binary a program that prints its input as often as asked.
const leakVariable = "WPM_TEST_AUDIT_LEAK"

func init() {
	if os.Getenv(leakVariable) == "" || len(os.Args) != 4 || os.Args[1] != "leak" {
		return
	}
	n := 0
	for _, c := range os.Args[2] {
		n = 10*n + int(c-'0')
	}
	_, err := os.Stdout.WriteString(strings.Repeat(os.Args[3]+"\n", n))
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// TestAuditBadUsage: one line with the value, status 2, nothing written; and a policy whose integers do not hold is a
// no.
func TestAuditBadUsage(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-geometry", "public", "-base", "data-independent", "-ring", "5", "-eps", "1", "-o", policy)
	nonsense := write(t, dir, "nonsense", "{}\n")
	kept := write(t, dir, "kept", "precious")
	for _, test := range []struct{ args, want string }{
		{"", "one policy file"},
		{policy + " " + policy, "one policy file"},
		{filepath.Join(dir, "missing"), "missing"},
		{nonsense, nonsense},
		{"-samples 0 " + policy, "-samples: 0"},
		{"-samples x " + policy, `"x"`},
		{"-random-rows -3 " + policy, "-random-rows: -3"},
		{"-false-alarm 0 " + policy, "-false-alarm: 0"},
		{"-false-alarm NaN " + policy, "NaN"},
		{"-overshoot -1 " + policy, "-overshoot: -1"},
		{"-inputs 0,7 " + policy, `"7"`},
		{"-inputs 0 " + policy, "at least 2"},
		{"-inputs 0,0 " + policy, "twice"},
		{"-seed x " + policy, `"x"`},
		{"-raw " + policy, "-csv"},
		{"-release -command " + policy + " -- x", "-release"},
		{"-command " + policy, "after --"},
		{"-command " + policy + " -- /no/such/program", "/no/such/program"},
		{policy + " -- x", "one policy file"},
		{"-html - " + policy, "-html"},
		{"-csv - " + policy, "-csv"},
		{"-html " + policy + " " + policy, "over"},
		{"-html " + kept + " -csv " + kept + " " + policy, "over"},
		{"-certificates " + nonsense + " " + policy, nonsense + ": line 1"},
		{"-certificates " + filepath.Join(dir, "gone") + " " + policy, "gone"},
		{"-certificates - -", "both"},
		{"-certificates - -rows - " + policy, "both"},
		{"-rows " + nonsense + " " + policy, nonsense + ": audit: malformed table: line 1"},
		{"-rows " + filepath.Join(dir, "gone") + " " + policy, "gone"},
		{"-html " + filepath.Join(dir, "no", "folder") + " -samples 100 -random-rows 1 " + policy, "folder"},
		{"-nonsense " + policy, "nonsense"},
	} {
		status, out, errs := tryAudit(t, "", strings.Fields(test.args)...)
		if status != device.Bad || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm audit %s: status %d, output %.80q, error %q, want one line with %q", test.args, status, out, errs,
				test.want)
		}
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "precious" {
		t.Errorf("a failed audit wrote over a file: %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
	b, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	weak := write(t, dir, "weak", strings.Replace(string(b), `"epsilon":"1"`, `"epsilon":"0.9"`, 1))
	status, out, errs := tryAudit(t, "", "-json", weak)
	if status != device.No || !strings.Contains(out, `"passed": false`) || !strings.Contains(errs, weak) ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("a policy that does not hold: status %d, %s%s", status, out, errs)
	}
}
