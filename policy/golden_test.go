package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// golden.json was written by "python3 verify.py -vectors small.json ring.json projection.json" in testdata: another
// program in another language, which reads the files as the package documentation says and draws in exact arithmetic.
// None of these files is ever edited to make a test pass.
func TestGolden(t *testing.T) {
	golden(t, "golden.json", "2459e3cd14a5b0f3363347b8c8870221e3d8c6ef9220e9997e031a4cfc3caf2a")
}

// Version 2: golden2.json was written by "python3 verify.py -vectors far2.json grid2.json points2.json ring2.json",
// which fills the rows by sorting, in exact arithmetic.
func TestGolden2(t *testing.T) {
	golden(t, "golden2.json", "b724525943061b1c7819c622fce332b17aede176c69a28113c7b961a0a7364ff")
}

func golden(t *testing.T, name, want string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != want {
		t.Errorf("%s has SHA-256 %x, want %s", name, got, want)
	}
	var files []struct {
		Policy, ID string
		Draws      []struct {
			Private, Random string
			Index           int
		}
	}
	if err := json.Unmarshal(raw, &files); err != nil {
		t.Fatal(err)
	}
	broken := func(context.Context, []float64) ([]float64, error) { return nil, errors.New("no solver") }
	draws := 0
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join("testdata", f.Policy))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", f.Policy, err)
		}
		if id := p.ID(); hex.EncodeToString(id[:]) != f.ID {
			t.Errorf("%s: ID %x, want %s", f.Policy, id, f.ID)
		}
		if err := errors.Join(Verify(p), verifyRows(p)); err != nil {
			t.Errorf("%s: %v", f.Policy, err)
		}
		for _, d := range f.Draws {
			word, err := hex.DecodeString(d.Random)
			if err != nil {
				t.Fatal(err)
			}
			r, err := release(t.Context(), p, UnaccountedForTesting(), []byte(d.Private), ProjectFunc(broken), bytes.NewReader(word))
			if err != nil || r.Index() != d.Index {
				t.Errorf("%s, %q, %s: output %d, %v, want %d", f.Policy, d.Private, d.Random, r.Index(), err, d.Index)
			}
			draws++
		}
	}
	if draws < 100 {
		t.Errorf("only %d draws", draws)
	}
}

// The file of smallConfig is that of testdata: the constructor and the golden file agree.
func TestGoldenSmall(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "small.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := mustEncode(t, mustNew(t, smallConfig(t))); !bytes.Equal(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// edges.json holds what encoding/json would write in another way: U+2028, U+2029 and the characters of HTML as they
// are, and an object with names that repeat and numbers in other spellings. Its ID was computed by sha256sum.
func TestGoldenEdges(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "edges.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	const want = "db0ca2b474a8d11f05e7a802f3a2c5f7563ff200c7bb1b928231677a6599fbf1"
	if id := p.ID(); hex.EncodeToString(id[:]) != want || !bytes.Equal(mustEncode(t, p), data) {
		t.Errorf("ID %x, want %s, of\n%s", id, want, mustEncode(t, p))
	}
	if err := Verify(p); err != nil {
		t.Error(err)
	}
	if got, want := p.InputLabel(0), "a\u2028<b>&\u2029"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
	if got, want := p.Metadata()["<&>"], "\\u2028 \u2028"; got != want {
		t.Errorf("metadata %q, want %q", got, want)
	}
	if got, want := string(p.Cost()),
		`{"n":4,"n":4,"x":"<`+"\u2028"+`>","y":"\u2028\u003c\ud800","":[[],{},[{}]]}`; got != want {
		t.Errorf("cost %s, want %s", got, want)
	}
}
