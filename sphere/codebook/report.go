package codebook

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// ReportSize is the length of every report in bytes: nothing can be read off it.
const ReportSize = len(magic) + len(Seed{}) + 4

// magic starts every report.
const magic = "wps1"

// Report is one release: a seed and the index of the candidate drawn. It is what leaves the device, and may be printed.
//
// In bytes: "wps1", the 32 bytes of the seed, the index as a little-endian uint32. The zero Report is none: it does not marshal.
type Report struct {
	seed  Seed
	index uint32
}

// Seed returns the seed of the candidates.
func (r Report) Seed() Seed { return r.seed }

// Index returns the candidate drawn.
func (r Report) Index() int { return int(r.index) }

// IsZero reports whether r is the zero Report.
func (r Report) IsZero() bool { return r == Report{} }

// MarshalBinary returns the report's ReportSize bytes.
func (r Report) MarshalBinary() ([]byte, error) {
	if r.IsZero() {
		return nil, fmt.Errorf("%w: zero report", ErrReport)
	}
	b := make([]byte, 0, ReportSize)
	b = append(b, magic...)
	b = append(b, r.seed[:]...)
	return binary.LittleEndian.AppendUint32(b, r.index), nil
}

// UnmarshalBinary reads the bytes that MarshalBinary writes and no others. On an error r is unchanged. That the index is one of the
// codebook's is for Point to say.
func (r *Report) UnmarshalBinary(b []byte) error {
	if len(b) != ReportSize {
		return fmt.Errorf("%w: %d bytes, want %d", ErrReport, len(b), ReportSize)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return fmt.Errorf("%w: it starts with %q, want %q", ErrReport, b[:len(magic)], magic)
	}
	var t Report
	copy(t.seed[:], b[len(magic):])
	t.index = binary.LittleEndian.Uint32(b[ReportSize-4:])
	if t.index >= MaxPoints {
		return fmt.Errorf("%w: index %d, at most %d", ErrReport, t.index, MaxPoints-1)
	}
	if t.IsZero() {
		return fmt.Errorf("%w: zero report", ErrReport)
	}
	*r = t
	return nil
}
