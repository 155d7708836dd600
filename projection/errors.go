package projection

import (
	"errors"
	"fmt"
)

// The errors of the projection solvers and of their verifiers. Every error that they return wraps one of them, or one
// of the few that a solver adds, and says what was wrong, where, and with which value.
var (
	// ErrShape: a missing or empty matrix, or lengths that do not match.
	ErrShape = errors.New("projection: shape mismatch")
	// ErrNotFinite: a NaN or an infinity in the cost, a mass, a bound or a start.
	ErrNotFinite = errors.New("projection: value not finite")
	// ErrNegative: a negative cost, mass or bound.
	ErrNegative = errors.New("projection: negative value")
	// ErrMass: masses that are all zero.
	ErrMass = errors.New("projection: no mass")
	// ErrSupport: Support is not sorted, not distinct or out of range.
	ErrSupport = errors.New("projection: bad support")
	// ErrBox: a lower bound above its upper bound.
	ErrBox = errors.New("projection: lower bound above upper bound")
	// ErrInfeasible: no distribution lies in the box.
	ErrInfeasible = errors.New("projection: infeasible")
	// ErrSettings: a setting outside its range.
	ErrSettings = errors.New("projection: bad settings")
	// ErrNotConverged: the solver stopped before its goal. The result returned with it is feasible, and its bounds hold.
	// If a context caused the stop, the error also wraps the error of the context.
	ErrNotConverged = errors.New("projection: stopped before the goal")
	// ErrCertificate: a verifier refuses a result.
	ErrCertificate = errors.New("projection: certificate refused")
)

// BatchError says how many of the distributions of a stream have no result, or one that stopped before its goal.
type BatchError struct {
	Failed int   // how many
	Users  int   // of how many
	First  int   // the lowest index among them
	Err    error // and what was wrong with it
}

// Error says how many failed, and why the first did.
func (e *BatchError) Error() string {
	return fmt.Sprintf("projection: %d of %d distributions failed, the first at index %d: %v",
		e.Failed, e.Users, e.First, e.Err)
}

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }
