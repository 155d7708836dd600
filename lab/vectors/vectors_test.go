package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestGenerated: the files are what this program writes, and all of them.
func TestGenerated(t *testing.T) {
	if !numtest.Full() {
		t.Skip("takes some seconds")
	}
	files := generate()
	for kind, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "vectors", kind+".json"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s.json is not what go run ./vectors ../vectors writes: %v", kind, err)
		}
	}
	names, err := filepath.Glob(filepath.Join("..", "..", "vectors", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += int(info.Size())
	}
	if len(names) != len(files)+1 || size > 7<<20 { // and the schema
		t.Errorf("%d files of %d bytes in all, want %d and the schema, of at most 7 MiB", len(names), size, len(files))
	}
}
