package hilbert

import "errors"

// The errors of this package. Every error that its functions return wraps one of them and says
// what was wrong, where, and with which value.
var (
	// ErrShape: a missing or empty matrix, or lengths that do not match.
	ErrShape = errors.New("hilbert: shape mismatch")
	// ErrNotFinite: a NaN, or an infinity where none is allowed.
	ErrNotFinite = errors.New("hilbert: value not finite")
	// ErrNegative: a negative coordinate or entry.
	ErrNegative = errors.New("hilbert: negative value")
	// ErrReg: Reg is not a finite number > 0.
	ErrReg = errors.New("hilbert: bad regularisation")
)
