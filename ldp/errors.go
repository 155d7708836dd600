package ldp

import (
	"errors"
	"fmt"
)

// Errors of this package, to be tested with errors.Is.
var (
	// ErrEpsilon: a text that is not an eps, an eps out of range, or a zero Epsilon.
	ErrEpsilon = errors.New("ldp: bad epsilon")
	// ErrBits: bits outside 1..62, or 2^bits smaller than the number of columns in use.
	ErrBits = errors.New("ldp: bad number of bits")
	// ErrBase: a base measure that is empty, or has a negative or non-finite entry.
	ErrBase = errors.New("ldp: bad base measure")
	// ErrInfeasible: a base measure whose mass lies outside [e^(-eps/2), e^(eps/2)].
	ErrInfeasible = errors.New("ldp: infeasible base measure")
	// ErrBox: a box, or a row of weights for it, that does not carry the guarantee. See BoxError.
	ErrBox = errors.New("ldp: bad box")
	// ErrRows: rows of weights that differ by more than e^eps somewhere. WorstRatio tells where.
	ErrRows = errors.New("ldp: rows too far apart")
	// ErrWeights: a zero Weights, or rows of weights that cannot be compared.
	ErrWeights = errors.New("ldp: bad weights")
	// ErrRandom: the source of random bytes failed. The source's own error is wrapped too.
	ErrRandom = errors.New("ldp: no random bits")
)

// A BoxError says where a box, or a row of weights, breaks which rule. It wraps ErrBox.
type BoxError struct {
	Index  int    // column, or -1 when the rule is about the whole box
	Lo, Hi uint64 // bounds of that column; zero when Index is -1
	Reason string
}

func (e *BoxError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%v: %s", ErrBox, e.Reason)
	}
	return fmt.Sprintf("%v: column %d [%d, %d]: %s", ErrBox, e.Index, e.Lo, e.Hi, e.Reason)
}

// Unwrap returns ErrBox.
func (e *BoxError) Unwrap() error { return ErrBox }
