package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// ID returns the SHA-256 of the policy's encoding, all zeros for the zero Policy.
func (p Policy) ID() [sha256.Size]byte { return p.get().id }

// IsZero reports whether p is the zero Policy, of which the other accessors return zero values.
func (p Policy) IsZero() bool { return p.c == nil }

// Polytope returns a copy of the integer box, on which the privacy guarantee rests.
func (p Policy) Polytope() *ldp.Polytope { return own(p.get().Polytope) }

// Epsilon returns the privacy level of one release.
func (p Policy) Epsilon() ldp.Epsilon { return p.get().Polytope.Epsilon() }

// Inputs returns k.
func (p Policy) Inputs() int { return p.get().Inputs }

// Outputs returns kv.
func (p Policy) Outputs() int { return p.get().Polytope.Len() }

// Mode returns what clients do.
func (p Policy) Mode() Mode { return p.get().Mode }

// WorkLimit returns when a client abandons its solver; 0 in mixture mode.
func (p Policy) WorkLimit() time.Duration { return p.get().WorkLimit }

// InputLabel returns the label of input i, its index in decimal if inputs have no labels.
func (p Policy) InputLabel(i int) string { return p.get().labels().Name(i) }

// OutputLabel returns the label of output j, its index in decimal if outputs have no labels.
func (p Policy) OutputLabel(j int) string { return private.Labels{Names: p.get().OutputLabels}.Name(j) }

// ParsePrivate reads private data as Release does. It is for checks on the device and for simulations: a release takes
// the bytes. It takes memory for k counts and one line, and time linear in k and in the text.
//
// Errors: ErrPolicy, and a *private.Error (private.ErrUnusable), which names a line and never its content. Whether
// there is an error is itself private.
func ParsePrivate(p Policy, data []byte) (private.Distribution, error) {
	if p.c == nil {
		return private.Distribution{}, ErrPolicy
	}
	d, usable, fault := private.Read(p.c.labels(), data)
	if usable == 0 {
		return private.Distribution{}, &fault
	}
	return d, nil
}

// FormatPrivate writes counts, one for each input, as private data. ParsePrivate reads back the same counts.
//
// Errors: ErrPolicy, and those of private.Format.
func FormatPrivate(p Policy, counts []float64) ([]byte, error) {
	if p.c == nil {
		return nil, ErrPolicy
	}
	return private.Format(p.c.labels(), counts)
}

// InputLabels returns a copy of the input labels, nil if there are none.
func (p Policy) InputLabels() []string { return slices.Clone(p.get().InputLabels) }

// OutputLabels returns a copy of the output labels, nil if there are none.
func (p Policy) OutputLabels() []string { return slices.Clone(p.get().OutputLabels) }

// InputAliases returns a copy of the aliases, by input and then by bytes; nil if there are none.
func (p Policy) InputAliases() []Alias { return slices.Clone(p.get().InputAliases) }

// HasRows reports whether the policy publishes the mixture's rows, or the thresholds that they follow from.
func (p Policy) HasRows() bool { return p.get().rows() > 0 }

// Row returns the published weights of input i. Errors: ErrShape for an input that has no row, and those of ldp.
func (p Policy) Row(i int) (ldp.Weights, error) {
	c := p.get()
	if n := c.rows(); i < 0 || i >= n {
		return ldp.Weights{}, fmt.Errorf("%w: row %d of %d", ErrShape, i, n)
	}
	switch {
	case c.Codes != nil:
		return c.spread(i, 1)
	case c.Geometry != nil:
		return c.fill(i, 1)
	}
	return c.Rows[i].weights(c.Polytope)
}

// AppendRow appends the weights of Row(i) to n. Its time depends on i, so it is for checks of rows, and not for private
// data. It takes O(kv axes). Errors: ErrShape.
func (p Policy) AppendRow(n []uint64, i int) ([]uint64, error) {
	c := p.get()
	if rows := c.rows(); i < 0 || i >= rows {
		return n, fmt.Errorf("%w: row %d of %d", ErrShape, i, rows)
	}
	switch {
	case c.Codes != nil:
		return c.appendSpread(n, i), nil
	case c.Geometry != nil:
		return c.appendFill(n, i), nil
	}
	from := len(n)
	lo, width := c.columns()
	n = append(n, lo...)
	c.Rows[i].addTo(n[from:], width, ^uint64(0))
	return n, nil
}

// Version returns the version of the policy's file: 3 with Codes or a Schedule, else 2 with a Geometry, else 1.
func (p Policy) Version() int { return p.get().version() }

// Schedule returns when clients release.
func (p Policy) Schedule() ledger.Schedule { return p.get().Schedule }

// Ranked reports whether the rows follow from a geometry and thresholds.
func (p Policy) Ranked() bool { return p.get().ranked() }

// Geometry returns a copy of the geometry, nil if there is none.
func (p Policy) Geometry() *Geometry {
	if p.get().Geometry == nil {
		return nil
	}
	return p.c.Geometry.clone()
}

// Axes returns the number of coordinates of a point of the geometry, 0 for another geometry or none. Geometry copies all
// of them.
func (p Policy) Axes() int {
	if g := p.get().Geometry; g != nil {
		return g.Axes
	}
	return 0
}

// Fallback returns the weights of clients without usable data.
func (p Policy) Fallback() ldp.Weights { return p.get().fallback }

// Cost returns a copy of the cost specification, nil if there is none.
func (p Policy) Cost() []byte { return bytes.Clone(p.get().Cost) }

// Certificate returns a copy of the base measure's certificate, nil if there is none.
func (p Policy) Certificate() []byte { return bytes.Clone(p.get().Certificate) }

// Provenance returns the publisher's statement.
func (p Policy) Provenance() Provenance { return p.get().Provenance }

// Metadata returns a copy of the free text pairs.
func (p Policy) Metadata() map[string]string { return maps.Clone(p.get().Metadata) }

// String names the policy by mode, sizes, epsilon and the start of its ID.
func (p Policy) String() string {
	if p.c == nil {
		return "policy(zero)"
	}
	return fmt.Sprintf("policy %s: %s, %d inputs, %d outputs, epsilon %v, %d bits",
		hex.EncodeToString(p.c.id[:6]), p.c.Mode, p.c.Inputs, p.c.Polytope.Len(), p.c.Polytope.Epsilon(), p.c.Polytope.Bits())
}

// Belongs checks that a report is a possible report of this policy: it has the ID of the policy and an output that the
// policy can release. Errors: ErrPolicy, ErrReport.
func (p Policy) Belongs(r Report) error {
	if p.c == nil {
		return ErrPolicy
	}
	if r.id != p.c.id {
		return fmt.Errorf("%w: it is of policy %s, not of %s", ErrReport, hex.EncodeToString(r.id[:6]),
			hex.EncodeToString(p.c.id[:6]))
	}
	if p.c.Polytope.Hi(int(r.index)) == 0 { // also beyond the last output
		return fmt.Errorf("%w: output %d of %d has weight 0", ErrReport, r.index, p.c.Polytope.Len())
	}
	return nil
}
