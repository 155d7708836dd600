package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSign: a new key signs a policy, which verify and release then accept by that key and by no other; a key is never
// overwritten, and nobody else may read it.
func TestSign(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", file("p"), "-table", "none", "-menu", "no")
	public := strings.TrimSpace(must(t, "", "sign", "-new", "-key", file("key")))
	if info, err := os.Stat(file("key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	before, err := os.ReadFile(file("key"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(must(t, "", "sign", "-key", file("key"), file("p"))); got != public || len(public) != 64 {
		t.Errorf("public key %q, then %q", public, got)
	}
	must(t, "", "verify", "-key", public, file("p"))
	must(t, "0,1\n", "release", "-key", public, "-ledger", file("l"), "-budget", "1", "-epoch", "e", file("p"))
	other := strings.TrimSpace(must(t, "", "sign", "-new", "-key", file("other")))
	for _, args := range [][]string{
		{"verify", "-key", other, file("p")},
		{"sign", "-new", "-key", file("key")},
		{"sign", "-key", file("p"), file("p")}, {"sign", "-key", file("none"), file("p")},
		{"sign", file("p")}, {"sign", "-key", file("key")}, {"sign", "-key", file("key"), "-o", file("p"), file("p")},
		{"sign", "-key", file("key"), "-o", file("key"), file("p")},
	} {
		if status, _, errs := try(t, "", args...); status == 0 || errs == "" {
			t.Errorf("%q: status %d, %q", args, status, errs)
		}
	}
	if after, err := os.ReadFile(file("key")); err != nil || string(after) != string(before) {
		t.Errorf("the key has changed: %v", err)
	}
}
