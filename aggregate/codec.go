package aggregate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/wpm-go/wpm/policy"
)

const (
	countsName   = "wpm-counts-" // of any version
	countsFormat = countsName + "1"
)

// IsCounts reports whether a text starts like encoded counts, also of an unknown version. head holds the first 11 bytes
// of the text or more.
func IsCounts(head []byte) bool { return bytes.HasPrefix(head, []byte(countsName)) }

// Encode returns the one text of the counts. Its lines, each with one space between words and LF at its end:
//
//	wpm-counts-1
//	policy ID                   64 hexadecimal digits
//	epoch NAME                  only "epoch" where none is stated
//	lines N                     lines read that are not empty
//	refused REASON N            for malformed, other-policy, no-such-output, never-released, in this order
//	shards N
//	SHA256 BYTES LINES ID       for each shard, by the bytes of its ID
//	reports KV
//	N                           for each output
//	sha256 HASH                 of all bytes before this line
//
// Numbers are decimal, at most 2^53, without a leading zero. The lines are the sum of reports and refused, and of those
// of the shards.
//
// Errors: ErrFormat, ErrLimit and ErrDuplicate for counts that break these rules.
func (c Counts) Encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b := fmt.Appendf(nil, "%s\npolicy %x\nepoch", countsFormat, c.Policy)
	if c.Epoch != "" {
		b = append(b, " "+c.Epoch...)
	}
	b = fmt.Appendf(b, "\nlines %d\n", c.Lines)
	for _, v := range Reasons() {
		b = fmt.Appendf(b, "refused %v %d\n", v, c.Refused[v])
	}
	b = fmt.Appendf(b, "shards %d\n", len(c.Shards))
	for _, s := range c.Shards {
		b = fmt.Appendf(b, "%x %d %d %s\n", s.SHA256, s.Bytes, s.Lines, s.ID)
	}
	b = fmt.Appendf(b, "reports %d\n", len(c.Reports))
	for _, n := range c.Reports {
		b = append(strconv.AppendUint(b, n, 10), '\n')
	}
	return fmt.Appendf(b, "sha256 %x\n", sha256.Sum256(b)), nil
}

// DecodeCounts reads the bytes that Encode writes for the same counts, and no others.
//
// Errors: ErrFormat, with the line; ErrLimit; ErrDuplicate.
func DecodeCounts(data []byte) (Counts, error) {
	if len(data) > MaxCountsBytes {
		return Counts{}, fmt.Errorf("%w: %d bytes, at most %d", ErrLimit, len(data), MaxCountsBytes)
	}
	d := &countsReader{rest: data}
	var c Counts
	if d.next(countsFormat); d.err == nil && len(d.words) > 0 {
		d.fail("words after the name of the format")
	}
	d.hash(d.next("policy", 1), 0, c.Policy[:])
	if d.next("epoch"); len(d.words) > 0 {
		c.Epoch = string(d.words[0])
		if len(d.words) > 1 || !isWord(c.Epoch) {
			d.fail("not an epoch")
		}
	}
	c.Lines = d.number(d.next("lines", 1), 0)
	for _, v := range Reasons() {
		if w := d.next("refused", 2); d.err == nil && string(w[0]) != v.String() {
			d.fail("want reason " + v.String())
		}
		c.Refused[v] = d.number(d.words, 1)
	}
	for n := d.number(d.next("shards", 1), 0); n > 0 && d.err == nil; n-- {
		if len(c.Shards) == MaxShards {
			return Counts{}, fmt.Errorf("%w: more than %d shards", ErrLimit, MaxShards)
		}
		s := Shard{}
		fields := bytes.SplitN(d.line(), []byte(" "), 4)
		if len(fields) < 4 {
			d.fail("want the hash, bytes, lines and ID of a shard")
		}
		d.hash(fields, 0, s.SHA256[:])
		s.Bytes, s.Lines = d.number(fields, 1), d.number(fields, 2)
		if d.err == nil {
			s.ID = string(fields[3])
			c.Shards = append(c.Shards, s)
		}
	}
	kv := d.number(d.next("reports", 1), 0)
	if d.err == nil && (kv < 1 || kv > policy.MaxOutputs) {
		return Counts{}, fmt.Errorf("%w: %d outputs, want 1 to %d", ErrLimit, kv, policy.MaxOutputs)
	}
	for ; kv > 0 && d.err == nil; kv-- {
		c.Reports = append(c.Reports, d.number([][]byte{d.line()}, 0))
	}
	var said [sha256.Size]byte
	body := data[:len(data)-len(d.rest)]
	d.hash(d.next("sha256", 1), 0, said[:])
	switch {
	case d.err != nil:
		return Counts{}, d.err
	case len(d.rest) > 0:
		d.n++
		d.fail("text after the end")
		return Counts{}, d.err
	case sha256.Sum256(body) != said:
		d.fail("the hash is not that of the text")
		return Counts{}, d.err
	}
	if err := c.check(); err != nil {
		return Counts{}, err
	}
	return c, nil
}

// countsReader reads line by line. The first fault is kept in err; after it every method returns zero values.
type countsReader struct {
	rest  []byte
	n     int // lines read
	words [][]byte
	err   error
}

func (d *countsReader) fail(problem string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: line %d: %s", ErrFormat, d.n, problem)
	}
}

// line returns the next line without its end.
func (d *countsReader) line() []byte {
	if d.err != nil {
		return nil
	}
	d.n++
	line, rest, ok := bytes.Cut(d.rest, []byte("\n"))
	switch {
	case !ok:
		d.fail("the text ends within a line")
		return nil
	case !utf8.Valid(line):
		d.fail("not UTF-8")
		return nil
	}
	d.rest = rest
	return line
}

// next reads a line that starts with a word, and returns the words after it: as many as want says, or any number.
func (d *countsReader) next(first string, want ...int) [][]byte {
	d.words = nil
	line := d.line()
	if d.err != nil {
		return nil
	}
	words := bytes.Split(line, []byte(" "))
	if string(words[0]) != first || len(want) > 0 && len(words) != 1+want[0] {
		d.fail(fmt.Sprintf("%q, want a line %q", line[:min(len(line), 40)], first))
		return nil
	}
	d.words = words[1:]
	return d.words
}

// number reads word i: 0 to 2^53, without a leading zero.
func (d *countsReader) number(words [][]byte, i int) uint64 {
	if d.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(string(words[i]), 10, 64)
	if err != nil || n > MaxCount || strconv.FormatUint(n, 10) != string(words[i]) {
		d.fail(fmt.Sprintf("%q is not a number from 0 to 2^53", words[i][:min(len(words[i]), 40)]))
		return 0
	}
	return n
}

// hash reads word i: a SHA-256 in lower-case hexadecimal.
func (d *countsReader) hash(words [][]byte, i int, dst []byte) {
	if d.err != nil {
		return
	}
	w := words[i]
	if len(w) == 2*len(dst) {
		if _, err := hex.Decode(dst, w); err == nil && bytes.Equal(hex.AppendEncode(nil, dst), w) {
			return
		}
	}
	d.fail("not a SHA-256 in lower-case hexadecimal")
}
