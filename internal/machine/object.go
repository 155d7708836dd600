package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// object is one JSON object, its fields in the order they came. Reading a field marks it as known;
// finish reports the first field that no reader asked for.
type object struct {
	id     json.RawMessage
	names  []string
	fields map[string]json.RawMessage
	known  map[string]bool

	shared    *session // of the line, nil in an object within it
	want      []string // fields of the answer, nil for all
	certified bool     // the answer has a certificate
}

// parseObject reads exactly one JSON object with distinct field names. On an error the object still carries
// the id, if one could be found.
func parseObject(line []byte) (*object, error) {
	o := &object{fields: map[string]json.RawMessage{}, known: map[string]bool{"id": true}}
	if !utf8.Valid(line) {
		return o, errors.New("bad JSON: not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	tok, err := dec.Token()
	if err != nil {
		return o, syntax(line, dec, err)
	}
	if tok != json.Delim('{') {
		return o, errors.New("not a JSON object")
	}
	var first error // of the fields; the others are still read, for one of them may be the id
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return o, syntax(line, dec, err)
		}
		name, ok := tok.(string)
		if !ok {
			return o, fmt.Errorf("bad JSON at byte %d: a field name must be a string", dec.InputOffset())
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return o, fmt.Errorf("field %q: %w", name, syntax(line, dec, err))
		}
		_, twice := o.fields[name]
		switch {
		case first != nil:
		case twice:
			first = fmt.Errorf("field %q occurs twice", name)
		case name != "id" && string(raw) == "null":
			first = fmt.Errorf("field %q is null", name)
		}
		if twice {
			continue
		}
		if name == "id" {
			o.id = raw
		}
		o.fields[name] = raw
		o.names = append(o.names, name)
	}
	if _, err := dec.Token(); err != nil {
		return o, syntax(line, dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return o, fmt.Errorf("bad JSON at byte %d: more than one value on the line", dec.InputOffset())
	}
	return o, first
}

func syntax(line []byte, dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("bad JSON: the line ends at byte %d inside a value", len(line))
	}
	var syn *json.SyntaxError
	if errors.As(err, &syn) {
		return fmt.Errorf("bad JSON at byte %d: %s", syn.Offset, syn.Error())
	}
	return fmt.Errorf("bad JSON at byte %d: %w", dec.InputOffset(), err)
}

func (o *object) has(name string) bool {
	o.known[name] = true
	_, ok := o.fields[name]
	return ok
}

// finish fails if a field is left that the kind does not know.
func (o *object) finish() error {
	for _, name := range o.names {
		if !o.known[name] {
			return fmt.Errorf("unknown field %q", name)
		}
	}
	return nil
}

// read decodes a required field.
func read[T any](o *object, name string) (v T, err error) {
	if !o.has(name) {
		return v, fmt.Errorf("field %q is missing", name)
	}
	return v, decode(name, o.fields[name], &v)
}

// readOr decodes a field that may be absent.
func readOr[T any](o *object, name string, absent T) (T, error) {
	if !o.has(name) {
		return absent, nil
	}
	return read[T](o, name)
}

// decode is json.Unmarshal with strict fields, null refused inside numbers (Unmarshal would read it as
// zero) and errors in the caller's words.
func decode(name string, raw json.RawMessage, dst any) error {
	if _, isString := dst.(*string); !isString && bytes.Contains(raw, []byte("null")) {
		return fmt.Errorf("field %q: null is not a number", name)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(dst)
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		where := name
		if typ.Field != "" {
			where += "." + typ.Field
		}
		return fmt.Errorf("field %q: %s where %s is wanted", where, typ.Value, inWords(typ.Type.String()))
	}
	if err != nil {
		return fmt.Errorf("field %q: %s", name, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func inWords(goType string) string {
	switch goType {
	case "float64":
		return "a float64 number"
	case "int", "int64":
		return "an integer"
	case "string":
		return "a string"
	case "[]float64":
		return "an array of numbers"
	case "[]string":
		return "an array of strings"
	case "[]int", "[]int64":
		return "an array of integers"
	case "uint64":
		return "a whole number"
	case "[]uint64":
		return "an array of whole numbers"
	case "json.Number":
		return "a number or a string"
	}
	return goType
}
