package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// TestSolverFlag releases, and runs a study, with either solver.
func TestSolverFlag(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy")
	must(t, "", "design", "-eps", "3/2", "-mode", "projection", "-o", policy, "-grid", "3x4")
	for _, solver := range []string{"auto", "exact", "entropic"} {
		if report := must(t, "0,1\n7,2\n", "release", freshLedger, "-solver", solver, policy); len(report) != 81 {
			t.Errorf("-solver %s: report %q", solver, report)
		}
	}
	if status, _, errs := try(t, "0,1\n", "release", freshLedger, "-solver", "magic", policy); status != device.Bad ||
		!strings.Contains(errs, "-solver") || !strings.Contains(errs, "magic") {
		t.Errorf("release -solver magic: status %d, error %q", status, errs)
	}

	study := []string{"experiment", "gowalla", "-out", filepath.Join(dir, "out"), "-grid", "3x3", "-users", "4", "-eps",
		"2", "-runs", "1", "-estimates=false", "-tie-range=false"}
	out := must(t, "", append(study, "-solver", "entropic")...)
	if !strings.Contains(out, "4 users, ") {
		t.Errorf("experiment prints:\n%s", out)
	}
	if status, _, errs := try(t, "", append(study, "-solver", "magic")...); status != device.Bad ||
		!strings.Contains(errs, "magic") {
		t.Errorf("experiment -solver magic: status %d, error %q", status, errs)
	}
}
