package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ReportSize is the length of every report in bytes, so the length reveals nothing.
const ReportSize = len(magic) + sha256.Size + 4

// magic starts every report.
const magic = "wpm1"

// Report is one release: the ID of its policy and the output drawn. It is what leaves the device, and may be printed.
// The zero Report is not a report: it does not marshal.
//
// In bytes: "wpm1", the 32 bytes of the ID, the index as a little-endian uint32. As text, also within
// JSON: the same bytes in lower-case hexadecimal.
type Report struct {
	id    [sha256.Size]byte
	index uint32
}

// Index returns the output drawn, 0 <= Index < MaxOutputs.
func (r Report) Index() int { return int(r.index) }

// PolicyID returns the ID of the policy that the report was released under.
func (r Report) PolicyID() [sha256.Size]byte { return r.id }

// IsZero reports whether r is the zero Report.
func (r Report) IsZero() bool { return r == Report{} }

// MarshalBinary returns the report's ReportSize bytes. The error is ErrReport for the zero report.
func (r Report) MarshalBinary() ([]byte, error) {
	if r.IsZero() {
		return nil, fmt.Errorf("%w: zero report", ErrReport)
	}
	b := make([]byte, 0, ReportSize)
	b = append(b, magic...)
	b = append(b, r.id[:]...)
	return binary.LittleEndian.AppendUint32(b, r.index), nil
}

// UnmarshalBinary reads the bytes that MarshalBinary writes and no others. On an error r is unchanged. The error is
// ErrReport.
func (r *Report) UnmarshalBinary(b []byte) error {
	if len(b) != ReportSize {
		return fmt.Errorf("%w: %d bytes, want %d", ErrReport, len(b), ReportSize)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return fmt.Errorf("%w: it starts with %q, want %q", ErrReport, b[:len(magic)], magic)
	}
	var t Report
	copy(t.id[:], b[len(magic):])
	t.index = binary.LittleEndian.Uint32(b[ReportSize-4:])
	if t.index >= MaxOutputs {
		return fmt.Errorf("%w: output %d, at most %d", ErrReport, t.index, MaxOutputs-1)
	}
	if t.IsZero() {
		return fmt.Errorf("%w: zero report", ErrReport)
	}
	*r = t
	return nil
}

// MarshalText returns the report in lower-case hexadecimal. The error is ErrReport for the zero report.
func (r Report) MarshalText() ([]byte, error) {
	b, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return hex.AppendEncode(nil, b), nil
}

// UnmarshalText reads the text that MarshalText writes and no other. On an error r is unchanged. The error is
// ErrReport.
func (r *Report) UnmarshalText(text []byte) error {
	if len(text) != 2*ReportSize {
		return fmt.Errorf("%w: %d characters, want %d", ErrReport, len(text), 2*ReportSize)
	}
	b, err := decodeHex(text)
	if err != nil {
		return err
	}
	return r.UnmarshalBinary(b)
}

// decodeHex reads lower-case hexadecimal.
func decodeHex(text []byte) ([]byte, error) {
	b, err := hex.AppendDecode(nil, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	if !bytes.Equal(hex.AppendEncode(nil, b), text) {
		return nil, fmt.Errorf("%w: capital letters in the hexadecimal", ErrReport)
	}
	return b, nil
}

// String returns the text of MarshalText, or a remark for the zero Report.
func (r Report) String() string {
	text, err := r.MarshalText()
	if err != nil {
		return "report(zero)"
	}
	return string(text)
}
