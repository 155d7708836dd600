package mincostflow

import "errors"

// The errors of this package. Every error that Project, Transport and Verify return wraps one
// of them and says what was wrong, where, and with which value.
var (
	// ErrShape: a missing or empty matrix, or lengths that do not match.
	ErrShape = errors.New("mincostflow: shape mismatch")
	// ErrNotFinite: a NaN or an infinity in the cost, a mass or a bound.
	ErrNotFinite = errors.New("mincostflow: value not finite")
	// ErrNegative: a negative cost, mass or bound.
	ErrNegative = errors.New("mincostflow: negative value")
	// ErrMass: masses that are all zero.
	ErrMass = errors.New("mincostflow: no mass")
	// ErrSupport: Support is not sorted, not distinct or out of range.
	ErrSupport = errors.New("mincostflow: bad support")
	// ErrBox: a lower bound above its upper bound.
	ErrBox = errors.New("mincostflow: lower bound above upper bound")
	// ErrInfeasible: no distribution lies in the box.
	ErrInfeasible = errors.New("mincostflow: infeasible")
	// ErrSettings: a setting outside its range.
	ErrSettings = errors.New("mincostflow: bad settings")
	// ErrNotConverged: the solver stopped early. The Result beside it is feasible and its
	// bounds hold. When a context caused the stop, the error wraps its error too.
	ErrNotConverged = errors.New("mincostflow: stopped before the optimum")
	// ErrOverflow: masses of ProjectUnits that sum to more than 2^62 units.
	ErrOverflow = errors.New("mincostflow: numbers too large for 64 bits")
	// ErrCertificate: Verify refuses a Result.
	ErrCertificate = errors.New("mincostflow: certificate refused")
)
