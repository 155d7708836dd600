package maintain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A typed is a package of this module with the types of its files, tests apart.
type typed struct {
	name  string // its folder; "" for the root
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// tree is every package of this module, those that are imported before those that import them, in one set of types.
type tree struct {
	set      *token.FileSet
	packages []*typed
}

// where returns the name of the file of a position.
func (t *tree) where(p token.Pos) string { return filepath.Base(t.set.Position(p).Filename) }

// typedTree checks the types of the whole module once. Packages of other modules are read as the compiler exports them.
var typedTree = sync.OnceValues(func() (*tree, error) {
	names, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,CgoFiles,Export"}
	for name := range strings.FieldsSeq(string(names)) {
		if !inFolder(short(name), "python") { // cgo: it needs a compiler, and no package imports it
			args = append(args, name)
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w", err)
	}
	t := &tree{set: token.NewFileSet()}
	exports, own := map[string]string{}, map[string]*types.Package{}
	others := importer.ForCompiler(t.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	importing := importers(func(path string) (*types.Package, error) {
		if p := own[path]; p != nil {
			return p, nil
		}
		return others.Import(path)
	})
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles, CgoFiles       []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, err
		}
		if p.ImportPath != module && !strings.HasPrefix(p.ImportPath, module+"/") {
			exports[p.ImportPath] = p.Export
			continue
		}
		of := &typed{name: short(p.ImportPath), info: newInfo()}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(t.set, filepath.Join(p.Dir, f), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			of.files = append(of.files, file)
		}
		of.pkg, err = (&types.Config{Importer: importing}).Check(p.ImportPath, t.set, of.files, of.info)
		if err != nil {
			return nil, err
		}
		own[p.ImportPath] = of.pkg
		t.packages = append(t.packages, of)
	}
})

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

type importers func(path string) (*types.Package, error)

func (f importers) Import(path string) (*types.Package, error) { return f(path) }

// theTree is typedTree.
func theTree(t *testing.T) *tree {
	t.Helper()
	all, err := typedTree()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
