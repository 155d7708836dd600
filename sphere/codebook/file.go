package codebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// MaxBytes bounds an encoded policy. The limits of the note and of the metadata keep every policy below it.
const MaxBytes = 1 << 20

const (
	format  = "wpm-codebook-1"
	opening = "{\n\"format\":\"wpm-codebook-" // of a file of this kind, whatever its version
	fresh   = "fresh"
)

// IsPolicy reports whether data start as the file of a codebook does, as far as the version of the format.
func IsPolicy(data []byte) bool { return bytes.HasPrefix(data, []byte(opening)) }

// Encode returns the policy's file: see "The file" in the package comment. Errors: ErrZero.
func Encode(c *Codebook) ([]byte, error) {
	if c.isZero() {
		return nil, ErrZero
	}
	return bytes.Clone(c.text), nil
}

func (c *Codebook) encode() ([]byte, error) {
	shared, err := statements(c.cfg.Provenance, c.cfg.Metadata)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	seed := fresh
	if c.cfg.Seed != (Seed{}) {
		seed = hex.EncodeToString(c.cfg.Seed[:])
	}
	p := strconv.FormatFloat(c.cfg.P, 'g', -1, 64)
	b := fmt.Appendf(nil, "{\n\"format\":%q,\n\"dimension\":%d,\n\"p\":%q,\n\"epsilon\":%q,\n", format, c.cfg.Dim, p,
		c.cfg.Epsilon)
	b = fmt.Appendf(b, "\"points\":%d,\n\"high\":%d,\n\"bits\":%d,\n\"atoms\":%d,\n", c.cfg.Points, c.cfg.High, c.cfg.Bits,
		c.cfg.Atoms)
	b = fmt.Appendf(b, "\"lo\":\"%d\",\n\"hi\":\"%d\",\n\"seed\":%q,\n", c.box.Lo(0), c.box.Hi(0), seed)
	return fmt.Appendf(b, "\"provenance\":%s,\n\"metadata\":%s\n}\n", shared[0], shared[1]), nil
}

// file is a policy's text as JSON. That it is canonical is for Decode to compare.
type file struct {
	Format     string          `json:"format"`
	Dimension  int             `json:"dimension"`
	P          string          `json:"p"`
	Epsilon    string          `json:"epsilon"`
	Points     int             `json:"points"`
	High       int             `json:"high"`
	Bits       int             `json:"bits"`
	Atoms      int             `json:"atoms"`
	Lo         string          `json:"lo"`
	Hi         string          `json:"hi"`
	Seed       string          `json:"seed"`
	Provenance json.RawMessage `json:"provenance"`
	Metadata   json.RawMessage `json:"metadata"`
}

// Decode reads a policy and decides its box. It accepts exactly the bytes that Encode writes for the same policy, so
// that the SHA-256 of the file is its ID. O(Points).
//
// Errors: ErrFormat for bytes that Encode does not write, and else those of New. No Codebook comes with an error.
func Decode(data []byte) (*Codebook, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrFormat, len(data), MaxBytes)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("%w: format %.40q, this program reads %q", ErrFormat, f.Format, format)
	}
	cfg := Config{Dim: f.Dimension, Points: f.Points, High: f.High, Bits: f.Bits, Atoms: f.Atoms}
	var lo, hi uint64
	for _, m := range []struct {
		name string
		read func() error
	}{
		{"p", func() (err error) { cfg.P, err = strconv.ParseFloat(f.P, 64); return err }},
		{"epsilon", func() (err error) { cfg.Epsilon, err = ldp.ParseEpsilon(f.Epsilon); return err }},
		{"lo", func() (err error) { lo, err = strconv.ParseUint(f.Lo, 10, 64); return err }},
		{"hi", func() (err error) { hi, err = strconv.ParseUint(f.Hi, 10, 64); return err }},
		{"seed", func() (err error) { cfg.Seed, err = parseSeed(f.Seed); return err }},
		{"provenance or metadata", func() (err error) {
			cfg.Provenance, cfg.Metadata, err = readStatements(f.Provenance, f.Metadata)
			return err
		}},
	} {
		if err := m.read(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFormat, m.name, err)
		}
	}
	c, err := build(cfg, lo, hi)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(c.text, data) {
		n := 0
		for n < len(data) && n < len(c.text) && data[n] == c.text[n] {
			n++
		}
		line := 1 + bytes.Count(data[:n], []byte("\n"))
		return nil, fmt.Errorf("%w: line %d, offset %d: not the canonical text of this policy", ErrFormat, line, n)
	}
	return c, nil
}

// parseSeed reads a seed's hexadecimal, or "fresh" as the zero Seed.
func parseSeed(s string) (seed Seed, err error) {
	if s == fresh {
		return seed, nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return seed, err
	}
	if len(b) != len(seed) {
		return seed, fmt.Errorf("%d bytes, want %d, or %q", len(b), len(seed), fresh)
	}
	return Seed(b), nil
}

// Verify checks a policy again from the beginning: the box by ldp's Polytope.Verify, the fallback against the box, and
// the ID by encoding once more. O(Points). Errors: ErrZero, those of ldp, and ErrFormat.
func Verify(c *Codebook) error {
	if c.isZero() {
		return ErrZero
	}
	if err := c.box.Verify(); err != nil {
		return fmt.Errorf("codebook: box: %w", err)
	}
	n := make([]uint64, c.fallback.Len())
	for j := range n {
		n[j] = c.fallback.At(j)
	}
	if _, err := c.box.Weights(n); err != nil {
		return fmt.Errorf("codebook: fallback: %w", err)
	}
	text, err := c.encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(text, c.text) || sha256.Sum256(text) != c.id {
		return fmt.Errorf("%w: the content does not match the ID", ErrFormat)
	}
	return nil
}

// The members that a codebook shares with every policy have one codec, that of package policy: they are written into
// the text of a policy that has nothing else to say, and read out of it.
var members = [2]string{"\"provenance\":", "\"metadata\":"}

func carrier(p policy.Provenance, metadata map[string]string) ([][]byte, error) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		return nil, err
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{2}, []uint64{2}, 1)
	if err != nil {
		return nil, err
	}
	c, err := policy.New(policy.Config{
		Polytope: box, Mode: policy.Projection, Inputs: 1, Provenance: p, Metadata: metadata,
	})
	if err != nil {
		return nil, err
	}
	text, err := policy.Encode(c)
	return bytes.Split(text, []byte("\n")), err
}

// statements returns the texts of the members.
func statements(p policy.Provenance, metadata map[string]string) (out [2][]byte, err error) {
	lines, err := carrier(p, metadata)
	for _, line := range lines {
		for i, name := range members {
			if text, ok := bytes.CutPrefix(line, []byte(name)); ok {
				out[i] = bytes.TrimSuffix(text, []byte(","))
			}
		}
	}
	return out, err
}

// readStatements reads what statements writes.
func readStatements(provenance, metadata []byte) (policy.Provenance, map[string]string, error) {
	lines, err := carrier(policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}, nil)
	if err != nil {
		return policy.Provenance{}, nil, err
	}
	for n, line := range lines {
		for i, text := range [2][]byte{provenance, metadata} {
			if bytes.HasPrefix(line, []byte(members[i])) {
				lines[n] = fmt.Appendf(nil, "%s%s,", members[i], text)
			}
		}
	}
	p, err := policy.Decode(bytes.Join(lines, []byte("\n")))
	if fault := (*policy.FormatError)(nil); errors.As(err, &fault) { // its line is not that of the file
		return policy.Provenance{}, nil, fmt.Errorf("%s: %s", fault.Field, fault.Problem)
	}
	if err != nil {
		return policy.Provenance{}, nil, err
	}
	return p.Provenance(), p.Metadata(), nil
}
