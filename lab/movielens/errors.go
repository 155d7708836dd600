package movielens

import (
	"errors"
	"fmt"
)

// Errors of this package; those of the packages it uses pass through.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("movielens: bad configuration")
	// ErrData: files that are not what Load reads. The message names file, line and value.
	ErrData = errors.New("movielens: bad data")
	// ErrTooFew: the data have too few films, users or candidates for the protocol.
	ErrTooFew = errors.New("movielens: too little data")
)

func badLine(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: %s", ErrData, file, line, fmt.Sprintf(format, args...))
}
