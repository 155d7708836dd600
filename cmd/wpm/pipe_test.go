package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fenced returns the first block of a page in that language.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatalf("%s has no block of %q", page, language)
	}
	return block + "\n"
}

// TestPipePage: the lines on the page of the pipe are answered, and its program in R prints what the page says.
func TestPipePage(t *testing.T) {
	const page = "../../docs/pipe.md"
	dir := t.TempDir()
	program := filepath.Join(dir, "wpm")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := exec.Command(program, "solve", "project")
	lines.Stdin = strings.NewReader(fenced(t, page, "json"))
	out, err := lines.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	var last struct{ Q []float64 }
	if err := json.Unmarshal([]byte(answers[len(answers)-1]), &last); err != nil || len(answers) != 3 || len(last.Q) != 4 {
		t.Errorf("%v, %q", err, answers)
	}
	r, err := exec.LookPath("Rscript")
	if err != nil {
		if os.Getenv("WPM_CLIENTS") == "1" {
			t.Fatal("Rscript is not here, and WPM_CLIENTS=1 wants it")
		}
		t.Skip("Rscript is not here: the lines were answered, the program in R was not run")
	}
	script := filepath.Join(dir, "pipe.R")
	text := fenced(t, page, "r")
	if n := strings.Count(text, "\n"); n > 10 {
		t.Errorf("%d lines of R, more than the page says", n)
	}
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(r, script)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	got, err := cmd.CombinedOutput()
	if want := fenced(t, page, "text"); err != nil || string(got) != want {
		t.Errorf("R: %v, %q, want %q", err, got, want)
	}
}
