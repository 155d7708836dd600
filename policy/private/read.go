package private

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes bounds private data, and their text.
const MaxBytes = 64 << 20

const (
	header     = "label,count"
	userHeader = "user,label,count"
	byteOrder  = "\xef\xbb\xbf"
	maxLine    = 4096    // bytes; the longest line that can be right has 1095
	minLine    = 4       // bytes of the shortest one, 0,1 and its end
	maxCount   = 1 << 53 // so that a sum over MaxBytes of lines stays far from overflow
	maxNumeral = 64      // bytes
	maxUser    = 256     // bytes

	maxSpare = 15 // bytes of a spare count: more digits take another way through strconv
)

// Labels say which input a line is about.
type Labels struct {
	Inputs int
	Names  []string         // of the inputs; nil: their indices in decimal
	Index  map[string]int32 // of Names and of their aliases; nil without Names
}

// Name returns the label of input i: its index in decimal if there are no names, or not so many.
func (l Labels) Name(i int) string {
	if i < 0 || i >= len(l.Names) {
		return strconv.Itoa(i)
	}
	return l.Names[i]
}

// find returns the index of the input with this label; 0 if there is none.
func (l Labels) find(label []byte) (int, bool) {
	if l.Index != nil {
		i, ok := l.Index[string(label)]
		return int(i), ok
	}
	if label[0] == '0' && len(label) > 1 {
		return 0, false
	}
	n := 0
	for _, b := range label {
		if b < '0' || b > '9' || n >= l.Inputs {
			return 0, false
		}
		n = 10*n + int(b-'0') // below 10 * 2^20 + 10
	}
	if n >= l.Inputs {
		return 0, false
	}
	return n, true
}

// Read reads private data in one pass to their end. What is unusable leaves its first fault, and counts of 1
// for every input, with which a release works on: usable is 1 or 0, the form that subtle takes.
//
// Every text of one length costs as many entries, whether it has them or not.
func Read(l Labels, data []byte) (d Distribution, usable int, fault Error) {
	r := newReader(l)
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
	d = Distribution{counts: &counts{count: r.count}}
	for i, v := range r.count {
		v = math.Float64frombits(math.Float64bits(v)&mask | dummy&^mask)
		r.count[i] = v
		d.total += v
	}
	return d, usable, r.fault
}

// maxEntries returns how many lines of label and count can stand in a text of size bytes: the last may lack its end.
func maxEntries(size int) int { return (size + 1) / minLine }

// A reader takes private data line by line. It holds no more after a million lines, or a fault, than after one.
type reader struct {
	labels  Labels
	count   []float64
	buf     []byte // room for a field without its quotation marks
	users   bool   // the header names a column of users
	named   bool   // user holds the first one
	user    []byte // of which this has room for the longest
	entries int
	digits  int     // bytes of their counts
	missed  int     // lines in which there was no entry
	times   float64 // a count is added so many times: 1, and 0 of spare entries
	spare   []byte  // a line that is right: the label, a comma, and maxSpare digits
	label   []byte  // of an input
	numeral []byte  // maxSpare digits
	fault   Error   // the first one
}

func newReader(l Labels) *reader {
	label := l.Name(l.Inputs / 2)
	return &reader{
		labels: l, times: 1, count: make([]float64, l.Inputs), buf: make([]byte, 0, maxLine), user: make([]byte, 0, maxUser),
		spare: append(appendLabel(nil, label), ","+dummyNumeral[:maxSpare]...), label: []byte(label),
		numeral: []byte(dummyNumeral[:maxSpare]),
	}
}

func (r *reader) fail(line int, problem string) {
	if r.fault.Problem == "" {
		r.fault = Error{line, problem}
	}
}

// all takes data to the end, and then spare entries that change nothing, up to as many as a text of this length can
// have. Their counts have as many bytes as the text has beside the counts that were read, so that all counts together
// have as many bytes as the text. A line without an entry has cost its search for a comma already.
func (r *reader) all(data []byte) {
	size := r.text(data)
	r.users, r.times = false, 0
	for left := maxEntries(size) - r.entries; left > 0; left-- {
		n := min(max((size-r.digits)/left, 1), maxSpare)
		if r.missed > 0 {
			r.missed--
			r.add(0, r.label, r.numeral[:n])
		} else {
			r.line(0, r.spare[:len(r.spare)-maxSpare+n])
		}
	}
}

// text takes data to the end, unpacking them on the way, and returns the length of the text. It ends early only at
// MaxBytes and where gzip cannot go on.
func (r *reader) text(data []byte) (size int) {
	in := open(data)
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
		if fault := (*Error)(nil); errors.As(err, &fault) {
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
			r.fail(n, "not of the form user,label,count, with commas between them")
			r.missed++
			return
		case !r.named:
			if len(user) > maxUser || !utf8.Valid(user) || bytes.ContainsFunc(user, unicode.IsControl) {
				r.fail(n, "not a user of 1 to 256 bytes of UTF-8 without control characters")
			}
			r.named, r.user = true, append(r.user, user[:min(len(user), maxUser)]...)
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
	r.fail(n, "not of the form label,count, with a comma between them")
	r.missed++
}

// add adds a count to an input. Label and count both cost their work whatever is wrong with the other.
func (r *reader) add(n int, label, count []byte) {
	i, ok := r.labels.find(label)
	if !ok {
		r.fail(n, "not a label of the policy")
	}
	v, fine := numeral(count, power2, ok) // huge ones are above maxCount
	if ok && !fine || v > maxCount {
		r.fail(n, "not a count from 0 to 2^53, as 12 or 0.5")
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

// Format writes counts, one for each input, in the private format. Read reads back the same
// counts.
//
// Errors: ErrUnusable for a count that is not a number from 0 to 2^53, or if there are not as many counts as
// inputs. The error contains no count.
func Format(l Labels, counts []float64) ([]byte, error) {
	if len(counts) != l.Inputs {
		return nil, &Error{0, fmt.Sprintf("%d counts for %d inputs", len(counts), l.Inputs)}
	}
	out := []byte(header + "\n")
	for i, v := range counts {
		if !(v >= 0 && v <= maxCount) {
			return nil, &Error{0, fmt.Sprintf("count of input %d is not from 0 to 2^53", i)}
		}
		if v == 0 { // also -0
			continue
		}
		out = append(appendLabel(out, l.Name(i)), ',')
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
