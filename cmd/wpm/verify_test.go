package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
)

// TestVerifyAndAuditAgree holds that wpm verify and wpm audit give one verdict on what a policy says of its utility.
func TestVerifyAndAuditAgree(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "5", "-eps", "0.3", "-o", policy)
	b, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		old, new string
		status   int
		want     string
	}{
		{"", "", device.Yes, "the stated bounds hold"},
		{`"lower":"`, `"lower":"-`, device.Yes, "the stated bounds hold"}, // less than it proves
		{`"lower":"`, `"lower":"9`, device.No, "claim not proved"},
		{`"upper":"`, `"upper":"-`, device.No, "claim not proved"},
		{`"eps":0.30000000000000004`, `"eps":0.3`, device.No, "epsilon"},
		{`"format":"wpm-certificate-1"`, `"format":"wpm-certificate-0"`, device.No, "not a canonical certificate"},
		{`"n":5,"p":1`, `"n":5,"p":2`, device.No, "wrong cost"},
	} {
		text := strings.Replace(string(b), test.old, test.new, 1)
		if text == string(b) && test.old != "" {
			t.Fatalf("the policy has no %s", test.old)
		}
		path := write(t, dir, "other", text)
		status, out, errs := try(t, "", "verify", path)
		if status != test.status || !strings.Contains(out+errs, test.want) {
			t.Errorf("verify with %s: status %d, %s%s", test.new, status, out, errs)
		}
		status, out, errs = tryAudit(t, "", "-samples", "2000", "-seed", "1", path)
		if status != test.status || test.status == device.No && !strings.Contains(out, test.want) ||
			!strings.Contains(out, "policy: ") {
			t.Errorf("audit with %s: status %d, %s%s", test.new, status, out, errs)
		}
	}
}

// TestVerifyAndAuditAdmit holds that wpm verify and wpm audit refuse a policy that no client could use, and warn of one
// that protects little.
func TestVerifyAndAuditAdmit(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "5", "-eps", "9", "-table", "none", "-menu", "no", "-o", policy)
	b, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	unusable := write(t, dir, "unusable", strings.Replace(string(b), `"kind":"ring"`, `"kind":"none"`, 1))
	for _, command := range [][]string{{"verify"}, {"audit", "-samples", "1000", "-seed", "1"}} {
		status, out, errs := try(t, "", append(command, policy)...)
		if status != device.Yes || !strings.Contains(errs, "protects little") || !strings.Contains(errs, "does not state") {
			t.Errorf("%v of eps 9: status %d, %s%s", command, status, out, errs)
		}
		status, out, errs = try(t, "", append(command, "-json", unusable)...)
		if status != device.No || !strings.Contains(errs, "no client can use the cost") ||
			!strings.Contains(out, "no client can use the cost") {
			t.Errorf("%v of a policy without a cost: status %d, %s%s", command, status, out, errs)
		}
	}
}

// TestVerifyUtility holds that the utility claims of a large matrix are recomputed when asked for, and only then.
func TestVerifyUtility(t *testing.T) {
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", small)
	must(t, "", "design", "-ring", "6", "-eps", "1", "-table", "none", "-o", large)
	defer func(old int) { published.QuickUtility = old }(published.QuickUtility)
	published.QuickUtility = 35
	for _, test := range []struct {
		args, want string
	}{
		{small, "the stated bounds hold"}, {"-utility " + small, "the stated bounds hold"},
		{"-privacy-only " + small, "not checked"},
		{large, "not checked"}, {"-utility " + large, "the stated bounds hold"}, {"-privacy-only " + large, "not checked"},
	} {
		if out := must(t, "", append([]string{"verify"}, strings.Fields(test.args)...)...); !strings.Contains(out,
			"utility: ") || !strings.Contains(out, test.want) {
			t.Errorf("verify %s prints %s", test.args, out)
		}
	}
	if status, _, errs := try(t, "", "verify", "-utility", "-privacy-only", small); status != device.Bad ||
		!strings.Contains(errs, "-privacy-only") {
		t.Errorf("both: status %d, %s", status, errs)
	}
}

// TestAuditRows holds that rows from elsewhere are checked exactly.
func TestAuditRows(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	must(t, "", "design", "-ring", "3", "-eps", "1", "-bits", "10", "-table", "none", "-o", policy)
	for rows, want := range map[string]int{"450,287,287\n287,287,450\n": device.Yes, "600,212,212\n": device.No,
		"450,287,286\n": device.No} {
		status, out, errs := tryAudit(t, rows, "-samples", "2000", "-seed", "1", "-rows", "-", policy)
		if status != want || !strings.Contains(out, "given rows") {
			t.Errorf("%q: status %d, %s%s", rows, status, out, errs)
		}
	}
}

// TestVerifyRows holds that the order of the rows is checked, but not with -privacy-only, and that a wrong threshold is
// status 1.
func TestVerifyRows(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p")
	must(t, "", "design", "-points", write(t, dir, "points.csv", "label,x,y\na,0,0\nb,3,1\nc,1,1\nd,5,2\n"), "-eps", "1",
		"-table", "none", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	thresholds := regexp.MustCompile(`"thresholds":\[(\d+)`)
	found := thresholds.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s", text)
	}
	first := "1"
	if string(found[1]) == first {
		first = "2"
	}
	wrong := write(t, dir, "wrong", string(thresholds.ReplaceAll(text, []byte(`"thresholds":[`+first))))
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{file}, device.Yes, "rows: each the cheapest"},
		{[]string{"-privacy-only", file}, device.Yes, "rows: not checked"},
		{[]string{"-privacy-only", "-rows", file}, device.Yes, "rows: each the cheapest"},
		{[]string{"-privacy-only", wrong}, device.Yes, "rows: not checked"},
		{[]string{"-privacy-only", "-rows", wrong}, device.No, "threshold for input 0"},
	} {
		status, out, errs := try(t, "", append([]string{"verify"}, test.args...)...)
		if status != test.status || !strings.Contains(out+errs, test.says) {
			t.Errorf("%v: status %d: %s%s", test.args, status, out, errs)
		}
	}
}
