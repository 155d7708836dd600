package playground

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wpm-go/wpm/internal/numtest"
)

// clone copies what a clone of the tree as it is would have. It is skipped where that is not known, or the program is
// embedded.
func clone(t *testing.T) string {
	t.Helper()
	if _, err := fs.Stat(dist, "dist/"+packedName); err == nil {
		t.Skip("the program is embedded")
	}
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			continue // deleted, or a link
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// emptyCache gives the user another cache, and leaves that of Go alone.
func emptyCache(t *testing.T) {
	t.Helper()
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			t.Setenv(name, strings.TrimSpace(string(out)))
		}
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
}

// TestFindClean: a clean clone with an empty cache builds the program; after that it is in the cache, also without Go
// on PATH; and another source is another program.
func TestFindClean(t *testing.T) {
	if !numtest.Full() {
		t.Skip("builds the page's program: half a minute")
	}
	dir := clone(t)
	emptyCache(t)
	ctx := context.Background()
	calls := 0
	below := filepath.Join(dir, "internal", "playground", "page")
	built, err := Find(ctx, below, func(done, total int) {
		if calls++; done < 0 || done > total {
			t.Errorf("progress %d of %d", done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if page, err := Page(built, &Results{}); err != nil || len(page) > MaxBytes {
		t.Errorf("a page of %d bytes, %v", len(page), err)
	} else {
		t.Logf("a page of %d bytes", len(page))
	}
	t.Setenv("PATH", t.TempDir())
	if cached, err := Find(ctx, dir, nil); err != nil || !reflect.DeepEqual(cached, built) {
		t.Errorf("without Go, from the cache: %v", err)
	}
	source := filepath.Join(dir, "internal", "playground", "engine", "doc.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, append(text, "// More.\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(ctx, dir, nil); !errors.Is(err, ErrNoProgram) {
		t.Errorf("another source, without Go: %v", err)
	}
}

// TestFindWithoutGo: a clean clone with an empty cache and without Go on PATH says what to type, and so does another
// folder.
func TestFindWithoutGo(t *testing.T) {
	dir := clone(t)
	emptyCache(t)
	t.Setenv("PATH", t.TempDir())
	for _, at := range []string{dir, t.TempDir(), filepath.Join(dir, "no such folder")} {
		if _, err := Find(context.Background(), at, nil); !errors.Is(err, ErrNoProgram) ||
			!strings.Contains(err.Error(), "type: go run ./cmd/wpm playground") {
			t.Errorf("in %s: %v", at, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(cancelled, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLoad: a program that is not whole is none.
func TestLoad(t *testing.T) {
	whole := stub()
	cut := whole.Packed[:len(whole.Packed)-1]
	flipped := append([]byte(nil), whole.Packed...)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, packed := range map[string][]byte{"": whole.Packed, "nothing": {}, "cut": cut, "flipped": flipped,
		"text": packed("text"), "no gzip": []byte("\x00asm")} {
		t.Run(name, func(t *testing.T) {
			p, err := load(fstest.MapFS{packedName: {Data: packed}, execName: {Data: whole.Exec}})
			if (err == nil) != (name == "") {
				t.Errorf("%s: %v", name, err)
			}
			if name == "" && !reflect.DeepEqual(p, whole) {
				t.Errorf("read back as %v", p)
			}
		})
	}
	if _, err := load(fstest.MapFS{packedName: {Data: whole.Packed}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without %s: %v", execName, err)
	}
	dir := filepath.Join(t.TempDir(), "deep", "down")
	if err := whole.keep(dir); err != nil {
		t.Fatal(err)
	}
	if p, err := load(os.DirFS(dir)); err != nil || !reflect.DeepEqual(p, whole) {
		t.Errorf("kept and read back as %v, %v", p, err)
	}
}
