package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// built is the program, without symbols, for a system.
func built(t *testing.T, env ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	path := filepath.Join(t.TempDir(), program+".exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestFullDisk: the program of a device is small, and it repeats a report that is paid for where nothing can be written.
func TestFullDisk(t *testing.T) {
	bin := built(t, "GOOS=linux", "GOARCH=amd64")
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 4e6 {
		t.Errorf("%d bytes, at most 4 MB", info.Size())
	}
	t.Run("full disk", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("limits the size of files by the shell of Linux")
		}
		if runtime.GOARCH != "amd64" {
			bin = built(t)
		}
		fullDisk(t, bin)
	})
}

// TestDependencies: nothing from outside the standard library and this module's trusted part.
func TestDependencies(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/wpm-go/wpm/"
	allowed := map[string]bool{"ldp": true, "policy": true, "policy/ledger": true, "policy/private": true, "device": true,
		"internal/atomicfile": true, "cmd/wpm-device": true}
	for path := range strings.FieldsSeq(string(out)) {
		if !allowed[strings.TrimPrefix(path, module)] {
			t.Errorf("it brings in %s", path)
		}
	}
}

// published writes a policy of one place in two.
func published(t *testing.T, dir string) string {
	t.Helper()
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.4, 0.4}, 16)
	if err != nil {
		t.Fatal(err)
	}
	row, err := policy.NewRow(box, box.Round([]float64{1, 0}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Rows: []policy.Row{row},
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "policy")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun: every command is there, and the whole path works.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file, ledger := published(t, dir), filepath.Join(dir, "ledger")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", file}, "cost: not loaded"},
		{[]string{"check", file}, "usable"},
		{[]string{"release", "-ledger", ledger, "-budget", "2", "-epoch", "a", file}, "77706d31"},
		{[]string{"ledger", ledger}, "left 1"},
		{[]string{"version"}, "commit "},
		{[]string{"help"}, "wpm-device release"},
	} {
		var out, errs bytes.Buffer
		if status := run(context.Background(), test.args, strings.NewReader("0,1\n"), &out, &errs); status != 0 ||
			errs.Len() > 0 {
			t.Errorf("%v: status %d, %s", test.args, status, errs.String())
		}
		if !strings.Contains(out.String(), test.want) {
			t.Errorf("%v: %q, want %q", test.args, out.String(), test.want)
		}
	}
}

func fullDisk(t *testing.T, bin string) {
	t.Helper()
	dir := t.TempDir()
	file, ledger := published(t, dir), filepath.Join(dir, "ledger")
	release := func(limit string, more ...string) (string, error) {
		// What the limit stops a write with is a signal that ends the program, so a write cannot go unseen.
		cmd := exec.Command("sh", append([]string{"-c", limit + `exec "$0" release "$@"`, bin, "-ledger", ledger, "-epoch",
			"a"}, append(more, file)...)...)
		cmd.Stdin = strings.NewReader("0,1\n")
		out, err := cmd.Output()
		return string(out), err
	}
	first, err := release("", "-budget", "2")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := release("ulimit -f 0; "); err != nil || again != first {
		t.Errorf("%q, %v, want %q", again, err, first)
	}
}
