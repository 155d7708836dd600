// Package notices holds a file of third-party licences to what is linked into a program. It is for tests.
package notices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// licence matches the names of what must go with a binary.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|third_party_licenses)`)

// notChosen are files of licences that a module offers beside the one that is taken.
var notChosen = map[string]string{"github.com/golang/freetype": "licenses/gpl.txt"}

// Module is a module that is linked into a program.
type Module struct {
	Path, Version, Dir string
}

// own is this module; those in its folders have names that begin with it.
const own = "github.com/wpm-go/wpm"

// Linked returns the modules of a program, in order, without those of this repository.
func Linked(t *testing.T, program string) (modules []Module) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Module", program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ Module *Module }
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if m := pkg.Module; m != nil && m.Path != own && !strings.HasPrefix(m.Path, own+"/") && !slices.Contains(modules, *m) {
			modules = append(modules, *m)
		}
	}
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return modules
}

// notice is the section of a module: every licence in its folder and in folders of licences.
func notice(t *testing.T, title, dir, without string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", title)
	found := 0
	for _, path := range append(names, more...) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		first, _, _ := strings.Cut(name, "/")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() || name == without || !licence.MatchString(first) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found++
		fmt.Fprintf(&b, "\n### %s\n\n````text\n%s\n````\n", name,
			strings.Trim(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"))
	}
	if found == 0 {
		t.Errorf("%s has no licence", title)
	}
	return b.String()
}

// Check holds that a file begins with head and has the licence of Go's standard library and of each module that is linked
// into program, in the version that is, and of no other. With -update it writes the file.
func Check(t *testing.T, program, path, head string) {
	t.Helper()
	const golang = "Go's standard library"
	titles := []string{golang}
	want := ""
	for _, m := range Linked(t, program) {
		title := m.Path + " " + m.Version
		titles = append(titles, title)
		want += notice(t, title, m.Dir, notChosen[m.Path])
	}
	if numtest.Update() {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		all := head + notice(t, golang, strings.TrimSpace(string(root)), "") + want
		if err := os.WriteFile(path, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), head) {
		t.Errorf("the beginning of %s is another", path)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, titles) {
		t.Errorf("%s has %q, the program %q", path, got, titles)
	}
	if !strings.HasSuffix(string(text), want) {
		t.Errorf("a licence in %s is not that of its module", path)
	}
}
