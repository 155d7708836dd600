package certificate_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/certificate"
)

// version1 returns the certificates of testdata/version1.jsonl: one of each kind, an entropic one with a flow, and two
// with a plan, as the solvers of the first version made them.
func version1(t testing.TB) (out []certificate.Certificate) {
	t.Helper()
	f, err := os.Open("testdata/version1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = certificate.Read(f, func(_ int, c certificate.Certificate) error {
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVersion1: certificates of the first version keep their bytes, and hold. The file is not to be edited.
func TestVersion1(t *testing.T) {
	want, err := os.ReadFile("testdata/version1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	list := version1(t)
	seen := map[certificate.Kind]int{}
	for n, c := range list {
		seen[c.Kind()]++
		if _, err := certificate.Verify(c); err != nil {
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
		if _, err := certificate.Verify(c); err != nil {
			t.Errorf("%s: %v", c.Kind(), err)
		}
	}
	for _, k := range certificate.Kinds() {
		if !seen[k] {
			t.Errorf("the page has no certificate of kind %s", k)
		}
	}
}
