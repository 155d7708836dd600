package wpm_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// unrun lists the commands that the pages print and TestDocCommands does not run, by their beginning, each with its reason.
var unrun = map[string]string{
	"go get ":                     "changes a go.mod",
	"go install ":                 "writes outside the tree; go build stands in for it",
	"go test ./...":               "is this run",
	"go test -short ./...":        "is most of this run",
	"go test -run Example ./...":  "is part of this run",
	"go test -run '^$' -fuzz":     "goes on until it is stopped; .ci/run fuzzes by count",
	".ci/":                        "runs this test, or needs hours",
	"fuzz/run ":                   "needs as long as it is told",
	"go run ./bench ":             "needs a minute, and an idle machine",
	"bench/run":                   "needs the peers, a C++ compiler and an idle machine",
	"go run ./cmd/wpm playground": "the same",
	"wpm playground":              "serves until it is stopped, and needs a clone; its tests run it",
	"wpm experiment country":      "needs minutes; its test runs it on fewer places",
	"wpm experiment movielens":    "needs data that may not be here",
	"wpm experiment all":          "needs minutes, and data that may not be here; the studies have tests of their own",
	"wpm experiment gowalla":      "needs data that may not be here",
	"wpm experiment mirror":       "needs minutes; its test runs it on fewer steps",
	"wpm experiment ring":         "needs a minute; its test runs it on fewer inputs",
	"wpm experiment mapping":      "needs minutes; its test runs it on two maps",
	"wpm experiment sphere":       "needs minutes; its test runs it on fewer seeds",
}

// printed returns the commands of a page: lines of an indented block that begin with the name of a program, and in the text what
// stands in backquotes and begins so. Of those, a go command counts if it names a package.
func printed(page string) (run, mentioned []string) {
	program := regexp.MustCompile(`^(?:(?:echo|printf) .*\| *|CGO_ENABLED=0 |for .*; do )?` +
		`(?:go (?:run|test|get|install|build)|wpm(?:-device)? [a-z]+|python3|\.ci/|fuzz/run|bench/run)`)
	page = regexp.MustCompile(` \\\n +`).ReplaceAllString(page, " ") // one command on two lines
	for line := range strings.Lines(page) {
		line, block := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if block {
			if command, _, _ := strings.Cut(line, "   #"); program.MatchString(command) {
				run = append(run, strings.TrimSpace(command))
			}
			continue
		}
		for _, m := range regexp.MustCompile("`((?:go|wpm|wpm-device) [^`]*)`").FindAllStringSubmatch(line, -1) {
			switch {
			case strings.HasPrefix(m[1], "wpm"):
				mentioned = append(mentioned, m[1])
			case program.MatchString(m[1]) && strings.Contains(m[1], "./") && !strings.Contains(page, "    "+m[1]):
				run = append(run, m[1])
			}
		}
	}
	return run, mentioned
}

// TestDocCommands runs what the pages tell a reader to type, in their order, each page in a folder of its own, where wpm is the
// command of this tree. A mention, with words in capitals for its arguments, must at least be a command with these flags.
func TestDocCommands(t *testing.T) {
	if !numtest.Full() {
		t.Skip("runs every command that the pages print: a minute")
	}
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the pages speak to a Unix shell")
	}
	if os.Getenv(within) != "" {
		t.Skip("a command that a page prints runs this test")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/wpm", "./cmd/wpm-device").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(append(pages, more...), "README.md", "CONTRIBUTING.md", "SECURITY.md")
	var all []string
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for name, content := range map[string]string{ // what a reader has: one client's counts, a truth, and a vector
				"counts.csv": "label,count\n0,3\n21,1\n", "truth.csv": "label,count\n0,5\n21,2\n399,1\n",
				"vectors.csv": "1" + strings.Repeat(",0.125", 64) + "\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.Join(root, "docs"), filepath.Join(dir, "docs")); err != nil {
				t.Fatal(err)
			}
			run, mentioned := printed(string(text))
			for _, command := range mentioned {
				if err := mention(bin, command); err != nil {
					t.Errorf("%s mentions a command that is none: %s\n%v", page, command, err)
				}
			}
			for _, command := range run {
				if slices.ContainsFunc(sortedKeys(unrun), func(p string) bool { return strings.HasPrefix(command, p) }) {
					continue
				}
				if err := try(dir, root, bin, command); err != nil {
					t.Errorf("%s prints a command that fails: %s\n%v", page, command, err)
				}
			}
		})
	}
	for _, page := range pages { // apart from the subtests, which -run may leave out
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		run, _ := printed(string(text))
		all = append(all, run...)
	}
	for _, p := range sortedKeys(unrun) {
		if !slices.ContainsFunc(all, func(command string) bool { return strings.HasPrefix(command, p) }) {
			t.Errorf("no page prints %q", p)
		}
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// within is set for what TestDocCommands runs, lest it runs itself.
const within = "WPM_DOC_COMMANDS"

// try runs one command: one of the go tool in the module, quickly; another in the folder.
func try(dir, root, bin, command string) error {
	// The binary is here, and what it writes does not belong into the tree.
	command = strings.Replace(command, "go run ./cmd/wpm ", "wpm ", 1)
	if strings.HasPrefix(strings.TrimPrefix(command, "CGO_ENABLED=0 "), "go ") {
		dir = root
	}
	command = strings.Replace(command, "go build ", "go build -o '"+bin+"' ", 1)
	want := ""
	if rest, ok := strings.CutPrefix(command, "go test "); ok {
		// Few cases are enough to see that a command works, and of benchmarks that there are such: .ci/run bench runs them.
		rest = regexp.MustCompile(`-(rapid\.checks=|benchtime |count |cpu )\S+`).ReplaceAllString(rest, "")
		if pattern := regexp.MustCompile(`-bench (\S+)`).FindStringSubmatch(rest); pattern != nil {
			name, _, _ := strings.Cut(strings.Trim(pattern[1], "'"), "/")
			rest, want = "-list '"+name+"' "+rest[strings.Index(rest, "./"):], "Benchmark"
		}
		command = "go test -short " + rest
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), within+"=1")
	out, err := cmd.CombinedOutput()
	// A release leaves one report, and the page goes on with those of many.
	if report, e := os.ReadFile(filepath.Join(dir, "report.txt")); e == nil && dir != root {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "reports.txt"), report, 0o600))
	}
	if err == nil && (strings.Contains(string(out), "no tests to run") || !strings.Contains(string(out), want)) {
		err = errors.New("it runs nothing")
	}
	if err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

// mention checks that a command exists and knows its flags.
func mention(bin, command string) error {
	words := strings.Fields(command)
	sub := 1
	for sub < len(words) && regexp.MustCompile(`^[a-z]+$`).MatchString(words[sub]) {
		sub++
	}
	help, err := exec.Command(filepath.Join(bin, words[0]), append(words[1:sub:sub], "-help")...).CombinedOutput()
	if err != nil {
		return errors.Join(err, errors.New(string(help)))
	}
	for _, w := range words[sub:] {
		if flag := strings.TrimLeft(w, "-"); flag != w && !strings.Contains(string(help), "-"+flag) {
			return errors.New("no such flag: " + w)
		}
	}
	return nil
}

// TestDocLaws runs every law that a page quotes as `TestName/Law`, as the page says to repeat it. The pattern also selects tests whose
// names begin with this one.
func TestDocLaws(t *testing.T) {
	numtest.SkipUnlessFull(t, "builds a test binary")
	bin := filepath.Join(t.TempDir(), "proptest.test")
	if out, err := exec.Command("go", "test", "-c", "-o", bin, "./proptest").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names := map[string]string{}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`(Test\\w+/\\w+)`").FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = page
		}
	}
	if len(names) < 50 {
		t.Fatalf("the pages quote %d laws", len(names))
	}
	for _, name := range sortedKeys(names) {
		cmd := exec.Command(bin, "-test.run", name, "-test.v", "-rapid.checks=5", "-test.short")
		cmd.Dir = "proptest"
		out, err := cmd.CombinedOutput()
		_, law, _ := strings.Cut(name, "/")
		if err != nil || !strings.Contains(string(out), "/"+law) {
			t.Errorf("%s: go test -run '%s' ./proptest: %v\n%s", names[name], name, err, out)
		}
	}
}
