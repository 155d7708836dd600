// Package wpmerr has the errors that the solvers of this module share, one value each: whichever solver returns it, and
// however it is wrapped, errors.Is finds it. It also has the one way in which a solver says that its context has ended, and
// that a mass is none.
//
// What only one package can go wrong about is an error of that package. Packages ldp, policy and device, which must not
// depend on a solver, have errors of their own. This package imports nothing of the module. Its texts have no name of a
// package in front, because a user of the command reads them too.
package wpmerr

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Every error of a solver wraps one of these or one of its own, and says what was wrong, where, and with which value.
var (
	// ErrShape: something is missing or empty, or has the wrong length.
	ErrShape = errors.New("shape mismatch")
	// ErrNotFinite: a NaN or an infinity in a cost, a mass, a bound or a start.
	ErrNotFinite = errors.New("value not finite")
	// ErrNegative: a negative cost, mass or bound.
	ErrNegative = errors.New("negative value")
	// ErrMass: masses that are all zero, or that do not sum to what they must.
	ErrMass = errors.New("wrong mass")
	// ErrSupport: a list of points that is not sorted, not distinct or out of range.
	ErrSupport = errors.New("bad support")
	// ErrBox: a lower bound above its upper bound.
	ErrBox = errors.New("lower bound above upper bound")
	// ErrInfeasible: nothing satisfies the constraints, such as a box without a distribution.
	ErrInfeasible = errors.New("infeasible")
	// ErrEpsilon: a privacy level out of the range of the solver.
	ErrEpsilon = errors.New("eps out of range")
	// ErrReg: an entropic weight that is not a positive number, or too small for float64 beside the costs.
	ErrReg = errors.New("bad regularisation")
	// ErrSettings: a setting outside its range.
	ErrSettings = errors.New("bad settings")
	// ErrOverflow: integers too large for 64 bits.
	ErrOverflow = errors.New("numbers too large for 64 bits")
	// ErrTooLarge: more rows, columns or numbers in memory than are allowed.
	ErrTooLarge = errors.New("too large")
	// ErrNotConverged: the solver stopped before its goal. A result that comes with it is feasible, and its bounds hold.
	// If the context ended, the error also wraps ctx.Err() and the cause; see Ended.
	ErrNotConverged = errors.New("stopped before the goal")
	// ErrCertificate: a verifier refuses a result.
	ErrCertificate = errors.New("certificate refused")
)

// Ended returns the error of a call whose context has ended; nil if it has not. It wraps ErrNotConverged, ctx.Err() and
// context.Cause(ctx).
func Ended(ctx context.Context) error {
	ctx = Context(ctx)
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil {
		return nil
	}
	if cause == nil || errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", ErrNotConverged, err)
	}
	return fmt.Errorf("%w: %w: %w", ErrNotConverged, err, cause)
}

// Masses refuses masses that are not finite and >= 0, with the name of the list. Errors: ErrNotFinite, ErrNegative.
func Masses(name string, xs []float64) error {
	for n, x := range xs {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			return fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, name, n, x)
		case x < 0:
			return fmt.Errorf("%w: %s[%d] = %v", ErrNegative, name, n, x)
		}
	}
	return nil
}

// Context returns ctx, or a context that never ends for nil. It is the one place where solvers deal with a nil context.
func Context(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
