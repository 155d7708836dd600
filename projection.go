package wpm

import (
	"fmt"
	"io"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn"
)

// Projection is the answer for one private distribution, and as private as that: it is a function of μ.
// Printing it in any way shows nothing; only a release may leave the device.
type Projection struct{ *projection }

// projection is behind a pointer because fmt cannot call Format on what lies in another type's unexported
// field: there it prints fields, but of a pointer only the address.
type projection struct {
	q                       []float64
	objective, upper, lower float64
	// The whole answer of the solver that was used.
	exact    *mincostflow.Result
	entropic *sinkhorn.Result
	weights  ldp.Weights
}

// get makes the zero Projection an empty one.
func (p Projection) get() projection {
	if p.projection == nil {
		return projection{}
	}
	return *p.projection
}

// Q returns the projection in floats: lo <= q <= hi. The caller must not modify it.
func (p Projection) Q() []float64 { return p.get().q }

// Weights returns q rounded into the integer box: the distribution that a release draws from.
func (p Projection) Weights() ldp.Weights { return p.get().weights }

// Objective returns <C, P> of the plan found: W_p^p(q, μ) up to rounding with Exact, and the cost of the entropic
// plan with Entropic.
func (p Projection) Objective() float64 { return p.get().objective }

// Upper returns a proved upper bound on W_p^p(q, μ).
func (p Projection) Upper() float64 { return p.get().upper }

// Lower returns a proved lower bound on the smallest W_p^p(ν, μ) over the box.
func (p Projection) Lower() float64 { return p.get().lower }

// Result returns the whole answer of the solver Exact with its certificate, for mincostflow.Verify. It is empty if another
// solver was used.
func (p Projection) Result() mincostflow.Result {
	if r := p.get().exact; r != nil {
		return *r
	}
	return mincostflow.Result{}
}

// Entropic is Result for the solver Entropic and sinkhorn.Verify.
func (p Projection) Entropic() sinkhorn.Result {
	if r := p.get().entropic; r != nil {
		return *r
	}
	return sinkhorn.Result{}
}

const redacted = "wpm.Projection(redacted)"

// String hides the content.
func (p Projection) String() string { return redacted }

// GoString hides the content.
func (p Projection) GoString() string { return redacted }

// Format hides the content under every verb.
func (p Projection) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON hides the content.
func (p Projection) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText hides the content.
func (p Projection) MarshalText() ([]byte, error) { return []byte(redacted), nil }
