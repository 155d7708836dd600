package certificate_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/certificate"
)

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
