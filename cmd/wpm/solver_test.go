package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// TestSolverFlag releases with either solver. TestExperimentTies runs a study so.
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
}
