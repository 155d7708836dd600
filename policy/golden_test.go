package policy

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

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
