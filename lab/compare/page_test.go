package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestComparePage runs the program of docs/compare.md on the data of that page, and compares what it prints with what
// stands after its last "// Output:".
func TestComparePage(t *testing.T) {
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "compare.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d programs", len(blocks))
	}
	program, output, ok := strings.Cut(blocks[0][1], "// Output:")
	if !ok || strings.Contains(program, "/internal/") {
		t.Fatalf("it does not say what it prints, or imports what a reader cannot:\n%s", program)
	}
	want := strings.TrimSpace(strings.ReplaceAll(output, "\n// ", "\n"))
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the data come from a program in Python")
	}
	dir := t.TempDir()
	data := exec.Command(python, filepath.Join(docs, "compare.py"))
	data.Dir = dir
	if out, err := data.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"colours.csv", "votes.csv"} {
		quoted := fmt.Sprintf("%q", name)
		if !strings.Contains(program, quoted) {
			t.Errorf("the program does not read %s", name)
		}
		program = strings.ReplaceAll(program, quoted, fmt.Sprintf("os.Args[1] + %q", "/"+name))
	}
	program = strings.Replace(program, "import (\n", "import (\n\t\"os\"\n", 1)

	// The program is a package of this module for the go command alone.
	file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	at, err := filepath.Abs(filepath.Join("..", "program", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {at: file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{file: []byte(program), overlay: replace} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "-overlay", overlay, "./program", dir)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("it prints\n%s\nthe page says\n%s", got, want)
	}
}
