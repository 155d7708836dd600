package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
)

// TestOldWords: what a command or a flag was called is an error that names what it is called now, and nothing is
// written or drawn.
func TestOldWords(t *testing.T) {
	dir := t.TempDir()
	file, counts := filepath.Join(dir, "p"), write(t, dir, "c", "label,count\n0,1\n")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", file, "-menu", "no", "-table", "none")
	answers := write(t, dir, "answers.jsonl", must(t, `{"cost":{"kind":"ring","n":3,"p":1},"a":[1,0,0],"b":[0,1,0]}`+"\n",
		"solve", "-certificate", "transport"))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"plan", "-grid", "4x4", "-eps", "1", "-n", "100"}, "-devices"},
		{[]string{"demo", "-users", "10"}, "-devices"},
		{[]string{"design", "-ring", "5", "-eps", "1", "-o", filepath.Join(dir, "q"), "-weights", counts}, "-prior"},
		{[]string{"check", answers}, "wpm certify"},
		{[]string{"check", "-"}, "wpm certify"},
		{[]string{"check", answers, answers}, "wpm certify"},
		{[]string{"check", "-json", answers}, "wpm certify -json"},
		{[]string{"check", "-cost", file, answers}, "wpm certify -cost"},
		{[]string{"release", "-check", counts, file}, "release -check POLICY COUNTS"},
	} {
		status, out, errs := try(t, "", test.args...)
		if status != device.Bad || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%v: status %d, %q, %q, want %q", test.args, status, out, errs, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "q")); err == nil {
		t.Error("a policy was written")
	}
}

// TestCheck: wpm check judges private counts as wpm-device check does.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "5", "-eps", "1", "-o", file, "-menu", "no", "-table", "none")
	good, bad := write(t, dir, "good", "label,count\n0,1\n"), write(t, dir, "bad", "label,count\nx,1\n")
	if out := must(t, "", "check", file, good); out != "usable\n" {
		t.Errorf("%q", out)
	}
	if out := must(t, "label,count\n4,2\n", "check", file, "-"); out != "usable\n" {
		t.Errorf("%q", out)
	}
	if status, out, errs := try(t, "", "check", file, bad); status != device.No || out != "" ||
		!strings.Contains(errs, "public fallback") || strings.Contains(errs, "certify") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
}

// TestHelpWords: the help of every command writes flags with one dash, as the pages do, and states a default once, and
// none for what is required; every command that is shown is in a group.
func TestHelpWords(t *testing.T) {
	twice := regexp.MustCompile(`(?m)^   -[^\n]*(\((required|default)[^\n]*\(default|\(default: 0\))`)
	dashes := regexp.MustCompile(`(^|[ ,])--[a-z]`)
	var walk func(c *cli.Command, path []string)
	walk = func(c *cli.Command, path []string) {
		text := must(t, "", append(path, "-help")...)
		if line := twice.FindString(text); line != "" {
			t.Errorf("%v: %s", path, line)
		}
		if dashes.MatchString(text) {
			t.Errorf("%v has flags with two dashes:\n%s", path, text)
		}
		for _, sub := range c.Commands {
			if !sub.Hidden && sub.Name != "help" {
				walk(sub, append(path[:len(path):len(path)], sub.Name))
			}
		}
	}
	app := command()
	walk(app, nil)
	text := must(t, "", "-help")
	at := 0
	for _, group := range []string{"try", "publish", "device", "server", "audit", "solve", "tools"} {
		next := strings.Index(text, "\n   "+group+":\n")
		if next <= at {
			t.Errorf("group %s at %d, the one before at %d:\n%s", group, next, at, text)
		}
		at = next
	}
	for _, c := range app.Commands {
		if !c.Hidden && (c.Category == "" || !strings.Contains(text, "\n     "+c.Name+" ")) {
			t.Errorf("%s is in no group", c.Name)
		}
	}
}
