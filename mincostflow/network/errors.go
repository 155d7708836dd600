package network

import "errors"

// The errors of this package. Every error that Solve, Verify and ReadDIMACS return, but those of a reader,
// wraps one of them and says what was wrong, where, and with which value.
var (
	// ErrShape: a missing problem, or a Result that does not belong to the given problem.
	ErrShape = errors.New("network: shape mismatch")
	// ErrArc: an arc joins a node that does not exist, or one of its bounds is infinite on the wrong side.
	ErrArc = errors.New("network: bad arc")
	// ErrBox: a lower bound above its upper bound.
	ErrBox = errors.New("network: lower bound above upper bound")
	// ErrBalance: the supplies do not sum to zero.
	ErrBalance = errors.New("network: supplies do not sum to zero")
	// ErrOverflow: numbers so large that the solution, or an intermediate result, might not fit in 64 bits.
	ErrOverflow = errors.New("network: numbers too large for 64 bits")
	// ErrSettings: a setting outside its range.
	ErrSettings = errors.New("network: bad settings")
	// ErrSyntax: a DIMACS file that breaks the rules of its format. The error names the line.
	ErrSyntax = errors.New("network: bad DIMACS file")
	// ErrInfeasible: no flow meets all supplies and bounds.
	ErrInfeasible = errors.New("network: infeasible")
	// ErrUnbounded: there are flows of any cost, so that none is cheapest.
	ErrUnbounded = errors.New("network: unbounded")
	// ErrNotConverged: the context ended (its error is wrapped too), or Settings.MaxPivots was reached.
	ErrNotConverged = errors.New("network: stopped before the optimum")
	// ErrCertificate: Verify refuses a Result.
	ErrCertificate = errors.New("network: certificate refused")
)
