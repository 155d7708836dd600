package wpm

import (
	"fmt"
	"io"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// Projection is the answer for one private distribution, and as private as that: it is a function of μ.
// Printing it in any way shows nothing; only a release may leave the device.
type Projection struct{ *projection }

// projection is behind a pointer because fmt cannot call Format on what lies in another type's unexported
// field: there it prints fields, but of a pointer only the address.
type projection struct {
	res     mincostflow.Result
	weights ldp.Weights
}

// get makes the zero Projection an empty one.
func (p Projection) get() projection {
	if p.projection == nil {
		return projection{}
	}
	return *p.projection
}

// Q returns the projection in floats: lo <= q <= hi. The caller must not modify it.
func (p Projection) Q() []float64 { return p.get().res.Q }

// Weights returns q rounded into the integer box: the distribution that a release draws from.
func (p Projection) Weights() ldp.Weights { return p.get().weights }

// Objective returns <C, P> of the plan found: W_p^p(q, μ) up to rounding.
func (p Projection) Objective() float64 { return p.get().res.Objective }

// Upper returns a proved upper bound on W_p^p(q, μ).
func (p Projection) Upper() float64 { return p.get().res.Upper }

// Lower returns a proved lower bound on the smallest W_p^p(ν, μ) over the box.
func (p Projection) Lower() float64 { return p.get().res.Lower }

// Result returns the solver's whole answer with its certificate, for mincostflow.Verify.
func (p Projection) Result() mincostflow.Result { return p.get().res }

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
