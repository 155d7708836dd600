package codebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// tiny is the codebook of testdata/fixed.json, wide that of testdata/fresh.json.
func tiny(t testing.TB) *Codebook {
	return design(t, Config{
		Dim: 2, P: 1.5, Epsilon: given.Epsilon(t, "3/2"), Points: 9, High: 3, Bits: 10, Atoms: 4, Seed: Seed{0xab, 31: 1},
		Provenance: policy.Provenance{
			Geometry: policy.DerivedDP, GeometryEpsilon: given.Epsilon(t, "1/4"), BaseMeasure: policy.DataIndependent,
			Note: `an "embedding"`,
		},
		Metadata: map[string]string{"title": "tiny <test>", "contact": "nobody\u2028"},
	})
}

func wide(t testing.TB) *Codebook {
	return design(t, Config{Dim: 63, P: 2, Epsilon: given.Epsilon(t, "4")})
}

// TestGolden: the files of testdata, which are never edited to make a test pass, and the SHA-256 that sha256sum gives
// for them.
func TestGolden(t *testing.T) {
	for _, g := range []struct {
		name, id string
		same     func(testing.TB) *Codebook
	}{
		{"fixed.json", "bcede983f12b995bd9cff764d9610ff7e1dbd7b338a9cd95cc97b971fe5fb93c", tiny},
		{"fresh.json", "91e783f822f9fcced8692ae97ebad4fb60cd37ce21d876ba0ec0915992599ac0", wide},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", g.name))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if id := c.ID(); hex.EncodeToString(id[:]) != g.id || id != sha256.Sum256(data) {
			t.Errorf("%s: ID %x, want %s", g.name, id, g.id)
		}
		if err := Verify(c); err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
		if back, err := Encode(c); err != nil || !bytes.Equal(back, data) || !IsPolicy(back) {
			t.Errorf("%s: encoded as\n%s%v", g.name, back, err)
		}
		// The levels come from float exponentials, which may differ between processors in the last bits of 62; nothing
		// else does.
		want := g.same(t)
		got, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(got), "\n") {
			level := strings.HasPrefix(line, `"lo":`) || strings.HasPrefix(line, `"hi":`)
			if other := strings.Split(string(data), "\n")[n]; line != other && !(level && want.Config().Bits == 62) {
				t.Errorf("%s, line %d: New gives %s", g.name, n+1, line)
			}
		}
		cfg := c.Config()
		if cfg.Provenance != want.Config().Provenance || cfg.Seed != want.Config().Seed || c.Fresh() != want.Fresh() ||
			len(cfg.Metadata) != len(want.Config().Metadata) {
			t.Errorf("%s: %+v", g.name, cfg)
		}
	}
}

// TestEveryByteMutation: no byte of a file can be changed, left out or put in without a refusal, or another mechanism
// with another ID that verifies.
func TestEveryByteMutation(t *testing.T) {
	data, err := Encode(tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	try := func(text []byte) {
		t.Helper()
		c, err := Decode(text)
		if err != nil {
			if c != nil {
				t.Fatalf("%q: a codebook and %v", text, err)
			}
			return
		}
		others++
		back, err := Encode(c)
		if err != nil || !bytes.Equal(back, text) || c.ID() != sha256.Sum256(text) || c.ID() == sha256.Sum256(data) {
			t.Fatalf("accepted, and encoded as another text: %q", text)
		}
		if err := Verify(c); err != nil {
			t.Fatal(err)
		}
	}
	for i := range data {
		for n, b := range []byte("\x00 \n\"0159,:{}[]az\\-.+eE\x7f\x80\xff") {
			if (i+n)%5 != 0 && !numtest.Full() { // every place has a fifth of them, and every byte a fifth of the places
				continue
			}
			if b != data[i] {
				text := bytes.Clone(data)
				text[i] = b
				try(text)
			}
			try(append(append(bytes.Clone(data[:i]), b), data[i:]...))
		}
		try(append(bytes.Clone(data[:i]), data[i+1:]...))
		try(data[:i])
	}
	for _, b := range []byte(" \n{}0\x00") {
		try(append(bytes.Clone(data), b))
	}
	if others == 0 { // digits of p, eps and the like may change
		t.Error("every change was refused")
	}
}

// TestDecodeRefuses: edits of one file and what refuses them.
func TestDecodeRefuses(t *testing.T) {
	data, err := Encode(tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	lo, hi := tiny(t).Box().Lo(0), tiny(t).Box().Hi(0)
	level := func(name string, v uint64) string { return "\"" + name + "\":\"" + strconv.FormatUint(v, 10) + "\"" }
	for _, e := range []struct {
		old, new string
		want     error
	}{
		{`"format":"wpm-codebook-1"`, `"format":"wpm-codebook-2"`, ErrFormat},
		{`"dimension":2`, `"dimension":0`, ErrConfig},
		{`"dimension":2`, `"dimension":2.0`, ErrFormat},
		{`"dimension":2`, `"dimension":99999999999999999999`, ErrFormat},
		{`"dimension":2`, `"Dimension":2`, ErrFormat},
		{`"dimension":2,`, "\"dimension\":2,\n\"dimension\":2,", ErrFormat},
		{`"dimension":2,`, "\"dimension\":2,\n\"more\":2,", ErrFormat},
		{`"p":"1.5"`, `"p":"1.50"`, ErrFormat},
		{`"p":"1.5"`, `"p":1.5`, ErrFormat},
		{`"p":"1.5"`, `"p":"NaN"`, ErrConfig},
		{`"p":"1.5"`, `"p":"0x1.8p0"`, ErrFormat},
		{`"epsilon":"1.5"`, `"epsilon":"3/2"`, ErrFormat},
		{`"epsilon":"1.5"`, `"epsilon":"0"`, ldp.ErrEpsilon},
		{`"epsilon":"1.5"`, `"epsilon":"1.2"`, ldp.ErrBox},
		{`"points":9`, `"points":8`, nil},
		{`"points":9`, `"points":99`, ldp.ErrBox},
		{`"points":9`, `"points":1099511627776`, ErrConfig},
		{`"high":3`, `"high":0`, ErrConfig},
		{`"high":3`, `"high":9`, ErrConfig},
		{`"bits":10`, `"bits":0`, ErrConfig},
		{`"bits":10`, `"bits":11`, nil},
		{`"bits":10`, `"bits":9`, nil},
		{`"bits":10`, `"bits":5`, ldp.ErrBox},
		{`"atoms":4`, `"atoms":0`, ErrConfig},
		{level("lo", lo), level("lo", lo-1), ldp.ErrBox},
		{level("lo", lo), level("lo", 0), ldp.ErrBox},
		{level("lo", lo), `"lo":"0` + strconv.FormatUint(lo, 10) + `"`, ErrFormat},
		{level("lo", lo), `"lo":` + strconv.FormatUint(lo, 10), ErrFormat},
		{level("hi", hi), level("hi", hi+1), ldp.ErrBox},
		{level("hi", hi), level("hi", hi-1), nil},
		{level("hi", hi), `"hi":"-1"`, ErrFormat},
		{`"seed":"ab`, `"seed":"AB`, ErrFormat},
		{`"seed":"ab`, `"seed":"`, ErrFormat},
		{`"seed":"ab00`, `"seed":"fresh`, ErrFormat},
		{`"seed":"ab` + strings.Repeat("00", 30) + "01", `"seed":"` + strings.Repeat("00", 32), ErrFormat},
		{`"seed":"ab` + strings.Repeat("00", 30) + "01", `"seed":"fresh`, nil},
		{`"geometry":"derived-dp"`, `"geometry":"public"`, policy.ErrProvenance},
		{`"geometry":"derived-dp"`, `"geometry":"unknown"`, policy.ErrProvenance},
		{`"provenance":{`, `"provenance":{ `, ErrFormat},
		{`"contact":`, `"zcontact":`, ErrFormat}, // the order of the keys
		{`"metadata":{`, `"metadata":{"":"",`, ErrFormat},
		{`tiny <test>`, `tiny \u003ctest>`, ErrFormat},
		{`tiny <test>`, "tiny \t", ErrFormat},
		{"\n}\n", "\n}", ErrFormat},
		{"{\n", "\ufeff{\n", ErrFormat},
	} {
		other := strings.Replace(text, e.old, e.new, 1)
		if other == text {
			t.Fatalf("the file has no %s", e.old)
		}
		if c, err := Decode([]byte(other)); !errors.Is(err, e.want) || (err == nil) != (c != nil) {
			t.Errorf("%s for %s: %v, want %v", e.new, e.old, err, e.want)
		}
	}
	for _, s := range []string{"", "{}", "null", "[]", "{\n\"format\":", strings.Repeat("[", 1<<20)} {
		if _, err := Decode([]byte(s)); !errors.Is(err, ErrFormat) {
			t.Errorf("%.20q: %v", s, err)
		}
	}
	if _, err := Decode(make([]byte, MaxBytes+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("a file that is too long: %v", err)
	}
}

// TestDecodeTells: where a file leaves the canonical text, and that a file of just MaxBytes is read.
func TestDecodeTells(t *testing.T) {
	text := string(tiny(t).text)
	p := strings.Index(text, `.5",`) + len(".5")
	for _, c := range []struct {
		name, text   string
		line, offset int
	}{
		{"a digit in p", text[:p] + "0" + text[p:], 4, p},
		{"a space at the start", " " + text, 1, 0},
		{"no last line end", text[:len(text)-1], 15, len(text) - 1},
		{"spaces up to the limit", text + strings.Repeat(" ", MaxBytes-len(text)), 16, len(text)},
	} {
		_, err := Decode([]byte(c.text))
		want := fmt.Sprintf("line %d, offset %d: not the canonical text", c.line, c.offset)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", c.name, err, want)
		}
	}
}

// TestLargestPolicy: the longest texts that a policy may have, of characters that the file escapes, leave it below
// MaxBytes.
func TestLargestPolicy(t *testing.T) {
	cfg := tiny(t).Config()
	cfg.Provenance.Note = strings.Repeat(`"`, 4096)
	cfg.Metadata = map[string]string{}
	for n := range 64 {
		cfg.Metadata[fmt.Sprintf(`%s%02d`, strings.Repeat(`"`, 62), n)] = strings.Repeat(`"`, 4096)
	}
	c := design(t, cfg)
	if len(c.text) < MaxBytes/2 || len(c.text) > MaxBytes {
		t.Errorf("%d bytes, want half of %d and more, but not all", len(c.text), MaxBytes)
	}
	if back, err := Decode(c.text); err != nil || back.ID() != c.ID() {
		t.Errorf("read back: %v", err)
	}
	cfg.Metadata["more"] = ""
	if _, err := New(cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("65 entries: %v", err)
	}
}

// TestVerifyFindsChanges: content that is not what the ID stands for, and a box that does not hold, in a Codebook in
// memory.
func TestVerifyFindsChanges(t *testing.T) {
	for name, change := range map[string]func(c *Codebook){
		"the box":      func(c *Codebook) { c.box = *wide(t).Box() },
		"no box":       func(c *Codebook) { c.box = ldp.Polytope{} },
		"the fallback": func(c *Codebook) { c.fallback = wide(t).Fallback() },
		"the seed":     func(c *Codebook) { c.cfg.Seed = Seed{} },
		"K":            func(c *Codebook) { c.cfg.High++ },
		"the ID":       func(c *Codebook) { c.id[5] ^= 1 },
		"the text":     func(c *Codebook) { c.text = bytes.Clone(c.text); c.text[20] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := *tiny(t)
			if err := Verify(&c); err != nil {
				t.Fatal(err)
			}
			if change(&c); Verify(&c) == nil {
				t.Errorf("%s was changed, and Verify accepts it", name)
			}
		})
	}
}

// FuzzDecode: what is accepted is encoded as the same bytes, and verifies.
func FuzzDecode(f *testing.F) {
	for _, c := range []*Codebook{tiny(f), wide(f)} {
		data, err := Encode(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			if c != nil || !errors.Is(err, ErrFormat) && !errors.Is(err, ErrConfig) {
				t.Fatalf("%v, %v", c, err)
			}
			return
		}
		if back, err := Encode(c); err != nil || !bytes.Equal(back, data) || c.ID() != sha256.Sum256(data) ||
			Verify(c) != nil {
			t.Fatalf("%q became %q, %v", data, back, err)
		}
	})
}

// TestMetadataKept: a codebook shares no map with its caller.
func TestMetadataKept(t *testing.T) {
	m := map[string]string{"a": "1"}
	c := design(t, Config{Dim: 1, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 8, Metadata: m})
	m["a"] = "2"
	c.Config().Metadata["a"] = "3"
	if got := c.Config().Metadata["a"]; got != "1" {
		t.Errorf("metadata became %q", got)
	}
	if text, err := Encode(c); err != nil || Verify(c) != nil {
		t.Error(err)
	} else {
		text[0] = 'x'
		if again, err := Encode(c); err != nil || again[0] != '{' {
			t.Error("the file was changed through its copy")
		}
	}
}
