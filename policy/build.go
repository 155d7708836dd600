package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/ldp"
)

// New validates a Config and makes the policy of it. The Config's slices and maps are copied.
//
// Errors: ErrShape, ErrLimit, ErrText, ErrObject, ErrRow, ErrMode, ErrProvenance, and those of
// ldp.Polytope.Verify.
func New(cfg Config) (Policy, error) {
	if cfg.Polytope == nil || cfg.Polytope.Len() == 0 {
		return Policy{}, fmt.Errorf("%w: no box", ErrShape)
	}
	cfg.Polytope = own(cfg.Polytope)
	if err := cfg.Polytope.Verify(); err != nil {
		return Policy{}, fmt.Errorf("policy: box: %w", err)
	}
	p, _, err := build(cfg)
	return p, err
}

// build validates everything but the box, which must have passed ldp, and returns the policy with its
// encoding.
func build(cfg Config) (Policy, []byte, error) {
	c := &content{Config: cfg}
	for _, step := range []struct {
		member string
		check  func() error
	}{
		{"lo", c.checkBox}, {"mode", c.checkMode}, {"schedule", c.Schedule.Check}, {"inputs", c.checkInputs},
		{"input_labels", c.checkLabels}, {"geometry", c.checkGeometry}, {"codes", c.checkCodes}, {"rows", c.checkRows},
		{"cost", c.checkObjects}, {"provenance", c.checkProvenance}, {"metadata", c.checkMetadata},
	} {
		if err := place(step.member, step.check()); err != nil {
			return Policy{}, nil, err
		}
	}
	enc := c.encode()
	if len(enc) > MaxBytes {
		return Policy{}, nil, fmt.Errorf("%w: the policy has %d bytes, at most %d", ErrLimit, len(enc), MaxBytes)
	}
	c.id = sha256.Sum256(enc)
	return Policy{c}, enc, nil
}

func (c *content) checkBox() error {
	kv := c.Polytope.Len()
	if kv > MaxOutputs {
		return fmt.Errorf("%w: %d outputs, at most %d", ErrLimit, kv, MaxOutputs)
	}
	for j := range kv {
		c.base += c.Polytope.Lo(j) // cannot overflow: the box has passed ldp, so the sum is at most 2^62
	}
	c.columns = sync.OnceValues(func() (lo, width []uint64) { return columns(c.Polytope) })
	return nil
}

func (c *content) checkMode() error {
	switch c.Mode {
	case "":
		c.Mode = Mixture
	case Mixture, Projection:
	default:
		return fmt.Errorf("%w: %q", ErrMode, c.Mode)
	}
	if c.Mode == Mixture {
		if c.Rows == nil && c.Geometry == nil && c.Codes == nil {
			return fmt.Errorf("%w: mixture without rows", ErrMode)
		}
		if c.WorkLimit != 0 {
			return fmt.Errorf("%w: mixture with a work limit of %v", ErrMode, c.WorkLimit)
		}
		return nil
	}
	if c.WorkLimit == 0 {
		c.WorkLimit = DefaultWorkLimit
	}
	if c.WorkLimit < time.Millisecond || c.WorkLimit > maxWorkLimit || c.WorkLimit%time.Millisecond != 0 {
		return fmt.Errorf("%w: work limit %v, want whole milliseconds from 1ms to %v", ErrMode, c.WorkLimit, maxWorkLimit)
	}
	return nil
}

func (c *content) checkInputs() error {
	c.Inputs = cmp.Or(c.Inputs, len(c.Rows), len(c.Thresholds), len(c.InputLabels))
	if c.Inputs < 1 {
		return fmt.Errorf("%w: %d inputs", ErrShape, c.Inputs)
	}
	if c.Inputs > MaxInputs {
		return fmt.Errorf("%w: %d inputs, at most %d", ErrLimit, c.Inputs, MaxInputs)
	}
	return nil
}

func (c *content) checkLabels() error {
	c.InputLabels = slices.Clone(c.InputLabels)
	c.OutputLabels = slices.Clone(c.OutputLabels)
	var err error
	if c.index, err = indexLabels("input", c.InputLabels, c.Inputs); err != nil {
		return err
	}
	if _, err = indexLabels("output", c.OutputLabels, c.Polytope.Len()); err != nil {
		return place("output_labels", err)
	}
	return place("input_aliases", c.checkAliases())
}

// checkAliases adds the aliases to the index, and puts them in their order: by input, then by bytes.
func (c *content) checkAliases() error {
	if len(c.InputAliases) == 0 {
		c.InputAliases = nil
		return nil
	}
	if c.index == nil {
		return fmt.Errorf("%w: %d aliases of inputs without labels", ErrShape, len(c.InputAliases))
	}
	if len(c.InputAliases) > MaxInputs {
		return tooManyAliases(len(c.InputAliases))
	}
	c.InputAliases = slices.Clone(c.InputAliases)
	slices.SortFunc(c.InputAliases, func(a, b Alias) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Label, b.Label))
	})
	for n, a := range c.InputAliases {
		if a.Input < 0 || a.Input >= c.Inputs {
			return fmt.Errorf("%w: alias %d is of input %d of %d", ErrShape, n, a.Input, c.Inputs)
		}
		if err := addLabel(c.index, a.Label, a.Input); err != nil {
			return fmt.Errorf("alias %d, of input %d: %w", n, a.Input, err)
		}
	}
	return nil
}

// indexLabels checks n distinct labels, or none (nil).
func indexLabels(kind string, labels []string, n int) (map[string]int32, error) {
	if labels == nil {
		return nil, nil
	}
	if len(labels) != n {
		return nil, labelCount(len(labels), kind, n)
	}
	index := make(map[string]int32, n)
	for i, s := range labels {
		if err := addLabel(index, s, i); err != nil {
			return nil, fmt.Errorf("%s label %d: %w", kind, i, err)
		}
	}
	return index, nil
}

// addLabel adds a label of number i, or an alias of it.
func addLabel(index map[string]int32, s string, i int) error {
	if err := checkText(s, 1, maxLabel); err != nil {
		return err
	}
	if first, twice := index[s]; twice {
		return fmt.Errorf("%w: %q is the label of %d already", ErrText, s, first)
	}
	index[s] = int32(i)
	return nil
}

// checkText accepts valid UTF-8 of so many bytes without control characters. So text fits on one line, and only the
// quotation mark and the backslash need an escape in the file.
func checkText(s string, least, most int) error {
	if len(s) < least {
		return fmt.Errorf("%w: it is empty", ErrText)
	}
	if len(s) > most {
		return fmt.Errorf("%w: text of %d bytes, at most %d", ErrLimit, len(s), most)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %q is not UTF-8", ErrText, s)
	}
	for i, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %q has the control character %U at byte %d", ErrText, s, r, i)
		}
	}
	return nil
}

func (c *content) checkRows() error {
	if c.Codes != nil {
		return nil // checkCodes has made the fallback
	}
	if c.Rows != nil && len(c.Rows) != c.Inputs {
		return fmt.Errorf("%w: %d rows for %d inputs", ErrShape, len(c.Rows), c.Inputs)
	}
	c.Rows = slices.Clone(c.Rows)
	for i, r := range c.Rows {
		if err := r.check(c.Polytope, c.base); err != nil {
			return placed{"rows", 1 + i, fmt.Errorf("row %d: %w", i, err)}
		}
	}
	if c.Fallback.isZero() && c.base != c.Polytope.Total() {
		r, err := NewRow(c.Polytope, c.Polytope.Round(shape(c.Polytope)))
		if err != nil {
			return fmt.Errorf("fallback: %w", err)
		}
		c.Fallback = r
	}
	if err := c.Fallback.check(c.Polytope, c.base); err != nil {
		return place("fallback", fmt.Errorf("fallback: %w", err))
	}
	w, err := c.Fallback.weights(c.Polytope)
	if err != nil {
		return place("fallback", fmt.Errorf("fallback: %w", err))
	}
	c.fallback = w
	return nil
}

// shape returns lo + hi scaled to sum 1: close to the base measure, and a function of the box alone.
func shape(box *ldp.Polytope) []float64 {
	lo, hi := box.Bounds()
	q := make([]float64, len(lo))
	sum := 0.0
	for j := range q {
		q[j] = lo[j] + hi[j]
		sum += q[j]
	}
	for j := range q {
		q[j] /= sum
	}
	return q
}

func (c *content) checkObjects() (err error) {
	if c.Cost, err = copyObject(c.Cost); err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	if c.Certificate, err = copyObject(c.Certificate); err != nil {
		return place("certificate", fmt.Errorf("certificate: %w", err))
	}
	return nil
}

// copyObject copies nothing, or one JSON object in UTF-8 without white space around its tokens.
func copyObject(b []byte) ([]byte, error) {
	switch {
	case len(b) == 0:
		return nil, nil
	case len(b) > MaxBytes:
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrLimit, len(b), MaxBytes)
	case b[0] != '{':
		return nil, fmt.Errorf("%w: it does not start with a brace", ErrObject)
	case !utf8.Valid(b):
		return nil, fmt.Errorf("%w: not UTF-8", ErrObject)
	}
	var compact bytes.Buffer
	compact.Grow(len(b))
	if err := json.Compact(&compact, b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrObject, err)
	}
	if n := diverge(compact.Bytes(), b); n < len(b) {
		return nil, fmt.Errorf("%w: white space at byte %d", ErrObject, n)
	}
	return compact.Bytes(), nil
}

func (c *content) checkProvenance() error {
	p := c.Provenance
	if err := checkOrigin("geometry", p.Geometry, Public, p.GeometryEpsilon); err != nil {
		return err
	}
	if err := checkOrigin("base measure", p.BaseMeasure, DataIndependent, p.BaseMeasureEpsilon); err != nil {
		return err
	}
	if err := checkText(p.Note, 0, maxNote); err != nil {
		return fmt.Errorf("provenance note: %w", err)
	}
	return nil
}

func checkOrigin(what string, o, clean Origin, eps ldp.Epsilon) error {
	switch {
	case o != clean && o != DerivedDP && o != Unstated:
		return fmt.Errorf("%w: %s is %q, want %q, %q or %q", ErrProvenance, what, o, clean, DerivedDP, Unstated)
	case o != DerivedDP && !eps.IsZero():
		return fmt.Errorf("%w: %s is %q and yet has an epsilon", ErrProvenance, what, o)
	case o == DerivedDP && eps.IsZero():
		return fmt.Errorf("%w: %s is %q without an epsilon", ErrProvenance, what, o)
	}
	return nil
}

func (c *content) checkMetadata() error {
	if len(c.Metadata) > maxMetadata {
		return fmt.Errorf("%w: %d metadata entries, at most %d", ErrLimit, len(c.Metadata), maxMetadata)
	}
	c.Metadata = maps.Clone(c.Metadata)
	for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
		if err := checkText(key, 1, maxKey); err != nil {
			return fmt.Errorf("metadata key: %w", err)
		}
		if err := checkText(c.Metadata[key], 0, maxNote); err != nil {
			return fmt.Errorf("metadata %q: %w", key, err)
		}
	}
	return nil
}
