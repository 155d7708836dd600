package maintain

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

// program matches a line that begins with the name of a program of this tree, or of one that its pages call.
var program = regexp.MustCompile(`^(?:(?:echo|printf) .*\| *|(?:[A-Z_]+=\S+ )+|for .*; do |\(?cd \w+ && )?` +
	`(?:go (?:run|test|get|install|build)|wpm(?:-[a-z]+)? [a-z-]+|python3 |python/|\.ci/|fuzz/run|lab/bench/run|proofs/|node |npm )`)

// block is a fenced block of commands.
type block struct {
	info     string // "sh", "sh untested", or "sh NAME" for a block that another test runs
	commands []string
}

// blocks returns the blocks of commands of a page, and in the text the commands that stand in backquotes: run are go
// commands that name a package and are in no block, mentioned are those of wpm.
func blocks(page string) (found []block, run, mentioned []string) {
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		if m[1] == "sh" || strings.HasPrefix(m[1], "sh ") {
			found = append(found, block{m[1], commands(m[2])})
		}
	}
	for _, m := range regexp.MustCompile("`((?:go|wpm|wpm-device|wpm-lab) [^`\n]*)`").FindAllStringSubmatch(
		fence.ReplaceAllString(page, ""), -1) {
		switch {
		case strings.HasPrefix(m[1], "wpm"):
			mentioned = append(mentioned, m[1])
		case program.MatchString(m[1]) && strings.Contains(m[1], "./") && !strings.Contains(page, "\n"+m[1]):
			run = append(run, m[1])
		}
	}
	return found, run, mentioned
}

// commands cuts a block into commands. A command goes on where a line ends in a backslash, where a loop is open, and
// where a here-document is: up to the line from which a shell finds nothing missing.
func commands(body string) []string {
	var found []string
	var open, end string
	for line := range strings.Lines(body) {
		if open == "" && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		open += line
		if m := regexp.MustCompile(`<<-? *'?(\w+)'?`).FindStringSubmatch(line); m != nil && end == "" {
			end = m[1]
		} else if end != "" && strings.TrimSpace(line) == end {
			end = ""
		}
		whole := end == "" && !strings.HasSuffix(line, "\\\n") && exec.Command("sh", "-n", "-c", open).Run() == nil
		if whole {
			found = append(found, strings.TrimSpace(open))
			open = ""
		}
	}
	if open != "" { // it is no command; running it will say so
		found = append(found, open)
	}
	return found
}

// elsewhere lists the blocks that another test runs, by what stands after ```.
var elsewhere = map[string]string{
	"sh load":     "TestPostgres in fleet/warehouse",
	"sh manifest": "TestManifestOfThePage in cmd/wpm",
	"sh plain":    "TestDuckDB in fleet/warehouse",
}

// untested returns what maintain/untested.md lists: page and first command of a block or command of the text, and why
// no test runs it.
func untested(t *testing.T) map[[2]string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("maintain", "untested.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[[2]string]string{}
	row := regexp.MustCompile("(?m)^\\| \\[?([^] |]+)[^|]* \\| `(.*)` \\| (.*) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		listed[[2]string{m[1], strings.ReplaceAll(m[2], `\|`, "|")}] = strings.TrimSpace(m[3])
	}
	return listed
}

// first is the first line of a command without its comment, as maintain/untested.md has it.
func first(command string) string {
	line, _, _ := strings.Cut(command, "\n")
	line, _, _ = strings.Cut(line, "   #")
	return strings.TrimSpace(strings.TrimSuffix(line, "\\"))
}

// TestUntested: every command of a page stands in a fence that says sh. Those that no test runs say sh untested, and
// are listed in maintain/untested.md with the reason; nothing else is there.
func TestUntested(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the pages speak to a Unix shell")
	}
	listed := untested(t)
	found := map[[2]string]bool{}
	for name, text := range pages(t) {
		all, run, _ := blocks(text)
		for _, b := range all {
			switch {
			case len(b.commands) == 0:
				t.Errorf("%s has a block without a command", name)
			case b.info == "sh untested":
				at := [2]string{name, first(b.commands[0])}
				found[at] = true
				if listed[at] == "" {
					t.Errorf("maintain/untested.md lacks a line, with a reason:\n| %s | `%s` | |", at[0],
						strings.ReplaceAll(at[1], "|", `\|`))
				}
			case b.info != "sh" && elsewhere[b.info] == "":
				t.Errorf("%s has a block %q, which no test runs", name, b.info)
			}
		}
		for _, command := range run {
			found[[2]string{name, command}] = true
		}
		for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
			if command, indented := strings.CutPrefix(line, "    "); indented && program.MatchString(command) {
				t.Errorf("%s has a command outside a fence: %s", name, command)
			}
		}
	}
	for at, why := range listed {
		if !found[at] || why == "" {
			t.Errorf("maintain/untested.md has a command that %s does not have, or no reason: %s", at[0], at[1])
		}
	}
}

// TestDocCommands runs what the pages tell a reader to type, in their order, each page in a folder of its own, where
// wpm and its kin are the commands of this tree. A mention, with words in capitals for its arguments, must at least be a command with
// these flags.
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
	for module, commands := range map[string][]string{".": {"./cmd/wpm", "./cmd/wpm-device"}, "lab": {"./cmd/wpm-lab"}} {
		build := exec.Command("go", append([]string{"build", "-o", bin}, commands...)...)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	listed := untested(t)
	all := pages(t)
	delete(all, "maintain/untested.md") // it quotes what is not run
	for _, page := range sortedKeys(all) {
		found, run, mentioned := blocks(all[page])
		var todo []string
		for _, b := range found {
			if b.info == "sh" {
				todo = append(todo, b.commands...)
			}
		}
		for _, command := range run {
			if listed[[2]string{page, command}] == "" {
				todo = append(todo, command)
			}
		}
		if len(todo)+len(mentioned) == 0 {
			continue
		}
		t.Run(strings.ReplaceAll(page, "/", "."), func(t *testing.T) { // -run takes a slash for a subtest
			dir := t.TempDir()
			for name, content := range map[string]string{ // what a reader has: one client's counts, a truth, and a vector
				"counts.csv": "label,count\n0,3\n21,1\n", "truth.csv": "label,count\n0,5\n21,2\n399,1\n",
				"vectors.csv": "1" + strings.Repeat(",0.125", 64) + "\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, folder := range []string{"docs", "vectors"} { // their programs in Python
				if err := os.Symlink(filepath.Join(root, folder), filepath.Join(dir, folder)); err != nil {
					t.Fatal(err)
				}
			}
			for _, command := range mentioned {
				if err := mention(bin, command); err != nil {
					t.Errorf("%s mentions a command that is none: %s\n%v", page, command, err)
				}
			}
			for _, command := range todo {
				if err := try(dir, root, bin, command); err != nil {
					t.Errorf("%s prints a command that fails: %s\n%v", page, command, err)
				}
			}
		})
	}
}

// TestCommands: blocks are cut into commands as a shell reads them.
func TestCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the pages speak to a Unix shell")
	}
	got := commands("# a comment\na b   # another\n\nc \\\n  d\nfor i in 1 2; do\n  e\ndone\ncat > f <<'EOF'\ng (\nEOF\nh | i\n")
	want := []string{"a b   # another", "c \\\n  d", "for i in 1 2; do\n  e\ndone", "cat > f <<'EOF'\ng (\nEOF", "h | i"}
	if !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
	page := "A `wpm verify POLICY`, a `go test ./a`.\n\n```sh\ngo test ./b\n```\n\n```sh untested\nwpm x\n```\n\n```json\n{}\n```\n"
	found, run, mentioned := blocks(page)
	if len(found) != 2 || found[0].info != "sh" || found[1].info != "sh untested" ||
		!slices.Equal(run, []string{"go test ./a"}) || !slices.Equal(mentioned, []string{"wpm verify POLICY"}) {
		t.Errorf("blocks %v, run %q, mentioned %q", found, run, mentioned)
	}
}

func sortedKeys[V any](m map[string]V) []string {
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
	if strings.HasPrefix(strings.TrimPrefix(command, "CGO_ENABLED=0 "), "go ") || strings.HasPrefix(command, "(cd ") {
		dir = root // go install writes into bin, by GOBIN
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
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOBIN="+bin, within+"=1")
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

// TestDocLaws runs every law that a page quotes as `TestName/Law`, as the page says to repeat it. The pattern also
// selects tests whose names begin with this one.
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
