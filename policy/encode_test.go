package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
)

// Decode and Encode are inverse, the ID is the hash of the file, and what is decoded verifies.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(drawConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		data, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Decode(data)
		if err != nil {
			t.Fatalf("Decode: %v\n%s", err, data)
		}
		again, err := Encode(q)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, again) {
			t.Fatalf("%s\nbecame\n%s", data, again)
		}
		if p.ID() != sha256.Sum256(data) || q.ID() != p.ID() {
			t.Fatal("ID is not the hash of the file")
		}
		if err := Verify(q); err != nil {
			t.Fatal(err)
		}
		for i := range q.Inputs() {
			if p.InputLabel(i) != q.InputLabel(i) {
				t.Fatalf("label %d: %q became %q", i, p.InputLabel(i), q.InputLabel(i))
			}
		}
	})
}

// Any JSON reader sees the same values: the text is compared with what encoding/json makes of it.
func TestEncodingIsPlainJSON(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	data := mustEncode(t, p)
	dec := json.NewDecoder(bytes.NewReader(data))
	var names []string
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		t.Fatal(tok, err)
	}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tok.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	if want := memberNames(v1, false); !slices.Equal(names, want) {
		t.Errorf("members %q, want %q", names, want)
	}
	var got struct {
		Format       string   `json:"format"`
		Epsilon      string   `json:"epsilon"`
		Bits, Inputs int      `json:",omitempty"`
		InputLabels  []string `json:"input_labels"`
		Lo, Hi       []string
		Metadata     map[string]string
		Rows         []struct {
			Full  []int
			Extra [][2]any
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "wpm-policy-1" || got.Epsilon != "1.5" || got.Bits != smallBits || got.Inputs != 3 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.InputLabels, p.InputLabels()) {
		t.Errorf("labels %q, want %q", got.InputLabels, p.InputLabels())
	}
	// Rows, rebuilt from the other reader's values.
	for i, r := range got.Rows {
		n := make([]uint64, 4)
		for j := range n {
			n[j], _ = strconv.ParseUint(got.Lo[j], 10, 64)
		}
		for _, j := range r.Full {
			n[j], _ = strconv.ParseUint(got.Hi[j], 10, 64)
		}
		for _, x := range r.Extra {
			add, _ := strconv.ParseUint(x[1].(string), 10, 64)
			n[int(x[0].(float64))] += add
		}
		w, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			if w.At(j) != n[j] {
				t.Errorf("row %d column %d: %d, want %d", i, j, n[j], w.At(j))
			}
		}
	}
}

// The text itself, as a reader sees it.
func TestEncodingText(t *testing.T) {
	cfg := smallConfig(t)
	const want = `{
"format":"wpm-policy-1",
"epsilon":"1.5",
"bits":8,
"mode":"mixture",
"work_limit_ms":0,
"inputs":3,
"outputs":4,
"provenance":{"geometry":"public","geometry_epsilon":null,"base_measure":"derived-dp","base_measure_epsilon":"0.25","note":"tuned on a survey"},
"metadata":{"a":"","title":"small","unit":"the user's whole distribution"},
"certificate":{"kind":"uniform","f":1.5,"upper":"3/2","lower":"1.4999"},
"cost":{"kind":"ring","n":4,"p":1},
"input_labels":["home","say \"hi\", x\\y","køb 🚲"],
"output_labels":["a","b","c","d"],
"lo":["30","20","40","0"],
"hi":["130","80","160","0"],
"fallback":{"full":[],"extra":[[0,"70"],[1,"30"],[2,"66"]]},
"rows":[
{"full":[0,1],"extra":[[2,"6"]]},
{"full":[2],"extra":[[1,"46"]]},
{"full":[0],"extra":[[2,"66"]]}
]
}
`
	if got := string(mustEncode(t, mustNew(t, cfg))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	cfg = Config{Polytope: cfg.Polytope, Mode: Projection, Inputs: 2, Provenance: clean}
	const bare = `{
"format":"wpm-policy-1",
"epsilon":"1.5",
"bits":8,
"mode":"projection",
"work_limit_ms":10000,
"inputs":2,
"outputs":4,
"provenance":{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""},
"metadata":{},
"certificate":null,
"cost":null,
"input_labels":null,
"output_labels":null,
"lo":["30","20","40","0"],
"hi":["130","80","160","0"],
"fallback":{"full":[],"extra":[[0,"59"],[1,"36"],[2,"71"]]},
"rows":null
}
`
	if got := string(mustEncode(t, mustNew(t, cfg))); got != bare {
		t.Errorf("got\n%s\nwant\n%s", got, bare)
	}
}

// Every change of one byte, to every other value on -short to a few, is refused, or gives another policy
// whose file is the changed one and which verifies.
func TestEveryByteMutation(t *testing.T) {
	data := mustEncode(t, mustNew(t, smallConfig(t)))
	changed := bytes.Clone(data)
	accepted := 0
	for i, b := range data {
		for d := 1; d < 256; d++ {
			if !numtest.Full() && (d&(d-1) != 0 || (i+bits.Len(uint(d)))%2 > 0) { // every other single bit
				continue
			}
			changed[i] = b ^ byte(d)
			if p, err := Decode(changed); err == nil {
				accepted++
				if !bytes.Equal(mustEncode(t, p), changed) {
					t.Fatalf("byte %d = %q: accepted, but encodes differently", i, changed[i])
				}
				if err := Verify(p); err != nil {
					t.Fatalf("byte %d = %q: accepted, but %v", i, changed[i], err)
				}
			} else if !p.IsZero() {
				t.Fatal("a policy with an error")
			}
		}
		changed[i] = b
	}
	if accepted == 0 {
		t.Error("not even labels may change: the test has gone blind")
	}
}

// A file cut off anywhere, or with a byte more or less anywhere, likewise.
func TestEveryTruncationAndInsertion(t *testing.T) {
	data := mustEncode(t, mustNew(t, smallConfig(t)))
	for i := range data {
		if _, err := Decode(data[:i]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", i, err)
		}
		if i < len(data)-1 && data[i] != '"' { // without a byte; in a label or number that may still be a policy
			less := slices.Delete(bytes.Clone(data), i, i+1)
			if p, err := Decode(less); err == nil && !bytes.Equal(mustEncode(t, p), less) {
				t.Fatalf("without byte %d: accepted, but encodes differently", i)
			}
		}
		for n, b := range []byte(" \n\t,0\"") {
			if (i+n)%numtest.Cases(2, 1) > 0 {
				continue
			}
			more := slices.Insert(bytes.Clone(data), i, b)
			if p, err := Decode(more); err == nil && !bytes.Equal(mustEncode(t, p), more) {
				t.Fatalf("with %q at %d: accepted, but encodes differently", b, i)
			}
		}
	}
}

// What is refused says what and where.
func TestDecodeErrors(t *testing.T) {
	good := string(mustEncode(t, mustNew(t, smallConfig(t))))
	lines := strings.SplitAfter(good, "\n") // lines[n] is line n+1 and holds fields[n-1]
	join := func(l ...[]string) string { return strings.Join(slices.Concat(l...), "") }
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the file", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	bare := string(mustEncode(t, mustNew(t, projectionConfig(t, false))))
	for _, tc := range []struct {
		name, data string
		want       error
		text       string // part of the message
		line       int    // 0 for errors without one
	}{
		{"empty", "", ErrFormat, `"", want "{\n"`, 1},
		{"null", "null", ErrFormat, `"null"`, 1},
		{"unknown member", swap(`"bits":`, `"bids":`), ErrFormat, `"\"bids\":8,", want member "bits"`, 4},
		{"wrong case", swap(`"bits":`, `"Bits":`), ErrFormat, `want member "bits"`, 4},
		{"added member", swap("\"bits\":8,\n", "\"bits\":8,\n\"delta\":0,\n"), ErrFormat, `want member "mode"`, 5},
		{"duplicate member", join(lines[:4], lines[3:]), ErrFormat, `"\"bits\":8,", want member "mode"`, 5},
		{"members in another order", join(lines[:2], lines[3:4], lines[2:3], lines[4:]), ErrFormat, `want member "epsilon"`,
			3},
		{"missing member", join(lines[:3], lines[4:]), ErrFormat, `want member "bits"`, 4},
		{"name without colon", swap(`"bits":8`, `"bits"8`), ErrFormat, `want member "bits"`, 4},
		{"name not a string", swap(`"bits":8`, `bits:8`), ErrFormat, `want member "bits"`, 4},
		{"white space before a value", swap(`"bits":8`, `"bits": 8`), ErrFormat, `" 8,`, 4},
		{"white space in a list", swap(`["30","20"`, `["30", "20"`), ErrFormat, `" \"20`, 15},
		{"no line end", swap("{\n", "{"), ErrFormat, `"{\n"`, 1},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), ErrFormat, "", 1},
		{"text after the end", good + "{}", ErrFormat, "does not end", 24},
		{"no last line end", good[:len(good)-1], ErrFormat, "does not end", 23},
		{"format of the future", swap("wpm-policy-1", "wpm-policy-4"), ErrFormat,
			`one of ["wpm-policy-1" "wpm-policy-2" "wpm-policy-3"]`, 2},
		{"version 3 without what needs it", swap("wpm-policy-1", "wpm-policy-3"), ErrFormat, "not the canonical text", 2},
		{"version 2 with rows", swap("wpm-policy-1", "wpm-policy-2"), ErrFormat, `want member "geometry"`, 18},
		{"not UTF-8", swap("home", "h\xffme"), ErrFormat, "not UTF-8", 13},
		{"epsilon a number", swap(`"epsilon":"1.5"`, `"epsilon":1.5`), ErrFormat, "want a string", 3},
		{"epsilon not canonical", swap(`"1.5"`, `"3/2"`), ErrFormat, "not the canonical text", 3},
		{"epsilon NaN", swap(`"1.5"`, `"NaN"`), ldp.ErrEpsilon, "NaN", 0},
		{"epsilon negative", swap(`"1.5"`, `"-1"`), ldp.ErrEpsilon, "-1", 0},
		{"epsilon too small for the box", swap(`"1.5"`, `"1.2"`), ldp.ErrBox, "column 0", 0},
		{"bits a string", swap(`"bits":8`, `"bits":"8"`), ErrFormat, "want a whole number", 4},
		{"bits NaN", swap(`"bits":8`, `"bits":NaN`), ErrFormat, "want a whole number", 4},
		{"bits 8.0", swap(`"bits":8`, `"bits":8.0`), ErrFormat, `"8.0,`, 4},
		{"bits 1e1", swap(`"bits":8`, `"bits":1e1`), ErrFormat, `"1e1,`, 4},
		{"bits +8", swap(`"bits":8`, `"bits":+8`), ErrFormat, "want a whole number", 4},
		{"bits 08", swap(`"bits":8`, `"bits":08`), ErrFormat, "want a whole number", 4},
		{"bits negative", swap(`"bits":8`, `"bits":-8`), ldp.ErrBits, "-8", 0},
		{"bits huge", swap(`"bits":8`, `"bits":4294967304`), ErrFormat, "2^31", 4},
		{"bits huger", swap(`"bits":8`, `"bits":18446744073709551624`), ErrFormat, "2^31", 4},
		{"bits 63", swap(`"bits":8`, `"bits":63`), ldp.ErrBits, "63", 0},
		{"bits 7", swap(`"bits":8`, `"bits":7`), ldp.ErrBox, "", 0},
		{"mode unknown", swap(`"mixture"`, `"mixtures"`), ErrMode, "mixtures", 0},
		{"mode empty", swap(`"mixture"`, `""`), ErrFormat, "not the canonical text", 5},
		{"mode without work limit", swap(`"mixture"`, `"projection"`), ErrFormat, "not the canonical text", 6},
		{"mixture without rows", strings.Replace(strings.Replace(bare, `"projection"`, `"mixture"`, 1), `10000`, `0`, 1),
			ErrMode, "", 0},
		{"inputs 0", swap(`"inputs":3`, `"inputs":0`), ErrShape, "", 0},
		{"inputs 4", swap(`"inputs":3`, `"inputs":4`), ErrShape, "", 0},
		{"outputs 3", swap(`"outputs":4`, `"outputs":3`), ErrShape, "for 3 outputs", 0},
		{"provenance without geometry", swap(`"geometry":"public",`, ``), ErrProvenance, "geometry", 0},
		{"provenance of the other kind", swap(`"geometry":"public"`, `"geometry":"data-independent"`), ErrProvenance, "", 0},
		{"provenance with a bad epsilon", swap(`"0.25"`, `"x"`), ErrProvenance, "", 0},
		{"provenance epsilon not canonical", swap(`"0.25"`, `"1/4"`), ErrFormat, "not the canonical text", 9},
		{"metadata out of order", swap(`"title":"small","unit"`, `"title":"small","tip"`), ErrFormat,
			"not the canonical text", 10},
		{"metadata twice", swap(`"title":"small","unit"`, `"title":"small","title"`), ErrFormat, "not the canonical text",
			10},
		{"metadata empty key", swap(`"a":""`, `"":""`), ErrText, "", 0},
		{"metadata a number", swap(`"small"`, `7`), ErrFormat, "want an object of strings", 10},
		{"cost with white space", swap(`"n":4`, `"n": 4`), ErrObject, "white space at byte 19", 0},
		{"cost with NaN", swap(`"n":4`, `"n":NaN`), ErrObject, "cost", 0},
		{"cost a list", swap(`{"kind":"ring","n":4,"p":1}`, `[1]`), ErrObject, "brace", 0},
		{"cost unclosed", swap(`"n":4,"p":1}`, `"n":4,"p":1`), ErrObject, "end", 0},
		{"certificate broken", swap(`"f":1.5`, `"f":01.5`), ErrObject, "certificate", 0},
		{"label with an escape of another kind", swap("home", `\u0068ome`), ErrFormat, `\\u0068ome`, 13},
		{"label twice", swap("køb 🚲", "home"), ErrText, "home", 0},
		{"label with a raw tab", swap("home", "ho\tme"), ErrFormat, `\tme`, 13},
		{"label with DEL", swap("home", "ho\x7fme"), ErrText, "U+007F", 0},
		{"labels empty", swap(`["a","b","c","d"]`, `[]`), ErrShape, "0 output labels", 0},
		{"label missing", swap(`,"d"]`, `]`), ErrShape, "3 output labels", 0},
		{"lo a number", swap(`["30"`, `[30`), ErrFormat, `want "\"30\"`, 15},
		{"lo with a sign", swap(`["30"`, `["+30"`), ErrFormat, `"+30\"`, 15},
		{"lo empty string", swap(`["30"`, `[""`), ErrShape, "3 lower", 0},
		{"lo with an exponent", swap(`["30"`, `["3e1"`), ErrShape, "5 lower", 0},
		{"lo too big for 64 bits", swap(`["30"`, `["18446744073709551616"`), ldp.ErrBox, "18446744073709551615", 0},
		{"lo lowered", swap(`["30"`, `["29"`), ldp.ErrBox, "column 0", 0},
		{"lo above hi", swap(`["30"`, `["131"`), ldp.ErrBox, "column 0", 0},
		{"lo all 0", swap(`["30","20","40","0"]`, `["0","0","0","0"]`), ldp.ErrBox, "", 0},
		{"hi raised", swap(`["130"`, `["135"`), ldp.ErrBox, "column 0", 0},
		{"hi at 2^64-1", swap(`["130"`, `["18446744073709551615"`), ldp.ErrBox, "column 0", 0},
		{"hi raised where lo is 0", swap(`"160","0"]`, `"160","1"]`), ldp.ErrBox, "column 3", 0},
		{"lo too short", swap(`["30","20","40","0"]`, `["30","20","40"]`), ErrShape, "3 lower", 0},
		{"hi too short", swap(`"160","0"]`, `"160"]`), ErrShape, "3 upper", 0},
		{"hi empty", swap(`["130","80","160","0"]`, `[]`), ErrShape, "0 upper", 0},
		{"fallback empty", swap(`"extra":[[0,"70"],[1,"30"],[2,"66"]]`, `"extra":[]`), ErrFormat, "not the canonical text",
			17},
		{"fallback null", swap(`{"full":[],"extra":[[0,"70"],[1,"30"],[2,"66"]]}`, `null`), ErrFormat, `"null,`, 17},
		{"fallback over", swap(`[0,"70"]`, `[0,"71"]`), ErrRow, "fallback", 0},
		{"row over", swap(`[2,"6"]`, `[2,"7"]`), ErrRow, "row 0", 0},
		{"row short", swap(`[2,"6"]`, `[2,"5"]`), ErrRow, "row 0: policy: wrong row: weights sum to 255", 0},
		{"row in another spelling", swap(`"full":[2],"extra":[[1,"46"]]`, `"full":[],"extra":[[1,"46"],[2,"120"]]`), ErrRow,
			"row 1", 0},
		{"row with a column above 2^31", swap(`"full":[2]`, `"full":[4294967298]`), ErrRow, "column 2147483647", 0},
		{"row with a column above kv", swap(`"full":[2]`, `"full":[2147483647]`), ErrRow, "row 1", 0},
		{"row with a pair of three", swap(`[1,"46"]`, `[1,"46",1]`), ErrFormat, `",1]]},`, 20},
		{"row with swapped members", swap(`{"full":[2],"extra":[[1,"46"]]}`, `{"extra":[[1,"46"]],"full":[2]}`), ErrRow,
			"row 1", 0},
		{"row missing", swap("{\"full\":[2],\"extra\":[[1,\"46\"]]},\n", ""), ErrShape, "2 rows for 3", 0},
		{"rows empty", join(lines[:18], []string{"\"rows\":[\n]\n}\n"}), ErrShape, "1 rows for 3 inputs", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Decode([]byte(tc.data))
			if !errors.Is(err, tc.want) || !p.IsZero() {
				t.Fatalf("Decode = %v, %v, want %v", p, err, tc.want)
			}
			if !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v\ndoes not say %q", err, tc.text)
			}
			var at *FormatError
			if errors.As(err, &at) != (tc.line != 0) || at != nil && at.Line != tc.line {
				t.Errorf("%v: want line %d", err, tc.line)
			}
			if at != nil && at.Offset > len(tc.data) {
				t.Errorf("offset %d of %d", at.Offset, len(tc.data))
			}
		})
	}
}

// memberNames are the members of a file of one version that has no schedule.
func memberNames(version versions, aliases bool) (names []string) {
	for _, m := range members() {
		if m.versions&version != 0 && (m.name != "input_aliases" || aliases) {
			names = append(names, m.name)
		}
	}
	return names
}

// A FormatError names the member it was in.
func TestFormatErrorField(t *testing.T) {
	data := mustEncode(t, mustNew(t, aliasConfig(t)))
	for _, name := range memberNames(v1, true) {
		i := bytes.Index(data, []byte(`"`+name+`":`)) + len(name) + 3
		_, err := Decode(slices.Insert(bytes.Clone(data), i, ' '))
		var at *FormatError
		if !errors.As(err, &at) || at.Field != name || at.Offset != i {
			t.Errorf("space in %q: %v", name, err)
		}
	}
}

func TestDecodeLimits(t *testing.T) {
	if _, err := Decode(make([]byte, MaxBytes+1)); !errors.Is(err, ErrLimit) {
		t.Errorf("MaxBytes + 1: %v", err)
	}
	if _, err := Decode(make([]byte, MaxBytes)); !errors.Is(err, ErrFormat) {
		t.Errorf("MaxBytes: %v", err)
	}
	bare := string(mustEncode(t, mustNew(t, projectionConfig(t, false))))
	noLabels := strings.Replace(bare, `["home","say \"hi\", x\\y","køb 🚲"]`, "null", 1)
	for _, n := range []int{MaxInputs, MaxInputs + 1} {
		_, err := Decode([]byte(strings.Replace(noLabels, `"inputs":3`, fmt.Sprintf(`"inputs":%d`, n), 1)))
		if want := n > MaxInputs; errors.Is(err, ErrLimit) != want || !want && err != nil {
			t.Errorf("%d inputs: %v", n, err)
		}
	}
	if testing.Short() {
		return
	}
	// One output too many: a box of units, each of which may be 1 or stay.
	for _, kv := range []int{MaxOutputs, MaxOutputs + 1} {
		lo, hi := make([]uint64, kv), make([]uint64, kv)
		for j := range lo {
			lo[j], hi[j] = 1, 2
		}
		box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), lo, hi, 21)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Config{Polytope: box, Mode: Projection, Inputs: 1, Provenance: clean})
		if want := kv > MaxOutputs; errors.Is(err, ErrLimit) != want || !want && err != nil {
			t.Fatalf("%d outputs: %v", kv, err)
		}
		if _, err := NewRow(box, box.Round(nil)); errors.Is(err, ErrLimit) != (kv > MaxOutputs) {
			t.Errorf("a row of %d outputs: %v", kv, err)
		}
		if err == nil {
			if q, err := Decode(mustEncode(t, p)); err != nil || q.ID() != p.ID() {
				t.Errorf("%d outputs: %v", kv, err)
			}
		}
	}
}

// TestMaxBytes: a file of just MaxBytes, and one more.
func TestMaxBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("a quarter of a gigabyte")
	}
	cfg := projectionConfig(t, false)
	cfg.Certificate = nil
	rest := MaxBytes - len(mustEncode(t, mustNew(t, cfg))) - len(`{"x":""}`) + len("null")
	for _, more := range []int{0, 1} {
		cfg.Certificate = []byte(`{"x":"` + strings.Repeat("x", rest+more) + `"}`)
		p, err := New(cfg)
		if want := more > 0; errors.Is(err, ErrLimit) != want || !want && err != nil {
			t.Fatalf("MaxBytes + %d: %v", more, err)
		}
		if err == nil && numtest.Full() {
			if data := mustEncode(t, p); len(data) != MaxBytes {
				t.Errorf("%d bytes, want %d", len(data), MaxBytes)
			} else if q, err := Decode(data); err != nil || q.ID() != p.ID() {
				t.Errorf("MaxBytes: %v", err)
			}
		}
	}
}

// TestDecodeErrorLines holds that an error about the meaning of a member names its line, too.
func TestDecodeErrorLines(t *testing.T) {
	good := string(mustEncode(t, mustNew(t, smallConfig(t))))
	lines := strings.Split(good, "\n")
	line := func(prefix string) int {
		for n, l := range lines {
			if strings.HasPrefix(l, prefix) {
				return n + 1
			}
		}
		t.Fatalf("no line starts with %s", prefix)
		return 0
	}
	rows := line(`"rows":[`)
	for _, tc := range []struct {
		old, new string
		line     int
	}{
		{`"mode":"mixture"`, `"mode":"magic"`, line(`"mode"`)},
		{`"bits":8`, `"bits":63`, line(`"bits"`)},
		{`"bits":8`, `"bits":7`, line(`"lo"`)},
		{`"geometry":"public"`, `"geometry":"none"`, line(`"provenance"`)},
		{lines[rows], strings.Replace(lines[rows], `[`, `[9,`, 1), rows + 1},
		{lines[rows+1], strings.Replace(lines[rows+1], `[`, `[9,`, 1), rows + 2},
	} {
		data := strings.Replace(good, tc.old, tc.new, 1)
		_, err := Decode([]byte(data))
		if want := fmt.Sprintf("line %d", tc.line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s instead of %s: error %v, want %q in it", tc.new, tc.old, err, want)
		}
	}
}

// TestDecodeRowCount: a text with other than a row for each input is refused before a row is read.
func TestDecodeRowCount(t *testing.T) {
	good := string(mustEncode(t, mustNew(t, smallConfig(t))))
	more := strings.Replace(good, "\"rows\":[\n", "\"rows\":[\n[],\n", 1)
	if _, err := Decode([]byte(more)); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "4 rows for 3 inputs, at most") {
		t.Errorf("%v", err)
	}
}

// TestDecodeAbsentMember: an error about a member that the file does not have names no line.
func TestDecodeAbsentMember(t *testing.T) {
	text := string(mustEncode(t, mustNew(t, codesConfig(t))))
	start := strings.Index(text, "\"geometry\":{\"")
	end := start + strings.Index(text[start:], "\n") + 1
	if _, err := Decode([]byte(text[:start] + text[end:])); err == nil || strings.Contains(err.Error(), "line 0") {
		t.Errorf("%v", err)
	}
}

// TestNumbers: digits are read to the largest number, and a list is allocated once.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]uint64{"18446744073709551610": 1<<64 - 6, "18446744073709551615": 1<<64 - 1,
		"18446744073709551616": 1<<64 - 1, "99999999999999999999": 1<<64 - 1, "0": 0} {
		if got := numbers([]byte(text), uint64(math.MaxUint64)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	list := []byte(strings.Repeat("7,", 999) + "7")
	if n := testing.AllocsPerRun(10, func() { numbers(list, uint64(math.MaxUint64)) }); n != 1 {
		t.Errorf("%v allocations for a list", n)
	}
}

// TestManyRowsAndAliases: a file with as many rows, and one with as many aliases, as there may be.
func TestManyRowsAndAliases(t *testing.T) {
	if testing.Short() {
		t.Skip("a million of each")
	}
	p := manyRows(t, MaxInputs, 1, 1)
	if q, err := Decode(mustEncode(t, p)); err != nil || q.ID() != p.ID() {
		t.Errorf("rows: %v", err)
	}
	cfg := aliasConfig(t)
	cfg.InputAliases = make([]Alias, MaxInputs)
	for i := range cfg.InputAliases {
		cfg.InputAliases[i] = Alias{0, strconv.Itoa(i)}
	}
	p = mustNew(t, cfg)
	text := mustEncode(t, p)
	if q, err := Decode(text); err != nil || q.ID() != p.ID() {
		t.Errorf("aliases: %v", err)
	}
	cfg.InputAliases = append(cfg.InputAliases, Alias{0, "one more"})
	if _, err := New(cfg); !errors.Is(err, ErrLimit) {
		t.Errorf("one alias more: %v", err)
	}
	if _, err := Decode(bytes.Replace(text, []byte("\"input_aliases\":["), []byte("\"input_aliases\":[[0,\"!\"],"), 1)); !errors.Is(err,
		ErrLimit) {
		t.Errorf("one alias more in the file: %v", err)
	}
}

// TestFormatErrorPlace: an error of a text names the member, the line and the offset, and stays short.
func TestFormatErrorPlace(t *testing.T) {
	at := FormatError{Offset: 7, Line: 2, Field: "bits", Problem: "no"}
	if got, want := at.Error(), `policy: not a canonical policy file: line 2, offset 7, in "bits": no`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p := mustNew(t, smallConfig(t))
	// A value in another spelling is a fault in its member.
	var spelt *FormatError
	if _, err := Decode(bytes.Replace(mustEncode(t, p), []byte(`"1.5"`), []byte(`"3/2"`), 1)); !errors.As(err, &spelt) ||
		spelt.Field != "epsilon" {
		t.Errorf("%v, want a FormatError in epsilon", err)
	}
	// What stands after the end is in no member.
	if _, err := Decode(append(mustEncode(t, p), '\n')); !errors.As(err, &spelt) || spelt.Field != "" {
		t.Errorf("%v, want a FormatError outside any member", err)
	}
	// The first member is a member like the others.
	twice := bytes.Replace(mustEncode(t, p), []byte("\n\"epsilon\""), []byte("\n\"format\""), 1)
	if _, err := Decode(twice); err == nil || !strings.Contains(err.Error(), `want member "epsilon"`) {
		t.Errorf("two formats: %v", err)
	}
	// A line without the name of a member is of the last member before it, and what is not there of none.
	text := mustEncode(t, p)
	for _, row := range [][]byte{[]byte("\"rows\":[\n{"), []byte("},\n{")} {
		spaced := bytes.Replace(text, row, append(bytes.Clone(row), ' '), 1)
		if _, err := Decode(spaced); !errors.As(err, &spelt) || spelt.Field != "rows" || bytes.Equal(spaced, text) {
			t.Errorf("%q and a space: %v, want a FormatError in rows", row, err)
		}
	}
	for _, bad := range [][]byte{[]byte("\"format\":1\n"), text[:len(text)-1]} {
		if _, err := Decode(bad); !errors.As(err, &spelt) || spelt.Field != "" {
			t.Errorf("%.20q, %d bytes: %v, want a FormatError outside any member", bad, len(bad), err)
		}
	}
	if _, err := Decode(bytes.Repeat([]byte("x"), 1000)); err == nil || len(err.Error()) > 200 {
		t.Errorf("a long message: %v", err)
	}
}
