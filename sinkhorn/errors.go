package sinkhorn

import (
	"errors"

	"github.com/wpm-go/wpm/projection"
)

// ErrReg: Reg is not a positive number, or too small for float64 (below 1e-9 of the range of the cost).
var ErrReg = errors.New("sinkhorn: bad regularisation")

// The other errors of this package are those of package projection. Every error that its functions return wraps one of
// them, or ErrReg, and says what was wrong, where, and with which value.
var (
	ErrShape        = projection.ErrShape
	ErrNotFinite    = projection.ErrNotFinite
	ErrNegative     = projection.ErrNegative
	ErrMass         = projection.ErrMass
	ErrSupport      = projection.ErrSupport
	ErrBox          = projection.ErrBox
	ErrInfeasible   = projection.ErrInfeasible
	ErrSettings     = projection.ErrSettings
	ErrNotConverged = projection.ErrNotConverged
	ErrCertificate  = projection.ErrCertificate
)
