package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/wpmerr"
)

// ParseSpec reads the JSON form of a Spec, strictly: one object, nothing after it, every field of
// the right kind, spelt as it is ("N" is not "n"), at most once, and not null; counts are integers
// from 1 to MaxPoints written as digits; p is a finite number > 0. An absent p is 1.
//
// The error wraps ErrSpec (and, where it applies, ErrExponent, ErrShape or ErrTooLarge) and names the field and its
// value. Build finds errors in the numbers, such as a negative cost or a ragged row.
func ParseSpec(data []byte) (Spec, error) {
	raw, err := members(data)
	if err != nil {
		return Spec{}, err
	}
	var s Spec
	if kind, ok := raw["kind"]; !ok {
		return s, fmt.Errorf("%w: no field \"kind\"", ErrSpec)
	} else if kind[0] != '"' || json.Unmarshal(kind, &s.Kind) != nil {
		return Spec{}, fmt.Errorf("%w: field \"kind\": %s is not a string", ErrSpec, clip(string(kind)))
	}
	set := func(f string) bool { _, ok := raw[f]; return ok }
	if err := checkFields(s.Kind, set); err != nil {
		return Spec{}, err
	}
	for _, f := range fieldOrder {
		v, ok := raw[f]
		if !ok {
			continue
		}
		switch f {
		case "C":
			s.C, err = parseRows(f, v)
		case "n":
			s.N, err = parseCount(f, v)
		case "rows":
			s.Rows, err = parseCount(f, v)
		case "cols":
			s.Cols, err = parseCount(f, v)
		case "x":
			s.X, err = parseRows(f, v)
		case "v":
			s.V, err = parseRows(f, v)
		case "p":
			if s.P, err = parseFloat(v); err != nil {
				err = fmt.Errorf("%w: %w", ErrExponent, err)
			} else {
				_, err = newPower(s.P)
			}
			if err != nil {
				err = fmt.Errorf("%w: field \"p\": %w", ErrSpec, err)
			}
		}
		if err != nil {
			return Spec{}, err
		}
	}
	if contains([]string{"ring", "grid", "points", "greatcircle-2", "greatcircle"}, s.Kind) {
		s.P = s.exponent()
	}
	if err := s.check(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// UnmarshalJSON is ParseSpec. Its errors are those of ParseSpec, ErrSpec above all.
func (s *Spec) UnmarshalJSON(data []byte) error {
	t, err := ParseSpec(data)
	if err != nil {
		return err
	}
	*s = t
	return nil
}

// members splits one JSON object. encoding/json alone would take the last of two equal keys, and
// match "N" with n.
func members(data []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	bad := func(err error) error {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%w: not JSON: %v", ErrSpec, err)
	}
	if tok, err := dec.Token(); err != nil {
		return nil, bad(err)
	} else if tok != json.Delim('{') {
		return nil, fmt.Errorf("%w: %s is not an object, such as {\"kind\":\"explicit\",\"C\":[[0,1],[1,0]]}", ErrSpec,
			clip(strings.TrimSpace(string(data[:min(len(data), 64)]))))
	}
	raw := make(map[string]json.RawMessage)
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, bad(err)
		}
		key := tok.(string) // the decoder admits nothing else here
		if key != "kind" && !contains(fieldOrder[:], key) {
			return nil, unknownField(key)
		}
		if _, twice := raw[key]; twice {
			return nil, fmt.Errorf("%w: field %q is given twice", ErrSpec, key)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, bad(err)
		}
		if string(v) == "null" {
			return nil, fmt.Errorf("%w: field %q is null", ErrSpec, key)
		}
		raw[key] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, bad(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: data after the object", ErrSpec)
	}
	return raw, nil
}

func unknownField(key string) error {
	for _, f := range append(fieldOrder[:], "kind") {
		if strings.EqualFold(f, key) {
			return fmt.Errorf("%w: unknown field %q (did you mean %q?)", ErrSpec, key, f)
		}
	}
	return fmt.Errorf("%w: unknown field %s", ErrSpec, clip(strconv.Quote(key)))
}

// clip keeps messages short.
func clip(s string) string {
	const n = 40
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// parseCount reads a number of points. v is valid JSON.
func parseCount(field string, v []byte) (int, error) {
	n, err := strconv.Atoi(string(v))
	if err != nil {
		// A number too large for an int lands here as well, on any machine.
		return 0, fmt.Errorf("%w: field %q: %s is not an integer from 1 to %d", ErrSpec, field, clip(string(v)), MaxPoints)
	}
	if err := checkCount(field, n); err != nil {
		return 0, fmt.Errorf("%w: field %q: %w", ErrSpec, field, err)
	}
	return n, nil
}

// parseFloat reads a finite number. v is valid JSON, so "inf", "0x1" and "1_0" cannot occur unquoted.
func parseFloat(v []byte) (float64, error) {
	if c := v[0]; c != '-' && (c < '0' || c > '9') {
		return 0, fmt.Errorf("%s is not a number", clip(string(v)))
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%w: %s is beyond the range of float64", wpmerr.ErrNotFinite, clip(string(v)))
	}
	return x, nil
}

// parseRows reads an array of arrays of numbers. v is valid JSON, which makes the grammar here small:
// what is not a bracket, a comma or white space is the beginning of a value.
func parseRows(field string, v []byte) ([][]float64, error) {
	bad := func(where string, at int, want string) error {
		end := at + bytes.IndexAny(v[at:], ",] \t\r\n}")
		if end < at {
			end = len(v)
		}
		return fmt.Errorf("%w: field %q: %s%s: %s is not %s", ErrSpec, field, field, where,
			clip(string(v[at:max(end, at+1)])), want)
	}
	if v[0] != '[' {
		return nil, bad("", 0, "an array of arrays of numbers")
	}
	var (
		flat []float64
		ends []int // of the rows within flat
		at   = 1
	)
	skip := func() { // to the next value or closing bracket
		for v[at] == ' ' || v[at] == '\t' || v[at] == '\r' || v[at] == '\n' || v[at] == ',' {
			at++
		}
	}
	for skip(); v[at] != ']'; skip() {
		if v[at] != '[' {
			return nil, bad(fmt.Sprintf("[%d]", len(ends)), at, "an array of numbers")
		}
		start := len(flat)
		at++
		for skip(); v[at] != ']'; skip() {
			where := func() string { return fmt.Sprintf("[%d][%d]", len(ends), len(flat)-start) }
			end := at
			for c := v[end]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; c = v[end] {
				end++
			}
			if end == at || v[at] == 'e' || v[at] == 'E' {
				return nil, bad(where(), at, "a number")
			}
			x, err := parseFloat(v[at:end])
			if err != nil {
				return nil, fmt.Errorf("%w: field %q: %s%s: %w", ErrSpec, field, field, where(), err)
			}
			flat = append(flat, x)
			at = end
		}
		at++
		ends = append(ends, len(flat))
	}
	rows := make([][]float64, len(ends))
	start := 0
	for i, end := range ends {
		rows[i] = flat[start:end:end]
		start = end
	}
	return rows, nil
}
