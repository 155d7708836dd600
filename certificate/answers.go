package certificate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrAnswer is for a JSON text that is neither a certificate nor an answer with one.
var ErrAnswer = errors.New("neither a certificate nor an answer with one")

// ReadAnswers calls each for every certificate of a text, with the line on which its object begins, or with the error
// of a certificate that cannot be read. The text consists of objects, possibly with white space between them:
// certificates, or answers of wpm solve and wpm flow with the member certificate. Reading stops at text that is not an
// object. The error is that of each.
func ReadAnswers(r io.Reader, each func(line int, c Certificate, err error) error) error {
	objects := objectReader{in: bufio.NewReaderSize(r, 1<<16), line: 1}
	for {
		text, line, err := objects.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return each(line, Certificate{}, err)
		}
		c, err := decodeAnswer(text)
		if err := each(line, c, err); err != nil {
			return err
		}
	}
}

// CostOf returns the member cost of an object, as a policy or a problem of wpm solve has it; nil if there is none, or
// the text is no object.
func CostOf(text []byte) []byte {
	members, err := topMembers(text, "cost")
	if err != nil {
		return nil
	}
	return members["cost"]
}

// decodeAnswer reads a certificate, or the one in an answer.
func decodeAnswer(text []byte) (Certificate, error) {
	members, err := topMembers(text, "format", "certificate")
	if err != nil {
		return Certificate{}, err
	}
	switch format := string(members["format"]); {
	case strings.HasPrefix(format, `"wpm-policy-`):
		return Certificate{}, errors.New(`a policy: "wpm verify" checks its certificate`)
	case format != "":
		return Decode(text)
	case members["certificate"] == nil:
		return Certificate{}, ErrAnswer
	}
	return Decode(members["certificate"])
}

// topMembers returns those members of an object that have one of the names.
func topMembers(text []byte, names ...string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, ErrAnswer
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, ErrAnswer
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, ErrAnswer
		}
		for _, want := range names {
			if name == want {
				if out[want] != nil {
					return nil, fmt.Errorf("%w: member %q occurs twice", ErrAnswer, want)
				}
				out[want] = value
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, ErrAnswer
	}
	return out, nil
}

// MaxAnswer bounds an answer of wpm solve: a certificate, and at most the same amount of other text.
const MaxAnswer = 2*MaxBytes + 1<<20

// objectReader cuts a text into JSON objects, with white space between them.
type objectReader struct {
	in   *bufio.Reader
	line int
}

// next returns the next object as it stands, and the line on which it begins, or io.EOF if there is none. That it is
// JSON is for others to find: next looks for the closing brace alone.
func (r *objectReader) next() (text []byte, line int, err error) {
	depth, quoted, escaped := 0, false, false
	for line = r.line; ; {
		b, err := r.in.ReadByte()
		switch {
		case err == io.EOF && text != nil:
			return nil, line, fmt.Errorf("the text ends inside an object: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, line, err
		case b == '\n':
			r.line++
		}
		if text == nil {
			line = r.line
			switch b {
			case ' ', '\t', '\r', '\n':
				continue
			case '{':
			default:
				return nil, line, fmt.Errorf("%w: it begins with %q", ErrAnswer, b)
			}
		}
		if text = append(text, b); len(text) > MaxAnswer {
			return nil, line, fmt.Errorf("an object of more than %d bytes", MaxAnswer)
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			quoted, escaped = b != '"', b == '\\'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return text, line, nil
			}
		}
	}
}
