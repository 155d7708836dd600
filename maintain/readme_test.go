package maintain

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReadmeProgram runs the program that the README shows, as a reader would who copies it.
func TestReadmeProgram(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```go\n")
	program, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 || !strings.HasPrefix(program, "package main") {
		t.Fatal("the README's first Go block is not a program")
	}
	if got, want := runProgram(t, program), "[0.5 0.3 0.1 0.1]\ntrue\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
}

// TestReadmeCommands: the section "Two commands" has two, one that does the main job and one that runs the tests. What
// else the section shows stands below a sentence that follows them.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("a shell cuts a block into commands")
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Two commands\n")
	if !ok {
		t.Fatal("no section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var got []string
	for n, m := range regexp.MustCompile("(?s)(.*?)```sh[^\n]*\n(.*?)```").FindAllStringSubmatch(section, -1) {
		if n > 0 && strings.TrimSpace(m[1]) != "" {
			break
		}
		for _, command := range commands(m[2]) {
			got = append(got, first(command))
		}
	}
	if want := []string{"go run ./cmd/wpm demo", "go test ./..."}; !slices.Equal(got, want) {
		t.Errorf("two commands: %q, want %q", got, want)
	}
}

// TestReadmePicture: the picture of the README is the demo's, and its caption has the demo's distances.
func TestReadmePicture(t *testing.T) {
	dir := t.TempDir()
	said, err := exec.Command("go", "run", "./cmd/wpm", "-quiet", "demo", "-o", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	var files [3]string
	for n, name := range []string{"README.md", filepath.Join("docs", "figures", "city.svg"), filepath.Join(dir, "map.svg")} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[n] = string(text)
	}
	if files[1] != files[2] {
		t.Error("docs/figures/city.svg is not map.svg of the demo")
	}
	_, caption, _ := strings.Cut(files[0], "docs/figures/city.svg)\n\n*")
	caption, _, _ = strings.Cut(caption, "*\n")
	numbers := regexp.MustCompile(`\d\.\d\d`)
	first, _, _ := strings.Cut(string(said), "\n")
	if got, want := numbers.FindAllString(caption, -1), numbers.FindAllString(first, -1); len(want) != 4 ||
		!slices.Equal(got, want) {
		t.Errorf("the caption has %v, and the demo says %q", got, first)
	}
}

// TestReadmeMaps: what docs/choosing.md says of how far a map is from the truth, in its table and in its picture, is in
// the table that was measured.
func TestReadmeMaps(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, city, _ := strings.Cut(read(filepath.Join("docs", "results", "mapping.md")), "| check-ins of a made city (cells) |")
	measured := map[string][]string{} // by number of devices: the maps at eps 1, 2 and 4
	for n, line := range strings.SplitN(city, "\n", 4)[:3] {
		cells := strings.Split(line, "|")
		if n > 0 {
			cells = cells[2:]
		}
		var maps []string
		for _, cell := range cells[3:6] {
			_, after, _ := strings.Cut(cell, ", ") // raw, map, EM
			mean, _, _ := strings.Cut(after, ", ")
			maps = append(maps, strings.TrimSpace(mean))
		}
		measured[strings.TrimSpace(cells[0])] = maps
	}
	rows := regexp.MustCompile(`(?m)^\| ([0-9,]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \|$`).FindAllStringSubmatch(
		read(filepath.Join("docs", "choosing.md")), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if !slices.Equal(row[2:], measured[row[1]]) {
			t.Errorf("%s people: the page says %v, measured was %v", row[1], row[2:], measured[row[1]])
		}
	}
	picture := read(filepath.Join("docs", "figures", "devices.svg"))
	for n, eps := range []string{"1", "2", "4"} {
		if label := ">eps = " + eps + ": " + measured["200,000"][n] + "<"; !strings.Contains(picture, label) {
			t.Errorf("the picture does not say %q", label)
		}
	}
}

// TestOdds: what README and docs/operation.md say of even odds after eps is arithmetic: e^eps to 1.
func TestOdds(t *testing.T) {
	all := pages(t)
	sure := func(eps float64) float64 { return 100 / (1 + math.Exp(-eps)) }
	// same tells whether a number of a page is v, rounded to the digits that the page has.
	same := func(said string, v float64) bool {
		said = strings.ReplaceAll(said, ",", "")
		_, after, _ := strings.Cut(said, ".")
		return said == strconv.FormatFloat(v, 'f', len(after), 64)
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	readme := regexp.MustCompile(`([\d.]+) % at eps (\d)`).FindAllStringSubmatch(all["README.md"], -1)
	table := regexp.MustCompile(`(?m)^\| ([\d.]+) \| ([\d.,]+) to 1 \| ([\d.]+) % \|$`).FindAllStringSubmatch(all["docs/operation.md"], -1)
	if len(readme) != 3 || len(table) != 6 {
		t.Fatalf("%d and %d statements", len(readme), len(table))
	}
	for _, m := range readme {
		if !same(m[1], sure(number(m[2]))) {
			t.Errorf("README.md: %s", m[0])
		}
	}
	for _, m := range table {
		eps := number(m[1])
		if !same(m[3], sure(eps)) || !same(m[2], math.Exp(eps)) {
			t.Errorf("docs/operation.md: %s; %v to 1, %v %%", m[0], math.Exp(eps), sure(eps))
		}
	}
}

// TestReadmeLength: the README is read in one sitting.
func TestReadmeLength(t *testing.T) {
	if n := strings.Count(pages(t)["README.md"], "\n"); n > 110 {
		t.Errorf("%d lines", n)
	}
}

// runProgram runs Go code of one file as a package of this module, and returns what it prints. The package is there for
// the go command alone, always in the same folder, so that a program that was built once is not linked again.
func runProgram(t *testing.T, program string, args ...string) string {
	t.Helper()
	if strings.Contains(program, module+"/internal/") {
		t.Fatal("a reader cannot import what is internal")
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	at, err := filepath.Abs(filepath.Join("program", "main.go"))
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
	out, err := exec.Command("go", append([]string{"run", "-overlay", overlay, "./program"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// snippets returns the Go blocks of a page, and for each the text after its last "// Output:", which is what it must
// print.
func snippets(t *testing.T, page string) (code, want []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		body, output, ok := strings.Cut(m[1], "// Output:")
		if !ok {
			t.Fatalf("%s: a snippet does not say what it prints:\n%s", page, m[1])
		}
		code = append(code, body)
		want = append(want, strings.TrimSpace(strings.ReplaceAll(output, "\n// ", "\n")))
	}
	return code, want
}

// TestPrograms compiles and runs the snippets of the pages whose Go code says what it prints, a program for each page.
func TestPrograms(t *testing.T) {
	for page, least := range map[string]int{"solvers.md": 15, "gonum.md": 1, "flows.md": 6} {
		t.Run(page, func(t *testing.T) { runSnippets(t, filepath.Join("docs", page), least) })
	}
}

// imported are the packages of snippets whose import path does not follow from their name.
var imported = map[string]string{"costio": module + "/cost/costio", "verify": module + "/projection/verify",
	"codebook": module + "/sphere/codebook", "network": module + "/mincostflow/network", "kl": module + "/sinkhorn/kl",
	"units": module + "/mincostflow/units",
	"grid":  module + "/sinkhorn/grid", "plan": module + "/estimate/plan", "atlas": module + "/estimate/atlas",
	"series":  module + "/estimate/series",
	"ledger":  module + "/policy/ledger",
	"private": module + "/policy/private",
	"mat":     "gonum.org/v1/gonum/mat", "stat": "gonum.org/v1/gonum/stat"}

func runSnippets(t *testing.T, page string, least int) {
	code, want := snippets(t, page)
	if len(code) < least {
		t.Fatalf("%d snippets", len(code))
	}
	path := maps.Clone(imported)
	for _, std := range []string{"bytes", "errors", "fmt", "math", "os", "slices", "strings"} {
		path[std] = std
	}
	for name := range ours(t) {
		if path[name] == "" && !strings.Contains(name, "/") && name != "" {
			path[name] = module + "/" + name
		}
	}
	used := map[string]bool{"context": true}
	var b strings.Builder
	for n, body := range code {
		fmt.Fprintf(&b, "func snippet%d() {\n%s}\n\n", n, body)
		for _, m := range regexp.MustCompile(`\b([a-z]+)\.[A-Z]`).FindAllStringSubmatch(body, -1) {
			if from := path[m[1]]; from != "" {
				used[from] = true
			}
		}
	}
	var program strings.Builder
	program.WriteString("package main\n\nimport (\n\t\"fmt\"\n")
	for _, from := range sortedKeys(used) {
		if from != "fmt" {
			fmt.Fprintf(&program, "\t%q\n", from)
		}
	}
	program.WriteString(")\n\nvar ctx = context.Background()\n\nfunc check(err error) {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n}\n\n")
	program.WriteString(b.String())
	program.WriteString("func main() {\n")
	const mark = "-- end of snippet --"
	for n := range code {
		fmt.Fprintf(&program, "\tsnippet%d()\n\tfmt.Println(%q)\n", n, mark)
	}
	program.WriteString("}\n")
	got := strings.Split(runProgram(t, program.String()), mark+"\n")
	for n, w := range want {
		if g := strings.TrimSpace(got[n]); g != w {
			t.Errorf("%s: this snippet prints %q, the page says %q:\n%s", page, g, w, code[n])
		}
	}
}

// TestSolversTable holds the column "imports" of docs/solvers.md to what go list says, and the page to all packages
// that one would import alone.
func TestSolversTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "solvers.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([a-z/]+)`")
	seen := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 5 || !strings.HasPrefix(line, "| [`") {
			continue
		}
		name := quoted.FindStringSubmatch(cells[0])[1]
		seen[name] = true
		var stated, real []string
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			stated = append(stated, m[1])
		}
		elsewhere := false
		for _, imp := range ours(t)[name].Imports {
			if inFolder(imp, module) {
				real = append(real, short(imp))
			} else if strings.Contains(imp, ".") {
				elsewhere = true
			}
		}
		slices.Sort(real)
		if name == "certificate" { // "the solvers": named by what they are
			continue
		}
		if !slices.Equal(stated, real) {
			t.Errorf("%s imports %v, the page says %v", name, real, stated)
		}
		if other := regexp.MustCompile(`gonum|rapid|NPY`).MatchString(cells[2]); other != elsewhere {
			t.Errorf("%s: imports from outside the module %v, the page says %v", name, elsewhere, other)
		}
	}
	for name := range ours(t) {
		public := name != "" && name != "python" && !inFolder(name, "js/wasm") && name != "device" && name != "audit" &&
			name != "fuzz" && name != "proofs" && name != "release" && name != "conform" && !inFolder(name, "maintain") &&
			!strings.HasPrefix(name, "vectors") && !strings.Contains(name, "internal/") &&
			!strings.HasPrefix(name, "policy") && !strings.HasPrefix(name, "cmd/")
		if public != seen[name] {
			t.Errorf("%s: on the page %v, want %v", name, seen[name], public)
		}
	}
}
