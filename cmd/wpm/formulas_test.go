package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/policy"
)

// TestFormulaLabels: design and verify warn once of labels that a spreadsheet takes for formulas, with their number and
// the first; the policy keeps them as they are, and -quiet is quiet.
func TestFormulaLabels(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "p")
	design := func(labels ...string) string {
		t.Helper()
		points := "x,y,label\n"
		for i, s := range labels {
			points += strings.Repeat("1", i+1) + ",2,\"" + strings.ReplaceAll(s, `"`, `""`) + "\"\n"
		}
		status, _, errs := try(t, "", "design", "-eps", "1", "-table", "none", "-menu", "no", "-force", "-o", out,
			"-geometry", "public", "-base", "data-independent", "-points", write(t, dir, "points.csv", points))
		if status != device.Yes {
			t.Fatal(errs)
		}
		return errs
	}
	labels := []string{"a", `=HYPERLINK("http://evil","x")`, "+1+1|cmd", "@SUM(A1)", "-2+3", "b=c"}
	const want = "labels that a spreadsheet takes for formulas: 4, the first is \"=HYPERLINK("
	if errs := design(labels...); strings.Count(errs, want) != 1 || strings.Count(errs, "spreadsheet") != 1 {
		t.Errorf("design: %s", errs)
	}
	if status, _, errs := try(t, "", "verify", out); status != device.Yes || strings.Count(errs, want) != 1 {
		t.Errorf("verify: %d, %s", status, errs)
	}
	if _, _, errs := try(t, "", "-quiet", "verify", out); strings.Contains(errs, "spreadsheet") {
		t.Errorf("verify -quiet: %s", errs)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.InputLabels(); strings.Join(got, "\n") != strings.Join(labels, "\n") {
		t.Errorf("labels %q, want %q", got, labels)
	}
	if errs := design("a", "b=c", "1-2", "é"); strings.Contains(errs, "spreadsheet") {
		t.Errorf("design without formulas: %s", errs)
	}
}
