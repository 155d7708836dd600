package codebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ReportSize is the length of every report in bytes, so the length reveals nothing.
const ReportSize = len(magic) + sha256.Size + len(Seed{}) + 4

// magic starts every report.
const magic = "wpc1"

// Report is one release: the ID of its policy, a seed and the index of the candidate drawn. It is what leaves the
// device, and may be printed. The zero Report is not a report: it does not marshal.
//
// In bytes: "wpc1", the 32 bytes of the ID, the 32 bytes of the seed, the index as a little-endian uint32. As text,
// also within JSON: the same bytes in lower-case hexadecimal.
type Report struct {
	id    [sha256.Size]byte
	seed  Seed
	index uint32
}

// PolicyID returns the ID of the policy that the report was released under.
func (r Report) PolicyID() [sha256.Size]byte { return r.id }

// Seed returns the seed of the candidates.
func (r Report) Seed() Seed { return r.seed }

// Index returns the candidate drawn.
func (r Report) Index() int { return int(r.index) }

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
	b = append(b, r.seed[:]...)
	return binary.LittleEndian.AppendUint32(b, r.index), nil
}

// UnmarshalBinary reads the bytes that MarshalBinary writes and no others. On an error r is unchanged. Belongs decides
// whether the report is one of a codebook. The error is ErrReport.
func (r *Report) UnmarshalBinary(b []byte) error {
	if len(b) != ReportSize {
		return fmt.Errorf("%w: %d bytes, want %d", ErrReport, len(b), ReportSize)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return fmt.Errorf("%w: it starts with %q, want %q", ErrReport, b[:len(magic)], magic)
	}
	rest := b[len(magic):]
	t := Report{id: [sha256.Size]byte(rest), seed: Seed(rest[sha256.Size:])}
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
	b, err := hex.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReport, err)
	}
	if !bytes.Equal(hex.AppendEncode(nil, b), text) {
		return fmt.Errorf("%w: capital letters in the hexadecimal", ErrReport)
	}
	return r.UnmarshalBinary(b)
}

// String returns the text of MarshalText, or a remark for the zero Report.
func (r Report) String() string {
	text, err := r.MarshalText()
	if err != nil {
		return "report(zero)"
	}
	return string(text)
}

// Belongs checks that a report is a possible report of this codebook: it has the ID of the codebook, its seed if the
// seed is fixed, and the index of an existing candidate. Errors: ErrZero, ErrReport.
func (c *Codebook) Belongs(r Report) error {
	switch {
	case c.isZero():
		return ErrZero
	case r.id != c.id:
		return fmt.Errorf("%w: it is of policy %x, not of %x", ErrReport, r.id[:6], c.id[:6])
	case !c.Fresh() && r.seed != c.cfg.Seed:
		return fmt.Errorf("%w: it has a seed of its own, and this codebook a fixed one", ErrReport)
	case r.Index() >= c.cfg.Points:
		return fmt.Errorf("%w: candidate %d of %d", ErrReport, r.index, c.cfg.Points)
	}
	return nil
}
