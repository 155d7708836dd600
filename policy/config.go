package policy

import (
	"crypto/sha256"
	"errors"
	"time"

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

// get returns the content, which is empty for the zero Policy. A nil box has zero values, too.
func (p Policy) get() *content {
	if p.c == nil {
		return new(content)
	}
	return p.c
}

// own returns another pointer to the same box, which nobody can change. Through a shared pointer the box as
// a whole could be replaced: *a = *b.
func own(box *ldp.Polytope) *ldp.Polytope {
	if box == nil {
		return nil
	}
	b := *box
	return &b
}

func (c *content) labels() private.Labels {
	return private.Labels{Inputs: c.Inputs, Names: c.InputLabels, Index: c.index}
}

// rows is how many rows are published: the number of inputs, or 0.
func (c *content) rows() int {
	if c.Codes != nil {
		return c.Inputs
	}
	return max(len(c.Rows), len(c.Thresholds))
}

// version returns the version of the file: the first one that can state the content.
func (c *content) version() int {
	switch {
	case c.coded(), c.Schedule != ledger.Schedule{}:
		return 3
	case c.Geometry != nil:
		return 2
	}
	return 1
}

// ranked reports whether there is a geometry, coded whether there are codes, and bounded whether the file states bounds
// and a fallback.
func (c *content) ranked() bool  { return c.Geometry != nil }
func (c *content) coded() bool   { return c.Codes != nil }
func (c *content) bounded() bool { return c.Codes == nil }

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
