package certificate_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/certificate"
)

// frozen are files of certificates that keep their bytes: version1.jsonl has one of each kind of the first version, an
// entropic one with a flow, and two with a plan, as its solvers made them; later.jsonl has the kinds that came later.
var frozen = []string{"testdata/version1.jsonl", "testdata/later.jsonl"}

// version1 returns the certificates of the frozen files.
func version1(t testing.TB) (out []certificate.Certificate) {
	t.Helper()
	err := certificate.Read(bytes.NewReader(frozenText(t)), func(_ int, c certificate.Certificate) error {
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func frozenText(t testing.TB) (out []byte) {
	t.Helper()
	for _, name := range frozen {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text...)
	}
	return out
}

// TestVersion1: certificates of the first version, and of kinds that came later, keep their bytes, and hold. The files
// may grow, and are not to be edited.
func TestVersion1(t *testing.T) {
	want := frozenText(t)
	list := version1(t)
	seen := map[certificate.Kind]int{}
	for n, c := range list {
		seen[c.Kind()]++
		if _, err := certificate.Verify(context.Background(), c); err != nil {
			t.Errorf("line %d, %s: %v", n+1, c.Kind(), err)
		}
	}
	for _, k := range certificate.Kinds() {
		if seen[k] == 0 {
			t.Errorf("there is none of kind %s", k)
		}
	}
	var got bytes.Buffer
	if err := certificate.Write(&got, list...); err != nil || !bytes.Equal(got.Bytes(), want) ||
		seen[certificate.Entropic] != 4 {
		t.Errorf("%v read, written otherwise (%v)", seen, err)
	}
}

// TestDocument: the certificates on the page docs/certificates.md are real, one of each kind, and hold.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../docs/certificates.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[certificate.Kind]bool{}
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllSubmatch(page, -1) {
		c, err := certificate.Decode(m[1])
		if err != nil {
			t.Errorf("%v\n%s", err, m[1])
			continue
		}
		seen[c.Kind()] = true
		if c.NeedsCost() {
			if c, err = c.WithCost([]byte(`{"kind":"explicit","C":[[0,1],[1,0]]}`)); err != nil {
				t.Error(err)
				continue
			}
		}
		if _, err := certificate.Verify(context.Background(), c); err != nil {
			t.Errorf("%s: %v", c.Kind(), err)
		}
	}
	for _, k := range certificate.Kinds() {
		if !seen[k] {
			t.Errorf("the page has no certificate of kind %s", k)
		}
	}
}
