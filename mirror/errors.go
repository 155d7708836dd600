package mirror

import "errors"

// Errors returned by this package, wrapped with what was wrong, where, and the value.
var (
	// ErrShape reports a missing or empty table.
	ErrShape = errors.New("mirror: no table")
	// ErrEpsilon reports an eps that is not in [0, MaxEpsilon].
	ErrEpsilon = errors.New("mirror: eps out of range")
	// ErrSettings reports invalid settings.
	ErrSettings = errors.New("mirror: bad settings")
	// ErrNotConverged reports a context that ended before the last step. The Result that comes with it is
	// feasible, and all its bounds hold for the steps that were taken.
	ErrNotConverged = errors.New("mirror: stopped before the last step")
)
