package maintain

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words cuts a command into words, as a shell does with single quotes.
var words = regexp.MustCompile(`'[^']*'|[^\s'();]+`)

// functions returns the names of the tests, benchmarks, fuzz targets and examples that go test finds in packages of a
// folder: patterns like ./a and ./...
func functions(t *testing.T, dir string, packages []string) (names []string) {
	t.Helper()
	decl := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	for _, p := range packages {
		p, all := strings.CutSuffix(p, "/...")
		root := filepath.Join(dir, filepath.FromSlash(p))
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != root:
				if _, err := os.Stat(filepath.Join(name, "go.mod")); !all || err == nil || d.Name() == "testdata" {
					return fs.SkipDir
				}
			case strings.HasSuffix(name, "_test.go"):
				text, err := os.ReadFile(name)
				for _, m := range decl.FindAllStringSubmatch(string(text), -1) {
					names = append(names, m[1])
				}
				return err
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	return names
}

// idle returns the flags of a "go test" command that choose nothing: no function of its packages matches.
func idle(t *testing.T, command string) (flags []string) {
	t.Helper()
	dir := "."
	if m := regexp.MustCompile(`cd ([\w/]+) && `).FindStringSubmatch(command); m != nil {
		dir = m[1]
	}
	_, command, _ = strings.Cut(command, "go test")
	var packages []string
	chosen := map[string]string{}
	all := words.FindAllString(command, -1)
	for i, w := range all {
		if strings.HasPrefix(w, ".") {
			packages = append(packages, w)
		}
		if i > 0 && slices.Contains([]string{"-run", "-bench", "-fuzz"}, all[i-1]) {
			chosen[all[i-1]] = strings.Trim(w, "'")
		}
	}
	if packages == nil {
		packages = []string{"."}
	}
	names := functions(t, dir, packages)
	for flag, pattern := range chosen {
		if pattern == "^$" || pattern == "." {
			continue
		}
		pattern, _, _ = strings.Cut(pattern, "/") // what follows names a part of a test
		find, err := regexp.Compile(pattern)
		if err != nil || !slices.ContainsFunc(names, func(name string) bool {
			return find.MatchString(name) && strings.HasPrefix(name, "Bench") == (flag == "-bench")
		}) {
			flags = append(flags, flag)
		}
	}
	return flags
}

// TestRunsFind: every "go test -run", "-bench" or "-fuzz" of a page finds something in the packages that it names. Go
// itself says PASS where it finds nothing.
func TestRunsFind(t *testing.T) {
	count := 0
	for name, text := range pages(t) {
		for _, command := range regexp.MustCompile("[^`\n]*\\bgo test [^`\n]*").FindAllString(text, -1) {
			command, _, _ = strings.Cut(command, "   #")
			command = strings.ReplaceAll(command, `\|`, "|") // in a table
			if regexp.MustCompile(`\b(NAME|PACKAGE)\b`).MatchString(command) {
				continue // what a reader fills in
			}
			dir := path.Dir(name)
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && dir != "." && !strings.Contains(command, "cd ") {
				command = "cd " + dir + " && " + command // a page of another module speaks of that module
			}
			count++
			if flags := idle(t, command); flags != nil {
				t.Errorf("%s: %v finds nothing: %s", name, flags, command)
			}
		}
	}
	if count < 20 {
		t.Errorf("%d commands", count)
	}
	for command, want := range map[string]int{
		"go test -run 'TestRunsFind$' ./maintain": 0, "go test -run TestRunsFind .": 1, "go test -run TestRunsFin$ ./maintain": 1,
		"go test -run '^$' -bench RunsFind ./maintain": 1, "go test -run TestRunsFind/PhiConvex ./...": 0,
		"cd lab && go test -run TestErrata ./errata": 0, "go test -run TestErrataEntropicGap ./...": 1,
	} {
		if got := idle(t, command); len(got) != want {
			t.Errorf("%s: %v chooses nothing, want %d", command, got, want)
		}
	}
}

// TestErrataPlaces: the evidence of docs/errata.md is where its page says: a test with Errata in its name in lab/errata, a
// law in proptest, and any other in the package beside it.
func TestErrataPlaces(t *testing.T) {
	text := pages(t)["docs/errata.md"]
	text = strings.Join(strings.Fields(fence.ReplaceAllString(text, "")), " ")
	found := regexp.MustCompile("`((?:Test|Fuzz)\\w+)(/\\w+)?`(?: in `([a-z/]+)`)?").FindAllStringSubmatch(text, -1)
	if len(found) < 50 {
		t.Errorf("%d names", len(found))
	}
	for _, m := range found {
		where := m[3]
		switch {
		case strings.HasPrefix(m[1], "TestErrata"):
			where = "lab/errata"
		case m[2] != "":
			where = "proptest"
		case where == "":
			t.Errorf("no package beside %s", m[1])
			continue
		}
		if !slices.Contains(functions(t, ".", []string{where}), m[1]) {
			t.Errorf("%s is not in %s", m[1], where)
		}
	}
}
