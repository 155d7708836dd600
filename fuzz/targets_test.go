package fuzz

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTargets holds the tables of the package comment to the targets that there are: those of this folder by name, the
// others by folder and name.
func TestTargets(t *testing.T) {
	listed := map[string]bool{}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t((?:[a-z]+/)*Fuzz\w+) {2,}\S.* {2,}\S`).FindAllStringSubmatch(
		string(doc), -1) {
		listed[m[1]] = true
	}
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)
	seeds := regexp.MustCompile(`f\.Add\(`)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if folder != "fuzz" {
				name = folder + "/" + name
			}
			if !listed[name] {
				t.Errorf("doc.go does not list %s with entry point and oracle", name)
			}
			delete(listed, name)
			if !seeds.Match(text) {
				t.Errorf("%s adds no seeds", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range listed {
		t.Errorf("doc.go lists %s, which does not exist", name)
	}
}
