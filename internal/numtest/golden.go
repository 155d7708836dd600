package numtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update reports whether a test shall write anew what it compares with.
func Update() bool { return *update }

var update = flag.Bool("update", false, "rewrite golden files instead of comparing with them; read the diff")

// LoadJSON decodes the JSON file at path (relative to the package under test) into v. Fields that v
// does not have, and anything after the value, stop the test: a golden file that is read in part
// is a test that checks nothing.
func LoadJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("%s: data after the JSON value", path)
	}
}

// Golden compares got, as indented JSON, with the file at path byte by byte. With -update it writes
// the file instead. Floats are written in their shortest form that reads back to the same bits, so
// use it for integer and rational paths only, or store rounded strings.
func Golden(t testing.TB, path string, got any) {
	t.Helper()
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	GoldenBytes(t, path, append(data, '\n'))
}

// GoldenBytes is Golden for any text.
func GoldenBytes(t testing.TB, path string, got []byte) {
	t.Helper()
	path = filepath.FromSlash(path)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run go test with -update to write it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}
