package conform

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/vectors"
	"pgregory.net/rapid"
)

// The vectors have what their authors thought of. Here the inputs of vectors are changed at random, and what a client makes
// of them is compared with what Go makes of them.

// oddNumbers are near the limits of integers in other languages, and spellings of numbers that are none.
var oddNumbers = []string{"0", "1", "2", "-0", "-1", "00", "01", "1.0", "1e0", "+1", " 1", "", "127", "128", "255", "256", "32767",
	"32768", "65535", "65536", "1048575", "1048576", "1048577", "2147483647", "2147483648", "-2147483648", "-2147483649",
	"4294967295", "4294967296", "4294967297", "9007199254740991", "9007199254740993", "999999999999999", "1000000000000000",
	"4611686018427387903", "4611686018427387904", "4611686018427387905", "9223372036854775807", "9223372036854775808",
	"18446744073709551615", "18446744073709551616", "18446744073709551617", "18446744073709551620", "36893488147419103233",
	"99999999999999999999", "100000000000000000000", "184467440737095516160"}

var oddBytes = []string{"\x00", "\t", "\n", "\r", "\r\n", " ", "\"", "\"\"", "\\", "\\\"", "\\u0041", ",", ",,", "[", "]", "{", "}", ":", "/",
	"\x7f", "\u0085", "\u00a0", "\u00e9", "e\u0301", "\ufeff", "\u2028", "\ufffd", "\U0010ffff", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80",
	"\xff", "\x80", "\u0661", "null", "true", "~torn ", "~torn 1", "E", "e", ".", "-", "x", "\u0130", "\u212a"}

// mutated changes a text in a few places: bytes, numbers, and pieces of it or of another text.
func mutated(t *rapid.T, text, other []byte) []byte {
	text = bytes.Clone(text)
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		end := min(len(text), at+rapid.SampledFrom([]int{0, 1, 1, 2, 5, 40}).Draw(t, "taken"))
		var put []byte
		switch rapid.IntRange(0, 7).Draw(t, "how") {
		case 0, 1: // a number
			isDigit := func(n int) bool { return n < len(text) && '0' <= text[n] && text[n] <= '9' }
			for at < len(text) && !isDigit(at) {
				at++
			}
			for at > 0 && isDigit(at-1) {
				at--
			}
			for end = at; isDigit(end); end++ {
			}
			put = []byte(rapid.SampledFrom(oddNumbers).Draw(t, "number"))
			if v, err := strconv.ParseInt(string(text[at:end]), 10, 64); err == nil && rapid.Bool().Draw(t, "near") {
				put = strconv.AppendInt(nil, v+int64(rapid.SampledFrom([]int{-1, 1}).Draw(t, "by")), 10)
			}
		case 2:
			put = []byte(rapid.SampledFrom(oddBytes).Draw(t, "bytes"))
		case 3: // nothing
		case 4: // a piece once more
			put = bytes.Clone(append(text[at:end:end], text[at:end]...))
		case 5: // a piece of the other text
			from := rapid.IntRange(0, len(other)).Draw(t, "from")
			put = bytes.Clone(other[from:min(len(other), from+rapid.IntRange(0, 60).Draw(t, "size"))])
		case 6: // from line to line
			lines := bytes.SplitAfter(text, []byte("\n"))
			others := append(bytes.SplitAfter(other, []byte("\n")), lines...)
			n := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			lines[n] = others[rapid.IntRange(0, len(others)-1).Draw(t, "instead")]
			text = bytes.Join(lines, nil)
			continue
		default:
			if end > at {
				put = []byte{text[at] ^ 1<<rapid.IntRange(0, 7).Draw(t, "bit")}
				end = at + 1
			}
		}
		text = bytes.Join([][]byte{text[:at], put, text[end:]}, nil)
	}
	return text
}

// packed packs a text in members of gzip, with odd headers and blocks of every kind.
func packed(t *rapid.T, text []byte) []byte {
	var out bytes.Buffer
	for range rapid.IntRange(1, 2).Draw(t, "members") {
		z, err := gzip.NewWriterLevel(&out, rapid.IntRange(flate.HuffmanOnly, flate.BestCompression).Draw(t, "level"))
		if err != nil {
			t.Fatal(err)
		}
		z.Extra = rapid.SliceOfN(rapid.Byte(), -1, 4).Draw(t, "extra")
		z.Name = rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "name")
		z.Comment = rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "comment")
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		_, err = z.Write(text[:cut])
		if rapid.Bool().Draw(t, "flush") {
			err = errors.Join(err, z.Flush())
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		text = text[cut:]
	}
	return out.Bytes()
}

// chained gives lines of a ledger their hashes.
func chained(bodies []string) (text []byte) {
	var chain [sha256.Size]byte
	for _, body := range bodies {
		chain = sha256.Sum256(append(chain[:], body...))
		text = fmt.Appendf(text, "%s %x\n", body, chain)
	}
	return text
}

// mutatedLedger changes the text of a ledger, with right hashes or with wrong ones.
func mutatedLedger(t *rapid.T, text, other []byte) []byte {
	if rapid.IntRange(0, 3).Draw(t, "hashes") == 0 {
		return mutated(t, text, other)
	}
	bodies := func(text []byte) []byte {
		var out []byte
		for line := range bytes.Lines(text) {
			if cut := bytes.LastIndexByte(line, ' '); cut > 0 && line[len(line)-1] == '\n' {
				out = append(append(out, line[:cut]...), '\n')
			}
		}
		return out
	}
	changed := string(mutated(t, bodies(text), bodies(other)))
	whole := chained(strings.Split(strings.TrimSuffix(changed, "\n"), "\n"))
	if rapid.Bool().Draw(t, "torn") {
		whole = whole[:len(whole)-rapid.IntRange(1, min(len(whole), 90)).Draw(t, "cut")]
	}
	return whole
}

// An attack is what one kind of question is about.
type attack struct {
	kind     string
	question func(t *rapid.T) (fields map[string]any, want func() (any, error))
}

// The inputs of vectors.
type material struct {
	policies, private [][]byte
	good              []policy.Policy // those of the policies that are
	ledgers           [][]byte
	books             []map[string]any
	signed, boxes     []map[string]any
	counted           []map[string]any
}

func readMaterial(t *testing.T) (m material) {
	seen := map[string]bool{}
	for _, kind := range []string{"release", "ledger", "schedule", "verify", "aggregate"} {
		file, err := vectors.Read(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			var in map[string]any
			if err := json.Unmarshal(c.In, &in); err != nil {
				t.Fatal(err)
			}
			text, _ := in["policy"].(string)
			switch {
			case kind == "release" && c.Valid && len(text) < 4000:
				private, err := hex.DecodeString(in["private"].(string))
				if err != nil {
					t.Fatal(err)
				}
				if len(private) < 4000 {
					m.private = append(m.private, private)
				}
				if seen[text] {
					continue
				}
				seen[text] = true
				p, err := policy.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				m.policies, m.good = append(m.policies, []byte(text)), append(m.good, p)
			case in["op"] == "books":
				ledger, err := hex.DecodeString(in["text"].(string))
				if err != nil {
					t.Fatal(err)
				}
				m.ledgers, m.books = append(m.ledgers, ledger), append(m.books, in)
			case in["op"] == "ed25519":
				m.signed = append(m.signed, in)
			case kind == "verify":
				in["eps"] = in["epsilon"]
				delete(in, "epsilon")
				m.boxes = append(m.boxes, in)
			case kind == "aggregate" && len(c.In) < 8000:
				m.counted = append(m.counted, in)
			}
		}
	}
	return m
}

// plain is an answer or a question as JSON has it.
func plain(t *rapid.T, v any) (out members) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// attacks are questions whose answers Go knows.
func attacks(m material) []attack {
	asHex := func(b []byte) string { return hex.EncodeToString(b) }
	somePolicy := func(t *rapid.T) int { return rapid.IntRange(0, len(m.policies)-1).Draw(t, "policy") }
	return []attack{
		{"policy", func(t *rapid.T) (map[string]any, func() (any, error)) {
			file := mutated(t, m.policies[somePolicy(t)], m.policies[somePolicy(t)])
			return map[string]any{"policy_hex": asHex(file)}, func() (any, error) {
				p, err := policy.Decode(file)
				if err != nil {
					return nil, err
				}
				id := p.ID()
				return map[string]any{"sha256": asHex(id[:])}, nil
			}
		}},
		{"draw", func(t *rapid.T) (map[string]any, func() (any, error)) {
			n := somePolicy(t)
			private := m.private[rapid.IntRange(0, len(m.private)-1).Draw(t, "private")]
			if k := m.good[n].Inputs(); rapid.Bool().Draw(t, "fitting") {
				private = nil
				for range rapid.IntRange(0, 4).Draw(t, "lines") {
					private = fmt.Appendf(private, "%s,%s\n", quoted(m.good[n].InputLabel(rapid.IntRange(0, k-1).Draw(t, "label"))),
						rapid.SampledFrom([]string{"0", "1", "0.5", "1e-3", "3e-320", "5e-324", "9007199254740992", "1e15", "7.25E+2",
							"0.1", "0e999999999999", "00012", "1.7976931348623157e308", "12345678901234567890e-19"}).Draw(t, "count"))
				}
			}
			if rapid.Bool().Draw(t, "changed") {
				private = mutated(t, private, m.private[rapid.IntRange(0, len(m.private)-1).Draw(t, "other")])
			}
			if rapid.IntRange(0, 3).Draw(t, "packed") == 0 {
				if private = packed(t, private); rapid.Bool().Draw(t, "spoilt") {
					private = mutated(t, private, private)
				}
			}
			random := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random")
			fields := map[string]any{"policy": string(m.policies[n]), "private": asHex(private), "random": asHex(random)}
			return fields, func() (any, error) { return drawnByGo(m.good[n], private, random) }
		}},
		{"schedule", func(t *rapid.T) (map[string]any, func() (any, error)) {
			n := rapid.IntRange(0, len(m.books)-1).Draw(t, "books")
			fields := map[string]any{"op": "books", "steps": m.books[n]["steps"]}
			if b, ok := m.books[n]["budget"]; ok {
				fields["budget"] = b
			}
			fields["text"] = asHex(mutatedLedger(t, m.ledgers[n], m.ledgers[rapid.IntRange(0, len(m.ledgers)-1).Draw(t, "other")]))
			return fields, func() (any, error) {
				right, err := byGo("schedule", t, fields)
				if err == nil && bytes.Contains(plain(t, right)["appended"], []byte(hex.EncodeToString([]byte("slot ")))) {
					t.Skip("a slot was drawn, which is another one in each ledger")
				}
				return right, err
			}
		}},
		{"schedule", func(t *rapid.T) (map[string]any, func() (any, error)) {
			fields := map[string]any{"op": "ed25519"}
			in := m.signed[rapid.IntRange(0, len(m.signed)-1).Draw(t, "signed")]
			for _, name := range []string{"key", "message", "signature"} {
				b, err := hex.DecodeString(in[name].(string))
				if err != nil {
					t.Fatal(err)
				}
				if len(b) > 0 && rapid.IntRange(0, 3).Draw(t, name) == 0 {
					b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
				}
				fields[name] = asHex(b)
			}
			return fields, func() (any, error) { return byGo("schedule", t, fields) }
		}},
		{"schedule", func(t *rapid.T) (map[string]any, func() (any, error)) {
			form := rapid.SampledFrom([]string{"year", "month", "week", "day"}).Draw(t, "form")
			name := rapid.SampledFrom([]string{"", "1999", "2000", "9999", "2026", "2028", "2020"}).Draw(t, "year") +
				rapid.SampledFrom([]string{"", "-02", "-12", "-13", "-00", "-W01", "-W52", "-W53", "-W54", "-W00"}).Draw(t, "part") +
				rapid.SampledFrom([]string{"", "-01", "-28", "-29", "-30", "-31", "-32", "-00", "-1"}).Draw(t, "day")
			fields := map[string]any{"op": "epoch", "form": form, "name": name}
			return fields, func() (any, error) { return byGo("schedule", t, fields) }
		}},
		{"verify", func(t *rapid.T) (map[string]any, func() (any, error)) {
			in, fields := m.boxes[rapid.IntRange(0, len(m.boxes)-1).Draw(t, "box")], map[string]any{}
			for name, v := range in {
				fields[name] = v
			}
			name := rapid.SampledFrom([]string{"lo", "hi"}).Draw(t, "bound")
			if list := append([]any{}, in[name].([]any)...); len(list) > 0 {
				at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
				list[at] = string(mutated(t, []byte(list[at].(string)), []byte(list[0].(string))))
				fields[name] = list
			}
			if rapid.IntRange(0, 3).Draw(t, "also eps") == 0 {
				fields["eps"] = string(mutated(t, []byte(in["eps"].(string)), []byte("1/3")))
			}
			return fields, func() (any, error) { return byGo("verify", t, fields) }
		}},
		{"aggregate", func(t *rapid.T) (map[string]any, func() (any, error)) {
			some := func(name string) map[string]any {
				return m.counted[rapid.IntRange(0, len(m.counted)-1).Draw(t, name)]
			}
			textOf := func(in map[string]any) []byte {
				if list, ok := in["counts"].([]any); ok {
					return []byte(list[len(list)-1].(string))
				}
				file, _ := in["file"].(string)
				return []byte(file)
			}
			fields := maps.Clone(some("counted"))
			text := mutated(t, textOf(fields), textOf(some("other")))
			if list, ok := fields["counts"].([]any); ok {
				if at := bytes.LastIndex(text, []byte("sha256 ")); at >= 0 && rapid.IntRange(0, 3).Draw(t, "hash") > 0 {
					text = fmt.Appendf(text[:at:at], "sha256 %x\n", sha256.Sum256(text[:at]))
				}
				list = slices.Clone(list)
				list[len(list)-1] = strings.ToValidUTF8(string(text), "?")
				fields["counts"] = list
			} else {
				fields["file"] = strings.ToValidUTF8(string(text), "?")
			}
			return fields, func() (any, error) { return countedByGo(t, fields) }
		}},
	}
}

func quoted(label string) string {
	if strings.ContainsAny(label, ",\"") {
		return `"` + strings.ReplaceAll(label, `"`, `""`) + `"`
	}
	return label
}

func byGo(kind string, t *rapid.T, fields map[string]any) (any, error) {
	return reference[kind](plain(t, fields))
}

// drawnByGo is what Go draws, by what it exports.
func drawnByGo(p policy.Policy, private, random []byte) (any, error) {
	d, fault := policy.ParsePrivate(p, private)
	w, input := p.Fallback(), -1
	if fault == nil && p.HasRows() {
		input = d.Pick(binary.LittleEndian.Uint64(random))
		var err error
		if w, err = p.Row(input); err != nil {
			return nil, err
		}
	}
	index, err := w.Sample(bytes.NewReader(random[8:]))
	id := p.ID()
	report := append(append([]byte("wpm1"), id[:]...), binary.LittleEndian.AppendUint32(nil, uint32(index))...)
	return map[string]any{"index": index, "report": hex.EncodeToString(report), "usable": fault == nil, "input": input}, err
}

// countedByGo is what package aggregate counts, and what it makes of texts of counts.
func countedByGo(t *rapid.T, fields map[string]any) (any, error) {
	var in struct {
		Policy, Name, Epoch, File string
		Counts                    []string
	}
	text, err := json.Marshal(fields)
	if err := errors.Join(err, json.Unmarshal(text, &in)); err != nil {
		t.Fatal(err)
	}
	var sum aggregate.Counts
	if len(in.Counts) == 0 {
		p, err := policy.Decode([]byte(in.Policy))
		if err != nil {
			return nil, err
		}
		n, err := aggregate.NewCounter(p)
		if err != nil {
			return nil, err
		}
		reader := reports.Reader{Magic: "wpm1", Size: policy.ReportSize, Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(in.File)), nil
		}}
		if sum, err = reader.Count(context.Background(), n, []string{in.Name}, in.Epoch); err != nil {
			return nil, err
		}
	}
	for n, text := range in.Counts {
		part, err := aggregate.DecodeCounts([]byte(text))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			sum = part
		} else if sum, err = aggregate.Merge(sum, part); err != nil {
			return nil, err
		}
	}
	out, err := sum.Encode()
	return map[string]any{"counts": string(out)}, err
}

// attackClient compares the answers of a client with Go's, of the kinds that it offers.
func attackClient(t *testing.T, command ...string) {
	m := readMaterial(t)
	c := &client{command: command, limit: defaultLimit}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	for n, a := range attacks(m) {
		if !c.offers([]string{a.kind}) {
			continue
		}
		t.Run(fmt.Sprintf("%s %d", a.kind, n), func(t *testing.T) {
			var accepted, refused int
			rapid.Check(t, func(t *rapid.T) {
				fields, want := a.question(t)
				right, fault := want()
				var got members
				err := c.ask(a.kind, fields, &got)
				var no refusal
				if err != nil && !errors.As(err, &no) {
					t.Fatalf("%s: %v", c.request, err)
				}
				if (err != nil) != (fault != nil) {
					t.Fatalf("%s\nthe client: %v\nGo: %v", c.request, err, fault)
				}
				if fault != nil {
					refused++
					return
				}
				accepted++
				for name, v := range plain(t, right) {
					if d := cmp.Diff(string(v), string(got[name])); d != "" {
						t.Fatalf("%s\n%s: Go -, the client +\n%s", c.request, name, d)
					}
				}
			})
			if numtest.Full() && (accepted == 0 || refused == 0 && a.kind != "draw") {
				t.Errorf("%d accepted, %d refused", accepted, refused)
			}
			t.Logf("%d accepted, %d refused", accepted, refused)
		})
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// TestAttackJavaScript and TestJavaAttack: .ci/run takes a thousand cases of each kind.
func TestAttackJavaScript(t *testing.T) {
	attackClient(t, numtest.Program(t, "node"), "../js/conform/client.js")
}

func TestJavaAttack(t *testing.T) {
	attackClient(t, "java", "-Xmx1g", "-cp", javaClasses(t), "wpm.Client")
}
