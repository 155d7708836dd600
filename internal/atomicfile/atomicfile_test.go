package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// names lists what a folder holds, temporary files included.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"one", "another"} {
		if err := Write(path, 0o600, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || len(names(t, dir)) != 1 {
		t.Errorf("%v, %v, %v", info, err, names(t, dir))
	}
	if err := Write(filepath.Join(dir, "none", "a"), 0, nil); err == nil {
		t.Error("a file in a folder that is not there")
	}
}

// TestBatch: nothing has its name before Commit, and Discard leaves nothing behind.
func TestBatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	var b Batch
	for _, name := range []string{"a", "folder", "c"} {
		if err := b.Add(filepath.Join(dir, name), 0, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("there before Commit")
	}
	if err := b.Commit(); err == nil {
		t.Error("a folder was replaced")
	}
	b.Discard()
	if got := names(t, dir); len(got) != 2 || got[0] != "a" {
		t.Errorf("%v", got)
	}
}
