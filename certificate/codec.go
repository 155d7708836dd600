package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxBytes bounds the text of one certificate.
const MaxBytes = 64 << 20

// format names the version of the text. A change of meaning gets a new name.
const format = "wpm-certificate-1"

// envelope is the text of a certificate; the order of the fields is that of the members.
type envelope struct {
	Format   string          `json:"format"`
	Kind     Kind            `json:"kind"`
	Problem  json.RawMessage `json:"problem"`
	Hash     digest          `json:"problem_sha256"`
	Lower    fraction        `json:"lower"`
	Upper    fraction        `json:"upper"`
	Evidence json.RawMessage `json:"evidence"`
	Cost     json.RawMessage `json:"cost"`
}

// Encode returns the one byte string of a certificate, without a line end. For a private certificate these
// bytes are as private as the data. The error is ErrCertificate for the zero certificate.
func Encode(c Certificate) ([]byte, error) {
	if c.c == nil {
		return nil, ErrCertificate
	}
	return bytes.Clone(c.c.text), nil
}

func (n *content) encode() ([]byte, error) {
	problem, err := json.Marshal(n.body.problem())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	evidence, err := json.Marshal(n.body.evidence())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	return json.Marshal(envelope{
		Format: format, Kind: n.spec.kind, Problem: problem, Hash: n.hash,
		Lower: fraction{n.lower}, Upper: fraction{n.upper}, Evidence: evidence, Cost: n.cost,
	})
}

// Decode reads a certificate. It accepts exactly the bytes that Encode writes, and checks sizes, but proves
// nothing: see Verify. Errors: a *FormatError (ErrFormat), ErrKind, ErrShape, ErrLimit, ErrCost.
func Decode(data []byte) (Certificate, error) {
	if len(data) > MaxBytes {
		return Certificate{}, fmt.Errorf("%w: %d bytes, at most %d", ErrLimit, len(data), MaxBytes)
	}
	var e envelope
	if err := strict(data, 0, &e); err != nil {
		return Certificate{}, err
	}
	if e.Format != format {
		return Certificate{}, &FormatError{0, fmt.Sprintf("format %.40q, this program reads %q", e.Format, format)}
	}
	spec := findKind(e.Kind)
	if spec == nil {
		return Certificate{}, fmt.Errorf("%w: %.40q", ErrKind, e.Kind)
	}
	for _, m := range []struct {
		name    string
		missing bool
	}{
		{"problem", e.Problem == nil}, {"lower", e.Lower.Rat == nil}, {"upper", e.Upper.Rat == nil},
		{"evidence", e.Evidence == nil}, {"cost", e.Cost == nil},
	} {
		if m.missing {
			return Certificate{}, &FormatError{len(data), fmt.Sprintf("member %q is missing", m.name)}
		}
	}
	n := &content{spec: spec, body: spec.empty(), hash: e.Hash, lower: e.Lower.Rat, upper: e.Upper.Rat}
	if err := strict(e.Problem, bytes.Index(data, e.Problem), n.body.problem()); err != nil {
		return Certificate{}, err
	}
	if err := strict(e.Evidence, bytes.Index(data, e.Evidence), n.body.evidence()); err != nil {
		return Certificate{}, err
	}
	if err := n.body.check(); err != nil {
		return Certificate{}, err
	}
	if string(e.Cost) != "null" {
		if !spec.cost {
			return Certificate{}, fmt.Errorf("%w: a %s certificate has none", ErrCost, spec.kind)
		}
		c, err := readCost(e.Cost)
		if err != nil {
			return Certificate{}, err
		}
		if err := sameSize(n.body, c); err != nil {
			return Certificate{}, err
		}
		n.cost = e.Cost
	}
	text, err := n.encode()
	if err != nil { // not possible: what came from JSON goes back to it
		return Certificate{}, &FormatError{0, err.Error()}
	}
	// Everything above reads more than the canonical form. This comparison is what the promise rests on.
	if !bytes.Equal(text, data) {
		return Certificate{}, &FormatError{diverge(text, data), "not the canonical text of this certificate"}
	}
	n.text = text
	return Certificate{n}, nil
}

// strict decodes one JSON value that starts at byte base of the text.
func strict(data []byte, base int, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		at := base + int(dec.InputOffset())
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			at = base + int(syntax.Offset)
		case errors.As(err, &wrong):
			at = base + int(wrong.Offset)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return &FormatError{base + len(data), "the text ends too early"}
		}
		return &FormatError{at, strings.TrimPrefix(err.Error(), "json: ")}
	}
	if n := int(dec.InputOffset()); n != len(data) {
		return &FormatError{base + n, "text after the certificate"}
	}
	return nil
}
