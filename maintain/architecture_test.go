package maintain

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestArchitectureTable holds the packages of docs/architecture.md, layer by layer, with what they say of themselves and
// what they import. With -update it writes them.
func TestArchitectureTable(t *testing.T) {
	const page = "docs/architecture.md"
	const begin, end = "<!-- packages: go test ./maintain -run TestArchitectureTable -update -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no lines %q and %q", page, begin, end)
	}
	want := before + begin + tables(t) + end + after
	if want == string(text) {
		return
	}
	if !numtest.Update() {
		t.Fatalf("the packages of %s are not as the code has them: run go test ./maintain -run TestArchitectureTable -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tables has one table for each layer, from the bottom. Folders without code are left out.
func tables(t *testing.T) string {
	var b strings.Builder
	all := ours(t)
	for at, l := range layers {
		fmt.Fprintf(&b, "\n### %d. %s\n\n| package | what it does | imports of this module |\n| --- | --- | --- |\n", at+1, strings.ToUpper(l.name[:1])+l.name[1:])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if layerOf(name) != at || all[name].Doc == "" || name == "proofs" {
				continue
			}
			var imports []string
			for _, imp := range all[name].Imports {
				switch {
				case imp == module:
					imports = append(imports, "wpm")
				case strings.HasPrefix(imp, module+"/"):
					imports = append(imports, "`"+short(imp)+"`")
				}
			}
			slices.Sort(imports)
			shown := "`" + name + "`"
			if name == "" {
				shown = "wpm"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", shown, synopsis(all[name].Doc), strings.Join(imports, ", "))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// synopsis is the first sentence of a package, without its name.
func synopsis(doc string) string {
	words := strings.Fields(doc)
	switch words[0] {
	case "Package", "Command":
		words = words[2:]
	default:
		words = words[1:]
	}
	return strings.ReplaceAll(strings.TrimRight(strings.Join(words, " "), ".:"), "|", "\\|")
}
