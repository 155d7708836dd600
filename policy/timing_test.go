package policy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/private"
)

// scans are the functions that go over secret weights, rows or counts, with the parameters of range loops that are
// public sizes. Their loops must do the same whatever is in them.
var scans = map[string][]string{
	"../ldp/weights.go":       {"Sample"},
	"row.go":                  {"addTo", "secretRow"},
	"geometry.go":             {"key", "keys", "raise", "scan", "fill"},
	"private/distribution.go": {"Pick"},
	"codes.go":                {"scanColor", "spreadDisc", "keep"},
}

// branches lists what a loop may not contain: an early end, or a choice.
func branches(loop ast.Node) (found []string) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.BranchStmt, *ast.ReturnStmt,
			*ast.DeferStmt:
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

// secretIndices returns the uses of i and t, an input and an output that are secret, and of what is assigned from them,
// as an index, as a number of rounds, or as an argument of what may use them as one.
func secretIndices(t *testing.T, file string, src any, names []string) (faults []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	harmless := []string{"int", "int32", "uint64", "scan", "raise", "before", "key", "ConstantTimeEq", "Add64", "Sub64"}
	tainted := map[string]bool{}
	taints := func(nodes ...ast.Expr) (found bool) {
		for _, e := range nodes {
			ast.Inspect(e, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && tainted[id.Name]
				return true
			})
		}
		return found
	}
	secret := func(what string, nodes ...ast.Expr) {
		for _, e := range nodes {
			if e == nil {
				continue
			}
			ast.Inspect(e, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && tainted[id.Name] {
					faults = append(faults, what+" of "+id.Name)
				}
				return true
			})
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !slices.Contains(names, fn.Name.Name) {
			continue
		}
		tainted = map[string]bool{"i": true, "t": true}
		for before := 0; before < len(tainted); { // until nothing is added
			before = len(tainted)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				var to, from []ast.Expr
				switch n := n.(type) {
				case *ast.AssignStmt:
					if to, from = n.Lhs, n.Rhs; len(to) == len(from) {
						for k := range to {
							if id, ok := to[k].(*ast.Ident); ok && taints(from[k]) {
								tainted[id.Name] = true
							}
						}
						return true
					}
				case *ast.ValueSpec:
					for _, id := range n.Names {
						to = append(to, id)
					}
					from = n.Values
				}
				for _, e := range to {
					if id, ok := e.(*ast.Ident); ok && taints(from...) {
						tainted[id.Name] = true
					}
				}
				return true
			})
		}
		delete(tainted, "_")
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if id, ok := n.X.(*ast.Ident); ok {
					secret("rounds", id)
				}
			case *ast.IndexExpr:
				if call, ok := n.X.(*ast.CallExpr); !ok || len(call.Args) == 0 { // scan(list, 1, i)[0]
					secret("index", n.Index)
				}
			case *ast.SliceExpr:
				secret("slice", n.Low, n.High, n.Max)
			case *ast.CallExpr:
				name := ""
				switch f := n.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				if !slices.Contains(harmless, name) {
					for _, arg := range n.Args {
						if id, ok := arg.(*ast.Ident); ok {
							secret(name, id)
						} else if call, ok := arg.(*ast.CallExpr); ok && len(call.Args) == 1 {
							secret(name, call.Args[0])
						}
					}
				}
			}
			return true
		})
	}
	return faults
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
	for file, names := range map[string][]string{"row.go": {"secretRow"}, "geometry.go": {"raise", "scan", "fill"},
		"codes.go": {"scanColor", "spreadDisc"}} {
		if faults := secretIndices(t, file, nil, names); len(faults) > 0 {
			t.Errorf("%s: %v", file, faults)
		}
	}
	for _, planted := range []string{"x := p.in[i]", "y := p.output(t)", "n[t] += rest", "x := p.in[i*p.axes:]",
		"for j := range n { n[t+0*j]++ }", "g(uint64(i))",
		"tt := t; x := p.in[tt*p.axes:]", "var tt = t; n[tt]++", "a, b := 0, i; c := b; _ = a; g(c)",
		"a, b := h(uint64(t)); n[b] = a", "for range t { }"} {
		if faults := secretIndices(t, "planted.go", "package p; func f(i, t int) { "+planted+" }",
			[]string{"f"}); len(faults) == 0 {
			t.Errorf("not refused: %s", planted)
		}
	}
	for _, planted := range []string{
		"for _, n := range w { if x < n { return } }", "for _, n := range w { if x < n { c++ } }",
		"for j := 0; w[j] > x; j++ {}",
		"for _, n := range w { _ = x < n && g() }", "for _, n := range w { c += math.Ldexp(n, 3) }",
		"for _, n := range w { for { break } }",
	} {
		if _, faults := scanFaults(t, "planted.go", "package p; func f() { "+planted+" }", []string{"f"}); len(faults) == 0 {
			t.Errorf("not refused: %s", planted)
		}
	}
}

// unusable are private data as long as readable, of as many lines or of none.
func unusable(readable string) map[string]string {
	second := []byte(readable)
	second[strings.LastIndexByte(readable[:len(readable)-1], '\n')+1]++ // the user of the last line
	zeros := []byte(readable)
	for i := strings.IndexByte(readable, '\n'); i < len(zeros); i++ {
		if zeros[i-1] == ',' && zeros[i-2] != 'u' {
			zeros[i] = '0'
		}
	}
	return map[string]string{
		"second-user": string(second), "zeros": string(zeros), "garbage": strings.Repeat("x", len(readable)),
		"lines-of-garbage": strings.Repeat("xxx,x,x\n", len(readable))[:len(readable)],
	}
}

// timed are the policies of BenchmarkTiming.
var timed = []timedPolicy{{1, 8}, {1, 100}, {1, 400}, {1, 900}, {2, 400}, {2, 20_000}}

type timedPolicy struct{ version, places int }

func (t timedPolicy) name() string { return fmt.Sprintf("v%d/%d", t.version, t.places) }

// first is the first input whose label is as long as that of the last.
func (t timedPolicy) first() int {
	n := 1
	for n*10 < t.places {
		n *= 10
	}
	return n
}

// policy has rows of version 1, or random points of the plane: the thresholds of the inputs that are drawn are right,
// and those of others, which are read as well, are 0.
func (t timedPolicy) policy(b *testing.B) Policy {
	b.Helper()
	if t.version == 1 {
		return benchPolicy(b, t.places, Mixture, true)
	}
	box, err := ldp.NewPolytope(mustEpsilon(b, "4"), slices.Repeat([]float64{0.6 / float64(t.places)}, t.places), 62)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	cfg := Config{Polytope: box, Geometry: &Geometry{Kind: Points, Axes: 2}, Thresholds: make([]int32, t.places),
		Provenance: clean}
	for range 2 * t.places {
		cfg.Geometry.OutputPoints = append(cfg.Geometry.OutputPoints, r.Int32())
	}
	for i := range t.places {
		if drawn := i%7 == 0 && i < 7*20 || i == t.first() || i == t.places-1; drawn {
			cfg.Thresholds[i] = thresholds(box, cfg.Geometry, i, i+1)[0]
		}
	}
	return mustNew(b, cfg)
}

// BenchmarkTiming compares what a release in mixture mode can be, but for the ledger and crypto/rand. See
// numtest.Welch.
//
//   - rows: the first output from the row of one input with the last output from the row of another, from parsing
//     (of equally long data) by way of the choice of the input, the row and the sample to the text of the report.
//   - parsed: readable data with unusable ones, once they are read, over so many places.
//   - whole: the same, reading included. This is not claimed to be equal.
func BenchmarkTiming(b *testing.B) {
	words := make([]byte, 16)
	sink := 0
	run := func(b *testing.B, p Policy, private []byte) {
		r, err := p.c.draw(b.Context(), private, nil, bytes.NewReader(words))
		text, _ := r.MarshalText()
		if sink += len(text); err != nil {
			b.Fatal(err)
		}
	}
	rows := func(p Policy, name, first, last string) {
		b.Run(name, func(b *testing.B) {
			data := []byte(first + ",1\n")
			for _, label := range []string{first, last} {
				if _, usable, _ := private.Read(p.c.labels(), []byte(label+",1\n")); usable != 1 {
					b.Fatalf("%s is no input", label)
				}
			}
			numtest.Welch(b, func(class int) {
				copy(data, []string{first, last}[class])
				for i := range words {
					words[i] = byte(-class)
				}
			}, func() { run(b, p, data) })
		})
	}
	rows(benchPolicy(b, 250, Mixture, true), "rows", "100", "249")
	for _, size := range timed {
		n := size.places
		if testing.Short() && n > 1000 {
			continue
		}
		p, name := size.policy(b), size.name()
		if size.version == 2 {
			rows(p, "rows/"+name, fmt.Sprint(size.first()), fmt.Sprint(n-1))
		}
		readable := "user,label,count\n"
		for i := range 20 {
			readable += fmt.Sprintf("u,%d,%d\n", i*7%n, 1+i%9)
		}
		const seven = 7 // the word draws some input in the middle
		words[7] = seven << 4
		for kind, bad := range unusable(readable) {
			texts := [2][]byte{[]byte(readable), []byte(bad)}
			for class, text := range texts {
				if _, usable, _ := private.Read(p.c.labels(), text); usable != 1-class {
					b.Fatalf("%s: usable %v", kind, usable)
				}
			}
			b.Run(fmt.Sprintf("parsed/%s/%s", name, kind), func(b *testing.B) {
				var d private.Distribution
				var usable int
				numtest.Welch(b, func(class int) {
					d, usable, _ = private.Read(p.c.labels(), texts[class])
				}, func() {
					w := p.c.mixture(d, usable, seven<<60)
					j, _ := w.Sample(bytes.NewReader(words[8:]))
					sink += j
				})
			})
			b.Run(fmt.Sprintf("whole/%s/%s", name, kind), func(b *testing.B) {
				private := make([]byte, len(readable))
				numtest.Welch(b, func(class int) { copy(private, []string{readable, bad}[class]) }, func() { run(b, p, private) })
			})
		}
	}
}
