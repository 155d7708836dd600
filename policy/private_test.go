package policy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

// privateCase is a row of the table that parsing, releasing and fuzzing share.
type privateCase struct {
	name, data string
	counts     []float64 // nil: unusable
}

// privateCases are for smallConfig: inputs home, say "hi", x\y, køb 🚲.
var privateCases = sync.OnceValue(func() []privateCase {
	return []privateCase{
		{"one", "home,1\n", []float64{1, 0, 0}},
		{"no last line end", "home,1", []float64{1, 0, 0}},
		{"header", "label,count\nhome,1\n", []float64{1, 0, 0}},
		{"byte order mark and header", "\ufefflabel,count\nhome,1\n", []float64{1, 0, 0}},
		{"CRLF", "label,count\r\nhome,1\r\nkøb 🚲,2\r\n", []float64{1, 0, 2}},
		{"empty lines", "\n\nhome,1\n\r\n\n", []float64{1, 0, 0}},
		{"quoted label", "\"home\",1\n\"say \"\"hi\"\", x\\y\",0.5\n", []float64{1, 0.5, 0}},
		{"repeated label adds up", "home,1\nkøb 🚲,1\nhome,2.5\n", []float64{3.5, 0, 1}},
		{"zero beside others", "home,0\nkøb 🚲,1\n", []float64{0, 0, 1}},
		{"exponents", "home,1e-3\nkøb 🚲,25E+1\n", []float64{1e-3, 0, 250}},
		{"smallest float", "home,5e-324\n", []float64{5e-324, 0, 0}},
		{"underflow beside 1", "home,1e-999\nkøb 🚲,1\n", []float64{0, 0, 1}},
		{"largest count", "home,9007199254740992\n", []float64{1 << 53, 0, 0}},
		{"leading zeros", "home,007\n", []float64{7, 0, 0}},
		{"numeral of 64", "home,0." + strings.Repeat("3", 62) + "\n", []float64{1.0 / 3, 0, 0}},
		{"user column", "user,label,count\nu,home,1\nu,køb 🚲,2\n", []float64{1, 0, 2}},
		{"user column, byte order mark, CRLF", "\ufeffuser,label,count\r\nu,home,1\r\n", []float64{1, 0, 0}},
		{"users and labels quoted", `user,label,count
"u, ""v""","say ""hi"", x\y",1
"u, ""v""",home,1
`, []float64{1, 1, 0}},
		{"one user, quoted or not", "user,label,count\nu,home,1\n\"u\",home,1\n", []float64{2, 0, 0}},
		{"the longest user", "user,label,count\n" + strings.Repeat("u", maxLabel) + ",home,1", []float64{1, 0, 0}},
		{"gzip", zip("home,1\n"), []float64{1, 0, 0}},
		{"gzip of a user column", zip("user,label,count\nu,home,1\n"), []float64{1, 0, 0}},
		{"gzip in two members, cut within a line", zip("home,1\nho") + zip("me,2"), []float64{3, 0, 0}},
		{"gzip with empty members", zip("") + zip("home,1\n") + zip(""), []float64{1, 0, 0}},
		{"a line of 4096 bytes", "home,1\n" + strings.Repeat("\"", 4096) + "\n", nil},

		{"empty", "", nil},
		{"user header only", "user,label,count\n", nil},
		{"user header in another case", "User,label,count\nu,home,1\n", nil},
		{"user header after an empty line", "\nuser,label,count\nu,home,1\n", nil},
		{"second user", "user,label,count\nu,home,1\nv,home,1\n", nil},
		{"second user, a longer name", "user,label,count\nu,home,1\nuu,home,1\n", nil},
		{"two columns under a user header", "user,label,count\nhome,1\n", nil},
		{"four columns under a user header", "user,label,count\nu,u,home,1\n", nil},
		{"no user", "user,label,count\n,home,1\n", nil},
		{"empty user in quotation marks", "user,label,count\n\"\",home,1\n", nil},
		{"user of 257 bytes", "user,label,count\n" + strings.Repeat("u", maxLabel+1) + ",home,1", nil},
		{"user with a control character", "user,label,count\nu\t,home,1", nil},
		{"user not UTF-8", "user,label,count\nu\xff,home,1", nil},
		{"users with all counts 0", "user,label,count\nu,home,0\n", nil},
		{"gzip of nothing", zip(""), nil},
		{"gzip of two users", zip("user,label,count\nu,home,1\nv,home,1\n"), nil},
		{"gzip cut off in its text", zip(strings.Repeat("home,1\n", 1000))[:25], nil},
		{"gzip without its checksum", zip("home,1\n")[:len(zip("home,1\n"))-8], nil},
		{"gzip with a wrong checksum", flipped(zip("home,1\n"), 8), nil},
		{"gzip with a wrong length", flipped(zip("home,1\n"), 1), nil},
		{"gzip, then text", zip("home,1\n") + "home,1\n", nil},
		{"gzip, then a NUL", zip("home,1\n") + "\x00", nil},
		{"gzip, then half a member", zip("home,1\n") + zip("home,1\n")[:15], nil},
		{"gzip in gzip", zip(zip("home,1\n")), nil},
		{"a line of 4097 bytes", "home,1\n" + strings.Repeat("\"", 4097) + "\n", nil},
		{"header only", "label,count\n", nil},
		{"only line ends", "\r\n\n\n", nil},
		{"zero total", "home,0\n", nil},
		{"underflow to zero total", "home,1e-999\n", nil},
		{"header twice", "label,count\nlabel,count\nhome,1\n", nil},
		{"header later", "home,1\nlabel,count\n", nil},
		{"two byte order marks", "\ufeff\ufeffhome,1\n", nil},
		{"unknown label", "home,1\nhone,1\n", nil},
		{"label in another case", "Home,1\n", nil},
		{"space before label", " home,1\n", nil},
		{"no comma", "home 1\n", nil},
		{"no count", "home,\n", nil},
		{"no label", ",1\n", nil},
		{"three columns", "u,home,1\n", nil},
		{"label with a comma unquoted", "say \"hi\", x\\y,1\n", nil},
		{"open quotation", "\"home,1\n", nil},
		{"quotation then text", "\"home\"x,1\n", nil},
		{"quotation at the end", "\"home\"", nil},
		{"quotation, then no count", "\"home\",\n", nil},
		{"quoted user, then nothing", "user,label,count\n\"u\",\n", nil},
		{"quoted user and label, then no count", "user,label,count\n\"u\",\"home\",\n", nil},
		{"lone quotation mark", "\"", nil},
		{"negative", "home,-1\n", nil},
		{"minus zero", "home,-0\n", nil},
		{"plus", "home,+1\n", nil},
		{"NaN", "home,NaN\n", nil},
		{"Inf", "home,Inf\n", nil},
		{"hexadecimal", "home,0x10\n", nil},
		{"underscore", "home,1_0\n", nil},
		{"no digit before the point", "home,.5\n", nil},
		{"space before count", "home, 1\n", nil},
		{"space after count", "home,1 \n", nil},
		{"comma decimal", "home,0,5\n", nil},
		{"two points", "home,1.2.3\n", nil},
		{"difference", "home,1-2\n", nil},
		{"exponent alone", "home,1e\n", nil},
		{"one above the largest", "home,9007199254740993e1\n", nil},
		{"huge", "home,1e308\n", nil},
		{"overflow", "home,1e999\n", nil},
		{"numeral of 65", "home," + strings.Repeat("0", 64) + "1\n", nil},
		{"65536 digits", "home," + strings.Repeat("9", 1<<16) + "\n", nil},
		{"not UTF-8", "h\xffme,1\n", nil},
		{"UTF-16", "h\x00o\x00m\x00e\x00,\x001\x00", nil},
		{"NUL", "\x00", nil},
		{"64 KiB of commas", strings.Repeat(",", 1<<16), nil},
		{"64 KiB of quotation marks", strings.Repeat("\"", 1<<16), nil},
		{"JSON", `{"index":[0],"weight":[1]}`, nil},
		{"a gzip header cut off", "\x1f\x8b\x08\x00", nil},
		{"gzip magic and text", "\x1f\x8bhome,1\n", nil},
	}
})

// zip packs a text in one member of gzip.
func zip(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a bytes.Buffer does not fail
	_ = z.Close()
	return b.String()
}

// flipped changes a bit of the byte that is so far from the end.
func flipped(s string, fromEnd int) string {
	b := []byte(s)
	b[len(b)-fromEnd] ^= 1
	return string(b)
}

func TestParsePrivate(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for _, tc := range privateCases() {
		t.Run(tc.name, func(t *testing.T) {
			data := []byte(tc.data)
			pr, err := ParsePrivate(p, data)
			if string(data) != tc.data {
				t.Error("input changed")
			}
			if tc.counts == nil {
				var pe *PrivateError
				if !errors.As(err, &pe) || !errors.Is(err, ErrPrivate) || pr.Mu() != nil {
					t.Fatalf("ParsePrivate = %v, want ErrPrivate", err)
				}
				return
			}
			if err != nil || !slices.Equal(pr.count, tc.counts) {
				t.Fatalf("ParsePrivate = %v, %v, want %v", pr.count, err, tc.counts)
			}
			sum := 0.0
			for i, v := range pr.Mu() {
				if want := tc.counts[i] / pr.total; v != want {
					t.Errorf("mu[%d] = %v, want %v", i, v, want)
				}
				sum += v
			}
			if !(math.Abs(sum-1) <= 1e-15) { // three roundings of at most 2^-54 and two additions
				t.Errorf("sum of mu = %v", sum)
			}
		})
	}
	if !numtest.Full() {
		return
	}
	if _, err := ParsePrivate(p, make([]byte, MaxBytes+1)); !errors.Is(err, ErrPrivate) {
		t.Errorf("above MaxBytes: %v", err)
	}
}

// Errors tell a line and nothing of its content.
func TestPrivateErrorHidesContent(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for _, tc := range []struct {
		data string
		line int
	}{{"home,1\nsecret,4711\n", 2}, {"home,4711x", 1}, {"home,1\n\nsecret", 3}, {"home,0", 0},
		{"user,label,count\nsecret,home,1\nsecret4711,home,1\n", 3}, {"user,label,count\nsecret\t,home,4711\n", 2},
		{zip("home,4711\nsecret,1\n"), 2}, {zip("home,4711\n") + "secret", 0}, {strings.Repeat("secret4711", 1000), 1},
		{"home,1\n" + strings.Repeat("secret4711", 1000) + "\nsecret\n", 2}} {
		_, err := ParsePrivate(p, []byte(tc.data))
		var pe *PrivateError
		if !errors.As(err, &pe) || pe.Line != tc.line {
			t.Errorf("%q: %v, want line %d", tc.data, err, tc.line)
		}
		if strings.Contains(err.Error(), "4711") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v shows the data", err)
		}
	}
}

// Without labels the index stands for the input, in its one spelling.
func TestIndexLabels(t *testing.T) {
	cfg := projectionConfig(t, false)
	cfg.InputLabels, cfg.Inputs = nil, 12
	p := mustNew(t, cfg)
	for _, tc := range []struct {
		label string
		want  int // -1: no input
	}{
		{"0", 0}, {"7", 7}, {"11", 11}, {`"11"`, 11}, {"12", -1}, {"99", -1}, {"00", -1}, {"07", -1}, {"-1", -1}, {"+1", -1},
		{"", -1}, {"1.0", -1},
		{"18446744073709551616", -1}, {"18446744073709551617", -1}, {"4294967296", -1}, {strings.Repeat("1", 1000), -1},
	} {
		pr, err := ParsePrivate(p, []byte(tc.label+",1"))
		if tc.want < 0 {
			if err == nil {
				t.Errorf("%q accepted", tc.label)
			}
		} else if err != nil || pr.count[tc.want] != 1 {
			t.Errorf("%q: %v, %v", tc.label, pr.count, err)
		}
	}
}

// Text of one length takes as many entries whatever it says, and a release of it as many allocations: what is
// unusable goes all the way.
func TestUnusableDataCostAsMuch(t *testing.T) {
	cfg := smallConfig(t)
	cfg.InputLabels, cfg.Inputs, cfg.Rows = nil, 2, cfg.Rows[:2]
	p := mustNew(t, cfg)
	second := cfg
	second.Rows = nil
	second.Geometry = &Geometry{Kind: Points, Axes: 1, InputPoints: []int32{0, 1}}
	for j := range cfg.Polytope.Len() {
		second.Geometry.OutputPoints = append(second.Geometry.OutputPoints, int32(j))
	}
	policies := []Policy{p, mustNew(t, greedily(second))}
	second.Thresholds = make([]int32, 2) // a rest that does not fit costs as much, too
	for second.Thresholds[0] == policies[1].c.Thresholds[0] || second.Thresholds[1] == policies[1].c.Thresholds[1] {
		second.Thresholds[0]++
		second.Thresholds[1]++
	}
	policies = append(policies, mustNew(t, second))
	readable := "user,label,count\nuu,0,7\nuu,1,9\nuu,1,1\n"
	size := len(readable)
	var allocs [2]float64 // of versions 1 and 2
	for i, data := range []string{
		readable, "user,label,count\nuu,0,7\nvv,1,9\nuu,1,1\n", "user,label,count\nuu,0,0\nuu,1,0\nuu,1,0\n",
		"user,label,count\nu\t,0,7\nu\t,1,9\nu\t,1,1\n", "label,count\n" + strings.Repeat("0,1\n", 6) + "\n\n",
		"label,count\n" + strings.Repeat("0,x\n", 6) + "\n\n", strings.Repeat("0,1\n", 9) + "\n\n",
		strings.Repeat("2,1\n", 9) + "\n\n", strings.Repeat("x", size), strings.Repeat("\n", size),
		strings.Repeat(",", size), strings.Repeat("\x00", size),
	} {
		if len(data) != size {
			t.Fatalf("%q has %d bytes, want %d", data, len(data), size)
		}
		r := newReader(p.c)
		if r.all([]byte(data)); r.entries != (size+1)/4 {
			t.Errorf("%q: %d entries, want %d", data, r.entries, (size+1)/4)
		}
		private := []byte(data)
		for v, p := range policies {
			took := testing.AllocsPerRun(100, func() { p.c.law(t.Context(), private, nil, 0) })
			if i == 0 && v < len(allocs) {
				allocs[v] = took
			}
			if want := allocs[min(v, 1)]; took != want {
				t.Errorf("%v, %q: %v allocations, readable data take %v", p, data, took, want)
			}
		}
	}
	// several chunks, the fault in the first
	for _, line := range []string{"0,1\n", "2,1\n", "0,x\n", "xxxx", "\n\n\n\n"} {
		r := newReader(p.c)
		if r.all([]byte(strings.Repeat(line, 3*maxLine))); r.entries != 3*maxLine {
			t.Errorf("%q: %d entries, want %d", line, r.entries, 3*maxLine)
		}
	}
	w, err := secretRow(p.c.Polytope, p.c.Rows, p.c.Fallback, len(p.c.Rows)) // not by way of an error
	if err != nil || !slices.Equal(weights(w), weights(p.Fallback())) {
		t.Errorf("the row after the last is %v, %v, want the fallback", weights(w), err)
	}
}

// No verb and no encoder shows a Private, a pointer to one, or one within a struct.
func TestPrivateIsRedacted(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	pr, err := ParsePrivate(p, []byte("home,4711\nkøb 🚲,815\n"))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g", "%T"} {
		for _, x := range []any{pr, &pr, struct{ P Private }{pr}, []Private{pr}, map[string]Private{"x": pr}} {
			shown = append(shown, fmt.Sprintf(verb, x))
		}
	}
	shown = append(shown, fmt.Sprint(pr), pr.String(), pr.GoString())
	type record struct{ P Private } // xml wants a name
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, xml.Marshal} {
		b, err := marshal(record{pr})
		if err != nil {
			t.Error(err)
		}
		shown = append(shown, string(b))
	}
	for _, s := range shown {
		if strings.Contains(s, "4711") || strings.Contains(s, "815") || strings.Contains(s, "5526") ||
			strings.Contains(s, "1267") {
			t.Errorf("shown: %s", s)
		}
	}
}

// What FormatPrivate writes, ParsePrivate reads.
func TestFormatPrivateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(drawConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		count := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Just(5e-324), rapid.Just(float64(maxCount)),
			rapid.Float64Range(0, 10))
		want := rapid.SliceOfN(count, p.Inputs(), p.Inputs()).Draw(t, "counts")
		data, err := FormatPrivate(p, want)
		if err != nil {
			t.Fatal(err)
		}
		pr, err := ParsePrivate(p, data)
		if slices.Max(want) == 0 {
			if err == nil {
				t.Fatal("zero total accepted")
			}
			return
		}
		if err != nil || !slices.Equal(pr.count, want) {
			t.Fatalf("%q gives %v, %v, want %v", data, pr.count, err, want)
		}
	})
}

func TestFormatPrivateErrors(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for _, bad := range [][]float64{nil, {1, 2}, {1, 2, 3, 4}, {-1, 0, 0}, {math.NaN(), 0, 0}, {math.Inf(1), 0, 0},
		{maxCount * 2, 0, 0}} {
		if out, err := FormatPrivate(p, bad); !errors.Is(err, ErrPrivate) || out != nil {
			t.Errorf("FormatPrivate(%v) = %q, %v", bad, out, err)
		}
	}
	if out, err := FormatPrivate(p, []float64{math.Copysign(0, -1), 0, 1}); err != nil ||
		string(out) != "label,count\nkøb 🚲,1\n" {
		t.Errorf("minus zero: %q, %v", out, err)
	}
}

// The words that pick gives each input are counted exactly, by bisection for the first word of each: the
// number is 2^64 mu_i rounded up or down, and what is at most 2^-61 mass may be lost.
func TestPickIsARoundingOfMu(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Just(1e-300), rapid.Just(float64(maxCount)),
			rapid.Float64Range(0, 1e3))
		pr := Private{private: &private{count: rapid.SliceOfN(count, 1, 6).Draw(t, "counts")}}
		for _, v := range pr.count {
			pr.total += v
		}
		if pr.total == 0 {
			return
		}
		last := pr.pick(math.MaxUint64)
		exact := new(big.Rat)
		for _, v := range pr.count {
			exact.Add(exact, new(big.Rat).SetFloat64(v))
		}
		two64 := new(big.Int).Lsh(big.NewInt(1), 64)
		from := new(big.Int)
		for i, v := range pr.count {
			next := two64
			if i < last {
				next = new(big.Int).SetUint64(firstAbove(pr, i))
			}
			words := new(big.Rat).SetInt(new(big.Int).Sub(next, from))
			want := new(big.Rat).SetFloat64(v)
			want.Quo(want, exact).Mul(want, new(big.Rat).SetInt(two64))
			// One unit for the rounding of the words. Each u_i loses less than one part in 2^61 of S, which moves
			// 2^64 u_i / S by at most 2^3 for itself and as much for each of the other five in S.
			const slack = 1 + 6*8
			if diff := words.Sub(words, want); diff.Abs(diff).Cmp(big.NewRat(slack, 1)) > 0 {
				t.Fatalf("counts %v: input %d has %v words off", pr.count, i, diff)
			}
			if v == 0 && next.Cmp(from) != 0 {
				t.Fatalf("counts %v: input %d of count 0 is drawn", pr.count, i)
			}
			from = next
			if i >= last {
				break
			}
		}
	})
}

// firstAbove returns the first word that picks an input above i. There is one.
func firstAbove(p Private, i int) uint64 {
	lo, hi := uint64(0), uint64(math.MaxUint64) // pick(hi) > i
	for lo < hi {
		mid := lo + (hi-lo)/2
		if p.pick(mid) > i {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Whole counts are drawn without any loss: 1 : 2 : 5 over eighths of the words.
func TestPickExact(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	pr, err := ParsePrivate(p, []byte("home,1\n\"say \"\"hi\"\", x\\y\",2\nkøb 🚲,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	const eighth = uint64(1) << 61
	for _, tc := range []struct {
		word uint64
		want int
	}{{0, 0}, {eighth - 1, 0}, {eighth, 1}, {3*eighth - 1, 1}, {3 * eighth, 2}, {math.MaxUint64, 2}} {
		if got := pr.pick(tc.word); got != tc.want {
			t.Errorf("pick(%#x) = %d, want %d", tc.word, got, tc.want)
		}
	}
}

// parts of a line, as regular expressions.
const (
	aField   = `("(?:[^"]|"")+"|[^",][^,]*)`
	aNumeral = `([0-9][0-9.eE+-]{0,63})`
)

var (
	labelLine = regexp.MustCompile(`(?s)^()` + aField + `,` + aNumeral + `$`)
	userLine  = regexp.MustCompile(`(?s)^` + aField + `,` + aField + `,` + aNumeral + `$`)
)

// simpleCounts reads private data as the format is written down, with the whole text in memory; nil if they are
// unusable.
func simpleCounts(p Policy, data []byte) []float64 {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil
		}
	}
	form, counts, users := labelLine, make([]float64, p.Inputs()), map[string]bool{}
	for n, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		if len(line) > 4096 {
			return nil
		}
		line = strings.TrimSuffix(line, "\r")
		if n == 0 && line == "user,label,count" {
			form = userLine
		} else if line != "" && (n > 0 || line != "label,count") {
			part := form.FindStringSubmatch(line)
			if part == nil {
				return nil
			}
			for i, s := range part[1:3] {
				if strings.HasPrefix(s, `"`) {
					part[i+1] = strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
				}
			}
			i := slices.Index(p.InputLabels(), part[2])
			v, err := strconv.ParseFloat(part[3], 64)
			users[part[1]] = true
			if i < 0 || err != nil || v > 1<<53 || len(users) > 1 || checkText(part[1], 0, 256) != nil {
				return nil
			}
			counts[i] += v
		}
	}
	if slices.Max(counts) == 0 {
		return nil
	}
	return counts
}

// Any bytes are read as simpleCounts reads them, and packed as they are unpacked.
func FuzzParsePrivate(f *testing.F) {
	for _, tc := range privateCases() {
		if len(tc.data) < 1000 {
			f.Add([]byte(tc.data))
		}
	}
	p := mustNew(f, smallConfig(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		keep := bytes.Clone(data)
		pr, err := ParsePrivate(p, data)
		if !bytes.Equal(data, keep) {
			t.Fatal("input changed")
		}
		want := simpleCounts(p, data)
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(pr.count, want) {
			t.Fatalf("%q: %v, want %v", data, err, want)
		}
		if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			packed, errPacked := ParsePrivate(p, []byte(zip(string(data))))
			if (err == nil) != (errPacked == nil) || err == nil && !slices.Equal(pr.count, packed.count) {
				t.Fatalf("%q: %v, packed %v", data, err, errPacked)
			}
		}
		if err != nil {
			if !errors.Is(err, ErrPrivate) {
				t.Fatal(err)
			}
			return
		}
		if !isDistribution(pr.Mu(), p.Inputs()) {
			t.Fatalf("mu = %v", pr.Mu())
		}
		if i := pr.pick(0x9e3779b97f4a7c15); i < 0 || i >= p.Inputs() || pr.count[i] == 0 {
			t.Fatalf("picked %d of %v", i, pr.count)
		}
	})
}

// TestPrivateInUnexportedField holds that even fmt's walk over fields that it cannot call methods on shows nothing.
func TestPrivateInUnexportedField(t *testing.T) {
	pr, err := ParsePrivate(mustNew(t, smallConfig(t)), []byte("home,987654\n"))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ hidden Private }
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x"} {
		if got := fmt.Sprintf(verb, holder{pr}); strings.Contains(got, "987654") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// TestPrivateOfMaxBytes: private data of just MaxBytes are read.
func TestPrivateOfMaxBytes(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	line := "home," + strings.Repeat("0", maxNumeral-1) + "1\n"
	most := MaxBytes
	if !numtest.Full() {
		most /= 64
	}
	data := []byte(strings.Repeat(line, most/len(line)))
	lines := len(data) / len(line)
	data = append(data, strings.Repeat("\n", most-len(data))...)
	if pr, err := ParsePrivate(p, data); err != nil || pr.Mu()[0] != 1 {
		t.Errorf("%d lines in %d bytes: %v", lines, len(data), err)
	}
}

// TestDigitsForLabels: where inputs have no labels, digits are all that makes one.
func TestDigitsForLabels(t *testing.T) {
	cfg := projectionConfig(t, false)
	cfg.InputLabels, cfg.Inputs = nil, 4000
	many := mustNew(t, cfg)
	for label, want := range map[string]bool{"0": true, "9": true, "90": true, "3999": true, "4000": false, "/": false,
		":": false, "1.": false, "1:": false} {
		if _, err := ParsePrivate(many, []byte(label+",1")); (err == nil) != want {
			t.Errorf("label %q of 4000 inputs: %v", label, err)
		}
	}
}

// TestPrivateErrorText: the line is named if there is one.
func TestPrivateErrorText(t *testing.T) {
	for line, want := range map[int]string{0: "policy: unusable private data: no",
		1: "policy: unusable private data: line 1: no"} {
		if got := (&PrivateError{line, "no"}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
