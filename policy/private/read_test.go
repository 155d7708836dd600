package private

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
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// named are labels of their own, without aliases.
func named(names []string) Labels {
	l := Labels{Inputs: len(names), Names: names, Index: map[string]int32{}}
	for i, s := range names {
		l.Index[s] = int32(i)
	}
	return l
}

func small() Labels { return named(given.PrivateLabels()) }

// drawLabels generates labels that need quotation marks and such that do not, or none.
func drawLabels(t *rapid.T) Labels {
	part := rapid.SampledFrom([]string{"a", "b", "\"", ",", " ", "ø", "🚲", "0"})
	names := rapid.SliceOfNDistinct(rapid.Map(rapid.SliceOfN(part, 1, 4), func(s []string) string { return strings.Join(s, "") }),
		1, 5, rapid.ID[string]).Draw(t, "names")
	if rapid.Bool().Draw(t, "no names") {
		return Labels{Inputs: len(names)}
	}
	return named(names)
}

// parse is Read with an error.
func parse(l Labels, data []byte) (Distribution, error) {
	d, usable, fault := Read(l, data)
	if usable == 0 {
		return Distribution{}, &fault
	}
	return d, nil
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// clean is what the name of a user must be.
func clean(s string) bool {
	return len(s) <= 256 && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func TestRead(t *testing.T) {
	l := small()
	for _, tc := range given.PrivateCases() {
		t.Run(tc.Name, func(t *testing.T) {
			data := []byte(tc.Data)
			pr, err := parse(l, data)
			if string(data) != tc.Data {
				t.Error("input changed")
			}
			if tc.Counts == nil {
				var pe *Error
				if !errors.As(err, &pe) || !errors.Is(err, ErrUnusable) || pr.Mu() != nil {
					t.Fatalf("Read = %v, want ErrUnusable", err)
				}
				return
			}
			if err != nil || !slices.Equal(pr.count, tc.Counts) {
				t.Fatalf("Read = %v, %v, want %v", pr.count, err, tc.Counts)
			}
			sum := 0.0
			for i, v := range pr.Mu() {
				if want := tc.Counts[i] / pr.total; v != want {
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
	if _, err := parse(l, make([]byte, MaxBytes+1)); !errors.Is(err, ErrUnusable) {
		t.Errorf("above MaxBytes: %v", err)
	}
}

// Errors tell a line and nothing of its content.
func TestErrorHidesContent(t *testing.T) {
	l := small()
	for _, tc := range []struct {
		data string
		line int
	}{{"home,1\nsecret,4711\n", 2}, {"home,4711x", 1}, {"home,1\n\nsecret", 3}, {"home,0", 0},
		{"user,label,count\nsecret,home,1\nsecret4711,home,1\n", 3}, {"user,label,count\nsecret\t,home,4711\n", 2},
		{given.Zip("home,4711\nsecret,1\n"), 2}, {given.Zip("home,4711\n") + "secret", 0}, {strings.Repeat("secret4711", 1000), 1},
		{"home,1\n" + strings.Repeat("secret4711", 1000) + "\nsecret\n", 2}} {
		_, err := parse(l, []byte(tc.data))
		var pe *Error
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
	l := Labels{Inputs: 12}
	for _, tc := range []struct {
		label string
		want  int // -1: no input
	}{
		{"0", 0}, {"7", 7}, {"11", 11}, {`"11"`, 11}, {"12", -1}, {"99", -1}, {"00", -1}, {"07", -1}, {"-1", -1}, {"+1", -1},
		{"", -1}, {"1.0", -1},
		{",1", -1}, {"18446744073709551616", -1}, {"18446744073709551617", -1}, {"4294967296", -1}, {strings.Repeat("1", 1000), -1},
	} {
		pr, err := parse(l, []byte(tc.label+",1"))
		if tc.want < 0 {
			if err == nil {
				t.Errorf("%q accepted", tc.label)
			}
		} else if err != nil || pr.count[tc.want] != 1 {
			t.Errorf("%q: %v, %v", tc.label, pr.count, err)
		}
	}
}

// No verb and no encoder shows a Distribution, a pointer to one, or one within a struct.
func TestDistributionIsRedacted(t *testing.T) {
	l := small()
	pr, err := parse(l, []byte("home,4711\nkøb 🚲,815\n"))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g", "%T"} {
		for _, x := range []any{pr, &pr, struct{ P Distribution }{pr}, []Distribution{pr}, map[string]Distribution{"x": pr}} {
			shown = append(shown, fmt.Sprintf(verb, x))
		}
	}
	shown = append(shown, fmt.Sprint(pr), pr.String(), pr.GoString())
	type record struct{ P Distribution } // xml wants a name
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

// What Format writes, Read reads.
func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLabels(t)
		count := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Just(5e-324), rapid.Just(float64(maxCount)),
			rapid.Float64Range(0, 10))
		want := rapid.SliceOfN(count, l.Inputs, l.Inputs).Draw(t, "counts")
		data, err := Format(l, want)
		if err != nil {
			t.Fatal(err)
		}
		pr, err := parse(l, data)
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

func TestFormatErrors(t *testing.T) {
	l := small()
	for _, bad := range [][]float64{nil, {1, 2}, {1, 2, 3, 4}, {-1, 0, 0}, {math.NaN(), 0, 0}, {math.Inf(1), 0, 0},
		{maxCount * 2, 0, 0}} {
		if out, err := Format(l, bad); !errors.Is(err, ErrUnusable) || out != nil {
			t.Errorf("Format(%v) = %q, %v", bad, out, err)
		}
	}
	if out, err := Format(l, []float64{math.Copysign(0, -1), 0, 1}); err != nil ||
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
		pr := Distribution{counts: &counts{count: rapid.SliceOfN(count, 1, 6).Draw(t, "counts")}}
		for _, v := range pr.count {
			pr.total += v
		}
		if pr.total == 0 {
			return
		}
		last := pr.Pick(math.MaxUint64)
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
func firstAbove(d Distribution, i int) uint64 {
	lo, hi := uint64(0), uint64(math.MaxUint64) // Pick(hi) > i
	for lo < hi {
		mid := lo + (hi-lo)/2
		if d.Pick(mid) > i {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Whole counts are drawn without any loss: 1 : 2 : 5 over eighths of the words.
func TestPickExact(t *testing.T) {
	l := small()
	pr, err := parse(l, []byte("home,1\n\"say \"\"hi\"\", x\\y\",2\nkøb 🚲,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	const eighth = uint64(1) << 61
	for _, tc := range []struct {
		word uint64
		want int
	}{{0, 0}, {eighth - 1, 0}, {eighth, 1}, {3*eighth - 1, 1}, {3 * eighth, 2}, {math.MaxUint64, 2}} {
		if got := pr.Pick(tc.word); got != tc.want {
			t.Errorf("Pick(%#x) = %d, want %d", tc.word, got, tc.want)
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
func simpleCounts(l Labels, data []byte) []float64 {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil
		}
	}
	form, counts, users := labelLine, make([]float64, l.Inputs), map[string]bool{}
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
			i := slices.Index(l.Names, part[2])
			v, err := strconv.ParseFloat(part[3], 64)
			users[part[1]] = true
			if i < 0 || err != nil || v > 1<<53 || len(users) > 1 || !clean(part[1]) {
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
func FuzzRead(f *testing.F) {
	for _, tc := range given.PrivateCases() {
		if len(tc.Data) < 1000 {
			f.Add([]byte(tc.Data))
		}
	}
	l := small()
	f.Fuzz(func(t *testing.T, data []byte) {
		keep := bytes.Clone(data)
		pr, err := parse(l, data)
		if !bytes.Equal(data, keep) {
			t.Fatal("input changed")
		}
		want := simpleCounts(l, data)
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(pr.count, want) {
			t.Fatalf("%q: %v, want %v", data, err, want)
		}
		if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			packed, errPacked := parse(l, []byte(given.Zip(string(data))))
			if (err == nil) != (errPacked == nil) || err == nil && !slices.Equal(pr.count, packed.count) {
				t.Fatalf("%q: %v, packed %v", data, err, errPacked)
			}
		}
		if err != nil {
			if !errors.Is(err, ErrUnusable) {
				t.Fatal(err)
			}
			return
		}
		if mu := pr.Mu(); len(mu) != l.Inputs || math.Abs(sum(mu)-1) > 1e-15 {
			t.Fatalf("mu = %v", pr.Mu())
		}
		if i := pr.Pick(0x9e3779b97f4a7c15); i < 0 || i >= l.Inputs || pr.count[i] == 0 {
			t.Fatalf("picked %d of %v", i, pr.count)
		}
	})
}

// TestDistributionInUnexportedField holds that even fmt's walk over fields that it cannot call methods on shows nothing.
func TestDistributionInUnexportedField(t *testing.T) {
	pr, err := parse(small(), []byte("home,987654\n"))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ hidden Distribution }
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x"} {
		if got := fmt.Sprintf(verb, holder{pr}); strings.Contains(got, "987654") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// TestPrivateOfMaxBytes: private data of just MaxBytes are read.
func TestPrivateOfMaxBytes(t *testing.T) {
	l := small()
	line := "home," + strings.Repeat("0", maxNumeral-1) + "1\n"
	most := MaxBytes
	if !numtest.Full() {
		most /= 64
	}
	data := []byte(strings.Repeat(line, most/len(line)))
	lines := len(data) / len(line)
	data = append(data, strings.Repeat("\n", most-len(data))...)
	if pr, err := parse(l, data); err != nil || pr.Mu()[0] != 1 {
		t.Errorf("%d lines in %d bytes: %v", lines, len(data), err)
	}
}

// TestDigitsForLabels: where inputs have no labels, digits are all that makes one.
func TestDigitsForLabels(t *testing.T) {
	many := Labels{Inputs: 4000}
	for label, want := range map[string]bool{"0": true, "9": true, "90": true, "3999": true, "4000": false, "/": false,
		":": false, "1.": false, "1:": false} {
		if _, err := parse(many, []byte(label+",1")); (err == nil) != want {
			t.Errorf("label %q of 4000 inputs: %v", label, err)
		}
	}
}

// TestErrorText: the line is named if there is one.
func TestErrorText(t *testing.T) {
	for line, want := range map[int]string{0: "private: unusable data: no",
		1: "private: unusable data: line 1: no"} {
		if got := (&Error{line, "no"}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Text of one length takes as many entries, with as many bytes of counts, whatever it says.
func TestEntriesByLength(t *testing.T) {
	two := Labels{Inputs: 2}
	readable := "user,label,count\nuu,0,7\nuu,1,9\nuu,1,1\n"
	size := len(readable)
	for _, data := range []string{
		readable, "user,label,count\nuu,0,7\nvv,1,9\nuu,1,1\n", "user,label,count\nuu,0,0\nuu,1,0\nuu,1,0\n",
		"user,label,count\nu\t,0,7\nu\t,1,9\nu\t,1,1\n", "label,count\n" + strings.Repeat("0,1\n", 6) + "\n\n",
		"label,count\n" + strings.Repeat("0,x\n", 6) + "\n\n", strings.Repeat("0,1\n", 9) + "\n\n",
		strings.Repeat("2,1\n", 9) + "\n\n", strings.Repeat("x", size), strings.Repeat("\n", size),
		strings.Repeat(",", size), strings.Repeat("\x00", size),
	} {
		r := newReader(two)
		if r.all([]byte(data)); r.entries != (size+1)/4 || len(data) != size {
			t.Errorf("%q: %d entries, want %d", data, r.entries, (size+1)/4)
		}
	}
	for _, line := range []string{"0,1\n", "2,1\n", "0,x\n", "xxxx", "\n\n\n\n"} { // several chunks, the fault in the first
		r := newReader(two)
		if r.all([]byte(strings.Repeat(line, 3*maxLine))); r.entries != 3*maxLine {
			t.Errorf("%q: %d entries, want %d", line, r.entries, 3*maxLine)
		}
	}
	for _, text := range []string{"0,100\n", "0,1\n\n\n", "x\nx\nx\n", "xxxxxx", "0,1,1\n", "\n\n\n\n\n\n"} {
		const times = 200
		r := newReader(two)
		r.all([]byte(strings.Repeat(text, times)))
		if r.digits > 6*times || r.digits < 6*times-r.entries { // short of it by less than a byte for each spare entry
			t.Errorf("%q: %d bytes of counts, want nearly %d", text, r.digits, 6*times)
		}
	}
}

// TestMissed: a line that has no entry is counted as a search for one, which a spare entry then does not repeat.
func TestMissed(t *testing.T) {
	for text, want := range map[string]int{ // lines without an entry, less the spare entries that there are
		strings.Repeat("0,1\n", 9):                               0,
		"xxxxxxxxxxxxxxxxxxx\n" + strings.Repeat("0,1\n", 9):     0, // 1 line, 5 spare entries
		"\"0\",\nxxxxxxxxxxx\n":                                  0, // 2 lines, 4
		strings.Repeat("x\n", 30):                                15,
		strings.Repeat("\"0\",\n", 8):                            0, // 8 lines, 10
		"user,label,count\n" + strings.Repeat("x\n", 30):         11,
		"user,label,count\n" + strings.Repeat("u,0,1,\n", 3):     0,
		"user,label,count\nu,0,1\n" + strings.Repeat("u,x\n", 3): 0,
	} {
		r := newReader(Labels{Inputs: 2})
		r.text([]byte(text))
		missed, spare := r.missed, maxEntries(len(text))-r.entries
		if missed < 0 {
			t.Errorf("%q: %d lines without an entry", text, missed)
		}
		r = newReader(Labels{Inputs: 2})
		if r.all([]byte(text)); r.missed != max(missed-spare, 0) || r.missed != want {
			t.Errorf("%q: %d lines without an entry and %d spare ones leave %d, want %d", text, missed, spare, r.missed, want)
		}
	}
	for text, want := range map[string]int{"\"0\",": 1, "00,": 1, "\"0\",1": 0, ",12": 1, "0,1": 0, "x\nxx\nxxx": 3} {
		r := newReader(Labels{Inputs: 2})
		if r.text([]byte(text)); r.missed != want {
			t.Errorf("%q: %d lines without an entry, want %d", text, r.missed, want)
		}
	}
}

// TestLongestLine: the fault of a line of 4096 bytes is that it is no entry, and of one more that it is too long.
func TestLongestLine(t *testing.T) {
	for size, want := range map[int]string{4096: "not a label of the policy", 4097: "a line of more than 4096 bytes"} {
		_, err := parse(Labels{Inputs: 2}, []byte(strings.Repeat("9", size-2)+",1\n"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
