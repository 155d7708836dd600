package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestCases stops a study in the middle of a line, and goes on: what is whole is not found again, what was cut off is, and
// another program starts anew.
func TestCases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	calls := 0
	run := func(program string, names ...string) (all []float64) {
		t.Helper()
		c, err := openCases(path, program)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			v, err := Case(c, name, func() (float64, error) { calls++; return 1 / float64(2+len(name)), nil })
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := run("p", "a", "bb")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	calls = 0
	if again := run("p", "a", "bb"); calls != 1 || again[0] != first[0] || again[1] != first[1] {
		t.Errorf("after a cut: %v after %v, with %d cases made, want 1", again, first, calls)
	}
	calls = 0
	if run("q", "a"); calls != 1 {
		t.Errorf("another program made %d cases, want 1", calls)
	}
	calls = 0
	if run("p", "a", "bb"); calls != 0 {
		t.Errorf("the first program made %d cases again", calls)
	}
}

// TestCasesTogether keeps cases of several goroutines, each in a line of its own.
func TestCasesTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	c, err := openCases(path, "p")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 64 {
		wg.Go(func() {
			if v, err := Case(c, fmt.Sprint(n), func() (int, error) { return n, nil }); v != n || err != nil {
				t.Errorf("case %d: %d, %v", n, v, err)
			}
		})
	}
	wg.Wait()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = openCases(path, "p"); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(c.done) != 64 {
		t.Errorf("%d cases kept, want 64", len(c.done))
	}
}

func TestCaseErrors(t *testing.T) {
	c, err := openCases(filepath.Join(t.TempDir(), "cases.jsonl"), "p")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := errors.New("no")
	if _, err := Case(c, "a", func() (int, error) { return 0, want }); !errors.Is(err, want) {
		t.Errorf("error %v, want that of the case", err)
	}
	if v, err := Case(c, "a", func() (int, error) { return 3, nil }); v != 3 || err != nil {
		t.Errorf("after an error: %d, %v; want the case made", v, err)
	}
	if _, err := openCases(t.TempDir(), "p"); err == nil {
		t.Error("a folder was opened as a file")
	}
	if none, err := OpenCases(""); none != nil || err != nil {
		t.Errorf("without a folder: %v, %v", none, err)
	}
}
