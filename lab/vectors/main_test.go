package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckFolder: the command writes to an empty folder or over vectors, and refuses anything else before it works.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	if err := check(dir); err != nil {
		t.Errorf("empty: %v", err)
	}
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"missing": filepath.Join(dir, "none"), "a file": file, "other things": dir} {
		if err := check(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, generators[0].kind+".json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := check(dir); err != nil {
		t.Errorf("over vectors: %v", err)
	}
	if err := check(filepath.Join("..", "..", "vectors")); err != nil {
		t.Errorf("the vectors of the module: %v", err)
	}
}
