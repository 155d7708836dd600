package certificate

import (
	"context"
	"math/big"

	"github.com/wpm-go/wpm/cost"
)

// Kind says what a certificate is about.
type Kind string

// The kinds of certificates.
const (
	Projection  Kind = "projection"   // mincostflow.Project
	Units       Kind = "units"        // units.Project
	Entropic    Kind = "entropic"     // sinkhorn.Project
	Transport   Kind = "transport"    // mincostflow.Transport
	Flow        Kind = "flow"         // network.Problem
	BaseMeasure Kind = "base-measure" // basemeasure.Uniform, basemeasure.Shape, mirror.Descend
	Sphere      Kind = "sphere"       // sphere.Enclose
	KPM         Kind = "kpm"          // baseline.KPM
	Shuffled    Kind = "shuffled"     // shuffle.Solve
	Minimax     Kind = "minimax"      // minimax.Solve
)

// A kindSpec describes a kind to the rest of the package. A new kind is one file, which defines its body and
// its kindSpec, and one line in kinds.
type kindSpec struct {
	kind    Kind
	private bool   // holds someone's distribution
	cost    bool   // is about a cost
	bounds  string // what lower and upper enclose
	empty   func() body
}

// body is the content of a certificate that depends on its kind. problem and evidence return pointers to
// structs whose JSON form, members in the order of the fields, is canonical.
type body interface {
	problem() any
	evidence() any
	// check refuses sizes that do not fit together, so that bounds can index freely. It need not look at
	// values: bounds does.
	check() error
	dims() (k, kv int)
	// costHash returns the place of the hash of the cost, nil for kinds without one.
	costHash() *digest
	// bounds recomputes what the evidence proves with the solver's own Verify, for a problem that has passed
	// check and a cost of its size. Its errors are the solver's.
	bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error)
}
