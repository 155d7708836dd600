package costio

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/wpmerr"
)

// table reads CSV records and knows where they are.
type table struct {
	src    *source
	csv    *csv.Reader
	record []string // valid until the next call
	line   int      // of the record
}

func newTable(r io.Reader, name string) (*table, error) {
	src, err := newSource(r, name, MaxBytes, true)
	if err != nil {
		return nil, err
	}
	return tableOf(src)
}

func tableOf(src *source) (*table, error) {
	head, err := src.Peek(3)
	if err != nil && err != io.EOF {
		return nil, src.fail(err)
	}
	switch s := string(head); {
	case s == "\xef\xbb\xbf":
		src.Discard(3) // of what was just peeked
	case strings.HasPrefix(s, "\xff\xfe"), strings.HasPrefix(s, "\xfe\xff"):
		return nil, &Error{File: src.name, Msg: "the text is UTF-16; save it as UTF-8", Err: ErrFormat}
	}
	t := &table{src: src, csv: csv.NewReader(src)}
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	if line, err := src.Peek(chunkBytes); err == nil || err == io.EOF || errors.Is(err, bufio.ErrBufferFull) {
		t.csv.Comma = separator(line)
	}
	return t, nil
}

// separator is that of the first line: a semicolon where there is one and every comma is within a number, as
// spreadsheets write tables where the decimal point is a comma; a tab where there is neither; or else a comma.
func separator(text []byte) rune {
	text = bytes.TrimLeft(text, "\r\n")
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	digit := func(i int) bool { return 0 <= i && i < len(text) && '0' <= text[i] && text[i] <= '9' }
	commas, quoted := 0, false
	semicolons, tabs := 0, 0
	for i, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ';':
			semicolons++
		case b == '\t':
			tabs++
		case b == ',' && !(digit(i-1) && digit(i+1)):
			commas++
		}
	}
	switch {
	case commas == 0 && semicolons > 0:
		return ';'
	case commas == 0 && tabs > 0 && !bytes.ContainsRune(text, ','):
		return '\t'
	}
	return ','
}

// rows yields once for each row but a header, with the row in record, or with an error, which is the last. header is
// asked about the first row: whether it is one, and how many fields every row has.
func (t *table) rows(header func() (bool, error)) iter.Seq[error] {
	return func(yield func(error) bool) {
		for fields := 0; ; {
			more, err := t.next()
			head := false
			switch {
			case err != nil:
			case !more:
				return
			case fields == 0:
				fields = len(t.record)
				head, err = header()
			default:
				err = t.width(fields)
			}
			if head && err == nil {
				continue
			}
			if !yield(err) || err != nil {
				return
			}
		}
	}
}

// next reads a record; false at the end of the file.
func (t *table) next() (bool, error) {
	rec, err := t.csv.Read()
	var pe *csv.ParseError
	switch {
	case err == io.EOF:
		return false, nil
	case errors.As(err, &pe):
		return false, &Error{File: t.src.name, Line: pe.Line, Msg: "not CSV: " + pe.Err.Error(), Err: ErrFormat}
	case err != nil:
		return false, t.src.fail(err)
	}
	t.record = rec
	t.line, _ = t.csv.FieldPos(0)
	return true, nil
}

// bad is an error about the record, or about one field (from 1) of it.
func (t *table) bad(field int, err error, msg string) error {
	return &Error{File: t.src.name, Line: t.line, Field: field, Msg: msg, Err: err}
}

// width checks the number of fields.
func (t *table) width(n int) error {
	if len(t.record) == n {
		return nil
	}
	return t.bad(0, ErrFormat, strconv.Itoa(len(t.record))+" fields, the first row has "+strconv.Itoa(n))
}

// empty is the error of a file without data.
func (t *table) empty(what string) error {
	return &Error{File: t.src.name, Msg: "no " + what, Err: ErrFormat}
}

// number reads field f (from 1).
func (t *table) number(f int) (float64, error) {
	s := t.record[f-1]
	x, ok := t.parse(s)
	if !ok {
		return 0, t.bad(f, ErrNumber, quote(s)+" is not a number")
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, t.bad(f, wpmerr.ErrNotFinite, quote(s)+" is not finite")
	}
	return x, nil
}

// parse is parseNumber, which between semicolons or tabs also takes a decimal comma.
func (t *table) parse(s string) (x float64, ok bool) {
	if t.csv.Comma != ',' && strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	return parseNumber(s)
}

// nonNegative reads field f (from 1) and refuses numbers below zero.
func (t *table) nonNegative(f int) (float64, error) {
	x, err := t.number(f)
	if err == nil && x < 0 {
		err = t.bad(f, wpmerr.ErrNegative, quote(t.record[f-1])+" is negative")
	}
	return x, err
}

// parseNumber reads a decimal number. A number beyond the range of float64 is an infinity; the words
// for NaN and the infinities all give NaN.
func parseNumber(s string) (x float64, ok bool) {
	s = strings.TrimSpace(s)
	// ParseFloat takes more than this, hexadecimal for one.
	if strings.ContainsFunc(s, notDecimal) {
		switch strings.ToLower(strings.TrimLeft(s, "+-")) {
		case "nan", "inf", "infinity":
			return math.NaN(), true
		}
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil || errors.Is(err, strconv.ErrRange)
}

func notDecimal(r rune) bool {
	return (r < '0' || r > '9') && r != '.' && r != '+' && r != '-' && r != 'e' && r != 'E'
}

// isHeader applies the header rule to fields that would otherwise be numbers. "NaN" and "Inf" count as numbers, so that
// a matrix that begins with one of them is not mistaken for a matrix with a header. (The rule for counts is narrower: a
// row mistaken for a header would be somebody's data, dropped in silence.)
func isHeader(fields []string) bool {
	word := false
	for _, s := range fields {
		if _, ok := parseNumber(s); ok {
			return false
		}
		r, _ := utf8.DecodeRuneInString(strings.TrimSpace(s))
		word = word || r == '_' || unicode.IsLetter(r)
	}
	return word
}

// label returns field f (from 1) as a label of its own memory.
func (t *table) label(f int) (string, error) {
	s := t.record[f-1]
	if why := labelFault(s); why != "" {
		return "", t.bad(f, ErrLabel, "label "+quote(s)+" "+why)
	}
	return strings.Clone(s), nil
}

// labelFault says what is wrong with a label, or returns "".
func labelFault(s string) string {
	switch {
	case s == "":
		return "is empty"
	case !utf8.ValidString(s):
		return "is not valid UTF-8: save the file as CSV UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// formatNumber writes the shortest decimal that reads back to the same bits.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// writeAll runs emit with a CSV writer over a buffer and reports the first error of any of them.
func writeAll(w io.Writer, emit func(write func(record []string) error) error) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	cw := csv.NewWriter(bw)
	if err := emit(cw.Write); err != nil {
		return err
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return err
	}
	return bw.Flush()
}
