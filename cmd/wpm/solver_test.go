package main

import (
	"fmt"
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

	var b strings.Builder
	for user := range 4 {
		for n := range 12 {
			lat, lon := 30.16+0.02*float64((user+n)%12), -97.89+0.02*float64((user*n)%12)
			fmt.Fprintf(&b, "%d\t2010-10-19T23:55:27Z\t%.4f\t%.4f\t%d\n", user, lat, lon, 100*user+n)
		}
	}
	data := write(t, dir, "Gowalla_totalCheckins.txt", b.String())
	study := []string{"experiment", "gowalla", "-data", data, "-out", filepath.Join(dir, "out"), "-grid", "5x5", "-users",
		"4", "-eps", "2", "-runs", "1"}
	out := must(t, "", append(study, "-solver", "entropic")...)
	if !strings.Contains(out, "4 users, 48 check-ins") {
		t.Errorf("experiment prints:\n%s", out)
	}
	if status, _, errs := try(t, "", append(study, "-solver", "magic")...); status != device.Bad ||
		!strings.Contains(errs, "magic") {
		t.Errorf("experiment -solver magic: status %d, error %q", status, errs)
	}
}
