package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Private is one client's distribution over the inputs of a policy. It prints as a fixed text whatever the
// verb or encoder, so that no log shows it; Mu reads it.
//
// # The private format
//
// Lines of a label, a comma and a count, in UTF-8, each of at most 4096 bytes before its end:
//
//	label,count
//	home,12
//	"cinema, the old one",0.5
//
// or, under a header that says so, the same lines after the name of one user:
//
//	user,label,count
//	u17,home,12
//	u17,"cinema, the old one",0.5
//
// The rules:
//
//   - The first line may be a header: label,count or user,label,count as it stands here. A byte order mark
//     before it, empty lines, and a carriage return before a line end are ignored.
//   - A label is an input label of the policy or an alias of one, byte by byte, or the decimal index of an
//     input if inputs have no labels.
//   - A user is 1 to 256 bytes of UTF-8 without control characters, the same on every line.
//   - Label and user may stand in quotation marks, within which a quotation mark is doubled; they must if
//     they have a comma or start with a quotation mark.
//   - A count is a decimal, 0 <= count <= 2^53, with an optional exponent (12, 0.5, 1e-3), of at most 64
//     characters, taken as the nearest float64. No sign, no space, no NaN.
//   - Counts of one label add up. Inputs that are not named have count 0.
//   - Data that start with the bytes 1f 8b are gzip (RFC 1952): one or more complete members with correct checksums,
//     and nothing after the last. The text is the concatenation of the members.
//
// The distribution is the counts divided by their sum, which must not be 0. Anything else makes the data unusable as a
// whole, as does more than MaxBytes of data or of text. A line is never dropped.
type Private struct {
	Redacted[Private]
	*private
}

// private is behind a pointer because fmt cannot call Format on what lies in another type's unexported field:
// there it prints fields, but of a pointer only the address.
type private struct {
	count []float64 // finite, >= 0
	total float64   // their sum, > 0
}

const (
	header     = "label,count"
	userHeader = "user,label,count"
	byteOrder  = "\xef\xbb\xbf"
	maxLine    = 4096    // bytes; the longest line that can be right has 1095
	minLine    = 4       // bytes of the shortest one, 0,1 and its end
	maxCount   = 1 << 53 // so that a sum over MaxBytes of lines stays far from overflow
	maxNumeral = 64      // bytes

	maxSpare = 15 // bytes of a spare count: more digits take another way through strconv
)

// ParsePrivate reads private data as Release does. It is for checks on the device and for simulations: a
// release takes the bytes, not a Private. It takes memory for k counts and one line, and time linear in k
// and in the text.
//
// Errors: ErrPolicy, and a *PrivateError (ErrPrivate), which names a line and never its content. Whether
// there is an error is itself private.
func ParsePrivate(p Policy, data []byte) (Private, error) {
	if p.c == nil {
		return Private{}, ErrPolicy
	}
	pr, usable, fault := p.c.read(data)
	if usable == 0 {
		return Private{}, &fault
	}
	return pr, nil
}

// read reads private data in one pass to their end. What is unusable leaves its first fault, and counts of 1
// for every input, with which a release works on: usable is 1 or 0, the form that subtle takes.
//
// Every text of one length costs as many entries, whether it has them or not.
func (c *content) read(data []byte) (pr Private, usable int, fault PrivateError) {
	r := newReader(c)
	r.all(data)
	total := 0.0
	for _, v := range r.count { // not while reading: a long file of small counts would add up its roundings
		total += v
	}
	if total == 0 {
		r.fail(0, "no counts above 0")
	}
	if r.fault.Problem == "" {
		usable = 1
	}
	dummy, mask := math.Float64bits(1), -uint64(usable)
	pr = Private{private: &private{count: r.count}}
	for i, v := range r.count {
		v = math.Float64frombits(math.Float64bits(v)&mask | dummy&^mask)
		r.count[i] = v
		pr.total += v
	}
	return pr, usable, r.fault
}

// maxEntries returns how many lines of label and count can stand in a text of size bytes: the last may lack its end.
func maxEntries(size int) int { return (size + 1) / minLine }

// A reader takes private data line by line. It holds no more after a million lines, or a fault, than after one.
type reader struct {
	c       *content
	count   []float64
	buf     []byte // room for a field without its quotation marks
	users   bool   // the header names a column of users
	named   bool   // user holds the first one
	user    []byte // of which this has room for the longest
	entries int
	digits  int          // bytes of their counts
	missed  int          // lines in which there was no entry
	times   float64      // a count is added so many times: 1, and 0 of spare entries
	spare   []byte       // a label that is right, a comma, and maxSpare digits
	fault   PrivateError // the first one
}

func newReader(c *content) *reader {
	return &reader{
		c: c, times: 1, count: make([]float64, c.Inputs), buf: make([]byte, 0, maxLine), user: make([]byte, 0, maxLabel),
		spare: append(appendLabel(nil, label(c.InputLabels, c.Inputs/2)), ","+dummyNumeral[:maxSpare]...),
	}
}

func (r *reader) fail(line int, problem string) {
	if r.fault.Problem == "" {
		r.fault = PrivateError{line, problem}
	}
}

// all takes data to the end, and then spare entries that change nothing, up to as many as a text of this length can
// have. Their counts have as many bytes as the text has beside the counts that were read, so that all counts together
// have as many bytes as the text. A line without an entry has cost its search for a comma already.
func (r *reader) all(data []byte) {
	size := r.text(data)
	label := len(r.spare) - maxSpare - 1
	r.users, r.times = false, 0
	for left := maxEntries(size) - r.entries; left > 0; left-- {
		n := min(max((size-r.digits)/left, 1), maxSpare)
		if r.missed > 0 {
			r.missed--
			r.add(0, r.spare[:label], r.spare[label+1:][:n])
		} else {
			r.line(0, r.spare[:label+1+n])
		}
	}
}

// text takes data to the end, unpacking them on the way, and returns the length of the text. It ends early only at
// MaxBytes and where gzip cannot go on.
func (r *reader) text(data []byte) (size int) {
	in := openText(data)
	if in.fault != nil {
		r.fail(0, in.fault.Problem)
	}
	chunk, line := make([]byte, maxLine), make([]byte, maxLine)
	n, at := 1, 0 // line n has at bytes so far, of which line keeps the first
	end := func() {
		if at > maxLine {
			r.fail(n, "a line of more than 4096 bytes")
		} else if at > 0 {
			r.line(n, line[:at])
		}
		n, at = n+1, 0
	}
	for {
		m, err := in.Read(chunk)
		size += m
		for _, b := range chunk[:m] {
			if b == '\n' {
				end()
				continue
			}
			if at < maxLine {
				line[at] = b
			}
			at++
		}
		if err == io.EOF {
			end()
			return size
		}
		if fault := (*PrivateError)(nil); errors.As(err, &fault) {
			r.fail(0, fault.Problem)
			return size
		}
	}
}

// line takes line n, counted from 1, without its end.
func (r *reader) line(n int, line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if n == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrder))
		if r.users = string(line) == userHeader; r.users || string(line) == header {
			return
		}
	}
	if len(line) == 0 {
		return
	}
	if r.users {
		user, rest, ok := field(line, r.buf)
		switch {
		case !ok:
			r.fail(n, "not of the form user,label,count")
			r.missed++
			return
		case !r.named:
			if len(user) > maxLabel || !utf8.Valid(user) || bytes.ContainsFunc(user, unicode.IsControl) {
				r.fail(n, "not a user of 1 to 256 bytes of UTF-8 without control characters")
			}
			r.named, r.user = true, append(r.user, user[:min(len(user), maxLabel)]...)
		case !bytes.Equal(user, r.user):
			r.fail(n, "a second user")
		}
		line = rest
	}
	r.entry(n, line)
}

// entry adds the count of a line to its input.
func (r *reader) entry(n int, line []byte) {
	if len(line) >= minLine-1 {
		if label, count, ok := field(line, r.buf); ok {
			r.add(n, label, count)
			return
		}
	}
	r.fail(n, "not of the form label,count")
	r.missed++
}

// add adds a count to an input. Label and count both cost their work whatever is wrong with the other.
func (r *reader) add(n int, label, count []byte) {
	i, ok := r.c.input(label)
	if !ok {
		r.fail(n, "not a label of the policy")
	}
	v, fine := numeral(count, power2, ok) // huge ones are above maxCount
	if ok && !fine || v > maxCount {
		r.fail(n, "not a count from 0 to 2^53")
		v = 0
	}
	r.count[i] += r.times * v
	r.entries++
	r.digits += len(count)
}

// field cuts a line at the comma after its first field, and undoes that field's quotation marks, in buf. Neither side
// of the comma may be empty.
func field(line, buf []byte) (first, rest []byte, ok bool) {
	if line[0] != '"' {
		first, rest, ok = bytes.Cut(line, []byte(","))
		return first, rest, ok && len(first) > 0 && len(rest) > 0
	}
	first = buf[:0]
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
			first = append(first, line[i])
		case i+1 < len(line) && line[i+1] == '"':
			first = append(first, '"')
			i++
		case i+2 < len(line) && line[i+1] == ',':
			return first, line[i+2:], len(first) > 0
		default:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// input returns the index of the input with this label; 0 if there is none.
func (c *content) input(label []byte) (int, bool) {
	if c.index != nil {
		i, ok := c.index[string(label)]
		return int(i), ok
	}
	if label[0] == '0' && len(label) > 1 {
		return 0, false
	}
	n := 0
	for _, b := range label {
		if b < '0' || b > '9' || n >= c.Inputs {
			return 0, false
		}
		n = 10*n + int(b-'0') // below 10 * 2^20 + 10
	}
	if n >= c.Inputs {
		return 0, false
	}
	return n, true
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
// Errors: ErrPolicy; ErrPrivate for a count that is not a number from 0 to 2^53, or if there are not as many counts as
// inputs. The error contains no count.
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
		out = append(appendLabel(out, p.InputLabel(i)), ',')
		out = strconv.AppendFloat(out, v, 'g', -1, 64)
		out = append(out, '\n')
	}
	return out, nil
}

// appendLabel appends a label as it stands in a line, in quotation marks where it must.
func appendLabel(out []byte, label string) []byte {
	if label[0] != '"' && strings.IndexByte(label, ',') < 0 {
		return append(out, label...)
	}
	return append(append(append(out, '"'), strings.ReplaceAll(label, `"`, `""`)...), '"')
}

// Redacted, embedded in a struct type T, hides its values: under every verb and in every encoding they are one text.
type Redacted[T any] struct{}

// String hides the content.
func (Redacted[T]) String() string { return fmt.Sprintf("%T(redacted)", *new(T)) }

// GoString hides the content.
func (r Redacted[T]) GoString() string { return r.String() }

// Format hides the content under every verb.
func (r Redacted[T]) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText hides the content, also within JSON.
func (r Redacted[T]) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
