// Weave puts many mutants of a package into one program, so that its tests are compiled once and not for each mutant.
//
//	go run ./maintain/mutation/weave PACKAGE <MUTANTS >ANSWERS
//
// MUTANTS is a JSON list of {"id", "file", "offset", "old", "new"}: in the file, the text old at the offset in bytes
// becomes new. For each mutant the function around it gets a copy with the change, at the end of its file. The function
// itself begins with a switch on the environment's WPM_MUTANT and calls the copy. Lines keep their numbers.
//
// ANSWERS maps each id to "woven", to "not viable" where the compiler refuses the copy, or to "alone": outside of
// functions, and in a function that recovers by itself, a mutant needs a program of its own. The files of the package
// are rewritten in place, so it works on a copy of the module.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: weave PACKAGE <MUTANTS >ANSWERS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "weave:", err)
		os.Exit(1)
	}
}

// A mutant is one change to one file.
type mutant struct {
	ID     int    `json:"id"`
	File   string `json:"file"`
	Offset int    `json:"offset"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// The answers.
const (
	woven     = "woven"
	notViable = "not viable"
	alone     = "alone"
)

func run(pkg string, in io.Reader, out io.Writer) error {
	var mutants []mutant
	if err := json.NewDecoder(in).Decode(&mutants); err != nil {
		return err
	}
	files := map[string][]mutant{}
	for _, m := range mutants {
		if m.ID <= 0 {
			return fmt.Errorf("mutant %d: want a number above 0", m.ID)
		}
		files[m.File] = append(files[m.File], m)
	}
	answers := map[int]string{}
	sources := map[string][]byte{}
	name := ""
	for file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sources[file] = text
	}
	for { // until the compiler refuses nothing more
		copies := map[string]map[int][2]int{} // the lines of each copy
		for _, file := range slices.Sorted(maps.Keys(files)) {
			w, err := weave(file, sources[file], files[file], answers)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, w.text, 0o644); err != nil {
				return err
			}
			name, copies[filepath.Base(file)] = w.pkg, w.lines
		}
		choice := fmt.Sprintf(choose, name)
		if err := os.WriteFile(filepath.Join(pkg, "mutant__.go"), []byte(choice), 0o644); err != nil {
			return err
		}
		refused, err := refused(pkg, copies)
		if err != nil {
			return err
		}
		for _, id := range refused {
			answers[id] = notViable
		}
		if len(refused) == 0 {
			return json.NewEncoder(out).Encode(answers)
		}
	}
}

// choose is the file that reads which mutant to run.
const choose = `package %s

import (
	"os"
	"strconv"
)

var mutant__ = func() int { n, _ := strconv.Atoi(os.Getenv("WPM_MUTANT")); return n }()
`

// A file is a source with its mutants in it.
type file struct {
	pkg   string
	text  []byte
	lines map[int][2]int // the first and the last line of each copy
}

// weave answers for the mutants of a file that have no answer yet, and weaves those that are not refused.
func weave(path string, source []byte, mutants []mutant, answers map[int]string) (file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	w := file{pkg: tree.Name.Name, lines: map[int][2]int{}}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	var edits []edit
	var tail bytes.Buffer
	lines := bytes.Count(source, []byte("\n"))
	for _, m := range mutants {
		if !bytes.HasPrefix(source[min(m.Offset, len(source)):], []byte(m.Old)) {
			return file{}, fmt.Errorf("%s: no %q at %d", path, m.Old, m.Offset)
		}
		if answers[m.ID] != notViable {
			answers[m.ID] = alone
		}
	}
	for _, decl := range tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || recovers(f) {
			continue
		}
		start, end := at(f.Pos()), at(f.End())
		names, call := header(f, at)
		var cases strings.Builder
		for _, m := range mutants {
			if m.Offset < at(f.Body.Pos()) || m.Offset >= end || answers[m.ID] == notViable {
				continue
			}
			answers[m.ID] = woven
			renamed := fmt.Sprintf("%s__%d", f.Name.Name, m.ID)
			changed := apply(source, start, end, append([]edit{
				{at(f.Name.Pos()), f.Name.Name, renamed}, {m.Offset, m.Old, m.New}}, names...))
			first := lines + bytes.Count(tail.Bytes(), []byte("\n")) + 2
			tail.WriteString("\n" + changed + "\n")
			w.lines[m.ID] = [2]int{first, first + strings.Count(changed, "\n")}
			give, after := "return ", ""
			if f.Type.Results == nil || len(f.Type.Results.List) == 0 {
				give, after = "", "; return"
			}
			fmt.Fprintf(&cases, "case %d: %s%s%s; ", m.ID, give, fmt.Sprintf(call, renamed), after)
		}
		if cases.Len() > 0 {
			edits = append(edits, names...)
			edits = append(edits, edit{at(f.Body.Lbrace), "{", "{ if mutant__ != 0 { switch mutant__ { " + cases.String() + "} }; "})
		}
	}
	w.text = append([]byte(apply(source, 0, len(source), edits)), tail.Bytes()...)
	return w, nil
}

// recovers reports whether the function calls recover, not by way of a literal inside: it would see no panic from a copy.
func recovers(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "recover" {
				found = true
			}
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	return found
}

// header returns the edits that name every parameter, and the call of a copy, with %s for its name.
func header(f *ast.FuncDecl, at func(token.Pos) int) (names []edit, call string) {
	fresh := 0
	name := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				fresh++
				all = append(all, fmt.Sprintf("p__%d", fresh))
				names = append(names, edit{at(field.Type.Pos()), "", all[len(all)-1] + " "})
			}
			for _, n := range field.Names {
				if n.Name == "_" {
					fresh++
					all = append(all, fmt.Sprintf("p__%d", fresh))
					names = append(names, edit{at(n.Pos()), "_", all[len(all)-1]})
				} else {
					all = append(all, n.Name)
				}
			}
			if _, many := field.Type.(*ast.Ellipsis); many {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	call = "%s"
	if receiver := name(f.Recv); len(receiver) > 0 {
		call = receiver[0] + ".%s"
	}
	if f.Type.TypeParams != nil {
		var types []string
		for _, field := range f.Type.TypeParams.List {
			for _, n := range field.Names {
				types = append(types, n.Name)
			}
		}
		call += "[" + strings.Join(types, ", ") + "]"
	}
	return names, call + "(" + strings.Join(name(f.Type.Params), ", ") + ")"
}

// An edit replaces a text at an offset.
type edit struct {
	offset   int
	old, new string
}

// apply returns source[start:end] with the edits made.
func apply(source []byte, start, end int, edits []edit) string {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b edit) int { return a.offset - b.offset })
	var b strings.Builder
	for _, e := range edits {
		b.Write(source[start:e.offset])
		b.WriteString(e.new)
		start = e.offset + len(e.old)
	}
	b.Write(source[start:end])
	return b.String()
}

var complaint = regexp.MustCompile(`(?m)([^\s/\\]+\.go):(\d+):\d+: (.*)$`)

// refused compiles the package and returns the mutants whose copies do not compile.
func refused(pkg string, copies map[string]map[int][2]int) ([]int, error) {
	cmd := exec.Command("go", "build", "-gcflags=-e", "./"+filepath.ToSlash(pkg))
	text, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	found := map[int]bool{}
	for _, m := range complaint.FindAllSubmatch(text, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		for id, lines := range copies[string(m[1])] {
			if lines[0] <= line && line <= lines[1] {
				found[id] = true
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	return slices.Sorted(maps.Keys(found)), nil
}
