package ldp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// allowed is all that the trusted core may import. math/rand, unsafe, reflect, os, time and sync
// are not here on purpose; a new line is a change of the trust base.
var allowed = map[string]bool{
	"encoding/binary": true, "errors": true, "fmt": true, "io": true, "math": true, "math/big": true, "math/bits": true,
	"strings": true,
}

// maxCode is the size, in lines that are not blank and not a comment, beyond which the core is no longer small.
const maxCode = 800

// The source keeps the rules of the trusted core: few imports, no goroutine, no init, no state that could
// change, no go:linkname and the like, and few lines.
func TestSource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code, sources := 0, 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		sources++
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "//") {
				code++
			}
			if strings.HasPrefix(line, "//go:") {
				t.Errorf("%s: directive %s", name, line)
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !allowed[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s has an init", name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, id := range v.Names {
							if !strings.HasPrefix(id.Name, "Err") {
								t.Errorf("%s has the variable %s", name, id.Name)
							}
						}
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s: concurrency", name)
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
					t.Errorf("%s: panic", name)
				}
			}
			return true
		})
	}
	if sources == 0 || code > maxCode {
		t.Errorf("%d files, %d lines of code, at most %d", sources, code, maxCode)
	}
}
