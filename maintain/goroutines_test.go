package maintain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// starters is every function or type outside internal/parallel that may start a goroutine. A panic on a goroutine of
// its own ends the process, so a new line needs the reason why none can happen, or why that is right. All other work
// is shared by internal/parallel, which hands panics to the caller.
var starters = map[string]string{
	"internal/parallel.Group":          "the one place that catches what a goroutine throws",
	"policy.attempt":                   "a solver that may never return; the goroutine recovers, and is abandoned when the time is over",
	"device.Main":                      "reads from standard input cannot be called off when the command is interrupted",
	"policy/ledger.interrupt":          "a loop that the runtime interrupts; it ends by itself",
	"policy/ledger.standBy":            "threads for what follows; they wait for one another, and end",
	"internal/child.Start":             "ends the child when its caller is cancelled",
	"internal/child.Project":           "ends the child when its caller is cancelled or its time is over",
	"internal/child.Serve":             "ends the child's own process when its time is over",
	"proptest/internal/planted.failed": "a law that fails ends its goroutine; only tests call it",
	"conform.killAfter":                "ends a client under test that does not answer; calls no more than that",
	"policy/ledger/storetest.testLock": "a timer that gives up a lock while another handle waits for it; for tests",
}

// starting lists what runs a function on a goroutine of its own, by import path. sync.WaitGroup stands for its method
// Go: without that type, and outside of internal/parallel, a call of a method Go is of parallel.Group.
var starting = map[string][]string{
	"sync":                       {"WaitGroup"},
	"time":                       {"AfterFunc"},
	"context":                    {"AfterFunc"},
	"runtime":                    {"SetFinalizer", "AddCleanup"},
	"golang.org/x/sync/errgroup": {"Group", "WithContext"},
}

// goroutinesIn returns the names of the functions and types of a file that start a goroutine.
func goroutinesIn(f *ast.File) map[string]bool {
	names := map[string]string{} // of imports
	found := map[string]bool{}
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if name == "." && starting[path] != nil {
			found["import "+path] = true
		}
		names[name] = path
	}
	look := func(where string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found[where] = true
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(starting[names[x.Name]], n.Sel.Name) {
					found[where] = true
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(d.Name.Name, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					look(s.Name.Name, s)
				case *ast.ValueSpec:
					look(s.Names[0].Name, s)
				}
			}
		}
	}
	return found
}

// TestGoroutines holds that no code but tests starts goroutines outside the list.
func TestGoroutines(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for where := range goroutinesIn(f) {
			where = filepath.ToSlash(filepath.Dir(path)) + "." + where
			seen[where] = true
			if starters[where] == "" {
				t.Errorf("%s: %s starts a goroutine; use internal/parallel, or say in the list why not", path, where)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where := range starters {
		if !seen[where] {
			t.Errorf("the list names %s, which starts no goroutine", where)
		}
	}
}

// TestGoroutinesFound: every way to start a goroutine is seen.
func TestGoroutinesFound(t *testing.T) {
	for source, want := range map[string][]string{
		`func f() { go g() }`:                                                    {"f"},
		`func (t T) m() { func() { go func() {}() }() }`:                         {"m"},
		`import "sync"; func f() { var wg sync.WaitGroup; wg.Go(g) }`:            {"f"},
		`import "sync"; type T struct { sync.WaitGroup }`:                        {"T"},
		`import s "sync"; var v, w = &s.WaitGroup{}, 1`:                          {"v"},
		`import . "sync"; func f() { var wg WaitGroup; wg.Go(g) }`:               {"import sync"},
		`import "time"; var v = func() { time.AfterFunc(1, g) }`:                 {"v"},
		`import "context"; func f() { context.AfterFunc(c, g) }`:                 {"f"},
		`import "runtime"; func f() { runtime.SetFinalizer(p, g) }`:              {"f"},
		`import "golang.org/x/sync/errgroup"; func f() { var e errgroup.Group }`: {"f"},
		`import ("sync"; "time"); func f() { var m sync.Mutex; time.Sleep(1) }`:  nil,
		`import "x/parallel"; func f() { var p parallel.Group; p.Go(g) }`:        nil,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(maps.Keys(goroutinesIn(f))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
