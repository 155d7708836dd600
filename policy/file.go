package policy

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Encode returns the one byte string of the policy. The error is ErrPolicy for the zero policy.
func Encode(p Policy) ([]byte, error) {
	if p.c == nil {
		return nil, ErrPolicy
	}
	return p.c.encode(), nil
}

// Decode reads a policy and verifies its box, rows and fallback. It accepts exactly the bytes that Encode
// writes for the same policy: so there is one file per policy, and the SHA-256 of the file is its ID.
//
// Errors: a *FormatError (ErrFormat), which says where the text departs from the canonical form, ErrLimit,
// those of New, and those of ldp for the epsilon and the box. The zero Policy comes with every error.
func Decode(data []byte) (Policy, error) {
	if len(data) > MaxBytes {
		return Policy{}, fmt.Errorf("%w: the policy has %d bytes, at most %d", ErrLimit, len(data), MaxBytes)
	}
	if !utf8.Valid(data) {
		return Policy{}, formatError(data, diverge(bytes.ToValidUTF8(data, []byte{0}), data), "", "not UTF-8")
	}
	d, err := read(data)
	if err != nil {
		return Policy{}, d.atLine(err)
	}
	p, enc, err := build(d.Config)
	if err != nil {
		return Policy{}, d.atLine(err)
	}
	// What was read is a policy, but perhaps in another spelling, or with something passed over. This comparison is
	// what the promise rests on.
	if !bytes.Equal(enc, data) {
		n := diverge(enc, data)
		return Policy{}, formatError(data, n, d.memberAt(1+bytes.Count(data[:n], []byte("\n"))),
			fmt.Sprintf("%.24q, want %.24q: not the canonical text", data[n:], enc[n:]))
	}
	return p, nil
}

// atLine puts the line of the member that err is about in front of it.
func (d *draft) atLine(err error) error {
	p := placed{}
	if !errors.As(err, &p) || d.line[p.member] == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", d.line[p.member]+p.row, err)
}

// memberAt returns the last member that begins on a line or before it.
func (d *draft) memberAt(line int) (name string) {
	for m, n := range d.line {
		if n <= line && n > d.line[name] {
			name = m
		}
	}
	return name
}
