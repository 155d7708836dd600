package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// Limits of a policy. They bound what a device must be ready to load.
const (
	MaxBytes   = 64 << 20 // of an encoded policy
	MaxInputs  = 1 << 20
	MaxOutputs = 1 << 20
	MaxLabel   = 256 // bytes of a label

	maxLabel     = MaxLabel
	maxNote      = 4096 // bytes, also of a metadata value
	maxKey       = 64   // bytes
	maxMetadata  = 64   // entries
	maxWorkLimit = time.Hour
)

// DefaultWorkLimit is the work limit of a projection policy whose Config gives none.
const DefaultWorkLimit = 10 * time.Second

// Mode is how a client turns its distribution into a release.
type Mode string

const (
	// Mixture draws an input from the client's distribution and then an output from that input's row.
	Mixture Mode = "mixture"
	// Projection projects the client's distribution and draws from the result.
	Projection Mode = "projection"
)

// Origin is where a public part of the mechanism comes from.
type Origin string

const (
	// Public geometry was known without anyone's private data.
	Public Origin = "public"
	// DataIndependent base measures are functions of geometry and ε alone.
	DataIndependent Origin = "data-independent"
	// DerivedDP parts were computed from private data under differential privacy, at the stated epsilon. That loss adds to
	// the cost of a release, and is not in any client's ledger.
	DerivedDP Origin = "derived-dp"
	// Unstated is for parts of either kind whose origin the publisher does not state. Users of the policy have to find
	// out: a part that depends on private data costs privacy that no epsilon here counts.
	Unstated Origin = "unstated"
)

// Provenance states where geometry and base measure come from. It is a statement by the publisher: no
// program can check it, so it has no default.
type Provenance struct {
	Geometry           Origin      // Public, DerivedDP or Unstated
	GeometryEpsilon    ldp.Epsilon // with DerivedDP only
	BaseMeasure        Origin      // DataIndependent, DerivedDP or Unstated
	BaseMeasureEpsilon ldp.Epsilon // with DerivedDP only
	Note               string      // free text, one line
}

// Config is the content of a policy to be made by New.
type Config struct {
	// Polytope is the integer box. It determines the epsilon, the bits and the number of outputs.
	Polytope *ldp.Polytope
	// Mode is what clients do; empty means Mixture, which needs Rows.
	Mode Mode
	// WorkLimit is when a client abandons its solver, in whole milliseconds up to an hour. 0 means
	// DefaultWorkLimit in projection mode; it must be 0 in mixture mode.
	WorkLimit time.Duration
	// Schedule is when clients release. One that is not zero makes a file of version 3.
	Schedule ledger.Schedule
	// Inputs is k. 0 means the number of Rows or Thresholds; if there are none, that of InputLabels.
	Inputs int
	// InputLabels name the inputs in private data. Without them the label of input i is i in decimal.
	InputLabels []string
	// OutputLabels name the outputs for readers of aggregates.
	OutputLabels []string
	// InputAliases are further spellings of input labels in private data, such as those in another Unicode normal form:
	// labels are compared byte by byte. They may be in any order, at most MaxInputs, and need InputLabels.
	InputAliases []Alias
	// Rows are the rows of the mixture, one for each input. Row i should be the projection of the point mass at i. In
	// projection mode Rows are optional, and are used if the solver fails. They make a file of version 1.
	Rows []Row
	// Geometry replaces Rows: row i raises the outputs from lo to hi in the order of their keys for input i, as far as 2^B
	// goes. It makes a file of version 2, with one number per row.
	Geometry *Geometry
	// Thresholds are, for each input, the output at which its row ends: the first one in the order at which sum lo, plus
	// the widths hi - lo of all outputs up to and including it, reaches 2^B. They have length k.
	Thresholds []int32
	// Codes replace Rows: the outputs are those of a list of codes and discs, see Code. Polytope is then CodesBox of them.
	// They are for mode Mixture, have no labels of outputs, and make a file of version 3. If there are discs, Geometry
	// ranks the inputs, without Thresholds.
	Codes []Code
	// Fallback is the row of clients without usable data. The zero Row means the point of the box nearest
	// to the shape of lo + hi. With Codes it must be zero: the outputs of a component then share its weight evenly.
	Fallback Row
	// Cost is a cost specification as one compact JSON object, or empty.
	Cost []byte
	// Certificate is the designer's evidence for the base measure as one compact JSON object, or empty.
	Certificate []byte
	// Provenance is required.
	Provenance Provenance
	// Metadata are free pairs of text: title, contact, unit of privacy, and the like.
	Metadata map[string]string
}

// Alias is another spelling of the label of an input.
type Alias struct {
	Input int
	Label string
}

// Policy is a published mechanism. It is immutable, safe for concurrent use, and made by New or Decode;
// the zero Policy is refused everywhere. Copies share their content.
type Policy struct{ c *content }

// content is a validated Config with what follows from it. Nothing in it changes after build.
type content struct {
	Config
	id       [sha256.Size]byte
	base     uint64                      // sum lo
	columns  func() (lo, width []uint64) // of the box, made when they are asked for
	fallback ldp.Weights
	places   *places          // of Geometry
	index    map[string]int32 // of InputLabels and InputAliases; nil without them
}

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

// A placed error knows which member of a policy, or which of its rows, it is about. Decode turns that into a line.
type placed struct {
	member string
	row    int // with member "rows": its number from 1, or 0 for all
	error
}

func (e placed) Unwrap() error { return e.error }

func place(member string, err error) error {
	if p := (placed{}); err == nil || errors.As(err, &p) {
		return err
	}
	return placed{member: member, error: err}
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

func tooManyAliases(n int) error {
	return fmt.Errorf("%w: %d aliases, at most %d", ErrLimit, n, MaxInputs)
}

func labelCount(count int, kind string, n int) error {
	return fmt.Errorf("%w: %d %s labels for %d %ss", ErrShape, count, kind, n, kind)
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

// Verify checks a policy again from the beginning: by ldp alone the box and every row, also the fallback, and the ID by
// encoding it once more. O(kv) for each row. Errors: ErrPolicy, ErrID, those of Polytope.Verify and Polytope.Weights.
func Verify(p Policy) error {
	c := p.c
	if c == nil {
		return ErrPolicy
	}
	if err := c.Polytope.Verify(); err != nil {
		return fmt.Errorf("policy: box: %w", err)
	}
	if err := c.verifyRows(); err != nil {
		return err
	}
	if sha256.Sum256(c.encode()) != c.id {
		return ErrID
	}
	return nil
}

// writtenCells is up to how many columns of all rows together are written out by Verify: about a second.
const writtenCells = 1 << 28

// verifyRows checks every row of version 1: written out, by ldp's own check, or column by column where it is above lo, if
// the rows have so many columns that few can be.
func (c *content) verifyRows() error {
	if c.Codes != nil {
		return c.verifyCodes()
	}
	if _, err := c.Fallback.weights(c.Polytope); err != nil {
		return fmt.Errorf("fallback: %w", err)
	}
	written := len(c.Rows) <= writtenCells/c.Polytope.Len()
	n, width := columns(c.Polytope)
	for i, row := range c.Rows {
		var err error
		if written {
			_, err = row.weights(c.Polytope)
		} else {
			err = c.verifySparse(row, n, width)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// verifySparse checks a row in O(len of row). n are the lower bounds, and are so again when it returns.
func (c *content) verifySparse(row Row, n, width []uint64) (err error) {
	raised := make([]int32, 0, row.Fill())
	raised = append(raised, row.full...)
	for _, e := range row.extra {
		raised = append(raised, e.col)
	}
	row.addTo(n, width, ^uint64(0))
	sum, over, carry := c.base, uint64(0), uint64(0)
	for _, j := range raised {
		lo, hi := c.Polytope.Lo(int(j)), c.Polytope.Hi(int(j))
		if n[j] < lo || n[j] > hi {
			err = fmt.Errorf("%w: column %d is %d, not from %d to %d", ErrRow, j, n[j], lo, hi)
		}
		sum, carry = bits.Add64(sum, n[j]-lo, 0)
		over += carry
		n[j] = lo // a column that is raised twice counts once
	}
	if err == nil && (over > 0 || sum != c.Polytope.Total()) {
		err = fmt.Errorf("%w: weights sum to %d, want %d", ErrRow, sum, c.Polytope.Total())
	}
	return err
}

// ID returns the SHA-256 of the policy's encoding, all zeros for the zero Policy.
func (p Policy) ID() [sha256.Size]byte { return p.get().id }

// IsZero reports whether p is the zero Policy, of which the other accessors return zero values.
func (p Policy) IsZero() bool { return p.c == nil }

// get returns the content, which is empty for the zero Policy. A nil box has zero values, too.
func (p Policy) get() *content {
	if p.c == nil {
		return new(content)
	}
	return p.c
}

// Polytope returns a copy of the integer box, on which the privacy guarantee rests.
func (p Policy) Polytope() *ldp.Polytope { return own(p.get().Polytope) }

// own returns another pointer to the same box, which nobody can change. Through a shared pointer the box as
// a whole could be replaced: *a = *b.
func own(box *ldp.Polytope) *ldp.Polytope {
	if box == nil {
		return nil
	}
	b := *box
	return &b
}

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

func (c *content) labels() private.Labels {
	return private.Labels{Inputs: c.Inputs, Names: c.InputLabels, Index: c.index}
}

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

// rows is how many rows are published: the number of inputs, or 0.
func (c *content) rows() int {
	if c.Codes != nil {
		return c.Inputs
	}
	return max(len(c.Rows), len(c.Thresholds))
}

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
