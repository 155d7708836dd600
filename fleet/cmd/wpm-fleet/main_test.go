package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/policy"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// set sets flags for one test.
func set(t *testing.T, values map[string]string) {
	t.Helper()
	for name, value := range values {
		f := flag.Lookup(name)
		old := f.Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, old) })
	}
}

// TestDemo runs the demo on fewer reports: it compares the parts itself.
func TestDemo(t *testing.T) {
	all := demoReports
	demoReports = 30_000
	t.Cleanup(func() { demoReports = all })
	set(t, map[string]string{"demo": "true"})
	var out strings.Builder
	code, err := run(context.Background(), &out)
	if err != nil || code != 0 {
		t.Fatalf("%d, %v, %s", code, err, out.String())
	}
	for _, want := range []string{"30000 reports of 3 policies in 2 epochs", "shard-24.txt.gz:", "All 6 parts are those",
		"Completeness not checked"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestList: a file is listed once, and one with a dot where a shell lists it.
func TestList(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.txt", "b.txt", ".a.txt.1-0", ".b"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for globs, want := range map[string][]string{
		"*": {"a.txt", "b.txt"}, "b*,a.txt,*.txt": {"a.txt", "b.txt"}, ".*": {".a.txt.1-0", ".b"}, "./.b": {"./.b"},
		".b,*": {".b", "a.txt", "b.txt"},
	} {
		if got, err := list(context.Background(), strings.Split(globs, ",")); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", globs, got, err, want)
		}
	}
}

// TestRun counts two epochs of files by their folders, and refuses what has no right count.
func TestRun(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	t.Chdir(dir)
	list, err := demoPolicies(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data, err := policy.Encode(list[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("p", string(data))
	id := list[0].ID()
	for n, day := range []string{"21", "22"} {
		line := fmt.Sprintf("77706d31%x%02x000000\n", id, n)
		write("in/"+day+"/a", strings.Repeat(line, 3+n))
		write("in/"+day+"/b", strings.Repeat(line, 2)+"nothing\n")
		write("in/"+day+"/.c.1-0", line) // of a copy that is under way
	}
	good := map[string]string{"policy": "p", "input": "in/*/*", "epoch-regexp": "/([0-9]+)/", "output": "out"}
	t.Run("good", func(t *testing.T) {
		set(t, good)
		var out strings.Builder
		if code, err := run(ctx, &out); err != nil || code != some {
			t.Fatalf("%d, %v, %s", code, err, out.String())
		}
		for n, day := range []string{"21", "22"} {
			text, err := os.ReadFile(fmt.Sprintf("out/%x-%s.part", id[:6], day))
			if err != nil {
				t.Fatal(err)
			}
			c, err := aggregate.DecodeCounts(text)
			if err != nil || c.Reports[n] != uint64(5+n) || c.Total() != uint64(5+n) || c.Refused[aggregate.Malformed] != 1 ||
				c.Epoch != day {
				t.Errorf("%+v, %v", c, err)
			}
		}
	})
	t.Run("nothing can be read", func(t *testing.T) {
		write("cut/21/a.gz", "\x1f\x8b")
		set(t, good)
		set(t, map[string]string{"input": "cut/*/*", "output": t.TempDir(), "quarantine": "true"})
		var out strings.Builder
		if _, err := run(ctx, &out); err == nil || !strings.Contains(err.Error(), "no parts") ||
			!strings.Contains(out.String(), "left out: cut/21/a.gz") {
			t.Errorf("%v, %s", err, out.String())
		}
	})
	memfs.Write("memfs://full/old.unreadable", nil)
	for _, c := range []struct{ flag, value, want string }{
		{"output", "out", "there already"},
		{"output", "memfs://full", "there already"},
		{"output", "out[1]", "a pattern"},
		{"output", "", "-output"},
		{"input", "in/*/c", "no file"},
		{"input", "in/*/*1-0", "no file"},
		{"input", "", "empty"},
		{"policy", "absent", "absent"},
		{"policy", "in/21/a", "in/21/a"},
		{"policy", "p,p", "twice"},
		{"epoch", "e", "one of them"},
	} {
		t.Run(c.flag+" "+c.value, func(t *testing.T) {
			set(t, good)
			set(t, map[string]string{"output": t.TempDir()})
			set(t, map[string]string{c.flag: c.value})
			var out strings.Builder
			if _, err := run(ctx, &out); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
