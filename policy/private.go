package policy

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
)

// Private is one client's distribution over the inputs of a policy. It prints as a fixed text whatever the
// verb or encoder, so that no log shows it; Mu reads it.
//
// # The private format
//
// Lines of a label, a comma and a count, in UTF-8:
//
//	label,count
//	home,12
//	"cinema, the old one",0.5
//
// The rules:
//
//   - The first line may be the header label,count. A byte order mark before it, empty lines, and a
//     carriage return before a line end are ignored.
//   - A label is an input label of the policy or an alias of one, byte by byte, or the decimal index of an input if inputs have no labels.
//     It may stand in quotation marks, within which a quotation mark is doubled; it must if it has a comma
//     or starts with a quotation mark.
//   - A count is a decimal, 0 <= count <= 2^53, with an optional exponent (12, 0.5, 1e-3), of at most 64
//     characters, taken as the nearest float64. No sign, no space, no NaN.
//   - Counts of one label add up. Inputs that are not named have count 0.
//
// The distribution is the counts divided by their sum, which must not be 0. Anything else, and more than
// MaxBytes, is unusable as a whole: a line is never dropped.
type Private struct{ *private }

// private is behind a pointer because fmt cannot call Format on what lies in another type's unexported field:
// there it prints fields, but of a pointer only the address.
type private struct {
	count []float64 // finite, >= 0
	total float64   // their sum, > 0
}

const (
	header     = "label,count"
	maxCount   = 1 << 53 // so that a sum over MaxBytes of lines stays far from overflow
	maxNumeral = 64      // bytes
)

// ParsePrivate reads private data as Release does. It is for checks on the device and for simulations: a
// release takes the bytes, not a Private.
//
// Errors: ErrPolicy, and a *PrivateError (ErrPrivate), which names a line and never its content. Whether
// there is an error is itself private.
func ParsePrivate(p Policy, data []byte) (Private, error) {
	if p.c == nil {
		return Private{}, ErrPolicy
	}
	return p.c.parse(data)
}

func (c *content) parse(data []byte) (Private, error) {
	if len(data) > MaxBytes {
		return Private{}, &PrivateError{0, fmt.Sprintf("more than %d bytes", MaxBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	pr := Private{&private{count: make([]float64, c.Inputs)}}
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 || n == 1 && string(line) == header {
			continue
		}
		label, numeral, ok := splitLine(line)
		if !ok {
			return Private{}, &PrivateError{n, "not of the form label,count"}
		}
		i, ok := c.input(label)
		if !ok {
			return Private{}, &PrivateError{n, "not a label of the policy"}
		}
		v, ok := parseCount(numeral)
		if !ok {
			return Private{}, &PrivateError{n, "not a count from 0 to 2^53"}
		}
		pr.count[i] += v
	}
	for _, v := range pr.count { // not while reading: a long file of small counts would add up its roundings
		pr.total += v
	}
	if pr.total == 0 {
		return Private{}, &PrivateError{0, "no counts above 0"}
	}
	return pr, nil
}

// splitLine cuts a line at the comma after its label, and undoes the label's quotation marks.
func splitLine(line []byte) (label, numeral []byte, ok bool) {
	if line[0] != '"' {
		return bytes.Cut(line, []byte(","))
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
			label = append(label, line[i])
		case i+1 < len(line) && line[i+1] == '"':
			label = append(label, '"')
			i++
		case i+1 < len(line) && line[i+1] == ',':
			return label, line[i+2:], true
		default:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// input returns the index of the input with this label.
func (c *content) input(label []byte) (int, bool) {
	if c.index != nil {
		i, ok := c.index[string(label)]
		return int(i), ok
	}
	n := 0
	for _, b := range label {
		if b < '0' || b > '9' || n >= c.Inputs {
			return 0, false
		}
		n = 10*n + int(b-'0') // below 10 * 2^20 + 10
	}
	canonical := len(label) > 0 && (label[0] != '0' || len(label) == 1)
	return n, canonical && n < c.Inputs
}

// parseCount reads a numeral of the private format.
func parseCount(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > maxNumeral {
		return 0, false
	}
	// strconv also reads signs, "inf", hexadecimal and ".5"; a numeral starts with a digit and has no letter but e.
	for i, c := range b {
		digit := '0' <= c && c <= '9'
		if !digit && (i == 0 || c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && v <= maxCount
}

// Mu returns the distribution as k floats, summing to 1 up to k roundings; nil for the zero Private.
func (p Private) Mu() []float64 {
	if p.private == nil {
		return nil
	}
	mu := make([]float64, len(p.count))
	for i, v := range p.count {
		mu[i] = v / p.total
	}
	return mu
}

// pick returns the input that a uniform 64-bit word draws from the distribution.
//
// With u_i = floor(2^s count_i), where s brings the total to [2^61, 2^62), and S = sum u_i, the number of
// words that give i is 2^64 u_i / S rounded up or down: a rounding of μ to 2^64 units. Whole counts with a
// sum below 2^61 lose nothing in u. No word gives an input with u_i = 0. Privacy does not rest on this
// draw: whatever i is, the release comes from a row in the box.
//
// The scans have no early end and no branch on the data. (A product by a power of two is exact, or below 1 and then
// 0 units either way.)
func (p Private) pick(word uint64) int {
	_, e := math.Frexp(p.total)
	half, rest := math.Ldexp(1, (62-e)/2), math.Ldexp(1, 62-e-(62-e)/2) // 2^s may be too large for a float64
	u := make([]uint64, len(p.count))
	sum := uint64(0)
	for i, v := range p.count {
		u[i] = uint64(int64(v * half * rest)) // their sum is below 2^63, also with total off by a rounding for each input
		sum += u[i]
	}
	t, _ := bits.Mul64(word, sum) // uniform on 0..sum-1, up to one word in 2^64 each
	var c, i uint64
	for _, v := range u {
		c += v
		_, less := bits.Sub64(t, c, 0) // 1 if t < c
		i += 1 - less
	}
	return int(i) // t < sum = c at the end, so i <= k - 1
}

// FormatPrivate writes counts, one for each input, in the private format. ParsePrivate reads back the same
// counts.
//
// Errors: ErrPolicy, ErrPrivate for a count that is not a number from 0 to 2^53, or another number of
// counts than inputs. The error holds no count.
func FormatPrivate(p Policy, counts []float64) ([]byte, error) {
	if p.c == nil {
		return nil, ErrPolicy
	}
	if len(counts) != p.c.Inputs {
		return nil, &PrivateError{0, fmt.Sprintf("%d counts for %d inputs", len(counts), p.c.Inputs)}
	}
	out := []byte(header + "\n")
	for i, v := range counts {
		if !(v >= 0 && v <= maxCount) {
			return nil, &PrivateError{0, fmt.Sprintf("count of input %d is not from 0 to 2^53", i)}
		}
		if v == 0 { // also -0
			continue
		}
		label := p.InputLabel(i)
		out = append(out, '"')
		for j := range len(label) {
			if label[j] == '"' {
				out = append(out, '"')
			}
			out = append(out, label[j])
		}
		out = append(out, `",`...)
		out = strconv.AppendFloat(out, v, 'g', -1, 64)
		out = append(out, '\n')
	}
	return out, nil
}

const redacted = "policy.Private(not shown)"

// String hides the content.
func (p Private) String() string { return redacted }

// GoString hides the content.
func (p Private) GoString() string { return redacted }

// Format hides the content under every verb.
func (p Private) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText hides the content, also within JSON.
func (p Private) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the content.
func (p Private) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
