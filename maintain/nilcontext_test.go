package maintain

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// A nilSafe says, function by function, whether a nil context does no harm: it is replaced, by wpmerr.Context or after a
// comparison with nil, before anything is done with it but to pass it to such a function.
type nilSafe struct {
	of     map[*types.Func]*ast.FuncDecl
	info   map[*types.Func]*types.Info
	unsafe map[*types.Func]token.Pos // where a nil context would be used
}

// newNilSafe assumes that every function is safe, and takes back what is not, until nothing changes.
func newNilSafe(all *tree) *nilSafe {
	n := &nilSafe{map[*types.Func]*ast.FuncDecl{}, map[*types.Func]*types.Info{}, map[*types.Func]token.Pos{}}
	for _, p := range all.packages {
		for _, f := range p.files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					of := p.info.Defs[fn.Name].(*types.Func)
					n.of[of], n.info[of] = fn, p.info
				}
			}
		}
	}
	for more := true; more; {
		more = false
		for of := range n.of {
			if _, known := n.unsafe[of]; known {
				continue
			}
			if at := n.use(of); at != token.NoPos {
				n.unsafe[of], more = at, true
			}
		}
	}
	return n
}

func isContext(t types.Type) bool { return t.String() == "context.Context" }

// use returns the first place where a function would use a nil context; NoPos if there is none.
func (n *nilSafe) use(of *types.Func) token.Pos {
	params := of.Signature().Params()
	for i := range params.Len() {
		if v := params.At(i); isContext(v.Type()) {
			if at := n.useOf(of, v); at != token.NoPos {
				return at
			}
		}
	}
	return token.NoPos
}

func (n *nilSafe) useOf(of *types.Func, v *types.Var) token.Pos {
	info, body := n.info[of], n.of[of].Body
	isV := func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && info.Uses[id] == v }
	harmless, replaced := map[ast.Expr]bool{}, token.Pos(0)
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BinaryExpr: // with nil: nothing else can be compared with a context
			if isV(node.X) && (node.Op == token.EQL || node.Op == token.NEQ) {
				harmless[node.X] = true
			}
		case *ast.AssignStmt:
			if node.Tok == token.ASSIGN && len(node.Lhs) == 1 && isV(node.Lhs[0]) {
				harmless[node.Lhs[0]] = true
				if replaced == 0 {
					replaced = node.End()
				}
			}
		case *ast.CallExpr:
			callee := n.callee(info, node)
			for _, arg := range node.Args {
				if isV(arg) && callee != nil && n.takesNil(callee) {
					harmless[arg] = true
				}
			}
		}
		return true
	})
	at := token.NoPos
	ast.Inspect(body, func(node ast.Node) bool {
		id, ok := node.(*ast.Ident)
		if ok && at == token.NoPos && info.Uses[id] == v && !harmless[id] && (replaced == 0 || id.Pos() < replaced) {
			at = id.Pos()
		}
		return true
	})
	return at
}

// callee returns the function of this module that a call runs, or nil if it has no body here.
func (n *nilSafe) callee(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	var id *ast.Ident
	switch fun := fun.(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return nil
	}
	f, ok := info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	if f = f.Origin(); n.of[f] == nil {
		return nil
	}
	return f
}

// replacers return their argument, or a context that never ends for nil. Policies and devices have one of their own,
// because they import no package of solvers.
var replacers = []string{module + "/wpmerr.Context", module + "/policy.endless", module + "/device.endless"}

func (n *nilSafe) takesNil(f *types.Func) bool {
	_, known := n.unsafe[f]
	return !known || slices.Contains(replacers, f.FullName())
}

// TestNilContext holds that every exported function takes a nil context for one that never ends: whatever it calls, no
// nil context is used before it was replaced. It reads the whole module, so that no new function is forgotten.
func TestNilContext(t *testing.T) {
	all := theTree(t)
	n := newNilSafe(all)
	contexts := 0
	for of, fn := range n.of {
		name := strings.TrimPrefix(strings.TrimPrefix(of.Pkg().Path(), module), "/")
		if !public(name) || !fn.Name.IsExported() || !onExported(of) || !slices.ContainsFunc(
			slices.Collect(of.Signature().Params().Variables()), func(v *types.Var) bool { return isContext(v.Type()) }) {
			continue
		}
		contexts++
		if at, bad := n.unsafe[of]; bad && of.FullName() != module+"/wpmerr.Context" {
			t.Errorf("%s: a nil context is used at %s", of.FullName(), all.set.Position(at))
		}
	}
	if contexts < 100 {
		t.Errorf("%d exported functions take a context: the test does not see them", contexts)
	}
}

// onExported reports whether a function is no method, or that of a type that others can name.
func onExported(f *types.Func) bool {
	recv := f.Signature().Recv()
	if recv == nil {
		return true
	}
	of := recv.Type()
	if ptr, ok := of.(*types.Pointer); ok {
		of = ptr.Elem()
	}
	named, ok := of.(*types.Named)
	return ok && named.Obj().Exported()
}
