package ledger

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder in /proc cannot be synced: syncFolder says so, hence it tries.
func TestSyncFolderSyncs(t *testing.T) {
	if err := syncFolder("/proc/ledger"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("syncFolder in /proc = %v, want EINVAL of fsync", err)
	}
	if err := syncFolder(filepath.Join(t.TempDir(), "ledger")); err != nil {
		t.Error(err)
	}
}

// A new ledger's folder is synced before the ledger is there for anyone. Nothing but the system sees a sync, so a
// child may open just so many files: with room for the lock and the ledger alone, opening must fail, and at the
// folder.
func TestNewLedgerSyncsItsFolder(t *testing.T) {
	const variable = "WPM_TEST_FILES"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNewLedgerSyncsItsFolder$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "--- PASS: TestNewLedgerSyncsItsFolder") {
			t.Fatalf("%v\n%.4000s", err, out)
		}
		return
	}
	dir := t.TempDir()
	var fill []*os.File // so that no number below the last one's is free
	for range 100 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fill = append(fill, f)
	}
	last := uint64(fill[len(fill)-1].Fd())
	for _, room := range []uint64{0, 1, 2, 3} {
		limit := syscall.Rlimit{Cur: last + 1 + room, Max: last + 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "ledger")
		l, err := Open(path, Options{Epoch: "e", Budget: "1"})
		if room == 3 {
			if err := errors.Join(err, l.Close()); err != nil {
				t.Errorf("room for all three: %v", err)
			}
			break
		}
		var at *fs.PathError
		if want := []string{path + ".lock", path, dir}[room]; !errors.As(err, &at) || at.Path != want ||
			!errors.Is(err, syscall.EMFILE) {
			t.Errorf("room for %d files: %v, want %v at %s", room, err, syscall.EMFILE, want)
		}
	}
}
