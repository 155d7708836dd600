package maintain

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// reading is the order in which an auditor reads, each package with what it decides. A package that is not there is left
// out of the page.
var reading = [][2]string{
	{"ldp", "e^eps as bounds, the box of integers, rounding into it, drawing from a row"},
	{"policy/ledger", "what has been spent, and that a debit is stored before its draw"},
	{"policy/private", "what is read of private data, by the same work whatever they say, and the draw of an input"},
	{"policy", "the file, its rows, the order of a release: debit, random words, row, draw"},
	{"device", "the commands beside private data: what they read and write, and what they refuse"},
	{"cmd/wpm-device", "the program"},
	{"sphere/codebook", "vectors alone: their file, and their release"},
}

// countLines counts the lines of a source with code, and those with comments alone.
func countLines(src []byte) (code, comments int) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	coded, noted := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		lines := coded
		if tok == token.COMMENT {
			lines = noted
		}
		for n := range strings.Count(lit, "\n") + 1 {
			lines[file.Line(pos)+n] = true
		}
	}
	for n := range noted {
		if !coded[n] {
			comments++
		}
	}
	return len(coded), comments
}

// TestCountLines: a line with both is code, a string of three lines is three.
func TestCountLines(t *testing.T) {
	src := "package a\n\n// A comment\n// of two lines.\nvar b = 1 // and a third\n\n/* one\n\ntwo */\nvar c = `x\ny\nz`\n"
	if code, comments := countLines([]byte(src)); code != 5 || comments != 5 {
		t.Errorf("%d lines of code, %d of comments", code, comments)
	}
}

// TestAuditLines holds which packages docs/audit.md says that an auditor reads, and how many lines: within a fifth in
// all, since the page is to plan by. With -update it writes them.
func TestAuditLines(t *testing.T) {
	const page = "docs/audit.md"
	const begin, end = "<!-- lines: go test ./maintain -run TestAuditLines -update -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no lines %q and %q", page, begin, end)
	}
	var b strings.Builder
	b.WriteString("\n| | package | lines of code | of comments | what it decides |\n| --- | --- | --: | --: | --- |\n")
	var counts []int
	for _, r := range reading {
		files, err := filepath.Glob(filepath.Join(r[0], "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		code, comments := 0, 0
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c, n := countLines(src)
			code, comments = code+c, comments+n
		}
		if code > 0 {
			counts = append(counts, code)
			fmt.Fprintf(&b, "| %d | [`%s`](../%s) | %d | %d | %s |\n", len(counts), r[0], r[0], code, comments, r[1])
		}
	}
	b.WriteString("\n")
	said, are, rows := 0, 0, 0
	for _, m := range regexp.MustCompile("(?m)^\\| \\d+ \\| \\[`[^`]+`\\].*? \\| (\\d+) \\|").FindAllStringSubmatch(table, -1) {
		n, _ := strconv.Atoi(m[1])
		said, rows = said+n, rows+1
	}
	for _, n := range counts {
		are += n
	}
	if !numtest.Update() {
		if max(said-are, are-said)*5 > are || rows != len(counts) {
			t.Errorf("%s says %d lines of code in %d packages, there are %d in %d: "+
				"run go test ./maintain -run TestAuditLines -update", page, said, rows, are, len(counts))
		}
		return
	}
	if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
