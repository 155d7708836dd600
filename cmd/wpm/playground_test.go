package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

// withoutGo hides Go and everything that was built before. The test is skipped where the program is inside the command.
func withoutGo(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../../internal/playground/dist/wpm.wasm.gz"); err == nil {
		t.Skip("the page's program is embedded")
	}
	empty := t.TempDir()
	for _, name := range []string{"PATH", "HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, empty)
	}
}

func TestPlaygroundWithoutGo(t *testing.T) {
	withoutGo(t)
	for _, dir := range []string{".", t.TempDir()} { // in a clone, and elsewhere
		t.Chdir(dir)
		status, out, errs := try(t, "", "playground", "-o", filepath.Join(t.TempDir(), "page.html"))
		if status != device.Bad || out != "" || !strings.Contains(errs, "type: go run ./cmd/wpm playground") {
			t.Errorf("in %s: status %d, %q, %q", dir, status, out, errs)
		}
	}
	for _, args := range [][]string{{"page"}, {"-o", ""}, {"-o", "-", "-open"}, {"-addr", "127.0.0.1:1"}} {
		if status, _, errs := try(t, "", append([]string{"playground"}, args...)...); status != device.Bad || errs == "" {
			t.Errorf("%q: status %d, %q", args, status, errs)
		}
	}
}

// TestPlayground writes the page, to a file and to standard output.
func TestPlayground(t *testing.T) {
	if !numtest.Full() {
		t.Skip("builds the page's program: half a minute")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	must(t, "", "playground", "-o", path)
	page, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(page), "<!DOCTYPE html>") {
		t.Fatalf("page of %d bytes, %v", len(page), err)
	}
	if out := must(t, "", "playground", "-o", "-"); out != string(page) {
		t.Errorf("-o - prints %d bytes, want the page", len(out))
	}
	// The demo has its result in the page.
	demo := filepath.Join(dir, "demo")
	text := must(t, "", "demo", "-devices", "20", "-grid", "5x5", "-o", demo)
	sentence, _, _ := strings.Cut(text, "\n")
	page, err = os.ReadFile(filepath.Join(demo, "playground.html"))
	if err != nil || !strings.Contains(string(page), sentence) {
		t.Errorf("the page of the demo: %d bytes, %v, want %q in it", len(page), err, sentence)
	}
}
