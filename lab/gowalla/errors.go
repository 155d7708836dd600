package gowalla

import (
	"errors"
	"fmt"
)

// Errors of this package, wrapped with what, where and the value. Errors of the solvers pass through, with the user and
// eps they met.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("gowalla: bad configuration")
	// ErrFormat: no data set of a known format at the given path.
	ErrFormat = errors.New("gowalla: unknown data format")
	// ErrData: a line that cannot be read. It comes inside a *DataError.
	ErrData = errors.New("gowalla: bad data")
	// ErrFewUsers: fewer users with enough check-ins than asked for.
	ErrFewUsers = errors.New("gowalla: too few users")
	// ErrCertificate: released rows that differ by more than e^eps, or a W_1 whose certified gap is too wide. It would be
	// a bug, not bad input.
	ErrCertificate = errors.New("gowalla: certificate does not hold")
)

// DataError says which line of which file cannot be read. It wraps ErrData, and the cause if there is one.
type DataError struct {
	File   string // as opened
	Line   int    // from 1
	Reason string // with the offending value
	Err    error  // the cause (a gzip or read error), or nil
}

func (e *DataError) Error() string {
	s := fmt.Sprintf("%v: %s:%d: %s", ErrData, e.File, e.Line, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns ErrData and the cause.
func (e *DataError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrData}
	}
	return []error{ErrData, e.Err}
}
