package maintain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostLines is the largest number of lines of a file, tests apart.
const mostLines = 600

// linesAllowed are the files with more lines than that, with the number that they may have. It may only shrink.
var linesAllowed = map[string]int{}

// TestFileLength holds that a file can be read at one sitting.
func TestFileLength(t *testing.T) {
	all, over := theTree(t), map[string]int{}
	for _, p := range all.packages {
		for _, f := range p.files {
			if n := all.set.File(f.FileStart).LineCount(); n > mostLines {
				over[path.Join(p.name, all.where(f.FileStart))] = n
			}
		}
	}
	ratchet(t, "%s has %d lines, at most %d may be", over, linesAllowed)
}

// ratchet compares what is over a limit with the exceptions: none may grow, and none may stay that is not needed.
func ratchet(t *testing.T, format string, over, allowed map[string]int) {
	t.Helper()
	for name, n := range over {
		if n > allowed[name] {
			t.Errorf(format+"; by exception", name, n, allowed[name])
		}
	}
	for name := range allowed {
		if over[name] == 0 {
			t.Errorf("%s is within the limit, so it is no exception any more", name)
		}
	}
}

// mostDoc is the largest number of lines of a package's comment.
const mostDoc = 60

// TestDocLength holds that the comment of a package can be read at one sitting.
func TestDocLength(t *testing.T) {
	for _, p := range theTree(t).packages {
		for _, f := range p.files {
			if n := strings.Count(f.Doc.Text(), "\n"); n > mostDoc {
				t.Errorf("the comment of %q has %d lines, at most %d may be", p.name, n, mostDoc)
			}
		}
	}
}

// fileArrows counts the uses of names between the files of a package: from the file that uses a name to the file that
// declares it. Fields and methods are names.
func (t *tree) fileArrows(p *typed) map[[2]string]int {
	edges := map[[2]string]int{}
	for id, object := range p.info.Uses {
		if object.Pkg() != p.pkg || !object.Pos().IsValid() {
			continue
		}
		if from, to := t.where(id.Pos()), t.where(object.Pos()); from != to {
			edges[[2]string{from, to}]++
		}
	}
	return edges
}

// A package of at least fewArrows arrows between its files may have a share of backShare that run back.
const (
	fewArrows = 10
	backShare = 0.1
)

// backAllowed are the packages with more arrows back than that, with the number that they may have. It may only shrink.
var backAllowed = map[string]int{}

// TestFileArrows holds that the files of a package form layers, but for a few arrows.
func TestFileArrows(t *testing.T) {
	all, over := theTree(t), map[string]int{}
	for _, p := range all.packages {
		edges := all.fileArrows(p)
		back, exact := fewestBack(edges)
		if len(edges) >= fewArrows && float64(back) > backShare*float64(len(edges)) {
			over[p.name] = back
			t.Logf("%q: %d of %d arrows between files run back; the fewest: %v", p.name, back, len(edges), exact)
		}
	}
	ratchet(t, "%q: %d arrows between files run back, at most %d may", over, backAllowed)
}

// roots are the objects from which the state of a solver hangs, each with the number of fields that a reader may have to
// know: those of all structs of this module that can be reached. A field whose type is an interface or a function
// counts with every type of this module that is stored in it.
var roots = []struct {
	folder, name string
	most         int
}{
	{"mincostflow", "solver", 130},
	{"mincostflow/internal/simplex", "Solver", 130},
	{"sinkhorn", "fast", 130},
	{"basemeasure", "attempt", 130},
	{"basemeasure", "solver", 130},
	{"mirror", "descent", 80},
	{"estimate", "fit", 80},
	{"sinkhorn/grid", "call", 80},
	{"mincostflow/network", "simplex", 80},
	{"knapsack", "Table", 80},
}

// stateAllowed are the roots with more fields than that, with the number that they may have. It may only shrink.
var stateAllowed = map[string]int{}

// TestState holds that what a reader of a solver must know stays small.
func TestState(t *testing.T) {
	all, over := theTree(t), map[string]int{}
	stored := all.stored()
	for _, r := range roots {
		name := r.folder + "." + r.name
		at := slices.IndexFunc(all.packages, func(p *typed) bool { return p.name == r.folder })
		if at < 0 || all.packages[at].pkg.Scope().Lookup(r.name) == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		structs, fields := state(all.packages[at].pkg.Scope().Lookup(r.name).Type(), stored)
		t.Logf("%s reaches %d structs with %d fields", name, structs, fields)
		if fields > r.most {
			over[name] = fields
		}
	}
	ratchet(t, "%s reaches %d fields, at most %d may be", over, stateAllowed)
}

// TestStateFound counts a state of which the answer is known.
func TestStateFound(t *testing.T) {
	const source = `package p
type root struct { next *leaf; list []map[string]leaf; do func() int; any interface{ F() int }; alone int }
type leaf struct { a, b, c int }
type kept struct { x int }
type receiver struct { x, y int }
type valued struct { x, y, z int }
type unused struct { x, y, z, w int }
func (r receiver) F() int { return r.x }
func (v valued) F() int { return v.x }
func (u unused) F() int { return u.x }
func build(k kept, r receiver) *root {
	out := &root{do: func() int { return k.x }, any: valued{}}
	out.do = r.F
	return out
}`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &typed{files: []*ast.File{file}, info: newInfo()}
	if p.pkg, err = new(types.Config).Check(module+"/p", set, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	all := &tree{set, []*typed{p}}
	structs, fields := state(p.pkg.Scope().Lookup("root").Type(), all.stored())
	if structs != 5 || fields != 5+3+1+2+3 { // all but unused
		t.Errorf("%d structs with %d fields", structs, fields)
	}
}

// state counts the structs of this module that can be reached from a type, and their fields.
func state(root types.Type, stored map[*types.Var][]types.Type) (structs, fields int) {
	seen, named := map[types.Type]bool{}, map[*types.TypeName]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Alias:
			walk(types.Unalias(t))
		case *types.Struct:
			for f := range t.Fields() {
				walk(f.Type())
				for _, s := range stored[f.Origin()] {
					walk(s)
				}
			}
		case *types.Named:
			for arg := range t.TypeArgs().Types() {
				walk(arg)
			}
			o := t.Obj()
			if o.Pkg() == nil || o.Pkg().Path() != module && !strings.HasPrefix(o.Pkg().Path(), module+"/") {
				return
			}
			if s, ok := t.Underlying().(*types.Struct); ok && !named[o] {
				named[o] = true
				structs, fields = structs+1, fields+s.NumFields()
			}
			walk(t.Underlying())
		}
	}
	walk(root)
	return structs, fields
}

// stored finds, for each field whose type is an interface or a function, the types that are stored in it: that of a
// value, the receiver of a method, or the variables that a function literal keeps.
func (t *tree) stored() map[*types.Var][]types.Type {
	found := map[*types.Var][]types.Type{}
	for _, p := range t.packages {
		store := func(field *types.Var, value ast.Expr) {
			field = field.Origin()
			switch field.Type().Underlying().(type) {
			case *types.Interface:
				found[field] = append(found[field], p.info.TypeOf(value))
			case *types.Signature:
				found[field] = append(found[field], p.kept(value)...)
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, left := range n.Lhs {
						if s, ok := ast.Unparen(left).(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
							if v, ok := p.info.Uses[s.Sel].(*types.Var); ok && v.IsField() {
								store(v, n.Rhs[i])
							}
						}
					}
				case *ast.CompositeLit:
					p.literal(n, store)
				}
				return true
			})
		}
	}
	return found
}

// literal calls store for the fields that a literal of a struct sets.
func (p *typed) literal(n *ast.CompositeLit, store func(*types.Var, ast.Expr)) {
	of := p.info.TypeOf(n).Underlying()
	if ptr, ok := of.(*types.Pointer); ok { // of an element, &T left out
		of = ptr.Elem().Underlying()
	}
	s, ok := of.(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			store(p.info.Uses[pair.Key.(*ast.Ident)].(*types.Var), pair.Value)
		} else {
			store(s.Field(i), e)
		}
	}
}

// kept returns the types that a value of a function type keeps.
func (p *typed) kept(value ast.Expr) (list []types.Type) {
	switch e := ast.Unparen(value).(type) {
	case *ast.SelectorExpr:
		if s := p.info.Selections[e]; s != nil && s.Kind() == types.MethodVal {
			list = append(list, s.Recv())
		}
	case *ast.FuncLit:
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				v, ok := p.info.Uses[id].(*types.Var)
				inside := func(at token.Pos) bool { return e.Pos() <= at && at < e.End() }
				if ok && !v.IsField() && !inside(v.Pos()) && v.Parent() != p.pkg.Scope() {
					list = append(list, v.Type())
				}
			}
			return true
		})
	}
	return list
}
