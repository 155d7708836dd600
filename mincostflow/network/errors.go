package network

import "errors"

// The errors of this package. Every error that Solve, Verify and ReadDIMACS return, but those of a reader,
// wraps one of them and says what was wrong, where, and with which value.
var (
	// ErrArc: an arc joins a node that does not exist, or one of its bounds is infinite on the wrong side.
	ErrArc = errors.New("network: bad arc")
	// ErrBalance: the supplies do not sum to zero.
	ErrBalance = errors.New("network: supplies do not sum to zero")
	// ErrSyntax: a DIMACS file that breaks the rules of its format. The error names the line.
	ErrSyntax = errors.New("network: bad DIMACS file")
	// ErrUnbounded: there are flows of any cost, so that none is cheapest.
	ErrUnbounded = errors.New("network: unbounded")
)
