package vectors_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/vectors"
)

// input is what the cases of kinds verify, release and aggregate have among their members.
type input struct {
	Epsilon, Policy, Private, File string
	PolicyHex                      string `json:"policy_hex"`
	Bits                           int
	Lo, Hi                         []string
}

// text is a policy as a case has it, by its text or by its bytes.
func (in input) text() string {
	b, err := hex.DecodeString(in.PolicyHex)
	if err != nil || len(b) == 0 {
		return in.Policy
	}
	return string(b)
}

func (in input) private() string {
	b, _ := hex.DecodeString(in.Private)
	return string(b)
}

func bigs(texts []string) (n []*big.Int) {
	for _, s := range texts {
		v, ok := new(big.Int).SetString(s, 10)
		if !ok {
			return nil
		}
		n = append(n, v)
	}
	return n
}

// has returns the first name whose pattern is in a text, or "".
func has(text string, patterns map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(patterns)) {
		if regexp.MustCompile(patterns[name]).MatchString(text) {
			return name
		}
	}
	return ""
}

// levels is how deep the deeper of a policy's two objects is.
func levels(text string) (most int) {
	for _, m := range regexp.MustCompile(`(?m)^"(?:cost|certificate)":(.*)$`).FindAllStringSubmatch(text, -1) {
		depth := 0
		for _, c := range m[1] {
			switch c {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			most = max(most, depth)
		}
	}
	return most
}

// spread says which of the two bounds on the keys of points is below 2^63.
func spread(text string) string {
	var p struct {
		Geometry struct {
			Kind string
			Axes int
		}
		In  []int64 `json:"input_points"`
		Out []int64 `json:"output_points"`
	}
	if json.Unmarshal([]byte(text), &p) != nil || p.Geometry.Kind != "points" || p.Geometry.Axes < 1 ||
		len(p.Out) == 0 || len(p.Out)%p.Geometry.Axes != 0 || len(p.In)%p.Geometry.Axes != 0 {
		return ""
	}
	points, axes := slices.Concat(p.In, p.Out), p.Geometry.Axes
	sum, largest := new(big.Int), new(big.Int)
	square := func(v int64) *big.Int { return new(big.Int).Mul(big.NewInt(v), big.NewInt(v)) }
	for a := range axes {
		least, most := points[a], points[a]
		for n := a; n < len(points); n += axes {
			least, most = min(least, points[n]), max(most, points[n])
			if points[n] < -1<<31 || points[n] >= 1<<31 {
				return "" // that is another rule
			}
		}
		sum.Add(sum, square(most-least))
	}
	for n := 0; n < len(points); n += axes {
		norm := new(big.Int)
		for _, v := range points[n : n+axes] {
			norm.Add(norm, square(v))
		}
		if norm.Cmp(largest) > 0 {
			largest = norm
		}
	}
	one, other := sum.BitLen() <= 63, largest.BitLen() <= 61
	switch {
	case one && other:
		return ""
	case one:
		return "by the spread alone"
	case other:
		return "by the norms alone"
	}
	return "by neither"
}

// zipped says what gzip finds of private data.
func zipped(b string) string {
	if !strings.HasPrefix(b, "\x1f\x8b") || len(b) < 18 {
		return ""
	}
	header := ""
	if b[3]&2 != 0 {
		header = ", header with a checksum"
	}
	z, err := gzip.NewReader(strings.NewReader(b))
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return "wrong header" + header
	case errors.Is(err, gzip.ErrChecksum):
		return "wrong checksum or size"
	case err == nil:
		return "right" + header
	}
	return ""
}

// longest returns the length of the longest line, and whether it ends with LF.
func longest(text string) string {
	most, end := 0, ""
	lines := strings.Split(text, "\n")
	for n, l := range lines {
		if len(l) > most {
			most, end = len(l), " and LF"
			if n == len(lines)-1 {
				end = ""
			}
		}
	}
	return fmt.Sprint(most, end)
}

// held reports whether a row of a policy names an output in full whose bounds are equal.
func held(text string) bool {
	type row struct{ Full []int }
	var p struct {
		Lo, Hi   []string
		Rows     []row
		Fallback row
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return false
	}
	for _, r := range append(p.Rows, p.Fallback) {
		for _, j := range r.Full {
			if j >= 0 && j < min(len(p.Lo), len(p.Hi)) && p.Lo[j] == p.Hi[j] {
				return true
			}
		}
	}
	return false
}

// TestEdges: for each edge of the specification, which a client may have missed, the cases are there on its sides. side
// names the side that a case is on, or is "". That an error shows in them, conform tests with errors planted in clients.
func TestEdges(t *testing.T) {
	word := map[bool]string{true: "accepted", false: "refused"}
	for _, e := range []struct {
		what, kind string
		side       func(c vectors.Case, in input) string
		want       []string
	}{
		{"hi and 2^B", "verify", func(c vectors.Case, in input) string {
			lo, hi := bigs(in.Lo), bigs(in.Hi)
			if len(hi) < 2 || len(lo) != len(hi) || in.Bits < 1 || in.Bits > 62 {
				return ""
			}
			total, most := new(big.Int).Lsh(big.NewInt(1), uint(in.Bits)), slices.MaxFunc(hi, (*big.Int).Cmp)
			return word[c.Valid] + map[int]string{0: ", hi = 2^B", 1: ", hi above 2^B"}[most.Cmp(total)]
		}, []string{"accepted, hi = 2^B", "refused, hi above 2^B"}},
		{"grids that are not square", "release", func(c vectors.Case, in input) string {
			var p struct{ Geometry struct{ Rows, Cols int } }
			if !c.Valid || json.Unmarshal([]byte(in.Policy), &p) != nil || p.Geometry.Rows == p.Geometry.Cols {
				return ""
			}
			return map[bool]string{true: "tall", false: "wide"}[p.Geometry.Rows > p.Geometry.Cols]
		}, []string{"tall", "wide"}},
		{"gzip", "release", func(_ vectors.Case, in input) string { return zipped(in.private()) },
			[]string{"right", "right, header with a checksum", "wrong header, header with a checksum", "wrong checksum or size"}},
		{"a line of private data", "release", func(_ vectors.Case, in input) string { return longest(in.private()) },
			[]string{"4095", "4096", "4097", "4095 and LF", "4096 and LF", "4097 and LF"}},
		{"a line of reports", "aggregate", func(_ vectors.Case, in input) string { return longest(in.File) },
			[]string{"4095", "4096", "4097", "4095 and LF", "4096 and LF", "4097 and LF"}},
		{"quoted fields", "release", func(c vectors.Case, in input) string {
			usable := bytes.Contains(c.Out, []byte(`"usable":true`))
			return fmt.Sprint(has(in.private(), map[string]string{
				"an empty label":                    `(^|\n)"",1`,
				"an empty user":                     `(^|\n)"","`,
				"one user, quoted and bare":         `(?s)(\n"ann",.*\nann,|\nann,.*\n"ann",)`,
				"one label, with a doubled quote":   `^"a""b",1`,
				"another label with doubled quotes": `^a""b,1`,
			}), ", usable: ", usable)
		}, []string{"an empty label, usable: false", "an empty user, usable: false", "one user, quoted and bare, usable: true",
			"one label, with a doubled quote, usable: true", "another label with doubled quotes, usable: true"}},
		{"keys below 2^63", "release", func(c vectors.Case, in input) string {
			if s := spread(in.Policy); s != "" {
				return word[c.Valid] + " " + s
			}
			return ""
		}, []string{"accepted by the spread alone", "accepted by the norms alone", "refused by neither"}},
		{"members of a policy", "release", func(c vectors.Case, in input) string {
			s := has(in.text(), map[string]string{
				"output labels twice":          `"output_labels":\["x","y","x"\]`,
				"extra of 0":                   `"extra":\[\[0,"[0-9]+"\],\[1,"[0-9]+"\],\[2,"[0-9]+"\],\[4,"0"\]\]`,
				"mixture without rows":         `(?s)"format":"wpm-policy-1".*"mode":"mixture".*"rows":null`,
				"projection without rows":      `(?s)"format":"wpm-policy-1".*"mode":"projection".*"rows":null`,
				"a loss in another spelling":   `"geometry_epsilon":"0.10"`,
				"a loss as it must be":         `"geometry_epsilon":"0.1"`,
				"U+007F in an object":          `"cost":\{"a":"\x7f"\}`,
				"U+007F in a label":            `labels":\["x","a\x7fb"`,
				"C1 in an object":              "\"cost\":\\{\"\u0085\":\"\u009f\"\\}",
				"C1 in a label":                "labels\":\\[\"x\",\"a[\u0080\u009f]b\"",
				"an escaped surrogate, object": `"cost":\{"a":"\\ud800"\}`,
				"an escaped surrogate, label":  `labels":\["x","a\\ud800b"`,
			})
			if in.PolicyHex != "" && strings.Contains(in.text(), "\xed\xa0\x80") {
				s = "a surrogate in bytes"
			} else if in.PolicyHex != "" && strings.Contains(in.text(), "\xff") {
				s = "not UTF-8"
			} else if s == "" && held(in.text()) {
				s = "full where hi = lo"
			}
			return s + ", " + word[c.Valid]
		}, []string{"output labels twice, refused", "extra of 0, refused", "mixture without rows, refused",
			"projection without rows, accepted", "a loss in another spelling, refused", "a loss as it must be, accepted",
			"U+007F in an object, accepted", "U+007F in a label, refused", "C1 in an object, accepted", "C1 in a label, refused",
			"an escaped surrogate, object, accepted", "an escaped surrogate, label, refused", "a surrogate in bytes, refused",
			"not UTF-8, refused", "full where hi = lo, refused"}},
		{"denominators", "verify", func(c vectors.Case, in input) string {
			_, d, ok := strings.Cut(in.Epsilon, "/")
			n, good := new(big.Int).SetString(d, 10)
			if !ok || !good {
				return ""
			}
			for _, bits := range []uint{127, 128} {
				off := new(big.Int).Sub(n, new(big.Int).Lsh(big.NewInt(1), bits))
				if off.IsInt64() && off.Int64() >= -1 && off.Int64() <= 1 {
					return fmt.Sprintf("2^%d%+d, %s", bits, off.Int64(), word[c.Valid])
				}
			}
			return ""
		}, []string{"2^127-1, accepted", "2^127+0, accepted", "2^128-1, accepted", "2^128+0, refused", "2^128+1, refused"}},
		{"levels of an object", "release", func(c vectors.Case, in input) string {
			return fmt.Sprint(levels(in.Policy), ", ", word[c.Valid])
		}, []string{"9999, accepted", "10000, accepted", "10001, refused"}},
		{"counts and headers", "release", func(c vectors.Case, in input) string {
			return map[string]string{
				"0,0":                "no count above 0",
				"0,0\n1,1":           "one input without counts, another with one",
				"label,count":        "a header alone",
				"label,count\r":      "a header and CR",
				"1,1\r":              "a last line with CR",
				"1,9007199254740992": "2^53",
				"1,9007199254740994": "above 2^53",
			}[in.private()] + map[bool]string{true: ", usable", false: ""}[bytes.Contains(c.Out, []byte(`"usable":true`))]
		}, []string{"no count above 0", "one input without counts, another with one, usable", "a header alone",
			"a header and CR", "a last line with CR, usable", "2^53, usable", "above 2^53"}},
		{"units of the draw of an input", "release", func(_ vectors.Case, in input) string {
			return has(in.private(), map[string]string{
				"half a unit and more beside 1": `^0,4.3368086899420177e-19\n1,1\n`,
				"one unit and a half beside 1":  `^0,6.505213034913027e-19\n1,1\n`,
			})
		}, []string{"half a unit and more beside 1", "one unit and a half beside 1"}},
		{"users", "release", func(c vectors.Case, in input) string {
			s := has(in.private(), map[string]string{
				"256 bytes": `\nx{256},`, "257 bytes": `\nx{257},`, "C1": "\na\u0085n,",
				"U+00A0": "\na\u00a0n,",
			})
			return s + map[bool]string{true: ", usable", false: ""}[bytes.Contains(c.Out, []byte(`"usable":true`))]
		}, []string{"256 bytes, usable", "257 bytes", "C1", "U+00A0, usable"}},
	} {
		t.Run(e.what, func(t *testing.T) {
			file, err := vectors.Read(e.kind)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string][]string{}
			for _, c := range file.Cases {
				var in input
				if err := json.Unmarshal(c.In, &in); err != nil {
					continue // of another operation
				}
				s := e.side(c, in)
				found[s] = append(found[s], c.ID)
			}
			for _, side := range e.want {
				if len(found[side]) == 0 {
					t.Errorf("%s: no case", side)
				} else {
					t.Logf("%s: %s and %d more", side, found[side][0], len(found[side])-1)
				}
			}
		})
	}
}
