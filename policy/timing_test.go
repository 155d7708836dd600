package policy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// scans are the functions that go over secret weights, rows or counts, with the parameters of range loops that are public
// sizes. Their loops must do the same whatever is in them.
var scans = map[string][]string{
	"../ldp/weights.go": {"Sample"},
	"row.go":            {"addTo", "secretRow"},
	"private.go":        {"pick"},
}

// branches lists what a loop may not contain: an early end, or a choice.
func branches(loop ast.Node) (found []string) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.BranchStmt, *ast.ReturnStmt, *ast.DeferStmt:
			found = append(found, fmt.Sprintf("%T", n))
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR || n.Op == token.QUO || n.Op == token.REM {
				found = append(found, n.Op.String())
			}
		case *ast.CallExpr: // math.Ldexp and the like have cases
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				if p, ok := f.X.(*ast.Ident); ok && (p.Name == "math" || p.Name == "big") {
					found = append(found, "math."+f.Sel.Name)
				}
			}
		}
		return true
	})
	return found
}

// scanFaults returns the loops of the named functions of a source, and what is wrong with them.
func scanFaults(t *testing.T, file string, src any, names []string) (loops int, faults []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !slices.Contains(names, fn.Name.Name) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				loops++
				faults = append(faults, branches(n.Body)...)
			case *ast.ForStmt:
				loops++
				faults = append(faults, "a loop with a condition")
			}
			return true
		})
	}
	return loops, faults
}

// TestScansHaveNoBranch: the loops over secrets range over all there is, and have no early end and no branch. What time
// says of it, BenchmarkTiming measures.
func TestScansHaveNoBranch(t *testing.T) {
	for file, names := range scans {
		loops, faults := scanFaults(t, file, nil, names)
		if loops < len(names) || len(faults) > 0 {
			t.Errorf("%s: %d loops in %v, %v", file, loops, names, faults)
		}
	}
	for _, planted := range []string{
		"for _, n := range w { if x < n { return } }", "for _, n := range w { if x < n { c++ } }", "for j := 0; w[j] > x; j++ {}",
		"for _, n := range w { _ = x < n && g() }", "for _, n := range w { c += math.Ldexp(n, 3) }", "for _, n := range w { for { break } }",
	} {
		if _, faults := scanFaults(t, "planted.go", "package p; func f() { "+planted+" }", []string{"f"}); len(faults) == 0 {
			t.Errorf("not refused: %s", planted)
		}
	}
}

// BenchmarkTiming compares the two ends of what a release in mixture mode can be, but for the ledger and crypto/rand: the
// first output from the row of one input, the last output from the row of another. It covers parsing (of equally long
// data), the choice of the input, the row, the sample and the text of the report. See numtest.Welch.
func BenchmarkTiming(b *testing.B) {
	p := benchPolicy(b, 250, Mixture, true)
	private, words := []byte("000,1\n"), make([]byte, 16)
	sink := 0
	numtest.Welch(b, func(class int) {
		copy(private, []string{"100", "249"}[class])
		for i := range words {
			words[i] = byte(-class)
		}
	}, func() {
		r, err := p.c.draw(b.Context(), private, nil, bytes.NewReader(words))
		text, _ := r.MarshalText()
		if sink += len(text); err != nil {
			b.Fatal(err)
		}
	})
	if sink == 0 {
		b.Fatal("nothing was drawn")
	}
}
