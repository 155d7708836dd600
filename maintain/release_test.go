package maintain

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// versions are the places of a version, each with a pattern of which group 1 is the version.
var versions = map[string]string{
	"CITATION.cff":           `(?m)^version: (\S+)$`,
	"CHANGELOG.md":           `(?m)\A(?:[^#]|# )*^## (?:Unreleased: )?v(\S+?)(?:, |$)`, // of the first section
	"docs/reproduce.md":      `(?m)^  version = \{(\S+)\},$`,
	"java/build":             `(?m)^version=(\S+)$`,
	"java/README.md":         `wpm-(\S+)\.jar`,
	"js/package.json":        `(?m)^  "version": "(\S+)",$`,
	"js/package-lock.json":   `(?m)^  "version": "(\S+)",$`,
	"python/wpm/__init__.py": `(?m)^__version__ = "(\S+)"$`,
}

// TestVersions: what is published from one commit has one version, and the day of a released one is the changelog's.
func TestVersions(t *testing.T) {
	found := map[string]string{}
	for name, pattern := range versions {
		text := readFile(t, name)
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s states no version", name)
			continue
		}
		found[name] = m[1]
	}
	for name, v := range found {
		if v != found["CITATION.cff"] {
			t.Errorf("%s has version %s, CITATION.cff has %s", name, v, found["CITATION.cff"])
		}
	}
	day := regexp.MustCompile(`(?m)^date-released: (\S+)$`).FindStringSubmatch(readFile(t, "CITATION.cff"))
	if day == nil {
		t.Fatal("CITATION.cff has no date-released")
	}
	if _, err := time.Parse(time.DateOnly, day[1]); err != nil {
		t.Error(err)
	}
	cited, citation := readFile(t, "docs/reproduce.md"), readFile(t, "CITATION.cff")
	if !strings.Contains(cited, "\n  date    = {"+day[1]+"}\n") {
		t.Errorf("docs/reproduce.md is not of %s", day[1])
	}
	paper := regexp.MustCompile(`(?m)^  title  = \{(.*)\},$`).FindStringSubmatch(cited)
	if paper == nil || !strings.Contains(citation, "\n    title: "+paper[1]+"\n") {
		t.Errorf("docs/reproduce.md and CITATION.cff cite two papers: %q", paper)
	}
	for _, m := range regexp.MustCompile(`family-names: (.*)\n +given-names: (.*)\n`).FindAllStringSubmatch(citation, -1) {
		if !strings.Contains(cited, m[1]+", "+m[2]) {
			t.Errorf("docs/reproduce.md lacks the author %s, %s", m[1], m[2])
		}
	}
	heading := regexp.MustCompile(`(?m)^## .*$`).FindString(readFile(t, "CHANGELOG.md"))
	if !strings.HasPrefix(heading, "## Unreleased: ") && !strings.HasSuffix(heading, ", "+day[1]) {
		t.Errorf("CITATION.cff is of %s, the changelog begins with %q", day[1], heading)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// modules returns the folders of the modules of this repository.
func modules(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if err == nil && d.Name() == "go.mod" {
			found = append(found, path.Dir(filepath.ToSlash(name)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// promises returns what the tables of a page say of each folder or package that stands in the first column: the state, and
// "" for the root.
func promises(page string) map[string][]string {
	found := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*) \|$`).FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], "the root") {
			found[""] = append(found[""], m[2])
		}
		for _, name := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(m[1], -1) {
			found[name[1]] = append(found[name[1]], m[2])
		}
	}
	return found
}

// stability returns the promises of docs/stability.md, from the section of packages on to that with the other heading.
func stability(t *testing.T, end string) map[string][]string {
	t.Helper()
	_, tables, ok := strings.Cut(readFile(t, "docs/stability.md"), "\n## Go packages\n")
	tables, _, ok2 := strings.Cut(tables, "\n## "+end+"\n")
	if !ok || !ok2 {
		t.Fatal("docs/stability.md has no section of packages, or none after it: " + end)
	}
	return promises(tables)
}

// promise returns the state of a package: its own, or that of a folder above it of which all is promised alike.
func promise(said map[string][]string, name string) string {
	if own := said[name]; len(own) > 0 {
		return own[0]
	}
	for name != "." && name != "" {
		name = path.Dir(name)
		if above := said[name]; len(above) > 0 && !strings.HasPrefix(above[0], "stable") {
			return above[0]
		}
	}
	return ""
}

// TestStability: docs/stability.md has one row for every package that a program can import, for every module, and for the
// other languages, and names nothing else. It says what is promised of each program.
func TestStability(t *testing.T) {
	said := stability(t, `What "the same" means`)
	for name, states := range said {
		if _, err := os.Stat(filepath.FromSlash(path.Join(".", name))); err != nil || len(states) != 1 {
			t.Errorf("docs/stability.md has %q in %d rows: %v", name, len(states), err)
		}
	}
	want := append(modules(t), "java", "js", "python")
	for name, p := range ours(t) {
		if p.Name != "main" && !strings.Contains("/"+name+"/", "/internal/") {
			want = append(want, name)
		}
	}
	for _, name := range want {
		if name == "." {
			name = ""
		}
		if promise(said, name) == "" {
			t.Errorf("docs/stability.md promises nothing of %q, not even nothing", name)
		}
	}
	page := readFile(t, "docs/stability.md")
	for _, module := range modules(t) {
		commands, err := filepath.Glob(filepath.Join(filepath.FromSlash(module), "cmd", "wpm*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range commands {
			if !strings.Contains(page, "`"+filepath.Base(name)+"`") {
				t.Errorf("docs/stability.md does not name the program %s", name)
			}
		}
	}
	got := promises("| `a`, `b/c` | stable |\n| the root | stable |\n| `a`, `d` | no promise |\n")
	for name, want := range map[string]string{"a": "stable", "b/c": "stable", "": "stable", "d/e/f": "no promise", "a/b": "",
		"b": "", "g": ""} {
		if state := promise(got, name); state != want || len(got["a"]) != 2 {
			t.Errorf("%q: %q, want %q", name, state, want)
		}
	}
}

// TestReleasing: docs/releasing.md has a tag, or none, for each module of the repository, and its commands set these.
func TestReleasing(t *testing.T) {
	page := readFile(t, "docs/releasing.md")
	version := regexp.MustCompile(`(?m)^version: (\S+)$`).FindStringSubmatch(readFile(t, "CITATION.cff"))
	rows, tagged := map[string]string{}, []string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]*go\\.mod)` \\| (\\S+) \\|").FindAllStringSubmatch(page, -1) {
		rows[path.Dir(m[1])] = m[2]
	}
	found := modules(t)
	for _, name := range found {
		tag := "`" + path.Join(name, "v"+version[1]) + "`"
		if rows[name] != tag && rows[name] != "none" {
			t.Errorf("%s: the page has the tag %q, want %s or none", name, rows[name], tag)
		}
		if rows[name] != "none" && name != "." {
			tagged = append(tagged, name)
		}
	}
	if len(rows) != len(found) {
		t.Errorf("the page has %d modules, there are %d", len(rows), len(found))
	}
	for _, m := range regexp.MustCompile(`(?m)^for module in ([^;]*); do`).FindAllStringSubmatch(page, -1) {
		if loop := strings.Fields(m[1]); !slices.Equal(slices.Sorted(slices.Values(loop)), tagged) {
			t.Errorf("a loop sets the tags of %q, want %q", loop, tagged)
		}
	}
	if n := strings.Count(page, "for module in "); n != 2 {
		t.Errorf("%d loops", n)
	}
}

// TestPackageExamples: every package that users import has an example that is run. Those that are for tests, and those
// without a promise, are not such.
func TestPackageExamples(t *testing.T) {
	said := stability(t, "Other languages")
	folders := modules(t)
	for name := range ours(t) {
		folders = append(folders, name)
	}
	checked := 0
	for _, name := range folders {
		name = strings.TrimPrefix(name, ".")
		state := promise(said, name)
		if p, ok := ours(t)[name]; ok && p.Name == "main" || state == "" || strings.HasPrefix(state, "for tests") ||
			strings.HasPrefix(state, "no promise") {
			continue
		}
		checked++
		if !slices.ContainsFunc(examples(t, name), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }) {
			t.Errorf("package %q has no example with an output", name)
		}
	}
	if checked < 30 {
		t.Errorf("%d packages", checked)
	}
}

// examples returns the examples in the tests of a folder.
func examples(t *testing.T, folder string) []*doc.Example {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(path.Join(".", folder)), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return doc.Examples(files...)
}
