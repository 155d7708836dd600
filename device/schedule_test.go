package device

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// scheduled writes the policy "p" of a folder again, with a schedule.
func scheduled(t *testing.T, dir, name string, s ledger.Schedule) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	first, last := "null", "null"
	if s.First != "" {
		first = fmt.Sprintf("%q", s.First)
	}
	if s.Last != "" {
		last = fmt.Sprintf("%q", s.Last)
	}
	line := fmt.Sprintf("\"schedule\":{\"epochs\":%q,\"first\":%s,\"last\":%s,\"period\":%d},\n", s.Epochs, first, last,
		s.Period)
	text = bytes.Replace(text, []byte("wpm-policy-1"), []byte("wpm-policy-3"), 1)
	text = bytes.Replace(text, []byte(`"inputs":`), []byte(line+`"inputs":`), 1)
	// Version 3 writes bounds that are all equal as one.
	for _, bound := range []string{"lo", "hi"} {
		before, rest, _ := bytes.Cut(text, []byte("\""+bound+"\":["))
		list, after, _ := bytes.Cut(rest, []byte("]"))
		one, _, _ := bytes.Cut(list, []byte(","))
		text = bytes.Join([][]byte{before, []byte("\"" + bound + "\":"), one, after}, nil)
	}
	if _, err := policy.Decode(text); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSchedule: in an epoch that is not the device's there is no report, and status 0; what the schedule forbids has
// status 1, and changes no ledger; auto is the clock's epoch.
func TestSchedule(t *testing.T) {
	dir := folder(t)
	scheduled(t, dir, "year", ledger.Schedule{Epochs: ledger.Month, First: "2026-01", Last: "2027-12", Period: 12})
	scheduled(t, dir, "half", ledger.Schedule{Epochs: ledger.Month, Period: 6})
	release := func(file, epoch, clock string, more ...string) (int, string, string) {
		return try(t, dir, "home,1\n", append([]string{"release", "-ledger", "new", "-budget", "6", "-epoch", epoch, "-clock",
			clock + "-15T00:00:00Z", file}, more...)...)
	}
	reports, mine := 0, ""
	for n := range 12 {
		month := fmt.Sprintf("2026-%02d", n+1)
		status, out, errs := release("year", "auto", month)
		switch {
		case status == Yes && len(out) == 81 && errs == "":
			reports++
			mine = month
		case status != Yes || out != "" || !strings.Contains(errs, "no report in "+month+": this device reports in 202"):
			t.Errorf("%s: status %d, %q, %q", month, status, out, errs)
		}
	}
	if reports != 1 {
		t.Fatalf("%d reports in 12 months", reports)
	}
	before, err := os.ReadFile(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		file, epoch, clock string
		status             int
		text               string
	}{
		{"year", mine, "2026-12", Yes, ""}, // the report again
		{"year", "2025-12", "2026-12", No, "before 2026-01, the first"},
		{"year", "2028-01", "2028-06", No, "after 2027-12, the last"},
		{"year", "2027-01", "2026-12", No, `after "2026-12", which the clock says`},
		{"year", "2026", "2026-12", No, "want a month such as"},
		{"half", "2026-12", "2026-12", No, "the ledger has a slot of one in 12 months, and the policy asks for one in 6 months"},
		{"p", "auto", "2026-12", Bad, "states no form of epochs"},
	} {
		if status, _, errs := release(tc.file, tc.epoch, tc.clock); status != tc.status || !strings.Contains(errs, tc.text) {
			t.Errorf("%s in %s: status %d, %q, want %d, %q", tc.file, tc.epoch, status, errs, tc.status, tc.text)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "new")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the ledger has changed: %v\n%s", err, after)
	}
	status, _, errs := try(t, dir, "", "release", "-ledger", "new", "-epoch", "auto", "-clock", "noon", "year")
	if status != Bad {
		t.Errorf("-clock noon: %d, %q", status, errs)
	} else if !strings.Contains(errs, "want a time as 2026-01-31T12:00:00Z") {
		t.Errorf("-clock noon: %q", errs)
	}
	next := "2027-" + mine[5:]
	for _, tc := range []struct{ clock, next string }{
		{"2026-01", next}, // what is paid for is not due again
		{"2026-12", next},
		{next, next},
		{"2028-01", "2028-" + mine[5:]},
	} {
		args := []string{"ledger", "-clock", tc.clock + "-15T00:00:00Z", "new"}
		if status, out, _ := try(t, dir, "", args...); status != Yes || !strings.Contains(out, "for any 12 months in a row") ||
			!strings.Contains(out, "in one month of 12 ("+tc.next+", and every 12 after it)") {
			t.Errorf("%s: status %d, want %s:\n%s", tc.clock, status, tc.next, out)
		}
		if status, out, _ := try(t, dir, "", append(args, "-json")...); status != Yes || !strings.Contains(out,
			fmt.Sprintf("\"next\": %q", tc.next)) {
			t.Errorf("%s: status %d, want %s:\n%s", tc.clock, status, tc.next, out)
		}
	}
	if status, out, _ := try(t, dir, "", "ledger", "-clock", "1970-01-01T00:00:00Z", "new"); status != Yes ||
		!strings.Contains(out, "in one month of 12, and") {
		t.Errorf("a clock that says no epoch: status %d\n%s", status, out)
	}
	scheduled(t, dir, "half", ledger.Schedule{Epochs: ledger.Month, Last: "2026-12", Period: 12})
	if status, _, errs := release("half", "2026-12", "2026-12"); mine != "2026-12" && (status != Yes ||
		!strings.Contains(errs, "this device reports in "+next+", and the policy ends in 2026-12")) {
		t.Errorf("a policy that ends before the slot: status %d, %q, want %s", status, errs, next)
	}
	scheduled(t, dir, "half", ledger.Schedule{Epochs: ledger.Month, Last: next, Period: 12})
	if _, _, errs := release("half", "2026-12", "2026-12"); strings.Contains(errs, "the policy ends") {
		t.Errorf("a policy that ends with the slot's next epoch: %q", errs)
	}
	if status, out, _ := try(t, dir, "", "verify", "year"); status != Yes || !strings.Contains(out,
		"any 12 months in a row cost eps = ") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// TestSilenceKnowsNoData: silence is the same whether the private data can be read or not, and so is a report that is
// repeated; a file of an earlier report is empty after it. Where a draw needs data that cannot be read, nothing is paid.
func TestSilenceKnowsNoData(t *testing.T) {
	dir := folder(t)
	scheduled(t, dir, "half", ledger.Schedule{Epochs: ledger.Month, Period: 2})
	release := func(month, counts string) (int, string, string) {
		if err := os.WriteFile(filepath.Join(dir, "out"), []byte("a report of an earlier month\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := try(t, dir, "", "release", "-ledger", "new", "-budget", "2", "-epoch", month, "-clock",
			"2026-12-15T00:00:00Z", "-o", "out", "half", counts)
		text, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		return status, string(text), errs
	}
	status, text, words := release("2026-01", "counts")
	odd := text != "" // the device reports in January and in all odd months
	silent, next := "2026-01", "2026-04"
	if odd {
		silent, next = "2026-02", "2026-05"
		status, text, words = release(silent, "counts")
	}
	if status != Yes || text != "" || strings.Contains(words, "ends") {
		t.Fatalf("%s: status %d, %q, %q", silent, status, text, words)
	}
	for _, counts := range []string{"missing", "bad", dir} {
		if status, text, errs := release(silent, counts); status != Yes || text != "" || errs != words {
			t.Errorf("silence with %s: status %d, %q, %q, want %q", counts, status, text, errs, words)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	status, _, errs := release(next, "missing")
	if after, err := os.ReadFile(filepath.Join(dir, "new")); status != Bad || err != nil || !bytes.Equal(before, after) {
		t.Errorf("a draw without data: status %d, %q, %v\n%s", status, errs, err, after)
	}
	_, want, _ := release(next, "counts")
	if status, text, errs := release(next, "missing"); status != Yes || len(want) != 81 || text != want {
		t.Errorf("repeated: status %d, %q, %q, want %q", status, errs, text, want)
	}
}
