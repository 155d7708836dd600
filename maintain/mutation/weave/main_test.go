package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// toy prints a line of what each of its functions gives.
const toy = `package main

import "fmt"

var table = build(2)

func build(n int) int { return n + 1 }

const width = 2 * 3

type pair[T ~int] struct{ a, b T }

func (p pair[T]) sum() T { return p.a + p.b }

func (pair[T]) none(int, string) (n T) { n = 4 - 1; return }

func last(_, b int) int { return b * 3 }

func total[T ~int](from T, xs ...T) T {
	for _, x := range xs {
		if x > 2 {
			break
		}
		from += x
	}
	return from
}

func name(a string) string { return a + "!" }

var said int

func say(n int) { said = n * 2 }

func guarded(n int) (out int) {
	defer func() {
		if recover() != nil {
			out = -1
		}
	}()
	return 10 / (n - 1)
}

func rescue(out *int) {
	if recover() != nil {
		*out = 7 + 1
	}
}

func risky() (out int) {
	defer rescue(&out)
	panic("risk")
}

func init() { say(3 + 1) }

func main() {
	p := pair[int]{5, 2}
	fmt.Println(table, width, p.sum(), p.none(1, ""), last(1, 2), total(1, 1, 2, 3, 1), name("a"), said, guarded(3), risky())
}
`

// TestWeave runs every mutant of a program by its number, and compares with the same change made in the source.
func TestWeave(t *testing.T) {
	changes := []struct {
		before, old, new, answer string // before is the text that leads to old
	}{
		{"return n ", "+", "-", woven}, // runs before main, in the value of a variable
		{"width = 2 ", "*", "/", alone},
		{"return p.a ", "+", "-", woven}, // a method of a generic type
		{"n = 4 ", "-", "+", woven},      // no names of receiver and parameters
		{"return b ", "*", "/", woven},   // a parameter without a name
		{"if x ", ">", ">=", woven},      // a generic function with any number of arguments
		{"if x > 2 {\n\t\t\t", "break", "continue", woven},
		{"\tfrom ", "+=", "-=", woven},
		{"return a ", "+", "-", notViable}, // strings
		{"said = n ", "*", "/", woven},     // no result
		{"if recover() ", "!=", "==", woven},
		{"return 10 ", "/", "*", woven},
		{"(n ", "-", "+", woven},
		{"*out = 7 ", "+", "-", alone}, // recovers by itself
		{"say(3 ", "+", "-", woven},    // init
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	output := func(id int) string {
		t.Helper()
		cmd := exec.Command("go", "run", ".")
		cmd.Env = append(os.Environ(), "WPM_MUTANT="+strconv.Itoa(id))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	write("go.mod", "module toy\n\ngo 1.26\n")
	write("toy.go", toy)
	plain := output(0)

	var mutants []mutant
	want := map[int]string{}
	for i, c := range changes {
		at := strings.Index(toy, c.before+c.old)
		if at < 0 {
			t.Fatalf("no %q in the toy", c.before+c.old)
		}
		m := mutant{ID: i + 1, File: "toy.go", Offset: at + len(c.before), Old: c.old, New: c.new}
		mutants = append(mutants, m)
		if c.answer == woven {
			write("toy.go", toy[:m.Offset]+c.new+toy[m.Offset+len(c.old):])
			want[m.ID] = output(0)
			if want[m.ID] == plain {
				t.Fatalf("the change after %q shows nowhere", c.before)
			}
		}
	}
	write("toy.go", toy)
	in, err := json.Marshal(mutants)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(".", bytes.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	var answers map[int]string
	if err := json.Unmarshal(out.Bytes(), &answers); err != nil {
		t.Fatal(err)
	}
	if got := output(0); got != plain {
		t.Errorf("without a mutant: %q, want %q", got, plain)
	}
	for i, c := range changes {
		id := i + 1
		if answers[id] != c.answer {
			t.Errorf("the change after %q: %q, want %q", c.before, answers[id], c.answer)
			continue
		}
		if c.answer == woven {
			if got := output(id); got != want[id] {
				t.Errorf("the change after %q: %q, want %q", c.before, got, want[id])
			}
		}
	}
}

// TestWeaveRefuses says what is wrong with the list.
func TestWeaveRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.go", []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ in, want string }{
		{`[{"id": 0, "file": "a.go"}]`, "want a number above 0"},
		{`[{"id": 1, "file": "a.go", "offset": 3, "old": "+", "new": "-"}]`, `no "+" at 3`},
		{`[{"id": 1, "file": "b.go", "offset": 3, "old": "+", "new": "-"}]`, "b.go"},
		{`{`, "unexpected EOF"},
	} {
		if err := run(".", strings.NewReader(test.in), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.in, err, test.want)
		}
	}
}
