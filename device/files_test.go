package device

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy"
)

// TestOpenFolder: a folder is refused by name, not when it is read.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	if f, err := Open(dir, nil); err == nil || !strings.Contains(err.Error(), dir+" is a folder") {
		t.Errorf("%v, %v", f, err)
	}
}

// TestWriteFilesAll: every output is written, whatever kind the one before it has.
func TestWriteFilesAll(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	var out bytes.Buffer
	err := WriteFiles(&out, Output{Path: a, Data: []byte("1")}, Output{Path: "-", Data: []byte("2")},
		Output{Path: b, Data: []byte("3")})
	if err != nil || out.String() != "2" {
		t.Fatalf("%v, %q", err, out.String())
	}
	for path, want := range map[string]string{a: "1", b: "3"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", path, text, err, want)
		}
	}
}

// TestReadAtMost: what is read does not depend on the kind of the file, or on what its size was once.
func TestReadAtMost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counts")
	text := strings.Repeat("home,1\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{0, 7, len(text)} { // a file has become shorter where fewer bytes follow than it has
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(int64(from), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if data, err := readAtMost(f, 1<<20); err != nil || string(data) != text[from:] {
			t.Errorf("from byte %d: %d bytes, %v, want %d", from, len(data), err, len(text)-from)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(w, text); _ = w.Close() }()
	if data, err := readAtMost(r, 1<<20); err != nil || string(data) != text {
		t.Errorf("a pipe: %d bytes, %v", len(data), err)
	}
	if f, err := os.Open("/proc/self/status"); err == nil { // a regular file of 0 bytes, by its size
		if data, err := readAtMost(f, 1<<20); err != nil || len(data) == 0 {
			t.Errorf("a file of the kernel: %d bytes, %v", len(data), err)
		}
		_ = f.Close()
	}
}

// TestReadAtMostMemory: a regular file is held once, not twice.
func TestReadAtMostMemory(t *testing.T) {
	const size = 8 << 20
	path := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := readAtMost(f, 2*size)
	runtime.ReadMemStats(&after)
	if err != nil || len(data) != size {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	// In chunks and joined it would be two times the size.
	if taken := after.TotalAlloc - before.TotalAlloc; taken > size+size/2 {
		t.Errorf("%d bytes were allocated for %d", taken, size)
	}
}

// TestLongPolicy: one byte more than a policy may have is read, so that it is seen to be too long, and no more.
func TestLongPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	for size, want := range map[int64]int{policy.MaxBytes: policy.MaxBytes, policy.MaxBytes + 9: policy.MaxBytes + 1} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		got := -1
		e := &Env{Open: func(data []byte) (Mechanism, error) { got = len(data); return nil, ErrNo }}
		if _, err := e.OpenPolicy(path); err == nil || got != want {
			t.Errorf("of %d bytes: %d, %v, want %d", size, got, err, want)
		}
	}
}
