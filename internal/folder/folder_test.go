package folder

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPrepare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Prepare(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(file); err == nil {
		t.Error("a file passes for a folder")
	}
	if err := Prepare(""); err != nil {
		t.Errorf("no folder: %v", err)
	}
}

// On an error nothing that was there changes and nothing new stays.
func TestWriteKeepsOldOnError(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "b.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][]File{
		"target is a folder": {{Name: "a.txt", Data: []byte("new")}, {Name: "b.txt"}},
		"bad name":           {{Name: "a.txt", Data: []byte("new")}, {Name: ".."}},
		"twice":              {{Name: "a.txt", Data: []byte("new")}, {Name: "a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			if paths, err := Write(dir, files); err == nil || paths != nil {
				t.Errorf("%s: Write = %q, %v; want an error", name, paths, err)
			}
			if data, err := os.ReadFile(old); err != nil || string(data) != "old" {
				t.Errorf("%s: a.txt = %q, %v; want it untouched", name, data, err)
			}
			if n := count(t, dir); n != 2 {
				t.Errorf("%s: %d entries in the folder, want 2", name, n)
			}
		})
	}
	if _, err := Write(filepath.Join(old, "below-a-file"), nil); err == nil {
		t.Error("a folder below a file: no error")
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
