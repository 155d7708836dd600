package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const source = `package p // a comment

// F does something.
func F(a int) string {
	if a > 0 { // more than none
		return ` + "`raw  text\n// no comment`" + `
	}
	return "a  // b"
}
`

// of returns the code of one file.
func of(t *testing.T, name, text string) code {
	t.Helper()
	c := code{}
	if err := c.add(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCode: comments, empty lines and the space between tokens are no code; all else is.
func TestCode(t *testing.T) {
	c := of(t, "p.go", source)
	want := []string{"package p", "func F ( a int ) string {", "if a > 0 {", "return `raw  text\n// no comment`", "}",
		`return "a  // b"`, "}"}
	if !slices.Equal(c["p.go"], want) {
		t.Errorf("%q, want %q", c["p.go"], want)
	}
	for _, same := range [][2]string{{"// a comment", ""}, {"// F does something.\n", "/* F does\n\nmuch. */\n\n"},
		{"a > 0", "a>0"}, {"\treturn \"a", "return \"a"}} {
		if text := strings.Replace(source, same[0], same[1], 1); text == source || of(t, "p.go", text).hash() != c.hash() {
			t.Errorf("%q for %q changes the hash", same[1], same[0])
		}
	}
	for _, other := range [][2]string{{"a > 0", "a >= 0"}, {"raw  text", "raw text"}, {"a  // b", "a // b"},
		{"package p", "package q"}} {
		if text := strings.Replace(source, other[0], other[1], 1); text == source || of(t, "p.go", text).hash() == c.hash() {
			t.Errorf("%q for %q does not change the hash", other[1], other[0])
		}
	}
	if of(t, "q.go", source).hash() == c.hash() {
		t.Error("the name of a file does not change the hash")
	}
	if err := (code{}).add("p.go", []byte("package p\nvar a = \"open\n")); err == nil {
		t.Error("no error for what is not Go")
	}
}

// TestFiles: code is what Linux compiles and is no test, on every machine.
func TestFiles(t *testing.T) {
	for name, want := range map[string]bool{"p.go": true, "p_linux.go": true, "p_test.go": false, "p_windows.go": false,
		"p_arm64.go": false, "p_amd64.go": true, "p.txt": false} {
		t.Run(name, func(t *testing.T) {
			if got := len(of(t, name, "package p\n")) == 1; got != want {
				t.Errorf("%s is code: %v", name, got)
			}
		})
	}
	for line, want := range map[string]bool{"unix": true, "!linux": false, "cgo": false} {
		if got := len(of(t, "p.go", "//go:build "+line+"\n\npackage p\n")) == 1; got != want {
			t.Errorf("a file for %s is code: %v", line, got)
		}
	}
}

// TestJudge: code that moved is not newer; a tenth of newer lines is an error, and so is a hash that git does not
// confirm.
func TestJudge(t *testing.T) {
	text := "package p\n"
	for n := range 19 {
		text += fmt.Sprintf("const c%d = (\n%d)\n", n, n)
	}
	then := of(t, "p.go", text) // 39 lines with a letter or digit
	r := row{"1234567", then.hash()}
	change := func(n int) code {
		now := code{"q.go": slices.Clone(then["p.go"])}
		slices.Reverse(now["q.go"])
		for i := range n {
			now["q.go"][i] = fmt.Sprintf("newer %d", i)
		}
		return now
	}
	for _, c := range []struct {
		row  row
		now  code
		want string
		good bool
	}{
		{r, then, "as measured at 1234567", true},
		{r, change(0), "not as measured at 1234567: 0 of 39 lines are newer", true},
		{r, change(3), "not as measured at 1234567: 3 of 39 lines are newer", true},
		{r, change(4), "not as measured at 1234567: 4 of 39 lines are newer, more than a tenth", false},
		{row{"1234567", "0"}, then, "trusted.csv says 0 for its code at 1234567, which is " + then.hash(), false},
	} {
		got, err := judge(c.row, then, c.now)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (err == nil) != c.good {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
	twice := code{"p.go": {"a", "a", "}"}}
	if newer, all := twice.newer(code{"p.go": {"a", "}"}}); newer != 1 || all != 2 {
		t.Errorf("a line that stands there once more: %d of %d", newer, all)
	}
	if _, err := compare("ldp", row{}); err == nil {
		t.Error("no error for a package without a row")
	}
}

// TestTable: the table has the columns that are read, and .ci/mutate covers the same packages.
func TestTable(t *testing.T) {
	table, err := os.ReadFile("trusted.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := read(strings.NewReader(string(table)))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range rows {
		if !slices.Contains(trusted, name) || len(r.commit) < 7 || len(r.code) != 16 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, bad := range []string{"", "package,commit\nldp,1\n", "package,commit,code\nldp,1\n"} {
		if _, err := read(strings.NewReader(bad)); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
	script, err := os.ReadFile("../../.ci/mutate")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("readonly trusted=%q\n", strings.Join(trusted, " ")); !strings.Contains(string(script), want) {
		t.Errorf(".ci/mutate has no line %s", want)
	}
}
