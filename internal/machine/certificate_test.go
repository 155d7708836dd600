package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
)

// certified has lines of every kind that has a certificate.
var certified = map[string][]string{
	"project": {
		`{"id":1,"cost":{"kind":"ring","n":4,"p":2},"mu":{"index":[3,1],"weight":[0.25,0.75]},"m":[0.25,0.25,0.25,0.25],"eps":1}`,
		`{` + twoPoints + `,"mu":[1,0],"lo":[0.25,0.25],"hi":[0.75,0.75]}`,
	},
	"entropic": {
		`{"cost":{"kind":"grid","rows":2,"cols":3,"p":2},"mu":[0.5,0,0.5,0,0,0],"m":[0.1,0.2,0.2,0.1,0.2,0.2],"eps":1,"reg":0.1}`,
		`{"cost":{"kind":"points","x":[[0,0],[1,0]],"v":[[0,1],[2,2]],"p":1},"mu":[1,0],"lo":[0.25,0.25],"hi":[0.75,0.75],"reg":0.5,"method":"paper"}`,
		`{"cost":{"kind":"ring","n":5,"p":2},"mu":[1,0,0,0,0],"m":[0.2,0.2,0.2,0.2,0.2],"eps":2,"reg":0.001,"iterations":2}`,
	},
	"basemeasure": {
		`{"cost":{"kind":"ring","n":5,"p":2},"eps":2}`, `{"cost":{"kind":"ring","n":5,"p":2},"eps":2,"method":"uniform"}`,
		`{"cost":{"kind":"points","x":[[0],[1],[3]],"p":1},"eps":0.5,"method":"mirror","T":20}`,
	},
	"transport": {
		`{` + twoPoints + `,"source":[0.5,0.5],"target":{"index":[1],"weight":[1]}}`,
		`{"cost":{"kind":"ring","n":4,"p":2},"source":{"index":[2,0],"weight":[0.25,0.75]},"target":[0.25,0.25,0.25,0.25]}`,
	},
	"units": {
		`{` + twoPoints + `,"source":[4,0],"lo":[1,1],"hi":[3,3]}`,
		`{"cost":{"kind":"ring","n":3,"p":1},"source":{"index":[2,0],"units":[4611686018427387001,9]},"lo":[0,0,0],"hi":[9223372036854775807,0,5]}`,
	},
	"flow": {
		`{"nodes":3,"arcs":[[0,1,0,4,2],[1,2,0,"inf",1],[0,2,"-inf",1,5]],"supply":[3,0,-3]}`,
		`{"nodes":0,"arcs":[],"supply":[]}`,
	},
	"kpm":    {`{"mu":[0.7,0.3,0],"eps":1.25}`, `{"mu":[1],"eps":0}`},
	"sphere": {`{"d":2,"p":2,"eps":1}`, `{"d":7,"p":0.5,"eps":30}`},
}

// TestCertificates: every kind says whether it has a certificate; where it has, the certificate holds, is about the
// cost that the line states, and comes after the answer, which is what it is without.
func TestCertificates(t *testing.T) {
	for _, kind := range Kinds() {
		if (Certificate(kind) != "") != (certified[kind] != nil) {
			t.Errorf("%s has certificate %q and %d lines", kind, Certificate(kind), len(certified[kind]))
		}
		for _, line := range certified[kind] {
			plain, ok := Answer(context.Background(), kind, Settings{}, []byte(line))
			full, okToo := Answer(context.Background(), kind, Settings{Certificate: true}, []byte(line))
			if !ok || !okToo || bytes.Contains(plain, []byte("certificate")) {
				t.Fatalf("%s %s: %s, %s", kind, line, plain, full)
			}
			upto := func(b []byte) []byte { return b[:bytes.Index(b, []byte(`,"seconds":`))] }
			if !bytes.Equal(upto(plain), upto(full)) {
				t.Errorf("%s %s:\n%s, with a certificate\n%s", kind, line, plain, full)
			}
			var a struct{ Certificate json.RawMessage }
			if err := json.Unmarshal(full, &a); err != nil {
				t.Fatal(err)
			}
			c, err := certificate.Decode(a.Certificate)
			if err != nil {
				t.Fatalf("%s: %v in %s", kind, err, full)
			}
			if _, err := certificate.Verify(context.Background(), c); err != nil || c.Kind() != Certificate(kind) {
				t.Errorf("%s %s: a certificate of kind %s: %v", kind, line, c.Kind(), err)
			}
			var in struct{ Cost json.RawMessage }
			if err := json.Unmarshal([]byte(line), &in); err != nil {
				t.Fatal(err)
			}
			if in.Cost != nil && !bytes.Contains(a.Certificate, in.Cost) {
				t.Errorf("%s %s: the certificate is about another cost: %s", kind, line, a.Certificate)
			}
		}
	}
}

// unread fails a test that reads it.
type unread struct{ t *testing.T }

func (r unread) Read([]byte) (int, error) {
	r.t.Error("the input was read")
	return 0, io.EOF
}

// TestNoCertificate: a kind without certificates refuses the setting before it reads anything.
func TestNoCertificate(t *testing.T) {
	for _, kind := range Kinds() {
		if Certificate(kind) != "" {
			continue
		}
		lines, bad, err := Run(context.Background(), kind, Settings{Certificate: true}, unread{t}, io.Discard)
		if lines != 0 || bad != 0 || !errors.Is(err, ErrCertificate) || !strings.Contains(fmt.Sprint(err), kind) {
			t.Errorf("%s: %d lines, %d bad, %v", kind, lines, bad, err)
		}
		if answer, ok := Answer(context.Background(), kind, Settings{Certificate: true}, []byte(`{"id":5}`)); ok ||
			!bytes.HasPrefix(answer, []byte(`{"id":5,"error":`)) {
			t.Errorf("%s is answered %s", kind, answer)
		}
	}
}

// TestUnproved: an answer whose evidence proves no bound on the worst case is an error with a certificate asked for,
// and an answer without.
func TestUnproved(t *testing.T) {
	const line = `{"id":3,"cost":{"kind":"ring","n":5,"p":2},"eps":1,"objective":"average"}`
	if answer, ok := Answer(context.Background(), "basemeasure", Settings{}, []byte(line)); !ok {
		t.Errorf("%s", answer)
	}
	answer, ok := Answer(context.Background(), "basemeasure", Settings{Certificate: true}, []byte(line))
	if ok || !bytes.HasPrefix(answer, []byte(`{"id":3,"error":"certificate: `)) || bytes.Contains(answer, []byte(`"m":`)) {
		t.Errorf("%s", answer)
	}
}

// TestSameCertificate: the certificate of a line is byte for byte that of the library.
func TestSameCertificate(t *testing.T) {
	ring, err := cost.NewRing(5, 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := basemeasure.Uniform(context.Background(), ring, 2, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.NewBaseMeasure(context.Background(), ring, 2, r)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := certificate.Write(&want, c); err != nil {
		t.Fatal(err)
	}
	answer, _ := Answer(context.Background(), "basemeasure", Settings{Certificate: true},
		[]byte(certified["basemeasure"][1]))
	if end := `,"certificate":` + strings.TrimSuffix(want.String(), "\n") + "}"; !bytes.HasSuffix(answer, []byte(end)) {
		t.Errorf("%s does not end in %s", answer, end)
	}
}
