package main

import (
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// TestSimulate: devices are made up, or those of a table; the reports are marked, and count knows them.
func TestSimulate(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "", "design", "-ring", "4", "-eps", "20", "-o", "p")
	users := write(t, ".", "users", "user,label,count\na,1,5\nb,2,1\nb,3,0\nc,0,0\n")
	table := write(t, ".", "table", "label,count\n3,1\n")
	for _, c := range []struct {
		args string
		want []uint64 // so much eps that a report is the truth but for 1e-8
	}{
		{users, []uint64{0, 1, 1, 0}},
		{"-devices 5 p " + users, []uint64{0, 3, 2, 0}},
		{"-devices 5 p " + table, []uint64{0, 0, 0, 5}},
		{"-seed 3 p " + table, []uint64{0, 0, 0, 10000}},
	} {
		if !strings.Contains(c.args, "p ") {
			c.args = "p " + c.args
		}
		if out := must(t, "", append([]string{"simulate", "-o", "r"}, strings.Fields(c.args)...)...); !strings.HasPrefix(out,
			"Simulation:") {
			t.Errorf("%s prints %q", c.args, out)
		}
		if out := must(t, "", "count", "-policy", "p", "-epoch", "simulation:x", "-o", "part", "r"); !strings.Contains(out,
			"Note: the reports are simulated.") {
			t.Errorf("count prints %q", out)
		}
		if _, _, errs := try(t, "", "aggregate", "-estimator", "raw", "p", "r"); !strings.Contains(errs,
			"warning: the reports are simulated\n") {
			t.Errorf("aggregate warns %q", errs)
		}
		got := readPartFile(t, "part")
		for j, n := range c.want {
			if got.Reports[j] != n || got.AllRefused() > 0 {
				t.Errorf("%s: %d refused, reports %d, want %d", c.args, got.AllRefused(), got.Reports, c.want)
				break
			}
		}
	}
	out := must(t, "", "simulate", "-devices", "100", "p") // the default of -atoms is more than four places
	if again := must(t, "", "simulate", "-devices", "100", "-seed", "1", "-atoms", "4", "p"); again != out ||
		!strings.HasPrefix(out, "wpm-simulation-1 policy ") ||
		strings.Count(out, "\n") != 101 {
		t.Errorf("%.200q, %.200q", out, again)
	}
	must(t, "", "design", "-ring", "4", "-eps", "2", "-epochs", "month", "-period", "3", "-first", "2026-01", "-last", "2026-06",
		"-o", "timed")
	must(t, "", "simulate", "-epoch", "simulation-2026-06", "timed")
	said := must(t, "", "simulate", "-devices", "30", "-epoch", "simulation-2026-06", "-o", "june", "timed")
	if !strings.Contains(said, "reports of those with slot 0 of 3 among 30 made-up devices, under") {
		t.Error(said)
	}
	for _, c := range []struct{ args, want string }{
		{"simulate -epoch simulation-2025-12 timed", "before 2026-01, the first"},
		{"simulate -epoch simulation-2026-07 timed", "after 2026-06, the last"},
		{"simulate -epoch simulation-2026 timed", "want a month"},
		{"simulate -epoch simulation-2026-01 p", "no period"},
		{"simulate", "takes a policy"},
		{"simulate p users table", "takes a policy"},
		{"simulate - -", "standard input"},
		{"simulate -atoms 5 p", "5 places"},
		{"simulate -atoms 0 p", "-atoms"},
		{"simulate -devices -1 p", "-devices"},
		{"simulate -atoms 2 p users", "-atoms"},
		{"simulate -o p p", "written over"},
		{"simulate p absent", "absent"},
		{"simulate users", "users"},
		{"simulate p zero", "zero"},
	} {
		write(t, ".", "zero", "label,count\n3,0\n")
		if status, out, errs := try(t, "", strings.Fields(c.args)...); status != device.Bad || out != "" ||
			!strings.Contains(errs, c.want) {
			t.Errorf("wpm %s: %d, %q, want %q", c.args, status, errs, c.want)
		}
	}
}
