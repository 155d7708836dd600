package maintain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"testing"
)

// simple are packages whose functions have a mean cyclomatic complexity (McCabe 1976) below mostComplex.
var simple = []string{"hilbert", "sinkhorn/kl", "projection/verify", "internal/ranking", "mincostflow/network", "estimate"}

const mostComplex = 5

// complexity counts the ways through a function: one, and one more for each condition, loop, case, && and ||, also of
// function literals in it.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// TestComplexity holds the mean of the packages in simple.
func TestComplexity(t *testing.T) {
	all, over := theTree(t), map[string]int{}
	for _, name := range simple {
		at := slices.IndexFunc(all.packages, func(p *typed) bool { return p.name == name })
		if at < 0 {
			t.Errorf("there is no package %s", name)
			continue
		}
		sum, functions := 0, 0
		for _, f := range all.packages[at].files {
			for _, d := range f.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					sum, functions = sum+complexity(f), functions+1
				}
			}
		}
		mean := float64(sum) / float64(functions)
		t.Logf("%s: %.2f, the mean of %d functions", name, mean, functions)
		if mean >= mostComplex {
			over[name] = int(math.Round(100 * mean))
		}
	}
	ratchet(t, "%s: a mean complexity of %d hundredths, at most %d may be", over, nil)
}

// TestComplexityFound counts functions of which the answer is known.
func TestComplexityFound(t *testing.T) {
	for body, want := range map[string]int{
		"":                                     1,
		"if a && b || c { }":                   4,
		"for { if a { } else if b { } }":       4,
		"switch { case a: case b: default: }":  3,
		"f := func() { for range x { } }; f()": 2,
		"select { case <-x: default: }":        2,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p; func f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := complexity(file.Decls[0].(*ast.FuncDecl)); n != want {
			t.Errorf("%s: %d, want %d", body, n, want)
		}
	}
}
