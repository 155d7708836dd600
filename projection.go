package wpm

import (
	"fmt"
	"io"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// Projection is the answer for one private distribution, and as private as that: it is a function of μ.
// Printing it in any way shows nothing; only a release may leave the device.
type Projection struct {
	res     mincostflow.Result
	weights ldp.Weights
}

// Q returns the projection in floats: lo <= q <= hi. The caller must not modify it.
func (p Projection) Q() []float64 { return p.res.Q }

// Weights returns q rounded into the integer box: the distribution that a release draws from.
func (p Projection) Weights() ldp.Weights { return p.weights }

// Objective returns <C, P> of the plan found: W_p^p(q, μ) up to rounding.
func (p Projection) Objective() float64 { return p.res.Objective }

// Upper returns a proved upper bound on W_p^p(q, μ).
func (p Projection) Upper() float64 { return p.res.Upper }

// Lower returns a proved lower bound on the smallest W_p^p(ν, μ) over the box.
func (p Projection) Lower() float64 { return p.res.Lower }

// Result returns the solver's whole answer with its certificate, for mincostflow.Verify.
func (p Projection) Result() mincostflow.Result { return p.res }

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
