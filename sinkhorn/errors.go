package sinkhorn

import (
	"errors"
	"fmt"
)

// The errors of this package. Every error that its functions return wraps one of them and says
// what was wrong, where, and with which value.
var (
	// ErrShape: a missing or empty matrix, or lengths that do not match.
	ErrShape = errors.New("sinkhorn: shape mismatch")
	// ErrNotFinite: a NaN or an infinity in the cost, a mass, a bound or a start.
	ErrNotFinite = errors.New("sinkhorn: value not finite")
	// ErrNegative: a negative cost, mass or bound.
	ErrNegative = errors.New("sinkhorn: negative value")
	// ErrMass: masses whose sum is not positive.
	ErrMass = errors.New("sinkhorn: no mass")
	// ErrSupport: Support is not sorted, not distinct or out of range.
	ErrSupport = errors.New("sinkhorn: bad support")
	// ErrBox: a lower bound above its upper bound.
	ErrBox = errors.New("sinkhorn: lower bound above upper bound")
	// ErrInfeasible: no distribution lies in the box.
	ErrInfeasible = errors.New("sinkhorn: no distribution in the box")
	// ErrReg: Reg is not a positive number, or too small for float64 (below 1e-9 of the range of
	// the cost).
	ErrReg = errors.New("sinkhorn: bad regularisation")
	// ErrSettings: a setting outside its range.
	ErrSettings = errors.New("sinkhorn: bad settings")
	// ErrNotConverged: the solver stopped early. The Result beside it is feasible and its bounds
	// hold. When a context caused the stop, the error wraps its error too.
	ErrNotConverged = errors.New("sinkhorn: stopped before the goal")
	// ErrCertificate: Verify refuses a Result.
	ErrCertificate = errors.New("sinkhorn: certificate refused")
)

// A BatchError says that some of the distributions of a call of All have no result, or one that stopped before its goal.
// Unwrap returns the error of the first.
type BatchError struct {
	Failed int   // how many
	Users  int   // of how many
	First  int   // the least index that failed
	Err    error // and its error
}

// Error counts the failures and quotes the first.
func (e *BatchError) Error() string {
	return fmt.Sprintf("sinkhorn: %d of %d distributions failed, the first of them number %d: %v", e.Failed, e.Users, e.First, e.Err)
}

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }

// add counts the error of distribution i, if it is one.
func (e *BatchError) add(i int, err error) {
	if err == nil {
		return
	}
	if e.Failed == 0 {
		e.First, e.Err = i, err
	}
	e.Failed++
}

// orNil returns e, or nil if nothing failed.
func (e *BatchError) orNil() error {
	if e.Failed == 0 {
		return nil
	}
	return e
}
