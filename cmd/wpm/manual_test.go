package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/numtest"
)

// notRun are examples that TestExamples does not run, each with its reason.
var notRun = map[string]string{
	"source <(":      "not every sh knows <(; TestCompletion runs the script",
	"wpm demo":       "it builds the page's program; TestDemo runs it",
	"wpm playground": "it builds the page's program, and opens a browser; TestPlayground writes the page",
	"man -l":         "not every machine has man; TestManualPages formats the pages if it can",
}

// TestExamples holds that every command shows an example, and that all of them run, in their order, in a folder that
// has what they name.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples speak to a Unix shell")
	}
	var lines, paths []string
	var walk func(c *cli.Command, path string)
	walk = func(c *cli.Command, path string) {
		if c.Hidden {
			return
		}
		paths = append(paths, path)
		own := manual.ExamplesOf(path, c, examples)
		if len(own) == 0 {
			t.Errorf("%s has no example", path)
		}
		help := must(t, "", append(strings.Fields(path)[1:], "-help")...)
		for _, line := range own {
			if !strings.Contains(help, "\n      "+line+"\n") {
				t.Errorf("%s -help does not show %s", path, line)
			}
		}
		lines = append(lines, own...)
		for _, sub := range c.Commands {
			walk(sub, path+" "+sub.Name)
		}
	}
	walk(command(), program)
	for _, path := range slices.Sorted(maps.Keys(examples)) {
		if !slices.Contains(paths, path) {
			t.Errorf("examples of %s, which is no command", path)
		}
	}
	for begin := range notRun {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) }) {
			t.Errorf("no example begins with %q", begin)
		}
	}
	if !numtest.Full() {
		return // without the program
	}
	dir, bin := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, content := range map[string]string{
		"places.csv": cities, "census.csv": "label,weight\nwien,2\nberlin,4\nparis,2\nroma,3\n",
		"counts.csv": "label,count\n0,3\n21,1\n",
		"truth.csv":  "label,count\n0,5\n21,2\n399,1\n", "flow.min": "p min 2 1\nn 1 1\nn 2 -1\na 1 2 0 1 3\n",
		"transport.jsonl": `{"cost":{"kind":"ring","n":4,"p":1},"source":[1,0,0,0],"target":[0.25,0.25,0.25,0.25]}` + "\n",
	} {
		write(t, dir, name, content)
	}
	for _, kind := range solveKinds(t) { // streams without a line
		if _, err := os.Stat(filepath.Join(dir, kind+".jsonl")); err != nil {
			write(t, dir, kind+".jsonl", "")
		}
	}
	// The policy comes before what uses it, and reports before what counts them, as on the way of a user.
	order := []string{"wpm plan", "wpm design", "wpm simulate"}
	rank := func(line string) int {
		for i, begin := range order {
			if strings.HasPrefix(line, begin) {
				return i
			}
		}
		return len(order)
	}
	slices.SortStableFunc(lines, func(a, b string) int { return rank(a) - rank(b) })
	done := map[string]bool{}
	for _, line := range lines {
		if done[line] || slices.ContainsFunc(slices.Collect(maps.Keys(notRun)),
			func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			continue
		}
		done[line] = true
		if strings.HasPrefix(line, "wpm design") && strings.HasSuffix(line, " policy.json") {
			_ = os.Remove(filepath.Join(dir, "policy.json")) // two examples make it
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

func solveKinds(t *testing.T) (kinds []string) {
	t.Helper()
	for _, c := range command().Command("solve").Commands {
		kinds = append(kinds, c.Name)
	}
	return kinds
}

// TestCompletion runs the scripts of the shells that are here.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for shell, lines := range map[string]struct{ check, run string }{
		"bash": {"bash -n ",
			`. ./script; for line in "wpm de" "wpm design -eps" "wpm design --wo" "wpm solve fl" "wpm -q solve flow -cert" ` +
				`'wpm design -o $(touch-x) -for' "wpm design verify"; do COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); ` +
				`COMPREPLY=(); _wpm; echo "$line: ${COMPREPLY[*]}"; done`},
		"fish": {"fish -n ",
			`source script; for line in "wpm de" "wpm design -eps" "wpm solve fl" "wpm -q solve flow -cert" ` +
				`'wpm design -o $(touch-x) -for'; echo "$line: "(string join -- " " (string replace -r -- "\t.*" "" (complete -C $line))); end`},
		"zsh": {"zsh -n ", ""},
	} {
		script := must(t, "", "completion", shell)
		path := write(t, dir, "script", script)
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("no %s", shell)
			continue
		}
		if out, err := exec.Command(shell, "-n", path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v: %s", shell, err, out)
		}
		if lines.run == "" {
			continue
		}
		cmd := exec.Command(shell, "-c", lines.run)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
		for _, want := range []string{
			"wpm de: demo design\n", "wpm design -eps: -eps\n", "wpm solve fl: flow\n", "wpm -q solve flow -cert: -certificate\n",
			"wpm design -o $(touch-x) -for: -force\n",
		} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %s lacks %s", shell, out, want)
			}
		}
	}
	if status, _, errs := try(t, "", "completion", "tcsh"); status != device.Bad || !strings.Contains(errs,
		"bash, fish, zsh") {
		t.Errorf("tcsh: %d, %s", status, errs)
	}
	if status, _, errs := try(t, "", "completion"); status != device.Bad || !strings.Contains(errs, "try: ") {
		t.Errorf("no shell: %d, %s", status, errs)
	}
}

// TestManualPages: a page for each command that is not hidden, the same twice, and no complaint of groff.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	must(t, "", "man", "-o", filepath.Join(dir, "a", "b"))
	must(t, "", "man", "-o", filepath.Join(dir, "c"))
	pages, err := filepath.Glob(filepath.Join(dir, "c", "*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	_, groffErr := exec.LookPath("groff")
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(filepath.Join(dir, "a", "b", filepath.Base(path)))
		if err != nil || string(again) != string(text) {
			t.Errorf("%s differs: %v", path, err)
		}
		for _, section := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH EXAMPLES\n",
			".SH EXIT STATUS\n"} {
			if !strings.Contains(string(text), section) {
				t.Errorf("%s has no %q", path, section)
			}
		}
	}
	if groffErr == nil {
		if out, err := exec.Command("groff", append([]string{"-man", "-ww", "-z"},
			pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v: %s", err, out)
		}
	}
	if status, _, errs := try(t, "", "man"); status != device.Bad || !strings.Contains(errs, "try: wpm man -o") {
		t.Errorf("no folder: %d, %s", status, errs)
	}
}

// TestKeepPublished: design and sphere do not write over a policy, of either kind or any version, unless they are
// told to.
func TestKeepPublished(t *testing.T) {
	dir := t.TempDir()
	points, vectors := filepath.Join(dir, "points"), filepath.Join(dir, "vectors")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", points)
	must(t, "", "sphere", "-d", "3", "-eps", "1", "-o", vectors)
	old := write(t, dir, "old", "{\n\"format\":\"wpm-policy-0\",\nrest\n")
	for _, path := range []string{points, vectors, old} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"design", "-ring", "4", "-eps", "2"}, {"sphere", "-d", "3", "-eps", "2"}} {
			args = append(args, "-o", path)
			status, out, errs := tryAsIs(t, "y\n", args...) // no terminal: nobody is asked
			if status != device.Bad || out != "" || !strings.Contains(errs, "add -force") {
				t.Errorf("%v: status %d, %q, %q", args, status, out, errs)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Fatalf("%v wrote over a policy", args)
			}
		}
		if status, _, errs := tryAsIs(t, "", "design", "-ring", "4", "-eps", "2", "-force", "-o",
			path); status != device.Yes {
			t.Error(errs)
		}
		if out := must(t, "", "verify", path); !strings.Contains(out, "eps = 2") {
			t.Errorf("%s: %s", path, out)
		}
	}
	must(t, "", "sphere", "-d", "3", "-eps", "2", "-force", "-o", points)
	for _, content := range []string{"", "label,count\n", "{\"format\":\"other\"}"} { // no policies
		status, _, errs := tryAsIs(t, "", "design", "-ring", "4", "-eps", "1", "-o", write(t, dir, "other", content))
		if status != device.Yes {
			t.Errorf("over %q: %s", content, errs)
		}
	}
}

// TestQuiet: no warnings and notes, before or after the command, and errors all the same.
func TestQuiet(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", policy)
	users := write(t, dir, "users", "label,count\n0,1\n")
	for _, q := range []string{"", "-q"} {
		args := append(strings.Fields(q), "simulate", "-devices", "5", "-o", filepath.Join(dir, "r"+q), policy, users)
		if out := must(t, "", args...); (out == "") != (q == "-q") {
			t.Errorf("%v: %q", args, out)
		}
	}
	for _, args := range []string{"-q design", "design -quiet", "-quiet design"} {
		out := filepath.Join(t.TempDir(), "p")
		status, _, errs := try(t, "", append(strings.Fields(args), "-ring", "4", "-eps", "9", "-o", out)...)
		if status != device.Yes || errs != "" {
			t.Errorf("%s: %d, %q", args, status, errs)
		}
		if _, _, errs := try(t, "", "verify", out); !strings.Contains(errs, "warning") {
			t.Errorf("without -quiet: %q", errs)
		}
		if status, _, errs := try(t, "", "-q", "verify", "-max-eps", "1", out); status != device.No ||
			!strings.Contains(errs, "-max-eps") {
			t.Errorf("an error: %d, %q", status, errs)
		}
	}
}
