package main

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/server"
	"github.com/wpm-go/wpm/device"
)

// TestDeviceCommands: what wpm adds to the commands of package device, and the commands that it takes as they are.
func TestDeviceCommands(t *testing.T) {
	dir := t.TempDir()
	policy, ledger, counts := filepath.Join(dir, "p"), filepath.Join(dir, "my.ledger"), write(t, dir, "c", "0,1\n")
	must(t, "", "design", "-grid", "2x2", "-p", "2", "-eps", "1", "-mode", "projection", "-menu", "no", "-table", "none",
		"-o", policy)
	if out := must(t, "", "verify", policy); !strings.Contains(out, " (W_2 = ") || !strings.Contains(out, " cells)") ||
		strings.Contains(out, "not loaded") {
		t.Errorf("verify at p = 2:\n%s", out)
	}
	must(t, "", "release", "-ledger", ledger, "-budget", "3", "-epoch", "a", "-wait", "1s", policy, counts)
	if out := must(t, "", "ledger", ledger); !strings.HasPrefix(out, "budget 3, spent 1, left 2\n") ||
		!strings.Contains(out, "\na  ") {
		t.Errorf("ledger:\n%s", out)
	}
	var got struct {
		Left    string
		Entries []struct {
			Epoch, Spent string
			Reported     bool
		}
	}
	if err := json.Unmarshal([]byte(must(t, "", "ledger", "-json", ledger)), &got); err != nil || got.Left != "2" ||
		len(got.Entries) != 1 || !got.Entries[0].Reported {
		t.Errorf("%+v, %v", got, err)
	}
	for _, args := range [][]string{{"version"}, {"-version"}} {
		if out := must(t, "", args...); !strings.Contains(out, "commit ") || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%v: %s", args, out)
		}
	}
	damaged := write(t, dir, "damaged", "wpm-ledger-1 3 0\n")
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"release", "-wait", "x", "-ledger", ledger, "-epoch", "a", policy, counts}, device.Bad, "-wait"},
		{[]string{"release", "-solver", "magic", "-ledger", ledger, "-epoch", "a", policy, counts}, device.Bad, "-solver"},
		{[]string{"release", "-ledger", ledger, "-ledger", ledger, "-epoch", "a", policy, counts}, device.Bad, "ledger"},
		{[]string{"release", "-unaccounted-for-testing", policy, counts}, device.Bad, "not defined"},
		{[]string{"release", "-ledger", damaged, "-epoch", "a", policy, counts}, device.Bad, "corrupt"},
		{[]string{"ledger", damaged}, device.No, "line 1"},
		{[]string{"ledger", policy}, device.No, "line 1"},
	} {
		status, out, errs := try(t, "", test.args...)
		if status != test.status || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 ||
			strings.Count(errs, damaged) > 1 {
			t.Errorf("%v: status %d, %q, %q", test.args, status, out, errs)
		}
	}
}

// TestWords: one report is "1 report", and evaluate states the mechanism's bias.
func TestWords(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-menu", "no", "-table", "none", "-o", policy)
	report, truth := must(t, "0,1\n", "release", freshLedger, policy), write(t, dir, "t", "user,label,count\na,0,1\n")
	if out := must(t, report, "aggregate", policy); !strings.HasPrefix(out, "1 report of policy") {
		t.Error(out)
	}
	out := must(t, report, "evaluate", policy, truth)
	if !strings.HasPrefix(out, "1 report against the truth of 1 user\n") ||
		!strings.Contains(out, "\nBias  of the line raw, not of the map: the shares of very many reports are up to ") {
		t.Error(out)
	}
	var got server.Evaluation
	if err := json.Unmarshal([]byte(must(t, report, "evaluate", "-json", policy, truth)), &got); err != nil ||
		got.Bias == nil || !(got.Bias.Worst > 0) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, errs := try(t, "", "aggregate", policy, write(t, dir, "none", "\n")); !strings.Contains(errs,
		"no reports: there is none in "+filepath.Join(dir, "none")) {
		t.Error(errs)
	}
	if status, _, errs := try(t, "xyz\n", "aggregate", policy); status != device.Bad ||
		!strings.Contains(errs, "1 of 1 line refused") {
		t.Error(errs)
	}
}
