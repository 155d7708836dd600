package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

var updateVerdicts = flag.Bool("update-verdicts", false, "write testdata/verdicts.json anew; its diff is for reading")

// A verdict is what one text is to Decode.
type verdict struct {
	kind, text string
}

// splices are what random edits insert: tokens, spellings and bytes on which readers of JSON disagree.
var splices = []string{
	"\u2028", "\u2029", `\u2028`, "<", ">", "&", `\u003c`, `\u0041`, `\ud800`, `\ud83d\udeb2`, "\xff", "\xed\xa0\x80",
	"\ufeff", "\x7f", "\u0085", "é", "e\u0301",
	`\`, `\\`, `\"`, `\/`, `\n`, `"`, "'", "null", "true", "{}", "[]", "{", "}", "[", "]", ",", ":", " ", "\t", "\n",
	"\r\n", "\x00",
	"0", "1", "9", "-", "+", ".", "e", "1e5", "-0", "00", "1.0", "4294967296", "18446744073709551615",
	"18446744073709551616", "NaN", `"":0,`, `"n":4,`,
	strings.Repeat("9", 5000),
}

// verdictBases are the policies from which the texts of eachVerdict come: those of testdata, and some that use all that
// the format allows.
func verdictBases(t testing.TB) (bases []string) {
	t.Helper()
	for _, name := range []string{"small.json", "ring.json", "projection.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, string(data))
	}
	small, bare := bases[0], bases[2]
	const cost, certificate = `{"kind":"ring","n":4,"p":1}`, `{"kind":"uniform","f":1.5,"upper":"3/2","lower":"1.4999"}`
	put := func(base string, oldnew ...string) {
		for i := 0; i < len(oldnew); i += 2 {
			if !strings.Contains(base, oldnew[i]) {
				t.Fatalf("no %s", oldnew[i])
			}
		}
		bases = append(bases, strings.NewReplacer(oldnew...).Replace(base))
	}
	put(small, "home", "a\u2028<b>&\u2029", `"a":""`, `"<&>":"\\u2028 `+"\u2028"+`"`, "tuned on a survey", "\u2028")
	put(small, cost, `{"n":4,"n":4,"x":"<`+"\u2028"+`>","y":"\u2028\ud800","":[[],{},[{}]]}`, certificate,
		`{"a":{"a":{"a":[1,-0,1e5,0.10,1E-999]}},"a":null}`)
	put(small, cost, `{"n":`+strings.Repeat("9", 5000)+`}`, certificate, `null`)
	put(small, `"geometry":"public","geometry_epsilon":null`, `"geometry":"derived-dp","geometry_epsilon":"1/3"`, cost,
		"null")
	put(bare, `{"a":"",`, `{"`+strings.Repeat("a", maxKey)+`":"`+strings.Repeat("v", maxNote)+`",`, `"home"`,
		`"`+strings.Repeat("l", maxLabel)+`"`)
	return bases
}

// eachVerdict calls f with every text of a fixed corpus of policies and of texts that are none, or hardly.
func eachVerdict(t testing.TB, f func(verdict)) {
	bases := verdictBases(t)
	for _, b := range bases {
		f(verdict{"whole", b})
	}
	// Nesting and length of a cost, on both sides of every limit.
	for _, depth := range []int{2, 999, 1000, 1001, 5000, 9998, 9999, 10000, 10001, 20000} {
		for _, shape := range [][2]string{{"[", "]"}, {`{"":`, `}`}, {`[{"a":`, `}]`}} {
			n := depth - 1
			if len(shape[0]) > 5 {
				n /= 2
			}
			for _, inner := range []string{"", "0", "null"} {
				nested := `{"x":` + strings.Repeat(shape[0], n) + inner + strings.Repeat(shape[1], n) + `}`
				for _, member := range []string{`{"kind":"ring","n":4,"p":1}`,
					`{"kind":"uniform","f":1.5,"upper":"3/2","lower":"1.4999"}`} {
					f(verdict{"nested", strings.Replace(bases[0], member, nested, 1)})
				}
			}
		}
	}
	// Every line without its value, twice, away, null, exchanged, or with the value of another.
	for _, b := range bases[:5] {
		lines := strings.SplitAfter(b, "\n")
		edit := func(i int, with ...string) {
			f(verdict{"lines", strings.Join(slices.Concat(lines[:i], with, lines[i+1:]), "")})
		}
		for i, line := range lines {
			name, value, _ := strings.Cut(line, ":")
			edit(i)
			edit(i, line, line)
			for _, v := range []string{"null", "{}", "[]", `""`, `"0"`, "0", "1", "-1", "1.0", "[null]", `[""]`, `{"":""}`,
				`{"":null}`, `{"full":[],"extra":[]}`, "true", "[[]]"} {
				edit(i, name+":"+v+",\n")
			}
			edit(i, name+":"+strings.TrimSpace(value)+"\n")
			edit(i, " "+line)
			edit(i, strings.ToUpper(name)+":"+value)
			for j := range lines[:i] {
				other, v, _ := strings.Cut(lines[j], ":")
				edit(i, name+":"+v)
				edit(i, lines[j])
				swapped := slices.Clone(lines)
				swapped[i], swapped[j] = other+":"+value, name+":"+v
				f(verdict{"lines", strings.Join(swapped, "")})
			}
		}
	}
	if !numtest.Full() {
		return
	}
	r := rand.New(rand.NewPCG(2028, 1))
	for range 25_000 {
		b := bases[r.IntN(len(bases))]
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b) + 1)
			to := min(len(b), at+r.IntN(3))
			if at < len(b) && r.IntN(3) == 0 { // within a text, where most is allowed
				at += 1 + strings.IndexByte(b[at:], '"')
				to = at
			}
			b = b[:at] + splices[r.IntN(len(splices))] + b[to:]
		}
		f(verdict{"splice", b})
	}
	for range 20_000 {
		b := []byte(bases[r.IntN(len(bases))])
		for range 1 + r.IntN(2) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		f(verdict{"bits", string(b)})
	}
	for range 10_000 {
		b, _ := tamper(r, bases[r.IntN(len(bases))])
		f(verdict{"tampered", b})
	}
}

// Every text of a corpus has the verdict that it has ever had: the format is version 1 as long as this holds. What
// decodes keeps its bytes, and so its ID. A new kind of text may be added; an entry that is there is not changed to
// pass.
func TestVerdicts(t *testing.T) {
	type entry struct {
		Kind            string
		Texts, Accepted int
		Texts256        string `json:"sha256_of_texts"`    // of the SHA-256 of each
		Verdicts256     string `json:"sha256_of_verdicts"` // of one byte for each, 1 if it decodes
	}
	var got []*entry
	hashes := map[string]*[2][]byte{}
	eachVerdict(t, func(v verdict) {
		i := slices.IndexFunc(got, func(e *entry) bool { return e.Kind == v.kind })
		if i < 0 {
			i = len(got)
			got = append(got, &entry{Kind: v.kind})
			hashes[v.kind] = new([2][]byte)
		}
		h, id, yes := hashes[v.kind], sha256.Sum256([]byte(v.text)), byte(0)
		p, err := Decode([]byte(v.text))
		if err == nil {
			yes = 1
			got[i].Accepted++
			if again := mustEncode(t, p); p.ID() != id || !bytes.Equal(again, []byte(v.text)) {
				t.Fatalf("%q became %q", v.text, again)
			}
		}
		got[i].Texts++
		h[0] = append(h[0], id[:]...)
		h[1] = append(h[1], yes)
	})
	for _, e := range got {
		for n, into := range []*string{&e.Texts256, &e.Verdicts256} {
			sum := sha256.Sum256(hashes[e.Kind][n])
			*into = hex.EncodeToString(sum[:])
		}
	}
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	file := filepath.Join("testdata", "verdicts.json")
	if *updateVerdicts && numtest.Full() {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// the first kinds alone
	if start := bytes.TrimSuffix(text, []byte("\n]\n")); !numtest.Full() && bytes.HasPrefix(want, start) {
		return
	}
	if !bytes.Equal(text, want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
