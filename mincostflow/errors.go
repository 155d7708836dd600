package mincostflow

import (
	"errors"

	"github.com/wpm-go/wpm/projection"
)

// The errors of this package are those of package projection. Every error that Project, Transport and Verify return
// wraps one of them and says what was wrong, where, and with which value.
var (
	ErrShape        = projection.ErrShape
	ErrNotFinite    = projection.ErrNotFinite
	ErrNegative     = projection.ErrNegative
	ErrMass         = projection.ErrMass
	ErrSupport      = projection.ErrSupport
	ErrBox          = projection.ErrBox
	ErrInfeasible   = projection.ErrInfeasible
	ErrNotConverged = projection.ErrNotConverged
	ErrCertificate  = projection.ErrCertificate

	// ErrOverflow: masses of ProjectUnits that sum to more than 2^62 units.
	ErrOverflow = errors.New("mincostflow: numbers too large for 64 bits")
)

// BatchError says how many of the distributions given to All failed.
type BatchError = projection.BatchError
