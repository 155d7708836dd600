package maintain

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// askable are the types of package cost that others may ask for: a matrix in memory, and the interface. A grid at squared
// distance comes from cost.Separable.
var askable = map[string]bool{"Dense": true, "Metric": true}

// TestMetricSwitches holds that no package but cost asks of which type a cost is: it asks cost.Metric.
func TestMetricSwitches(t *testing.T) {
	all := theTree(t)
	for _, p := range all.packages {
		if p.name == "cost" {
			continue
		}
		asks := func(e ast.Expr) {
			if e == nil {
				return
			}
			of := p.info.TypeOf(e)
			if ptr, ok := of.(*types.Pointer); ok {
				of = ptr.Elem()
			}
			named, ok := of.(*types.Named)
			if ok && named.Obj().Pkg() != nil && strings.TrimPrefix(named.Obj().Pkg().Path(), module+"/") == "cost" &&
				!askable[named.Obj().Name()] {
				t.Errorf("%s: it asks for a cost.%s, not for a cost.Metric", all.set.Position(e.Pos()), named.Obj().Name())
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeAssertExpr:
					asks(n.Type)
				case *ast.TypeSwitchStmt:
					for _, c := range n.Body.List {
						for _, e := range c.(*ast.CaseClause).List {
							asks(e)
						}
					}
				}
				return true
			})
		}
	}
}
