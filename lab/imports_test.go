package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/wpm-go/wpm/lab"
	above  = "github.com/wpm-go/wpm"
)

type listed struct {
	ImportPath                         string
	Name                               string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) (all []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// users are the only packages that may import what is drawn with, what parses a command line, and what starts a process.
var users = map[string][]string{
	"gonum.org/v1/plot":        {"figure"},
	"github.com/urfave/cli/v3": {"cmd/wpm-lab"},
	"os/exec":                  {"bench", "faults"},
	"unsafe":                   {}, "plugin": {}, "C": {},
}

// below are the packages that a study may import, beside what draws and writes: check-ins have one reader, made-up cities
// one home, the mechanisms that are compared one list, and those that make maps alone another.
var below = []string{"compare", "figure", "gowalla", "report", "ring", "rivals", "towns"}

// inVectors says whether a package of this module is of the command that writes test vectors.
func inVectors(name string) bool { return name == "vectors" || strings.HasPrefix(name, "vectors/") }

// TestImports holds that what draws is imported by one package; that figure and report know no study; that a study
// imports no other but those that have data or mechanisms for all; that nothing reaches into the commands or the tests
// of the module above; that test vectors are made from the oracle of the laws alone; and that tests which draw cases draw
// the same ones in every run.
func TestImports(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("%d packages", len(all))
	}
	for _, p := range all {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, imp := range p.Imports {
			for what, by := range users {
				if (imp == what || strings.HasPrefix(imp, what+"/")) && !slices.Contains(by, name) {
					t.Errorf("%s imports %s", name, imp)
				}
			}
			if !strings.HasPrefix(imp, above+"/") {
				continue
			}
			in, own := strings.CutPrefix(imp, module+"/")
			switch {
			case inVectors(name) || own && inVectors(in):
				if !inVectors(name) || imp != above+"/proptest/exact" && !inVectors(in) {
					t.Errorf("%s imports %s: test vectors know nothing but their oracle, and are made for no study", name, imp)
				}
			case own && name == "figure", own && name == "report" && in != "figure":
				t.Errorf("%s imports the study %s", name, in)
			case own && p.Name != "main" && !slices.Contains(below, in):
				t.Errorf("%s imports the study %s, which is for nobody else", name, in)
			case !own && slices.ContainsFunc([]string{"cmd/", "proptest", "vectors", "conform", "fuzz", "internal/numtest",
				"internal/notices", "internal/demo", "internal/playground"}, func(no string) bool {
				return strings.HasPrefix(strings.TrimPrefix(imp, above+"/"), no)
			}):
				t.Errorf("%s imports %s, which is not for programs", name, imp)
			}
		}
		imports := slices.Concat(p.TestImports, p.XTestImports)
		if slices.Contains(imports, "pgregory.net/rapid") && !slices.Contains(imports, above+"/internal/numtest") {
			t.Errorf("the tests of %s draw with random seeds: they do not import internal/numtest", name)
		}
	}
}

// TestGoroutines holds that no code but tests starts a goroutine: internal/parallel shares work, and hands panics to the
// caller.
func TestGoroutines(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", path)
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && slices.Contains([]string{"sync.WaitGroup", "time.AfterFunc", "context.AfterFunc",
					"runtime.SetFinalizer", "runtime.AddCleanup"}, x.Name+"."+n.Sel.Name) {
					t.Errorf("%s uses %s.%s, which starts a goroutine", path, x.Name, n.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("%d files, %v", files, err)
	}
}
