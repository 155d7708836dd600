package maintain

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// saysErrors is met by a comment that names an error of Go (ErrShape, an *EntryError), lists them after "Errors:", or has
// a sentence about the error that is returned. An error of a number, as "a relative error of 1e-9", is none of these.
var saysErrors = regexp.MustCompile(`\bErr[A-Z]\w*|\b[A-Z]\w*Error\b|\bErrors?: |\b(other|Other) errors (are|come)\b|\bErrors as\b|` +
	`\b([Tt]he|[Ii]ts|[Aa]n|[Ee]ach) (only )?errors? (is|are|says|quotes|names|wraps|if|for)\b|` +
	`\b(is|with) no error\b|\ban error (if|for)\b|\bonly error is\b|\bfirst error of\b|\bno errors?[.;]|\bfirst fault\b`)

// public reports whether a stranger may import a package of this module.
func public(name string) bool {
	parts := strings.Split(name, "/")
	return !slices.Contains(parts, "internal") && !slices.Contains([]string{"cmd", "fuzz", "maintain", "proofs", "release", "js",
		"proptest", "python"}, parts[0])
}

// silent returns the exported functions and methods of a package that return an error, and do not say which.
func silent(p *typed) (list []string, all int) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			signature := p.info.Defs[fn.Name].Type().(*types.Signature)
			results := signature.Results()
			if results.Len() == 0 || !types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type()) {
				continue
			}
			name := fn.Name.Name
			if recv := signature.Recv(); recv != nil {
				of := recv.Type()
				if ptr, ok := of.(*types.Pointer); ok {
					of = ptr.Elem()
				}
				named := of.(*types.Named).Obj()
				if !named.Exported() || name == "Unwrap" { // which returns what is wrapped, and does not fail
					continue
				}
				name = named.Name() + "." + name
			}
			if all++; !saysErrors.MatchString(strings.Join(strings.Fields(fn.Doc.Text()), " ")) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list, all
}

// TestSilent holds that every exported function that returns an error says which.
func TestSilent(t *testing.T) {
	for _, p := range theTree(t).packages {
		if !public(p.name) {
			continue
		}
		if list, all := silent(p); len(list) > 0 {
			t.Errorf("%q: %d of %d functions do not say which error they return: %s", p.name, len(list), all,
				strings.Join(list, ", "))
		}
	}
}
